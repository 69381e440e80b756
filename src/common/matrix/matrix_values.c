/* The values of a matrix: what floats lack of doubles is in its rests, each a matrix of the same layout; and
 * new values in the place of the old ones. */
#include <math.h>
#include <string.h>

#include "common/core/core.h"
#include "csr.h"
#include "common/layout/layout_build.h"

/* ---- Values and rests ---- */

tsi_layout_input tsi_matrix_layout_input(const ts_matrix *A, const tsi_host_csr *csr, tsi_blocks *blocks) {
  return (tsi_layout_input){.rows = &A->row_space->tiling,
                            .columns = &A->column_space->tiling,
                            .csr = csr,
                            .has_diagonal = A->has_diagonal,
                            .max_texture_size = A->context->caps.max_texture_size,
                            .blocks = blocks};
}

void tsi_matrix_destroy_rest(ts_matrix *A) {
  ts_matrix *rest = A->rest;
  if (!rest) return;
  tsi_matrix_destroy_rest(rest);
  rest->kind->destroy(rest);
  tsi_space_release(rest->row_space);
  tsi_space_release(rest->column_space);
  tsi_free(A->context, rest);
  A->rest = NULL;
}

static ts_status create_rest(ts_matrix *A, const tsi_packed *packed) {
  ts_context *context = A->context;
  ts_matrix *rest = tsi_calloc(context, 1, sizeof *rest);
  if (!rest) return tsi_out_of_memory(context, "a matrix", sizeof *rest);
  *rest = (ts_matrix){.context = context,
                      .row_space = A->row_space,
                      .column_space = A->column_space,
                      .has_diagonal = A->has_diagonal,
                      .layout = A->layout,
                      .whole = A->whole ? A->whole : A,
                      .info = A->info,
                      .norm_infinity = ldexp(A->norm_infinity, -24)};
  const size_t bytes = context->bytes_device;
  const ts_status status = context->ops->matrix_create(rest, packed);
  if (status < 0) {
    tsi_free(context, rest);
    return status;
  }
  rest->info.bytes_device = context->bytes_device - bytes;
  tsi_space_retain(rest->row_space);
  tsi_space_retain(rest->column_space);
  A->rest = rest;
  return TS_OK;
}

/* Digits that the largest entries would not have as doubles either are not missed. */
void tsi_matrix_warn_of_lost_digits(const ts_matrix *A, double lost) {
  if (lost > 0x1p-53 * A->norm_infinity)
    tsi_log(A->context, TS_LOG_WARNING,
            "values lose digits below the range of floats, up to %.2g beside a largest row sum of %.2g: "
            "multiply the matrix by a power of two",
            lost, A->norm_infinity);
}

/* Makes `to`, A itself or its rest, have these values; a rest is created where there is none. */
static ts_status write_values(ts_matrix *A, ts_matrix *to, const tsi_host_csr *values, tsi_blocks *blocks) {
  ts_context *context = A->context;
  const tsi_layout_input input = tsi_matrix_layout_input(A, values, blocks);
  tsi_packed packed = {0};
  ts_status status = tsi_layout_pack(context, A->layout, &input, &packed);
  if (status == TS_OK) status = to ? context->ops->matrix_write(to, &packed) : create_rest(A, &packed);
  tsi_packed_free(context, &packed);
  return status;
}

ts_status tsi_matrix_write_rest(ts_matrix *A, const tsi_host_csr *values) {
  return write_values(A, A->rest, values, NULL);
}

ts_status tsi_matrix_write_values(ts_matrix *A, const tsi_host_csr *values) {
  return write_values(A, A, values, NULL);
}

ts_status tsi_matrix_write_rests(ts_matrix *A, const tsi_host_csr *csr, tsi_blocks *blocks) {
  ts_matrix *to = A;
  for (int p = 0; p < 2 && csr->rests[p]; p++, to = to->rest) {
    tsi_host_csr values = *csr;
    values.values = csr->rests[p];
    TSI_TRY(write_values(to, to->rest, &values, blocks));
  }
  tsi_matrix_destroy_rest(to);
  A->info.bytes_rest = 0;
  for (const ts_matrix *rest = A->rest; rest; rest = rest->rest) A->info.bytes_rest += rest->info.bytes_device;
  return TS_OK;
}

/* ---- New values ---- */

/* In place: the new values may lie beside the copy's own pattern, or be the copy's own values. */
static void replace_host_values(ts_matrix *A, const tsi_host_csr *csr) {
  const size_t bytes = (size_t)csr->row_offsets[csr->rows] * sizeof(float);
  if (csr->values)
    memmove(A->host_copy->values, csr->values, bytes);
  else
    memset(A->host_copy->values, 0, bytes);
}

ts_status tsi_matrix_set_values(ts_matrix *A, const ts_csr *csr) {
  ts_context *context = A->context;
  const unsigned char *constrained = A->row_space->constrained;
  tsi_host_csr canonical;
  int64_t duplicates;
  TSI_TRY(tsi_csr_canonical(context, csr, constrained, tsi_csr_rests(A->precision), &canonical, &duplicates));
  ts_matrix_info info = A->info;
  double norm;
  ts_status status = tsi_csr_inspect(context, &canonical, constrained, &info, &norm);
  if (status == TS_OK) status = tsi_matrix_write_values(A, &canonical);
  if (status == TS_OK) status = tsi_matrix_write_rests(A, &canonical, NULL);
  if (status == TS_OK) {
    info.bytes_rest = A->info.bytes_rest;
    if (A->host_copy) replace_host_values(A, &canonical);
    A->info = info;
    A->norm_infinity = norm;
    A->changes++;
  }
  tsi_csr_free(context, &canonical);
  return status;
}

/* The pattern that the matrix was created with, or that of its host copy, which may have another order and
 * fewer entries. */
static int is_pattern_of(const ts_matrix *A, const ts_csr *csr) {
  const uint64_t fingerprint = tsi_csr_fingerprint(A->context, csr);
  if (fingerprint == A->fingerprint) return 1;
  const tsi_host_csr *copy = A->host_copy;
  if (!copy) return 0;
  return fingerprint == tsi_csr_fingerprint(A->context, &(ts_csr){.rows = copy->rows,
                                                                  .columns = copy->columns,
                                                                  .row_offsets = copy->row_offsets,
                                                                  .column_indices = copy->column_indices});
}

ts_status tsi_matrix_check_pattern(const ts_matrix *A, const ts_csr *csr) {
  if (is_pattern_of(A, csr)) return TS_OK;
  return tsi_fail(A->context, TS_ERROR_INCOMPATIBLE,
                  "the row offsets or column indices differ from those that the matrix was created with");
}

ts_status tsi_matrix_set_values_as_is(ts_matrix *A, const ts_csr *csr) {
  TSI_TRY(tsi_csr_validate(A->context, csr));
  TSI_TRY(tsi_matrix_check_pattern(A, csr));
  TSI_TRY(tsi_enter(A->context));
  return tsi_leave(A->context, tsi_matrix_set_values(A, csr));
}

static ts_status set_scaled_values(ts_matrix *A, const ts_csr *csr) {
  ts_context *context = A->context;
  const tsi_exponents exponents = tsi_csr_exponents(context, csr);
  const int exponent = A->may_scale ? tsi_scaling_exponent(exponents, TSI_ORDINARY_MATRIX) : 0;
  ts_csr scaled;
  void *memory;
  TSI_TRY(tsi_csr_scale(context, csr, exponent, &scaled, &memory));
  ts_status status = tsi_enter(context);
  if (status == TS_OK) status = tsi_leave(context, tsi_matrix_set_values(A, &scaled));
  if (status == TS_OK) A->exponent = exponent;
  if (status == TS_OK) A->loses_digits = A->may_scale && tsi_loses_digits(exponents, exponent);
  tsi_free(context, memory);
  return status;
}

ts_status ts_matrix_set_values(ts_matrix *matrix, const ts_csr *csr) {
  TSI_BEGIN(matrix, matrix->context);
  ts_context *context = matrix->context;
  TSI_REQUIRE(context, csr);
  if (matrix->stencil)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix is a stencil; ts_stencil_set_values replaces its values");
  if (matrix->all_rows)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "the matrix is made of the rows of ranks; ts_ranks_matrix_set_values replaces its values");
  if (csr->rows != matrix->info.rows || csr->columns != matrix->info.columns)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "the values are of a %d x %d matrix; this one is %d x %d",
                    csr->rows, csr->columns, matrix->info.rows, matrix->info.columns);
  TSI_TRY(tsi_csr_validate(context, csr));
  TSI_TRY(tsi_matrix_check_pattern(matrix, csr));
  tsi_begin_together(context);
  return tsi_end_together(context, set_scaled_values(matrix, csr));
}
