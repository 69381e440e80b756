/* Matrices: validate, choose spaces, lay out, pack, upload. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/core/core.h"
#include "csr.h"
#include "common/layout/layout_build.h"
#include "common/grid/stencil.h"

/* ---- Validation ---- */

/* `indices`: of the space, those that the dimension may have. */
static ts_status check_space(ts_context *context, const ts_space *space, const char *name, int32_t indices,
                             int32_t size, const char *dimension, ts_format format) {
  if (!space) return TS_OK;
  if (space->context != context)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "%s belongs to another context", name);
  if (space->grid.width)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "%s is a grid, over which ts_stencil_create makes matrices and ts_matrix_create none",
                    name);
  if (indices != size)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "%s has %d indices; the matrix has %d %s", name, indices,
                    size, dimension);
  if (!space->tiling.linear && space->tiling.log2_block != tsi_format_log2_block(format))
    return tsi_fail(
        context, TS_ERROR_INCOMPATIBLE,
        "%s has %d indices a texel, and a matrix as %s needs %d: spaces of matrices in blocks serve only "
        "matrices in blocks of that size",
        name, 1 << space->tiling.log2_block, ts_format_name(format), 1 << tsi_format_log2_block(format));
  return TS_OK;
}

static ts_status validate(ts_context *context, const ts_matrix_desc *desc) {
  TSI_TRY(tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved));
  TSI_TRY(tsi_check_precision(context, desc->precision));
  TSI_TRY(tsi_csr_validate(context, &desc->csr));
  const char *name = ts_format_name(desc->format);
  if (!name)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "format is %d, which is no ts_format", desc->format);
  if (desc->format == TS_FORMAT_STENCIL)
    return tsi_fail(
        context, TS_ERROR_UNSUPPORTED,
        "format is stencil, which ts_stencil_create makes over a grid and ts_matrix_create does not");
  if (desc->format != TS_FORMAT_AUTO && !(context->caps.formats & 1u << desc->format)) {
    char known[64] = "";
    for (int f = 1; ts_format_name((ts_format)f); f++)
      if (context->caps.formats & 1u << f) {
        if (known[0]) strcat(known, ", ");
        strcat(known, ts_format_name((ts_format)f));
      }
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "backend %s does not store matrices as %s; it has %s",
                    context->backend_name, name, known);
  }
  if (desc->constrained) {
    if (desc->csr.rows != desc->csr.columns)
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "constrained is set and the matrix is %d x %d, not square", desc->csr.rows,
                      desc->csr.columns);
    if (desc->row_space)
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "constrained and row_space are both set; a row space has constrained rows of its own");
  }
  if (desc->components < 0 || desc->components > 4)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "components is %d; it goes from 1 to 4, or 0 where it is not known", desc->components);
  const ts_space *rows = desc->row_space, *columns = desc->column_space;
  TSI_TRY(check_space(context, rows, "row_space", rows ? rows->tiling.size : 0, desc->csr.rows, "rows",
                      desc->format));
  return check_space(context, columns, "column_space", columns ? tsi_columns_of(columns) : 0, desc->csr.columns,
                     "columns", desc->format);
}

/* ---- Spaces ---- */

/* Entries of every row apart from the diagonal, which sorts the rows. */
static ts_status row_lengths(ts_context *context, const tsi_host_csr *A, int without_diagonal,
                             int32_t **lengths) {
  *lengths = tsi_malloc(context, (size_t)A->rows, sizeof **lengths);
  if (!*lengths) return tsi_out_of_memory(context, "row lengths", (size_t)A->rows * sizeof **lengths);
  const tsi_layout_input input = {.csr = A, .has_diagonal = without_diagonal};
  for (int32_t i = 0; i < A->rows; i++) (*lengths)[i] = tsi_row_length(&input, i);
  return TS_OK;
}

/* `entries` is what is sorted and laid out: the matrix, or its blocks. */
static ts_status make_row_space(ts_matrix *A, const ts_matrix_desc *desc, const tsi_host_csr *entries) {
  ts_context *context = A->context;
  const int log2_block = tsi_format_log2_block(A->info.format);
  int32_t *lengths = NULL;
  if (!context->caps.linear_spaces)
    TSI_TRY(row_lengths(context, entries, A->info.rows == A->info.columns && !desc->column_space, &lengths));
  tsi_tiling tiling;
  const ts_status status =
      tsi_tiling_create_blocks(context, A->info.rows, log2_block, lengths, desc->constrained, &tiling);
  tsi_free(context, lengths);
  if (status < 0) return status;
  return tsi_space_create(context, &tiling, desc->constrained, &A->row_space);
}

static ts_status make_spaces(ts_matrix *A, const ts_matrix_desc *desc, const tsi_host_csr *entries) {
  const ts_matrix_info *info = &A->info;
  if (desc->row_space) {
    A->row_space = desc->row_space;
    tsi_space_retain(A->row_space);
  } else {
    TSI_TRY(make_row_space(A, desc, entries));
  }
  if (desc->column_space) {
    A->column_space = desc->column_space;
    tsi_space_retain(A->column_space);
  } else if (info->rows == info->columns) {
    A->column_space = A->row_space;
    tsi_space_retain(A->column_space);
  } else {
    tsi_tiling tiling;
    TSI_TRY(tsi_tiling_create_blocks(A->context, info->columns, tsi_format_log2_block(info->format), NULL, NULL,
                                     &tiling));
    TSI_TRY(tsi_space_create(A->context, &tiling, NULL, &A->column_space));
  }
  A->has_diagonal = A->row_space == A->column_space;
  return TS_OK;
}

/* ---- Creation ---- */

static tsi_layout_input layout_input(const ts_matrix *A, const tsi_host_csr *csr) {
  return (tsi_layout_input){.rows = &A->row_space->tiling,
                            .columns = &A->column_space->tiling,
                            .csr = csr,
                            .has_diagonal = A->has_diagonal,
                            .max_texture_size = A->context->caps.max_texture_size};
}

static ts_status keep_host_copy(ts_matrix *A, const tsi_host_csr *csr) {
  const ts_csr view = {.rows = csr->rows,
                       .columns = csr->columns,
                       .row_offsets = csr->row_offsets,
                       .column_indices = csr->column_indices,
                       .values = csr->values};
  const size_t entries = (size_t)csr->row_offsets[csr->rows];
  int64_t duplicates;
  A->host_copy = tsi_calloc(A->context, 1, sizeof *A->host_copy);
  if (!A->host_copy) return tsi_out_of_memory(A->context, "the host copy", sizeof *A->host_copy);
  TSI_TRY(tsi_csr_canonical(A->context, &view, NULL, TSI_CSR_COPY, A->host_copy, &duplicates));
  if (!csr->values) A->host_copy->values = tsi_calloc(A->context, entries, sizeof(float));
  if (A->host_copy->values) return TS_OK;
  return tsi_out_of_memory(A->context, "the values of the host copy", entries * sizeof(float));
}

/* In place: the new values may lie beside the copy's own pattern, or be the copy's own values. */
static void replace_host_values(ts_matrix *A, const tsi_host_csr *csr) {
  const size_t bytes = (size_t)csr->row_offsets[csr->rows] * sizeof(float);
  if (csr->values)
    memmove(A->host_copy->values, csr->values, bytes);
  else
    memset(A->host_copy->values, 0, bytes);
}

/* ---- What floats lack of doubles ---- */

static unsigned rests_flag(ts_precision precision) {
  return precision == TS_PRECISION_SINGLE ? 0 : TSI_CSR_RESTS;
}

static void destroy_rest(ts_matrix *A) {
  ts_matrix *rest = A->rest;
  if (!rest) return;
  destroy_rest(rest);
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
static void warn_of_lost_digits(const ts_matrix *A, const tsi_host_csr *csr) {
  if (csr->lost > 0x1p-53 * A->norm_infinity)
    tsi_log(A->context, TS_LOG_WARNING,
            "values lose digits below the range of floats, up to %.2g beside a largest row sum of %.2g: "
            "multiply the "
            "matrix by a power of two",
            csr->lost, A->norm_infinity);
}

/* Makes A's rest have these values; it is created where there is none. */
static ts_status write_rest(ts_matrix *A, const tsi_host_csr *values, tsi_blocks *blocks) {
  ts_context *context = A->context;
  tsi_layout_input input = layout_input(A, values);
  if (blocks) input.blocks = blocks;
  tsi_packed packed = {0};
  ts_status status = tsi_layout_pack(context, A->layout, &input, &packed);
  if (status == TS_OK)
    status = A->rest ? context->ops->matrix_write(A->rest, &packed) : create_rest(A, &packed);
  tsi_packed_free(context, &packed);
  return status;
}

ts_status tsi_matrix_write_rest(ts_matrix *A, const tsi_host_csr *values) {
  return write_rest(A, values, NULL);
}

ts_status tsi_matrix_write_values(ts_matrix *A, const tsi_host_csr *values) {
  const tsi_layout_input input = layout_input(A, values);
  tsi_packed packed = {0};
  ts_status status = tsi_layout_pack(A->context, A->layout, &input, &packed);
  if (status == TS_OK) status = A->context->ops->matrix_write(A, &packed);
  tsi_packed_free(A->context, &packed);
  return status;
}

/* Makes A's rests those of `csr`. */
static ts_status write_rests(ts_matrix *A, const tsi_host_csr *csr, tsi_blocks *blocks) {
  ts_matrix *to = A;
  for (int p = 0; p < 2 && csr->rests[p]; p++, to = to->rest) {
    tsi_host_csr values = *csr;
    values.values = csr->rests[p];
    TSI_TRY(write_rest(to, &values, blocks));
  }
  destroy_rest(to);
  A->info.bytes_rest = 0;
  for (const ts_matrix *rest = A->rest; rest; rest = rest->rest) A->info.bytes_rest += rest->info.bytes_device;
  return TS_OK;
}

/* What the descriptor says of the vectors. Spaces that are there already have no blocks, or blocks of one size.
 */
static int blocks_to_consider(const ts_context *context, const ts_matrix_desc *desc) {
  const int given = !context->caps.linear_spaces && (desc->row_space || desc->column_space);
  if (!desc->components || given) return TSI_LINEAR_BLOCKS;
  return desc->components == 1 ? TSI_ONE_COMPONENT : TSI_SEVERAL_COMPONENTS;
}

/* Everything between a valid descriptor and a finished matrix; on failure the caller releases what there is. */
static ts_status build(ts_matrix *A, const ts_matrix_desc *desc) {
  ts_context *context = A->context;
  ts_matrix_info *info = &A->info;
  ts_format format = desc->format;
  const double start = tsi_seconds();
  tsi_host_csr csr;
  const unsigned char *constrained = desc->row_space ? desc->row_space->constrained : desc->constrained;
  TSI_TRY(tsi_csr_canonical(context, &desc->csr, constrained, rests_flag(desc->precision), &csr,
                            &info->duplicates));

  info->rows = csr.rows;
  info->columns = csr.columns;
  info->nonzeros = csr.row_offsets[csr.rows];
  info->parts = 1;
  if (format == TS_FORMAT_AUTO)
    format =
        tsi_format_choose(context, &csr, blocks_to_consider(context, desc), info->choice, sizeof info->choice);
  else
    snprintf(info->choice, sizeof info->choice, "%s: asked for", ts_format_name(format));
  info->format = format;
  for (int32_t i = 0; i < csr.rows; i++) {
    const int32_t length = csr.row_offsets[i + 1] - csr.row_offsets[i];
    if (length > info->longest_row) info->longest_row = length;
  }
  A->fingerprint = tsi_csr_fingerprint(context, &desc->csr);
  A->precision = desc->precision;

  tsi_packed packed = {0};
  tsi_blocks blocks = {0};
  const int log2_block = tsi_format_log2_block(format);
  ts_status status = tsi_csr_inspect(context, &csr, constrained, info, &A->norm_infinity);
  if (status == TS_OK && log2_block) status = tsi_blocks_create(context, &csr, log2_block, &blocks);
  if (status == TS_OK) {
    const tsi_host_csr entries = log2_block ? tsi_blocks_as_csr(&blocks, &csr) : csr;
    status = make_spaces(A, desc, &entries);
  }
  if (status == TS_OK) {
    tsi_layout_input input = layout_input(A, &csr);
    input.blocks = &blocks;
    status = tsi_layout_create(context, format, &input, &A->layout, info);
    if (status == TS_OK) status = tsi_layout_pack(context, A->layout, &input, &packed);
  }
  if (status == TS_OK) {
    for (int32_t i = 0; A->row_space->constrained && i < csr.rows; i++)
      info->constrained_rows += A->row_space->constrained[i] != 0;
    info->seconds_layout = tsi_seconds() - start;
    const size_t bytes_before = context->bytes_device;
    status = context->ops->matrix_create(A, &packed);
    info->bytes_device = context->bytes_device - bytes_before;
    info->seconds_upload = tsi_seconds() - start - info->seconds_layout;
  }
  tsi_packed_free(context, &packed);
  if (status == TS_OK) {
    warn_of_lost_digits(A, &csr);
    status = write_rests(A, &csr, &blocks);
    if (status == TS_OK && desc->keep_host_copy) status = keep_host_copy(A, &csr);
    if (status < 0) {
      destroy_rest(A);
      A->kind->destroy(A);
    }
  }
  tsi_blocks_free(context, &blocks);
  tsi_csr_free(context, &csr);
  return status;
}

static void release_parts(ts_matrix *A) {
  ts_context *context = A->context;
  tsi_stencil_destroy(context, A->stencil);
  tsi_vector_destroy(A->rest_product);
  if (A->host_copy) tsi_csr_free(context, A->host_copy);
  tsi_free(context, A->host_copy);
  if (A->host_ghosts) tsi_csr_free(context, A->host_ghosts);
  tsi_free(context, A->host_ghosts);
  tsi_layout_destroy(context, A->layout);
  tsi_space_release(A->row_space);
  tsi_space_release(A->column_space);
  tsi_free(context, A);
}

static ts_status create(ts_context *context, const ts_matrix_desc *desc, ts_matrix **matrix) {
  TSI_TRY(validate(context, desc));
  ts_matrix *A = tsi_calloc(context, 1, sizeof *A);
  if (!A) return tsi_out_of_memory(context, "a matrix", sizeof *A);
  A->context = context;
  A->references = 1;
  ts_status status = tsi_enter(context);
  if (status == TS_OK) {
    status = build(A, desc);
    if (status < 0) release_parts(A);
    tsi_leave(context, status);
  } else {
    tsi_free(context, A);
  }
  if (status < 0) return status;
  *matrix = A;
  const ts_matrix_info *info = &A->info;
  if (info->duplicates)
    tsi_log(context, TS_LOG_WARNING, "%lld duplicate entries of the matrix were added up",
            (long long)info->duplicates);
  tsi_log(context, TS_LOG_INFO,
          "matrix %d x %d, %lld nonzeros as %s: %lld entries stored, %zu bytes, layout %.3f s", info->rows,
          info->columns, (long long)info->nonzeros, ts_format_name(info->format),
          (long long)info->stored_entries, info->bytes_device, info->seconds_layout);
  return TS_OK;
}

ts_status ts_matrix_create(ts_context *context, const ts_matrix_desc *desc, ts_matrix **matrix) {
  TSI_BEGIN(context, context);
  TSI_REQUIRE(context, matrix);
  *matrix = NULL;
  TSI_REQUIRE(context, desc);
  tsi_begin_together(context);
  const ts_status status = tsi_end_together(context, create(context, desc, matrix));
  if (status < 0) ts_matrix_destroy(matrix);
  return status;
}

ts_status tsi_matrix_adopt(ts_context *context, const tsi_device_csr *csr, const tsi_matrix_kind *kind,
                           void *impl, ts_matrix **matrix) {
  ts_matrix *A = tsi_calloc(context, 1, sizeof *A);
  if (!A) return tsi_out_of_memory(context, "a matrix", sizeof *A);
  *A = (ts_matrix){.context = context, .kind = kind, .references = 1, .device_values = 1};
  A->info = (ts_matrix_info){.rows = csr->rows,
                             .columns = csr->columns,
                             .nonzeros = csr->entries,
                             .stored_entries = csr->entries,
                             .bytes_device = csr->bytes,
                             .format = TS_FORMAT_CSR,
                             .fill_ratio = 1,
                             .parts = 1,
                             .unsymmetric_row = -1,
                             .unsymmetric_column = -1,
                             .zero_diagonal_row = -1};
  const ts_matrix_desc desc = {.row_space = csr->row_space, .column_space = csr->column_space};
  const tsi_host_csr none = {0}; /* of a linear space the size tells all */
  A->layout = tsi_calloc(context, 1, sizeof *A->layout);
  const ts_status status =
      A->layout ? make_spaces(A, &desc, &none) : tsi_out_of_memory(context, "a layout", sizeof *A->layout);
  if (status < 0) {
    release_parts(A);
    return status;
  }
  A->layout->format = TS_FORMAT_CSR;
  A->impl = impl;
  *matrix = A;
  return TS_OK;
}

void tsi_matrix_release(ts_matrix *A) {
  if (--A->references > 0) return;
  destroy_rest(A);
  A->kind->destroy(A);
  release_parts(A);
}

void ts_matrix_destroy(ts_matrix **matrix) {
  if (!matrix || !*matrix) return;
  ts_context *context = (*matrix)->context;
  tsi_enter_to_destroy(context);
  tsi_matrix_release(*matrix);
  tsi_leave(context, TS_OK);
  *matrix = NULL;
}

/* ---- New values ---- */

ts_status tsi_matrix_set_values(ts_matrix *A, const ts_csr *csr) {
  ts_context *context = A->context;
  const unsigned char *constrained = A->row_space->constrained;
  tsi_host_csr canonical;
  int64_t duplicates;
  TSI_TRY(tsi_csr_canonical(context, csr, constrained, rests_flag(A->precision), &canonical, &duplicates));
  ts_matrix_info info = A->info;
  double norm;
  ts_status status = tsi_csr_inspect(context, &canonical, constrained, &info, &norm);
  if (status == TS_OK) status = tsi_matrix_write_values(A, &canonical);
  if (status == TS_OK) {
    warn_of_lost_digits(A, &canonical);
    status = write_rests(A, &canonical, NULL);
  }
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
  ts_status status = tsi_enter(context);
  if (status == TS_OK) status = tsi_leave(context, tsi_matrix_set_values(matrix, csr));
  return tsi_end_together(context, status);
}

/* ---- Queries ---- */

ts_space *ts_matrix_row_space(const ts_matrix *matrix) {
  return matrix ? matrix->row_space : NULL;
}
ts_space *ts_matrix_column_space(const ts_matrix *matrix) {
  return matrix ? matrix->column_space : NULL;
}

ts_status ts_matrix_get_info(const ts_matrix *matrix, ts_matrix_info *info) {
  TSI_BEGIN(matrix, matrix->context);
  TSI_REQUIRE(matrix->context, info);
  *info = matrix->info;
  return TS_OK;
}

ts_status ts_matrix_host_copy(const ts_matrix *matrix, ts_csr *csr) {
  TSI_BEGIN(matrix, matrix->context);
  TSI_REQUIRE(matrix->context, csr);
  if (matrix->stencil)
    return tsi_fail(matrix->context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix is a stencil; ts_stencil_read reads its values");
  if (!matrix->host_copy)
    return tsi_fail(matrix->context, TS_ERROR_INVALID_ARGUMENT,
                    "the matrix has no host copy; create it with keep_host_copy");
  const tsi_host_csr *A = matrix->host_copy;
  *csr = (ts_csr){.rows = A->rows,
                  .columns = A->columns,
                  .row_offsets = A->row_offsets,
                  .column_indices = A->column_indices,
                  .values = A->values};
  return TS_OK;
}

/* ---- With all parts ---- */

/* A vector for the product of A's rest, with as many components. */
static ts_status take_rest_product(ts_matrix *A, int components) {
  if (A->rest_product && A->rest_product->components == components) return TS_OK;
  tsi_vector_destroy(A->rest_product);
  A->rest_product = NULL;
  return tsi_arena_create(A->row_space, components, 1, &A->rest_product, 1, 0, NULL);
}

ts_status tsi_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  TSI_TRY(A->kind->spmv(y, A, x));
  if (!y->low || !A->rest) return TS_OK;
  const ts_vector high = tsi_first_part(x);
  TSI_TRY(take_rest_product((ts_matrix *)A, y->components));
  TSI_TRY(A->rest->kind->spmv(A->rest_product, A->rest, &high));
  return y->context->ops->axpby(y, ts_constant(1), y, ts_constant(1), A->rest_product);
}

/* r is the small difference of what is subtracted first; then its rounding is smaller than all that follows.
 * The products of the smallest parts with each other are left out. b's second part comes before the last
 * product, which makes rows without an equation 0, of a stencil too. */
ts_status tsi_residual_of_parts(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x,
                                int parts) {
  const tsi_ops *ops = r->context->ops;
  const ts_vector *from = b;
  ts_vector low, pair = *r; /* without a third part, which nothing writes */
  if (r->low) {
    low = tsi_first_part(r->low);
    pair.low = &low;
  }
  int depth = 0;
  for (const ts_matrix *part = A; part; part = part->rest, depth++) {
    int order = depth;
    for (const ts_vector *v = x; v && order < parts; v = v->low, order++) {
      const ts_vector one = tsi_first_part(v);
      TSI_TRY(part->kind->residual(&pair, from, part, &one));
      if (from == b && !r->low && b->low) {
        low = tsi_first_part(b->low);
        TSI_TRY(ops->axpby(r, ts_constant(1), r, ts_constant(1), &low));
      }
      from = &pair;
    }
  }
  const int last = !x->low && !A->rest && !r->low && b->low;
  return last && A->row_space->constrained ? ops->zero_constrained(r, r) : TS_OK;
}

ts_status tsi_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  return tsi_residual_of_parts(r, b, A, x, 3);
}

/* ---- Operations ---- */

static ts_status check_operand(const char *function, const ts_matrix *A, const ts_vector *v, const char *name,
                               const ts_space *space, const char *side) {
  if (v->context != A->context)
    return tsi_fail(A->context, TS_ERROR_INCOMPATIBLE, "%s: %s and the matrix belong to different contexts",
                    function, name);
  if (v->space != space)
    return tsi_fail(
        A->context, TS_ERROR_INCOMPATIBLE,
        "%s: %s is not over the matrix's %s space (sizes %d and %d); create it over ts_matrix_%s_space",
        function, name, side, v->space->tiling.size, space->tiling.size, side);
  return TS_OK;
}

static ts_status check_components(const char *function, const ts_vector *a, const char *a_name,
                                  const ts_vector *b, const char *b_name) {
  if (a->components != b->components)
    return tsi_fail(a->context, TS_ERROR_INCOMPATIBLE, "%s: %s has %d components and %s has %d", function,
                    a_name, a->components, b_name, b->components);
  return TS_OK;
}

ts_status ts_matrix_multiply(ts_vector *y, const ts_matrix *matrix, const ts_vector *x) {
  TSI_REQUIRE(NULL, matrix);
  ts_context *context = matrix->context;
  TSI_REQUIRE(context, y);
  TSI_REQUIRE(context, x);
  TSI_TRY(check_operand(__func__, matrix, y, "y", matrix->row_space, "row"));
  TSI_TRY(check_operand(__func__, matrix, x, "x", matrix->column_space, "column"));
  TSI_TRY(check_components(__func__, y, "y", x, "x"));
  if (x == y) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s: y and x are the same vector", __func__);
  TSI_TRY(tsi_enter(context));
  return tsi_leave_computed(y, tsi_spmv(y, matrix, x));
}

ts_status ts_matrix_residual(ts_vector *r, const ts_vector *b, const ts_matrix *matrix, const ts_vector *x) {
  TSI_REQUIRE(NULL, matrix);
  ts_context *context = matrix->context;
  TSI_REQUIRE(context, r);
  TSI_REQUIRE(context, b);
  TSI_REQUIRE(context, x);
  TSI_TRY(check_operand(__func__, matrix, r, "r", matrix->row_space, "row"));
  TSI_TRY(check_operand(__func__, matrix, b, "b", matrix->row_space, "row"));
  TSI_TRY(check_operand(__func__, matrix, x, "x", matrix->column_space, "column"));
  TSI_TRY(check_components(__func__, r, "r", x, "x"));
  TSI_TRY(check_components(__func__, b, "b", x, "x"));
  if (x == r) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s: r and x are the same vector", __func__);
  TSI_TRY(tsi_enter(context));
  return tsi_leave_computed(r, tsi_residual(r, b, matrix, x));
}

ts_status ts_matrix_diagonal(ts_vector *d, const ts_matrix *matrix) {
  TSI_REQUIRE(NULL, matrix);
  ts_context *context = matrix->context;
  TSI_REQUIRE(context, d);
  if (!matrix->has_diagonal)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "%s: the matrix is %d x %d with row and column spaces of their own, so it has no diagonal",
                    __func__, matrix->info.rows, matrix->info.columns);
  TSI_TRY(check_operand(__func__, matrix, d, "d", matrix->row_space, "row"));
  TSI_TRY(tsi_enter(context));
  const ts_status status = tsi_diagonal(d, matrix);
  return tsi_leave(context, status == TS_OK ? tsi_clear_low(d) : status);
}
