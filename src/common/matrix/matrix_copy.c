/* The copy of a matrix in compressed rows on the host. Preconditioners are computed from it, and applications
 * can request it. It is created with the matrix, or read back when needed. */
#include <math.h>

#include "common/core/core.h"
#include "common/layout/layout_build.h"
#include "csr.h"
#include "operator.h"

/* ---- Creation ---- */

/* Refers to the matrix's own arrays, because only the library uses the copy. */
static ts_status refer_to_itself(ts_matrix *A) {
  tsi_packed packed = {0};
  return A->context->ops->matrix_read(A, &packed, A->host_copy);
}

static ts_status make_host_copy(ts_matrix *A, const tsi_host_csr *csr, const tsi_csr_facts *facts,
                                int asked_for) {
  const tsi_csr view = {.rows = csr->rows,
                        .columns = csr->columns,
                        .row_offsets = csr->row_offsets,
                        .column_indices = csr->column_indices,
                        .values = csr->values};
  const size_t entries = (size_t)csr->row_offsets[csr->rows];
  int64_t duplicates;
  A->host_copy = tsi_calloc(A->context, 1, sizeof *A->host_copy);
  if (!A->host_copy) return tsi_out_of_memory(A->context, "the host copy", sizeof *A->host_copy);
  if (!asked_for && A->context->caps.csr_on_host && A->info.format == TS_FORMAT_CSR) return refer_to_itself(A);
  const unsigned own = csr->outlasts && csr->values ? TSI_CSR_COPY_VALUES : TSI_CSR_COPY;
  TSI_TRY(tsi_csr_canonical(A->context, &view, NULL, facts, own, A->host_copy, &duplicates));
  if (!csr->values) A->host_copy->values = tsi_calloc(A->context, entries, sizeof(float));
  if (A->host_copy->values) return TS_OK;
  return tsi_out_of_memory(A->context, "the values of the host copy", entries * sizeof(float));
}

ts_status tsi_matrix_make_host_copy(ts_matrix *A, const tsi_host_csr *csr, int asked_for) {
  const tsi_csr_facts in_order = {.in_order = 1};
  return make_host_copy(A, csr, &in_order, asked_for);
}

void tsi_matrix_drop_host_copy(ts_matrix *A) {
  if (A->host_copy) tsi_csr_free(A->context, A->host_copy);
  tsi_free(A->context, A->host_copy);
  tsi_free(A->context, A->user_values);
  A->host_copy = NULL;
  A->user_values = NULL;
}

/* Blocks are filled up with zeros, which would be couplings of AMG. Moves the others together. */
static void omit_zeros(tsi_matrix_entries *read) {
  int32_t to = 0, first = 0;
  for (int32_t i = 0; i < read->csr.rows; i++) {
    const int32_t end = read->offsets[i + 1];
    for (int32_t e = first; e < end; e++) {
      if (read->values[e] == 0) continue;
      read->columns[to] = read->columns[e];
      read->values[to++] = read->values[e];
    }
    first = end;
    read->offsets[i + 1] = to;
  }
}

/* Moves the arrays that were read to the copy if they are in its order. */
static ts_status move_entries(ts_matrix *A, tsi_matrix_entries *read) {
  const tsi_host_csr entries = {.rows = read->csr.rows,
                                .columns = read->csr.columns,
                                .row_offsets = read->offsets,
                                .column_indices = read->columns,
                                .values = read->values};
  tsi_csr_facts facts;
  TSI_TRY(tsi_csr_look(A->context, &read->csr, NULL, &facts));
  if (!facts.in_order) return make_host_copy(A, &entries, &facts, 0);
  A->host_copy = tsi_calloc(A->context, 1, sizeof *A->host_copy);
  if (!A->host_copy) return tsi_out_of_memory(A->context, "the host copy", sizeof *A->host_copy);
  *A->host_copy = entries;
  A->host_copy->owned = 1;
  read->offsets = read->columns = NULL;
  read->values = NULL;
  return TS_OK;
}

/* Copies a csr matrix from the device, where it has the form of the copy. */
static ts_status copy_csr(ts_matrix *A) {
  ts_context *context = A->context;
  tsi_packed packed = {0};
  tsi_host_csr stored = {0};
  TSI_TRY(tsi_enter(context));
  ts_status status = tsi_leave(context, context->ops->matrix_read(A, &packed, &stored));
  context->host_synchronisations++;
  if (status == TS_OK) status = tsi_matrix_make_host_copy(A, &stored, 0);
  tsi_packed_free(context, &packed);
  tsi_csr_free(context, &stored);
  return status;
}

static ts_status copy_entries(ts_matrix *A) {
  ts_matrix first = *A;
  tsi_matrix_entries read;
  first.low = NULL;
  TSI_TRY(tsi_matrix_read(&first, &read));
  omit_zeros(&read);
  const ts_status status = move_entries(A, &read);
  tsi_matrix_entries_free(A->context, &read);
  return status;
}

/* The copy has only the first part of the values. */
ts_status tsi_matrix_keep_host_copy(ts_matrix *A) {
  if (A->host_copy) return TS_OK;
  const ts_status status = A->info.format == TS_FORMAT_CSR ? copy_csr(A) : copy_entries(A);
  if (status < 0) tsi_matrix_drop_host_copy(A);
  return status;
}

/* ---- Access by the application ---- */

ts_status tsi_matrix_stored_copy(const ts_matrix *matrix, tsi_csr *csr) {
  if (matrix->stencil)
    return tsi_fail(matrix->context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix is a stencil; ts_stencil_read reads its values");
  TSI_TRY(tsi_refuse_operator(matrix, "a host copy has"));
  if (!matrix->host_copy)
    return tsi_fail(matrix->context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix has no host copy; create it with keep_host_copy");
  const tsi_host_csr *A = matrix->host_copy;
  *csr = (tsi_csr){.rows = A->rows,
                   .columns = A->columns,
                   .row_offsets = A->row_offsets,
                   .column_indices = A->column_indices,
                   .values = A->values};
  return TS_OK;
}

/* Fails for values outside single precision. */
static ts_status scale_host_copy(ts_matrix *A) {
  const tsi_host_csr *copy = A->host_copy;
  const size_t entries = (size_t)copy->row_offsets[copy->rows];
  if (!A->user_values && !(A->user_values = tsi_malloc(A->context, entries, sizeof *A->user_values)))
    return tsi_out_of_memory(A->context, "the values of the host copy", entries * sizeof *A->user_values);
  for (size_t e = 0; e < entries; e++) {
    A->user_values[e] = ldexpf(A->negated ? -copy->values[e] : copy->values[e], A->exponent);
    if (isinf(A->user_values[e]) || (A->user_values[e] == 0 && copy->values[e] != 0))
      return tsi_fail(A->context, TS_ERROR_UNSUPPORTED,
                      "the host copy is in single precision, which cannot represent %g * 2^%d",
                      (double)copy->values[e], A->exponent);
  }
  return TS_OK;
}

ts_status ts_matrix_get_host_copy(const ts_matrix *matrix, ts_csr *csr) {
  TSI_BEGIN(matrix, matrix->context);
  TSI_REQUIRE(matrix->context, csr);
  tsi_csr copy = {0};
  TSI_TRY(tsi_matrix_stored_copy(matrix, &copy));
  if (matrix->exponent || matrix->negated) {
    TSI_TRY(scale_host_copy((ts_matrix *)matrix));
    copy.values = matrix->user_values;
  }
  const size_t entries = (size_t)copy.row_offsets[copy.rows];
  *csr = (ts_csr){.rows = copy.rows,
                  .columns = copy.columns,
                  .row_offsets = ts_host(copy.row_offsets, (size_t)copy.rows + 1),
                  .column_indices = ts_host(copy.column_indices, entries),
                  .values = ts_host(copy.values, entries)};
  return TS_OK;
}
