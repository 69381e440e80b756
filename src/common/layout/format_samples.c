/* Choice of the format of a matrix on the device. Only the columns that the estimates inspect are copied to the
 * host. They are copied into an array with room for all columns; the system allocates only the pages that are
 * written. */
#include "format_samples.h"

#include <string.h>

#include "common/core/array.h"
#include "common/core/core.h"
#include "layout_build.h"

static const char *const samples_name = "samples of a matrix";

enum { MOST_RANGES = 1 << 13 };

static void add(void *user, int32_t first, int32_t end) {
  tsi_samples *s = user;
  if (end <= first) return;
  s->all += end - first;
  if (s->count == MOST_RANGES || s->all > INT32_MAX) return;
  s->ranges[s->count++] = (tsi_samples_range){first, end - first, s->entries};
  s->entries += end - first;
}

/* Lists the ranges to read; selects all columns if the ranges cover at least half of them. */
static void list(const tsi_host_csr *csr, int blocks, tsi_samples *s) {
#define ROW(name, format) &tsi_format_##name,
  static const tsi_format *const known[] = {TSI_FORMATS(ROW)};
#undef ROW
  const int32_t entries = csr->row_offsets[csr->rows];
  for (size_t f = 0; f < sizeof known / sizeof known[0]; f++)
    if (known[f]->samples && (blocks || !known[f]->log2_block)) known[f]->samples(csr, add, s);
  if (s->all < entries / 2 && s->count < MOST_RANGES) return;
  s->count = s->entries = 0;
  add(s, 0, entries);
}

/* Memory of one choice. */
typedef struct memory {
  int32_t *offsets, *read, *columns;
  tsi_samples samples;
} memory;

static ts_status read_samples(ts_context *context, const tsi_given *given, memory *m) {
  const tsi_samples *s = &m->samples;
  m->read = tsi_malloc(context, (size_t)s->entries, sizeof *m->read);
  m->columns = tsi_malloc_sparse(context, (size_t)given->nonzeros, sizeof *m->columns);
  if (!m->read || !m->columns)
    return tsi_out_of_memory(context, samples_name, (size_t)given->nonzeros * sizeof *m->columns);
  TSI_TRY(context->device_ops->arrays->read_samples(context, given, s, m->read));
  for (int32_t i = 0; i < s->count; i++) {
    const tsi_samples_range *r = &s->ranges[i];
    memcpy(m->columns + r->first, m->read + r->to, (size_t)r->count * sizeof *m->columns);
  }
  return TS_OK;
}

static ts_status choose(ts_context *context, const tsi_given *given, int blocks, memory *m, ts_format *format,
                        char *text, size_t size) {
  TSI_TRY(context->device_ops->arrays->read_offsets(context, given, &m->offsets));
  tsi_host_csr csr = {.rows = given->rows, .columns = given->columns, .row_offsets = m->offsets};
  m->samples.ranges = tsi_malloc(context, MOST_RANGES, sizeof *m->samples.ranges);
  if (!m->samples.ranges)
    return tsi_out_of_memory(context, samples_name, MOST_RANGES * sizeof *m->samples.ranges);
  list(&csr, blocks, &m->samples);
  TSI_TRY(read_samples(context, given, m));
  csr.column_indices = m->columns;
  *format = tsi_format_choose(context, &csr, blocks, text, size);
  return TS_OK;
}

ts_status tsi_format_choose_on_device(ts_context *context, const tsi_given *given, int blocks,
                                      ts_format *format, char *text, size_t size) {
  memory m = {0};
  const ts_status status = choose(context, given, blocks, &m, format, text, size);
  tsi_free(context, m.offsets);
  tsi_free(context, m.samples.ranges);
  tsi_free(context, m.read);
  tsi_free(context, m.columns);
  return status;
}
