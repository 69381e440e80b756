/* Choice of the format of a matrix on the device. Only the offsets and columns that the estimates inspect are
 * copied to the host. They are copied into arrays with room for all; the system allocates only the pages that
 * are written. */
#include "format_samples.h"

#include <string.h>

#include "common/core/array.h"
#include "common/core/core.h"
#include "layout_build.h"

static const char *const samples_name = "samples of a matrix";

enum { MOST_RANGES = 1 << 13 };

/* Memory of one choice. */
typedef struct memory {
  tsi_host_csr csr; /* with the samples only */
  tsi_samples samples;
  int32_t *read;
} memory;

static void clear(tsi_samples *s) {
  s->count = s->numbers = 0;
  s->all = 0;
}

static void add(void *user, int32_t first, int32_t end) {
  tsi_samples *s = user;
  if (end <= first) return;
  s->all += end - first;
  if (s->count == MOST_RANGES || s->all > INT32_MAX) return;
  s->ranges[s->count++] = (tsi_samples_range){first, end - first, s->numbers};
  s->numbers += end - first;
}

/* Selects the whole array if the ranges cover at least half of it. */
static void finish_list(tsi_samples *s, int32_t length) {
  if (s->all < length / 2 && s->count < MOST_RANGES) return;
  clear(s);
  add(s, 0, length);
}

static void add_offsets(void *user, int32_t first, int32_t end) {
  memory *m = user;
  add(&m->samples, first, end + 1);
}

static void add_columns(void *user, int32_t first, int32_t end) {
  memory *m = user;
  add(&m->samples, m->csr.row_offsets[first], m->csr.row_offsets[end]);
}

static void add_entries(void *user, int32_t first, int32_t end) {
  memory *m = user;
  add(&m->samples, first, end);
}

#define ROW(name, format) &tsi_format_##name,
static const tsi_format *const known[] = {TSI_FORMATS(ROW)};
#undef ROW

/* Calls the visitors for the rows and the entries that the estimates inspect. */
static void list(memory *m, int blocks, tsi_range_visitor rows, tsi_range_visitor entries) {
  for (size_t f = 0; f < sizeof known / sizeof known[0]; f++) {
    if (!blocks && known[f]->log2_block) continue;
    if (known[f]->sampled_rows) known[f]->sampled_rows(&m->csr, rows, m);
    if (known[f]->sampled_entries && entries) known[f]->sampled_entries(&m->csr, entries, m);
  }
}

/* Copies the listed numbers into an array of `length` numbers. */
static ts_status read_samples(ts_context *context, const tsi_given *given, memory *m, int are_offsets,
                              int32_t *numbers) {
  const tsi_samples *s = &m->samples;
  tsi_free(context, m->read);
  m->read = tsi_malloc(context, (size_t)s->numbers, sizeof *m->read);
  if (!m->read) return tsi_out_of_memory(context, samples_name, (size_t)s->numbers * sizeof *m->read);
  TSI_TRY(context->device_ops->arrays->read_samples(context, given, s, are_offsets, m->read));
  for (int32_t i = 0; i < s->count; i++) {
    const tsi_samples_range *r = &s->ranges[i];
    memcpy(numbers + r->first, m->read + r->to, (size_t)r->count * sizeof *numbers);
  }
  return TS_OK;
}

static ts_status alloc(ts_context *context, const tsi_given *given, memory *m) {
  const size_t offsets = (size_t)given->rows + 1, columns = (size_t)given->nonzeros;
  m->samples.ranges = tsi_malloc(context, MOST_RANGES, sizeof *m->samples.ranges);
  m->csr.row_offsets = tsi_malloc_sparse(context, offsets, sizeof *m->csr.row_offsets);
  m->csr.column_indices = tsi_malloc_sparse(context, columns, sizeof *m->csr.column_indices);
  if (m->samples.ranges && m->csr.row_offsets && m->csr.column_indices) return TS_OK;
  return tsi_out_of_memory(context, samples_name,
                           MOST_RANGES * sizeof *m->samples.ranges + 4 * (offsets + columns));
}

static ts_status choose(ts_context *context, const tsi_given *given, int blocks, memory *m, ts_format *format,
                        char *text, size_t size) {
  const int32_t entries = (int32_t)given->nonzeros;
  TSI_TRY(alloc(context, given, m));
  m->csr.row_offsets[given->rows] = entries;
  if (tsi_has_few_entries(context, entries, blocks)) /* the lengths of all rows are inspected */
    add(&m->samples, 0, given->rows + 1);
  else
    list(m, blocks, add_offsets, NULL);
  finish_list(&m->samples, given->rows + 1);
  TSI_TRY(read_samples(context, given, m, 1, m->csr.row_offsets));
  m->csr.row_offsets[given->rows] = entries;
  clear(&m->samples);
  list(m, blocks, add_columns, add_entries);
  finish_list(&m->samples, entries);
  TSI_TRY(read_samples(context, given, m, 0, m->csr.column_indices));
  *format = tsi_format_choose(context, &m->csr, blocks, text, size);
  return TS_OK;
}

ts_status tsi_format_choose_on_device(ts_context *context, const tsi_given *given, int blocks,
                                      ts_format *format, char *text, size_t size) {
  memory m = {.csr = {.rows = given->rows, .columns = given->columns, .longest = given->longest_row}};
  const ts_status status = choose(context, given, blocks, &m, format, text, size);
  tsi_free(context, m.csr.row_offsets);
  tsi_free(context, m.csr.column_indices);
  tsi_free(context, m.samples.ranges);
  tsi_free(context, m.read);
  return status;
}
