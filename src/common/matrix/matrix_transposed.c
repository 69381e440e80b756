/* A^T as a matrix, for products that gather. They work on every backend, in a fixed order and without atomics.
 * A^T is created from A's entries by the first such product, and takes about as much device memory as A. */
#include "transposed.h"

#include "csr.h"
#include "operator.h"

void tsi_transposed_destroy(ts_matrix *A) {
  if (A->transposed) tsi_matrix_release(A->transposed);
  A->transposed = NULL;
}

static ts_status create(const ts_matrix *A, const tsi_csr *csr, ts_matrix **out) {
  const int has_blocks = !A->context->caps.linear_spaces && A->column_space->tiling.log2_block;
  const tsi_matrix_desc desc = {.csr = *csr,
                                .format = has_blocks ? A->info.format : TS_FORMAT_AUTO,
                                .row_space = A->column_space,
                                .column_space = A->row_space,
                                .precision = A->precision};
  TSI_TRY(tsi_matrix_create_as_is(A->context, &desc, out));
  tsi_log(A->context, TS_LOG_LEVEL_INFO, "transposed matrix %d x %d as %s: %zu bytes", csr->rows, csr->columns,
          ts_format_name((*out)->info.format), (*out)->info.bytes_device + (*out)->info.bytes_low_order);
  return TS_OK;
}

/* Creates a matrix from entries, or writes new values if the existing one has this pattern. */
static ts_status write(const ts_matrix *A, const tsi_csr *csr, ts_matrix **matrix) {
  if (*matrix && (*matrix)->fingerprint == tsi_csr_fingerprint(A->context, csr))
    return tsi_matrix_set_values_as_is(*matrix, csr);
  ts_matrix *made;
  TSI_TRY(create(A, csr, &made));
  ts_matrix_destroy(matrix);
  *matrix = made;
  return TS_OK;
}

static ts_status transpose_entries(const ts_matrix *A, ts_matrix **matrix) {
  tsi_matrix_entries entries;
  tsi_csr transposed;
  TSI_TRY(tsi_matrix_read(A, &entries));
  ts_status status = tsi_csr_transpose(A->context, &entries.csr, &transposed);
  tsi_matrix_entries_free(A->context, &entries);
  TSI_TRY(status);
  status = write(A, &transposed, matrix);
  tsi_csr_transposed_free(A->context, &transposed);
  if (status < 0) return status;
  (*matrix)->exponent = A->exponent;
  (*matrix)->negated = A->negated;
  (*matrix)->loses_digits = A->loses_digits;
  return TS_OK;
}

ts_status tsi_matrix_transpose(ts_matrix *A, ts_matrix **transposed) {
  const int is_current = A->transposed && A->transposed_changes == A->changes && !A->device_values;
  if (!A->function && !is_current) TSI_TRY(transpose_entries(A, &A->transposed));
  if (A->function && !A->transposed) TSI_TRY(tsi_operator_transposed(A, &A->transposed));
  A->transposed_changes = A->changes;
  *transposed = A->transposed;
  return TS_OK;
}
