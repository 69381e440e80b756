/* New values of matrices from the rows of each rank. Nothing is written until all ranks have validated their
 * values and know the facts about the whole matrix. So if one rank fails, all keep the old values. */
#include <string.h>

#include "common/matrix/csr.h"
#include "multi.h"

static ts_status check(const ts_matrix *A, const tsi_ranks_matrix_desc *desc) {
  if (((const multi_space *)A->row_space->impl)->rows->given)
    return tsi_fail(A->context, TS_ERROR_UNSUPPORTED,
                    "rows of the matrix have moved to other ranks; create it again for other values");
  if (desc->rows != A->info.rows)
    return tsi_fail(A->context, TS_ERROR_INCOMPATIBLE, "the values are of %d rows; this rank has %d",
                    desc->rows, A->info.rows);
  return multi_check_offsets(A->context, desc);
}

/* The rows of this rank as at creation, with the new values. */
static ts_status number(const ts_matrix *A, const tsi_ranks_matrix_desc *desc, int32_t **columns,
                        tsi_csr *csr) {
  TSI_TRY(check(A, desc));
  TSI_TRY(multi_number_columns(A->row_space, desc, columns));
  *csr = (tsi_csr){.rows = desc->rows,
                   .columns = tsi_columns_of(A->row_space),
                   .row_offsets = desc->row_offsets,
                   .column_indices = *columns,
                   .values = desc->values,
                   .double_values = desc->double_values};
  const tsi_csr_facts facts = {.fingerprint = tsi_csr_fingerprint(A->context, csr)};
  TSI_TRY(tsi_matrix_check_pattern(A, csr, &facts)); /* a column outside the pattern is -1 here */
  return tsi_csr_validate(A->context, csr);
}

/* Does not touch the host copy, which is a block of these rows. */
static ts_status write(ts_matrix *A, const tsi_csr *csr) {
  tsi_host_csr *copy = A->host_copy;
  A->host_copy = NULL;
  ts_status status = tsi_enter(A->context);
  if (status == TS_OK) status = tsi_leave(A->context, tsi_matrix_set_values(A, csr, NULL));
  if (status == TS_OK) status = multi_even_low_parts(A, csr);
  A->host_copy = copy;
  return status;
}

/* The facts about a matrix that its values determine. */
typedef struct knowledge {
  int symmetric, negative_diagonal;
  int32_t row, column, zero_diagonal_row;
  int64_t halo;
  double norm;
} knowledge;

static knowledge read_knowledge(const ts_matrix *A) {
  const ts_matrix_info *i = &A->info;
  return (knowledge){.symmetric = i->symmetric,
                     .negative_diagonal = i->negative_diagonal,
                     .row = i->unsymmetric_row,
                     .column = i->unsymmetric_column,
                     .zero_diagonal_row = i->zero_diagonal_row,
                     .halo = i->halo,
                     .norm = A->norm_infinity};
}

static void write_knowledge(ts_matrix *A, const knowledge *k) {
  A->info.symmetric = k->symmetric;
  A->info.negative_diagonal = k->negative_diagonal;
  A->info.unsymmetric_row = k->row;
  A->info.unsymmetric_column = k->column;
  A->info.zero_diagonal_row = k->zero_diagonal_row;
  A->info.halo = k->halo;
  A->norm_infinity = k->norm;
}

/* Both have the same pattern. */
static void copy_values(const tsi_host_csr *to, const tsi_host_csr *from) {
  if (to && to->values && from->values)
    memcpy(to->values, from->values, (size_t)to->row_offsets[to->rows] * sizeof *to->values);
}

/* Preconditioners rely on `changes`. It is the same on all ranks, even if memory runs out in between. */
static ts_status write_on_all(ts_matrix *A, const tsi_csr *csr, const tsi_host_csr *block,
                              const tsi_host_csr *ghosts) {
  const int changes = A->changes;
  const ts_status status = multi_agree(A->context, write(A, csr));
  A->changes = changes + 1;
  if (status == TS_OK) copy_values(A->host_copy, block);
  if (status == TS_OK) copy_values(A->host_ghosts, ghosts);
  return status;
}

/* `status`: a failure in this rank's arguments, which all ranks agree on like any other. */
static ts_status set_values(ts_matrix *A, const tsi_ranks_matrix_desc *desc, ts_status status) {
  ts_context *context = A->context;
  const knowledge before = read_knowledge(A);
  int32_t *columns = NULL;
  tsi_host_csr block = {0}, ghosts = {0};
  tsi_csr csr;
  tsi_csr given;
  int exponent = 0, loses_digits = 0;
  void *memory = NULL;
  if (status == TS_OK) status = number(A, desc, &columns, &given);
  if (status == TS_OK) status = multi_scale_rows(context, &given, &exponent, &loses_digits, &csr, &memory);
  if (status == TS_OK) status = multi_inspect(A, &csr, &block, &ghosts);
  knowledge after = read_knowledge(A);
  after.halo = before.halo;
  write_knowledge(A, &before);
  status = multi_agree(context, status);
  if (status == TS_OK) status = write_on_all(A, &csr, &block, &ghosts);
  write_knowledge(A, status == TS_OK ? &after : &before);
  if (status == TS_OK) {
    A->exponent = exponent;
    A->loses_digits = loses_digits;
  }
  tsi_free(context, memory);
  tsi_csr_free(context, &block);
  tsi_csr_free(context, &ghosts);
  tsi_free(context, columns);
  return status;
}

ts_status multi_set_values(ts_matrix *A, const tsi_ranks_matrix_desc *desc) {
  tsi_begin_together(A->context);
  return tsi_end_together(A->context, set_values(A, desc, TS_OK));
}

static ts_status set_given_values(ts_matrix *A, const ts_ranks_matrix_desc *given) {
  tsi_loans loans = {0};
  tsi_ranks_matrix_desc desc;
  const ts_status status = set_values(A, &desc, multi_rows_given(A->context, given, &loans, &desc));
  tsi_loans_free(A->context, &loans);
  return status;
}

ts_status ts_ranks_matrix_set_values(ts_matrix *matrix, const ts_ranks_matrix_desc *desc) {
  TSI_BEGIN(matrix, matrix->context);
  ts_context *context = matrix->context;
  TSI_REQUIRE(context, desc);
  if (!matrix->all_rows)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix is not made of the rows of ranks; ts_matrix_set_values replaces its values");
  tsi_begin_together(context);
  return tsi_end_together(context, set_given_values(matrix, desc));
}
