/* The values of a matrix, and their replacement. The low-order parts of doubles are in further matrices
 * (A->low) of the same layout. */
#include <math.h>
#include <string.h>

#include "common/core/core.h"
#include "csr.h"
#include "matrix_create.h"
#include "common/layout/layout_build.h"

/* ---- Values and low-order parts ---- */

tsi_layout_input tsi_matrix_layout_input(const ts_matrix *A, const tsi_host_csr *csr, tsi_blocks *blocks) {
  return (tsi_layout_input){.rows = &A->row_space->tiling,
                            .columns = &A->column_space->tiling,
                            .csr = csr,
                            .has_diagonal = A->has_diagonal,
                            .is_diagonal_full = A->info.zero_diagonal_row < 0,
                            .max_texture_size = A->context->caps.max_texture_size,
                            .blocks = blocks};
}

void tsi_matrix_destroy_low_parts(ts_matrix *A) {
  ts_matrix *low = A->low;
  if (!low) return;
  tsi_matrix_destroy_low_parts(low);
  low->kind->destroy(low);
  tsi_space_release(low->row_space);
  tsi_space_release(low->column_space);
  tsi_free(A->context, low);
  A->low = NULL;
}

static ts_status create_low_part(ts_matrix *A, const tsi_packed *packed) {
  ts_context *context = A->context;
  ts_matrix *low = tsi_calloc(context, 1, sizeof *low);
  if (!low) return tsi_out_of_memory(context, "a matrix", sizeof *low);
  *low = (ts_matrix){.context = context,
                     .row_space = A->row_space,
                     .column_space = A->column_space,
                     .has_diagonal = A->has_diagonal,
                     .layout = A->layout,
                     .whole = A->whole ? A->whole : A,
                     .info = A->info,
                     .norm_infinity = ldexp(A->norm_infinity, -24)};
  const size_t bytes = context->bytes_device;
  const ts_status status = context->ops->matrix_create(low, packed);
  if (status < 0) {
    tsi_free(context, low);
    return status;
  }
  low->info.bytes_device = context->bytes_device - bytes;
  tsi_space_retain(low->row_space);
  tsi_space_retain(low->column_space);
  A->low = low;
  return TS_OK;
}

/* No warning for digits that the largest entries would lose as doubles too. */
void tsi_matrix_warn_of_lost_digits(const ts_matrix *A, double lost) {
  if (lost > 0x1p-53 * A->norm_infinity)
    tsi_log(A->context, TS_LOG_LEVEL_WARNING,
            "values lose digits below the range of floats, up to %.2g compared with a largest row sum of %.2g: "
            "multiply the matrix by a power of two",
            lost, A->norm_infinity);
}

/* Writes values to `to`, which is A itself or its low-order part; creates that part if it is NULL. */
static ts_status write_values(ts_matrix *A, ts_matrix *to, const tsi_host_csr *values, tsi_blocks *blocks) {
  ts_context *context = A->context;
  const tsi_layout_input input = tsi_matrix_layout_input(A, values, blocks);
  tsi_packed packed = {0};
  ts_status status = tsi_layout_pack(context, A->layout, &input, &packed);
  if (status == TS_OK) status = to ? context->ops->matrix_write(to, &packed) : create_low_part(A, &packed);
  tsi_packed_free(context, &packed);
  return status;
}

ts_status tsi_matrix_write_low_part(ts_matrix *A, const tsi_host_csr *values) {
  return write_values(A, A->low, values, NULL);
}

ts_status tsi_matrix_write_values(ts_matrix *A, const tsi_host_csr *values) {
  return write_values(A, A, values, NULL);
}

static void count_low_order_bytes(ts_matrix *A) {
  A->info.bytes_low_order = 0;
  for (const ts_matrix *low = A->low; low; low = low->low) A->info.bytes_low_order += low->info.bytes_device;
}

ts_status tsi_matrix_write_low_parts(ts_matrix *A, const tsi_host_csr *csr, tsi_blocks *blocks) {
  ts_matrix *to = A;
  for (int p = 0; p < 2 && csr->low[p]; p++, to = to->low) {
    tsi_host_csr values = *csr;
    values.values = csr->low[p];
    TSI_TRY(write_values(to, to->low, &values, blocks));
  }
  tsi_matrix_destroy_low_parts(to);
  count_low_order_bytes(A);
  return TS_OK;
}

static ts_status fail_pattern(const ts_matrix *A, int32_t rows, int32_t columns) {
  const int is_of_ranks = A->all_rows > 0; /* its columns include the ghosts */
  if (!is_of_ranks && (rows != A->info.rows || columns != A->info.columns))
    return tsi_fail(A->context, TS_ERROR_INCOMPATIBLE,
                    "the values are of a %d x %d matrix; this one is %d x %d", rows, columns, A->info.rows,
                    A->info.columns);
  return tsi_fail(A->context, TS_ERROR_INCOMPATIBLE,
                  "the row offsets or column indices differ from those that the matrix was created with");
}

/* ---- Values already on the device ---- */

ts_status tsi_matrix_write_given_low_parts(ts_matrix *A, const tsi_given *given) {
  const tsi_host_csr none = {.rows = given->rows, .columns = given->columns};
  ts_matrix *to = A;
  for (int p = 1; p < given->parts; p++, to = to->low) {
    const tsi_packed packed = {.csr = &none, .given = given, .given_part = p};
    TSI_TRY(to->low ? A->context->ops->matrix_write(to->low, &packed) : create_low_part(to, &packed));
  }
  tsi_matrix_destroy_low_parts(to);
  count_low_order_bytes(A);
  return TS_OK;
}

void tsi_matrix_inform(ts_matrix *A, const tsi_given *given) {
  A->info.longest_row = given->longest_row;
  A->info.symmetric = given->rows == given->columns && given->unsymmetric_row < 0;
  A->info.unsymmetric_row = given->unsymmetric_row;
  A->info.unsymmetric_column = given->unsymmetric_column;
  A->info.zero_diagonal_row = given->zero_diagonal_row;
  A->info.negative_diagonal = given->negative_diagonal;
  A->norm_infinity = given->norm_infinity;
  A->exponent = given->exponent;
  A->negated = given->negated;
  A->loses_digits = A->may_scale && tsi_loses_digits(given->exponents, given->exponent);
}

static ts_status write_given(ts_matrix *A, const tsi_given *given) {
  const tsi_host_csr none = {.rows = given->rows, .columns = given->columns};
  const tsi_packed packed = {.csr = &none, .given = given};
  TSI_TRY(A->context->ops->matrix_write(A, &packed));
  TSI_TRY(tsi_matrix_write_given_low_parts(A, given));
  tsi_matrix_inform(A, given);
  A->changes++;
  return TS_OK;
}

/* The reason why new values have to be processed by the host; NULL: they need not. The device packs slices if
 * it has created them. */
static const char *needs_host(const ts_matrix *A, const ts_array *columns) {
  const ts_format format = A->layout ? A->layout->format : TS_FORMAT_AUTO;
  const int is_packed_there = format == TS_FORMAT_CSR || (format == TS_FORMAT_JAGGED && A->made_on_device);
  return A->host_copy                ? "the matrix has a host copy"
         : A->row_space->constrained ? "the matrix has constrained rows"
         : !is_packed_there          ? "the matrix is stored neither as csr nor as jagged"
         : columns->memory == TS_MEMORY_HOST && !A->made_on_device ? "the host has its pattern"
                                                                   : NULL;
}

/* Sets `done` unless the host has to do it. */
static ts_status replace_on_device(ts_matrix *A, const ts_csr *csr, const ts_triplets *triplets, int *done) {
  ts_context *context = A->context;
  const ts_array *columns = csr ? &csr->column_indices : &triplets->column_indices;
  tsi_given given;
  *done = 0;
  if (!context->device_ops->arrays) return TS_OK;
  TSI_TRY(tsi_matrix_convert_given(context, csr, triplets, needs_host(A, columns),
                                   tsi_given_options_of(A->precision, A->may_scale), &given));
  if (given.refusal) return TS_OK;
  const tsi_array_ops *ops = context->device_ops->arrays;
  TSI_TRY(tsi_enter(context));
  int same = given.rows == A->info.rows && given.columns == A->info.columns;
  ts_status status = same ? ops->has_pattern(A, &given, &same) : TS_OK;
  if (status == TS_OK && !same) status = fail_pattern(A, given.rows, given.columns);
  if (status == TS_OK) status = write_given(A, &given);
  ops->free_matrix(context, &given);
  *done = status == TS_OK;
  status = tsi_leave(context, status);
  return status == TS_OK ? tsi_matrix_find_facts(A, csr, given.in_order) : status;
}

/* ---- New values ---- */

/* A copy that was read back lacks entries that were 0, which may have other values now. Without memory for
 * another copy there is none: it can be read back again. */
static ts_status replace_host_copy(ts_matrix *A, const tsi_host_csr *csr) {
  tsi_matrix_drop_host_copy(A);
  A->copies++;
  const ts_status status = tsi_matrix_make_host_copy(A, csr, 0);
  if (status < 0) tsi_matrix_drop_host_copy(A);
  return status;
}

/* Works in place: the new values may be associated with the copy's own pattern, or be the copy's values. */
static ts_status replace_host_values(ts_matrix *A, const tsi_host_csr *csr) {
  const tsi_host_csr *copy = A->host_copy;
  if (!copy->owned && !copy->owns_values) return TS_OK; /* the copy is the matrix itself */
  if (copy->row_offsets[copy->rows] != csr->row_offsets[csr->rows]) return replace_host_copy(A, csr);
  const size_t bytes = (size_t)csr->row_offsets[csr->rows] * sizeof(float);
  if (csr->values)
    memmove(A->host_copy->values, csr->values, bytes);
  else
    memset(A->host_copy->values, 0, bytes);
  return TS_OK;
}

ts_status tsi_matrix_set_values(ts_matrix *A, const tsi_csr *csr, const tsi_csr_facts *facts) {
  ts_context *context = A->context;
  const unsigned char *constrained = A->row_space->constrained;
  tsi_host_csr canonical;
  int64_t duplicates;
  TSI_TRY(tsi_csr_canonical(context, csr, constrained, facts, tsi_csr_low_parts(A->precision), &canonical,
                            &duplicates));
  ts_matrix_info info = A->info;
  double norm;
  ts_status status = tsi_csr_inspect(context, &canonical, constrained, facts, &info, &norm);
  if (status == TS_OK) status = tsi_poll(context);
  if (status == TS_OK) status = tsi_matrix_write_values(A, &canonical);
  if (status == TS_OK) status = tsi_poll(context);
  if (status == TS_OK) status = tsi_matrix_write_low_parts(A, &canonical, NULL);
  if (status == TS_OK) {
    info.bytes_low_order = A->info.bytes_low_order;
    A->info = info;
    A->norm_infinity = norm;
    A->changes++;
    if (A->host_copy) status = replace_host_values(A, &canonical);
  }
  tsi_csr_free(context, &canonical);
  return status;
}

static int have_same_pattern(const tsi_host_csr *a, const tsi_host_csr *b) {
  const size_t rows = (size_t)a->rows, entries = (size_t)a->row_offsets[rows];
  return a->row_offsets[rows] == b->row_offsets[rows] &&
         !memcmp(a->row_offsets, b->row_offsets, (rows + 1) * sizeof *a->row_offsets) &&
         !memcmp(a->column_indices, b->column_indices, entries * sizeof *a->column_indices);
}

/* Compares in canonical form, which is the form on the device. */
static ts_status compare_with_device(const ts_matrix *A, const tsi_csr *csr, int *same) {
  ts_context *context = A->context;
  const tsi_csr pattern = {csr->rows, csr->columns, csr->row_offsets, csr->column_indices, NULL, NULL};
  tsi_host_csr canonical, stored = {0};
  tsi_packed packed = {0};
  int64_t duplicates;
  TSI_TRY(tsi_csr_canonical(context, &pattern, NULL, NULL, 0, &canonical, &duplicates));
  ts_status status = tsi_enter(context);
  if (status == TS_OK) status = tsi_leave(context, context->ops->matrix_read(A, &packed, &stored));
  context->host_synchronisations++;
  *same = status == TS_OK && have_same_pattern(&stored, &canonical);
  tsi_csr_free(context, &stored);
  tsi_csr_free(context, &canonical);
  return status;
}

/* Compares with the pattern at creation and with that of the host copy, which may have another order and fewer
 * entries. */
static int is_pattern_of(const ts_matrix *A, uint64_t fingerprint) {
  if (fingerprint == A->fingerprint) return 1;
  const tsi_host_csr *copy = A->host_copy;
  if (!copy) return 0;
  return fingerprint == tsi_csr_fingerprint(A->context, &(tsi_csr){.rows = copy->rows,
                                                                   .columns = copy->columns,
                                                                   .row_offsets = copy->row_offsets,
                                                                   .column_indices = copy->column_indices});
}

ts_status tsi_matrix_check_pattern(const ts_matrix *A, const tsi_csr *csr, const tsi_csr_facts *facts) {
  int same = 0;
  if (A->made_on_device)
    TSI_TRY(compare_with_device(A, csr, &same));
  else
    same = is_pattern_of(A, facts->fingerprint);
  return same ? TS_OK : fail_pattern(A, csr->rows, csr->columns);
}

ts_status tsi_matrix_set_values_as_is(ts_matrix *A, const tsi_csr *csr) {
  tsi_csr_facts facts;
  TSI_TRY(tsi_csr_look(A->context, csr, A->row_space->constrained, &facts));
  TSI_TRY(tsi_matrix_check_pattern(A, csr, &facts));
  TSI_TRY(tsi_enter(A->context));
  return tsi_leave(A->context, tsi_matrix_set_values(A, csr, &facts));
}

ts_status tsi_matrix_set_values_unchecked(ts_matrix *A, const tsi_csr *csr) {
  const tsi_host_csr values = {.rows = csr->rows,
                               .columns = csr->columns,
                               .row_offsets = (int32_t *)csr->row_offsets,
                               .column_indices = (int32_t *)csr->column_indices,
                               .values = (float *)csr->values};
  double norm;
  TSI_TRY(tsi_csr_norm(A->context, &values, &norm));
  TSI_TRY(tsi_enter(A->context));
  TSI_TRY(tsi_leave(A->context, tsi_matrix_write_values(A, &values)));
  A->norm_infinity = norm;
  A->changes++;
  return TS_OK;
}

static ts_status set_scaled_values(ts_matrix *A, const tsi_csr *csr, const tsi_csr_facts *given) {
  ts_context *context = A->context;
  const tsi_exponents exponents = given->exponents;
  tsi_csr_facts facts = *given;
  const int exponent = A->may_scale ? tsi_scaling_exponent(exponents, TSI_ORDINARY_MATRIX) : 0;
  tsi_csr scaled;
  void *memory;
  const int negated = A->may_scale && !A->row_space->constrained && given->is_negative;
  TSI_TRY(tsi_csr_scale(context, csr, exponent, negated, &scaled, &memory));
  ts_status status = memory ? tsi_csr_look(context, &scaled, A->row_space->constrained, &facts) : TS_OK;
  if (status == TS_OK) status = tsi_enter(context);
  if (status == TS_OK) status = tsi_leave(context, tsi_matrix_set_values(A, &scaled, &facts));
  if (status == TS_OK) A->exponent = exponent, A->negated = negated;
  if (status == TS_OK) A->loses_digits = A->may_scale && tsi_loses_digits(exponents, exponent);
  tsi_free(context, memory);
  return status;
}

static ts_status replace(ts_matrix *A, const tsi_csr *csr) {
  if (csr->rows != A->info.rows || csr->columns != A->info.columns)
    return fail_pattern(A, csr->rows, csr->columns);
  tsi_csr_facts facts;
  TSI_TRY(tsi_csr_look(A->context, csr, A->row_space->constrained, &facts));
  TSI_TRY(tsi_matrix_check_pattern(A, csr, &facts));
  return set_scaled_values(A, csr, &facts);
}

ts_status tsi_matrix_replace_values(ts_matrix *A, const tsi_csr *csr) {
  tsi_begin_together(A->context);
  return tsi_end_together(A->context, replace(A, csr));
}

static ts_status replace_given(ts_matrix *A, const ts_csr *csr, const ts_triplets *triplets) {
  ts_context *context = A->context;
  if (A->stencil)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix is a stencil; ts_stencil_set_values replaces its values");
  if (A->function)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix is an operator; call ts_operator_update when its function has changed");
  if (A->all_rows)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "the matrix is made of the rows of ranks; ts_ranks_matrix_set_values replaces its values");
  int done;
  TSI_TRY(replace_on_device(A, csr, triplets, &done));
  if (done) return TS_OK;
  tsi_loans loans = {0};
  tsi_csr host;
  ts_status status =
      csr ? tsi_csr_given(context, csr, &loans, &host) : tsi_triplets_given(context, triplets, &loans, &host);
  if (status == TS_OK) status = tsi_matrix_replace_values(A, &host);
  tsi_loans_free(context, &loans);
  return status;
}

ts_status ts_matrix_set_values(ts_matrix *matrix, const ts_csr *csr) {
  TSI_BEGIN(matrix, matrix->context);
  TSI_REQUIRE(matrix->context, csr);
  return replace_given(matrix, csr, NULL);
}

ts_status ts_matrix_set_triplets(ts_matrix *matrix, const ts_triplets *triplets) {
  TSI_BEGIN(matrix, matrix->context);
  TSI_REQUIRE(matrix->context, triplets);
  return replace_given(matrix, NULL, triplets);
}
