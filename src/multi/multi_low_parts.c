/* Low-order parts of matrices from the rows of each rank. If the rows of one rank need a low-order part, all
 * ranks create one, if only of zeros, because its products exchange ghosts like any other. */
#include "common/matrix/csr.h"
#include "multi.h"

static int32_t count_low_parts(const ts_matrix *A) {
  int32_t count = 0;
  for (; A->low; A = A->low) count++;
  return count;
}

static void merge_most(void *mine, const void *other) {
  int32_t *a = mine;
  const int32_t b = *(const int32_t *)other;
  if (b > *a) *a = b;
}

/* Appends to the existing low-order parts. */
static ts_status add_zeros(ts_matrix *A, const tsi_host_csr *zeros, int32_t count) {
  ts_matrix *last = A;
  while (last->low) last = last->low;
  for (; count > 0; count--, last = last->low) {
    TSI_TRY(tsi_matrix_write_low_part(last, zeros));
    A->info.bytes_low_order += last->low->info.bytes_device;
  }
  return TS_OK;
}

ts_status multi_even_low_parts(ts_matrix *A, const tsi_csr *csr) {
  ts_context *context = A->context;
  int32_t most = count_low_parts(A);
  TSI_TRY(multi_merge_ranks(context, &most, sizeof most, merge_most));
  if (count_low_parts(A) == most) return TS_OK;
  const size_t entries = (size_t)csr->row_offsets[csr->rows];
  tsi_host_csr pattern;
  int64_t duplicates;
  float *values = tsi_calloc(context, entries, sizeof *values);
  if (!values) return tsi_out_of_memory(context, "the rest of a matrix", entries * sizeof *values);
  ts_status status = tsi_csr_canonical(context, csr, NULL, NULL, 0, &pattern, &duplicates);
  if (status == TS_OK) {
    tsi_host_csr zeros = pattern;
    zeros.values = values;
    status = tsi_enter(context);
    if (status == TS_OK) status = tsi_leave(context, add_zeros(A, &zeros, most - count_low_parts(A)));
    tsi_csr_free(context, &pattern);
  }
  tsi_free(context, values);
  return status;
}
