/* The entries of a matrix, from its host copy or read back from the device. */
#include <string.h>

#include "csr.h"
#include "operator.h"
#include "common/layout/layout_build.h"

void tsi_matrix_entries_free(ts_context *context, tsi_matrix_entries *entries) {
  tsi_free(context, entries->offsets);
  tsi_free(context, entries->columns);
  tsi_free(context, entries->values);
  tsi_free(context, entries->doubles);
  *entries = (tsi_matrix_entries){0};
}

/* The state of unpacking: entries are counted, then stored; the low-order parts are added in the same order. */
typedef struct filling {
  int32_t *next; /* per row */
  int32_t *columns;
  float *values;
  double *doubles;
} filling;

static void count_entry(void *user, int32_t row, int32_t column, float value) {
  (void)column, (void)value;
  ((filling *)user)->next[row]++;
}

static void put_entry(void *user, int32_t row, int32_t column, float value) {
  filling *f = user;
  const int32_t at = f->next[row]++;
  f->columns[at] = column;
  if (f->doubles)
    f->doubles[at] = (double)value;
  else
    f->values[at] = value;
}

static void add_entry(void *user, int32_t row, int32_t column, float value) {
  (void)column;
  filling *f = user;
  f->doubles[f->next[row]++] += (double)value;
}

ts_status tsi_matrix_visit(const ts_matrix *A, tsi_entry_visitor visitor, void *user) {
  ts_context *context = A->context;
  tsi_packed packed = {0};
  tsi_host_csr stored = {0};
  const tsi_host_csr size = {.rows = A->info.rows, .columns = A->info.columns};
  const tsi_layout_input input = tsi_matrix_layout_input(A, &size, NULL);
  TSI_TRY(tsi_enter(context));
  ts_status status = tsi_leave(context, context->ops->matrix_read(A, &packed, &stored));
  if (stored.row_offsets) packed.csr = &stored;
  context->host_synchronisations++;
  if (status == TS_OK)
    status = tsi_format_of(A->layout->format)->unpack(context, A->layout, &input, &packed, visitor, user);
  tsi_packed_free(context, &packed);
  tsi_csr_free(context, &stored);
  return status;
}

static void begin(const tsi_matrix_entries *to, filling *f) {
  memcpy(f->next, to->offsets, (size_t)to->csr.rows * sizeof *f->next);
}

static ts_status read_device(const ts_matrix *A, tsi_matrix_entries *to, filling *f) {
  ts_context *context = A->context;
  const size_t rows = (size_t)A->info.rows;
  f->next = to->offsets + 1;
  TSI_TRY(tsi_matrix_visit(A, count_entry, f));
  for (size_t i = 0; i < rows; i++) to->offsets[i + 1] += to->offsets[i];
  const size_t entries = (size_t)to->offsets[rows];
  to->columns = tsi_malloc(context, entries + 1, sizeof *to->columns);
  f->next = tsi_malloc(context, rows, sizeof *f->next);
  if (A->low)
    to->doubles = tsi_malloc(context, entries + 1, sizeof *to->doubles);
  else
    to->values = tsi_malloc(context, entries + 1, sizeof *to->values);
  if (!to->columns || !f->next || (!to->values && !to->doubles))
    return tsi_out_of_memory(context, "the entries of a matrix", entries * (sizeof(int32_t) + sizeof(double)));
  f->columns = to->columns, f->values = to->values, f->doubles = to->doubles;
  begin(to, f);
  TSI_TRY(tsi_matrix_visit(A, put_entry, f));
  for (const ts_matrix *low = A->low; low; low = low->low) {
    begin(to, f);
    TSI_TRY(tsi_matrix_visit(low, add_entry, f));
  }
  return TS_OK;
}

ts_status tsi_matrix_read(const ts_matrix *A, tsi_matrix_entries *entries) {
  ts_context *context = A->context;
  *entries = (tsi_matrix_entries){0};
  TSI_TRY(tsi_refuse_operator(A, "this needs"));
  if (A->stencil)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "the matrix is a stencil, whose entries are not read back");
  if (A->all_rows)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "the matrix is made of the rows of ranks, which are not read back");
  if (A->host_copy && !A->low) return tsi_matrix_stored_copy(A, &entries->csr);
  entries->csr = (tsi_csr){.rows = A->info.rows, .columns = A->info.columns};
  entries->offsets = tsi_calloc(context, (size_t)A->info.rows + 1, sizeof *entries->offsets);
  if (!entries->offsets) return tsi_out_of_memory(context, "the entries of a matrix", (size_t)A->info.rows * 4);
  filling f = {0};
  const double start = tsi_seconds();
  const ts_status status = read_device(A, entries, &f);
  if (f.next != entries->offsets + 1) tsi_free(context, f.next);
  if (status < 0) {
    tsi_matrix_entries_free(context, entries);
    return status;
  }
  entries->csr.row_offsets = entries->offsets;
  entries->csr.column_indices = entries->columns;
  entries->csr.values = entries->values;
  entries->csr.double_values = entries->doubles;
  tsi_log(context, TS_LOG_LEVEL_INFO, "%lld entries of the matrix were read back from the device in %.3f s",
          (long long)entries->offsets[A->info.rows], tsi_seconds() - start);
  return TS_OK;
}
