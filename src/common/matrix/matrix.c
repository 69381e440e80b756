/* Creation of matrices: validation, spaces, layout, packing, upload. matrix_values.c handles their values,
 * matrix_copy.c their copies on the host, and matrix_product.c their products. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/core/core.h"
#include "csr.h"
#include "matrix_create.h"
#include "operator.h"
#include "transposed.h"
#include "common/layout/layout_build.h"
#include "common/grid/stencil.h"
#include "common/precond/preconditioner.h"

/* ---- Validation ---- */

/* `indices` is the number of indices of the space that the dimension may have. */
static ts_status check_space(ts_context *context, const ts_space *space, const char *name, int32_t indices,
                             int32_t size, const char *dimension, ts_format format) {
  if (!space) return TS_OK;
  if (space->context != context)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "%s belongs to another context", name);
  if (space->grid.width)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "%s is a grid; create matrices over it with ts_stencil_create", name);
  if (indices != size)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "%s has %d indices; the matrix has %d %s", name, indices,
                    size, dimension);
  if (!space->tiling.linear && space->tiling.log2_block != tsi_format_log2_block(format))
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE,
                    "%s has %d indices per texel, and a matrix as %s needs %d: the space of a block format "
                    "only serves matrices with blocks of that size",
                    name, 1 << space->tiling.log2_block, ts_format_name(format),
                    1 << tsi_format_log2_block(format));
  return TS_OK;
}

ts_status tsi_matrix_desc_validate(ts_context *context, const tsi_matrix_desc *desc) {
  TSI_TRY(tsi_check_precision(context, desc->precision));
  const char *name = ts_format_name(desc->format);
  if (!name) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "format is %d, not a ts_format", desc->format);
  if (desc->format == TS_FORMAT_STENCIL)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "format is stencil; create stencils over a grid with ts_stencil_create");
  if (desc->format == TS_FORMAT_OPERATOR)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "format is operator; create operators with ts_operator_create");
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
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "components is %d; it must be 1 to 4, or 0 if unknown",
                    desc->components);
  const ts_space *rows = desc->row_space, *columns = desc->column_space;
  TSI_TRY(check_space(context, rows, "row_space", rows ? rows->tiling.size : 0, desc->csr.rows, "rows",
                      desc->format));
  return check_space(context, columns, "column_space", columns ? tsi_columns_of(columns) : 0, desc->csr.columns,
                     "columns", desc->format);
}

static const unsigned char *constrained_of(const tsi_matrix_desc *desc) {
  return desc->row_space ? desc->row_space->constrained : desc->constrained;
}

static ts_status matrix_validate(ts_context *context, const tsi_matrix_desc *desc, tsi_csr_facts *facts) {
  TSI_TRY(tsi_csr_look(context, &desc->csr, constrained_of(desc), facts));
  return tsi_matrix_desc_validate(context, desc);
}

/* ---- Spaces ---- */

/* Counts the entries of every row, which sort the rows, without the diagonal of a square matrix. */
static ts_status row_lengths(const ts_matrix *A, const tsi_matrix_desc *desc, const tsi_host_csr *entries,
                             int32_t **lengths) {
  const tsi_layout_input input = {.csr = entries,
                                  .has_diagonal = A->info.rows == A->info.columns && !desc->column_space,
                                  .is_diagonal_full = A->info.zero_diagonal_row < 0};
  return tsi_measure_rows(A->context, &input, NULL, entries->rows, lengths);
}

/* `entries` is the matrix that is sorted and laid out: A, or its blocks. */
static ts_status make_row_space(ts_matrix *A, const tsi_matrix_desc *desc, const tsi_host_csr *entries) {
  ts_context *context = A->context;
  const int log2_block = tsi_format_log2_block(A->info.format);
  int32_t *lengths = NULL;
  if (!context->caps.linear_spaces) TSI_TRY(row_lengths(A, desc, entries, &lengths));
  tsi_tiling tiling;
  const ts_status status =
      tsi_tiling_create_blocks(context, A->info.rows, log2_block, lengths, desc->constrained, &tiling);
  tsi_free(context, lengths);
  if (status < 0) return status;
  return tsi_space_create(context, &tiling, desc->constrained, &A->row_space);
}

ts_status tsi_matrix_make_spaces(ts_matrix *A, const tsi_matrix_desc *desc, const tsi_host_csr *entries) {
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

/* Whether the descriptor requests the copy, or leaves it open and auto needs it. Values computed by the device
 * are unknown. */
static ts_status choose_copy(ts_matrix *A, const tsi_matrix_desc *desc, tsi_host_csr *csr, int *wanted) {
  *wanted = desc->keep_host_copy > 0;
  if (desc->keep_host_copy != 0 || !A->has_diagonal || !csr->values) return TS_OK;
  A->host_copy = csr;
  const ts_status status = tsi_preconditioner_wants_copy(A, wanted);
  A->host_copy = NULL;
  return status;
}

/* Uses what the descriptor specifies about the vectors. Existing spaces have no blocks, or blocks of one fixed
 * size. */
int tsi_matrix_blocks_to_consider(const ts_context *context, const tsi_matrix_desc *desc) {
  const int given = !context->caps.linear_spaces && (desc->row_space || desc->column_space);
  if (!desc->components || given) return TSI_LINEAR_BLOCKS;
  return desc->components == 1 ? TSI_ONE_COMPONENT : TSI_SEVERAL_COMPONENTS;
}

/* All steps from a valid descriptor to a finished matrix; on failure the caller releases the parts. */
static ts_status matrix_build(ts_matrix *A, const tsi_matrix_desc *desc, const tsi_csr_facts *facts) {
  ts_context *context = A->context;
  ts_matrix_info *info = &A->info;
  ts_format format = desc->format;
  const double start = tsi_seconds();
  tsi_host_csr csr;
  const unsigned char *constrained = constrained_of(desc);
  TSI_TRY(tsi_csr_canonical(context, &desc->csr, constrained, facts, tsi_csr_low_parts(desc->precision), &csr,
                            &info->duplicates));
  csr.outlasts = desc->borrow && !csr.owned;
  tsi_poll_here();

  info->rows = csr.rows;
  info->columns = csr.columns;
  info->nonzeros = csr.row_offsets[csr.rows];
  info->parts = 1;
  if (format == TS_FORMAT_AUTO)
    format = tsi_format_choose(context, &csr, tsi_matrix_blocks_to_consider(context, desc), A->choice,
                               sizeof A->choice);
  else
    snprintf(A->choice, sizeof A->choice, "%s: asked for", ts_format_name(format));
  tsi_poll_here();
  info->format = format;
  A->fingerprint = facts->fingerprint;
  A->precision = desc->precision;
  A->components = desc->components;

  tsi_packed packed = {0};
  tsi_blocks blocks = {0};
  const int log2_block = tsi_format_log2_block(format);
  ts_status status = tsi_csr_inspect(context, &csr, constrained, facts, info, &A->norm_infinity);
  if (status == TS_OK) status = tsi_poll(context);
  if (status == TS_OK && log2_block) status = tsi_blocks_create(context, &csr, log2_block, &blocks);
  if (status == TS_OK) {
    const tsi_host_csr entries = log2_block ? tsi_blocks_as_csr(&blocks, &csr) : csr;
    status = tsi_matrix_make_spaces(A, desc, &entries);
  }
  if (status == TS_OK) {
    const tsi_layout_input input = tsi_matrix_layout_input(A, &csr, &blocks);
    status = tsi_layout_create(context, format, &input, &A->layout, info);
    if (status == TS_OK) status = tsi_poll(context);
    if (status == TS_OK) status = tsi_layout_pack(context, A->layout, &input, &packed);
    if (status == TS_OK) status = tsi_poll(context);
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
    status = tsi_matrix_write_low_parts(A, &csr, &blocks);
    int wanted = 0;
    if (status == TS_OK) status = tsi_poll(context);
    if (status == TS_OK) status = choose_copy(A, desc, &csr, &wanted);
    if (wanted) status = tsi_matrix_make_host_copy(A, &csr, desc->keep_host_copy > 0);
    if (status < 0) {
      tsi_matrix_destroy_low_parts(A);
      A->kind->destroy(A);
    }
  }
  tsi_blocks_free(context, &blocks);
  tsi_csr_free(context, &csr);
  return status;
}

void tsi_matrix_release_parts(ts_matrix *A) {
  ts_context *context = A->context;
  tsi_transposed_destroy(A);
  tsi_stencil_destroy(context, A->stencil);
  tsi_vector_destroy(A->low_product);
  tsi_matrix_drop_host_copy(A);
  if (A->host_ghosts) tsi_csr_free(context, A->host_ghosts);
  tsi_free(context, A->host_ghosts);
  tsi_layout_destroy(context, A->layout);
  tsi_space_release(A->row_space);
  tsi_space_release(A->column_space);
  tsi_free(context, A);
}

void tsi_matrix_log(const ts_matrix *A) {
  const ts_matrix_info *info = &A->info;
  if (info->duplicates)
    tsi_log(A->context, TS_LOG_LEVEL_INFO, "%lld duplicate entries of the matrix were added up",
            (long long)info->duplicates);
  tsi_log(A->context, TS_LOG_LEVEL_INFO,
          "matrix %d x %d, %lld nonzeros as %s: %lld entries stored, %zu bytes, layout %.3f s", info->rows,
          info->columns, (long long)info->nonzeros, ts_format_name(info->format),
          (long long)info->stored_entries, info->bytes_device, info->seconds_layout);
}

/* Creates a matrix from a valid descriptor. */
static ts_status create(ts_context *context, const tsi_matrix_desc *desc, const tsi_csr_facts *facts,
                        ts_matrix **matrix) {
  ts_matrix *A = tsi_calloc(context, 1, sizeof *A);
  if (!A) return tsi_out_of_memory(context, "a matrix", sizeof *A);
  A->context = context;
  A->references = 1;
  ts_status status = tsi_enter(context);
  if (status == TS_OK) {
    status = matrix_build(A, desc, facts);
    if (status < 0) tsi_matrix_release_parts(A);
    tsi_leave(context, status);
  } else {
    tsi_free(context, A);
  }
  if (status < 0) return status;
  *matrix = A;
  tsi_matrix_log(A);
  return TS_OK;
}
ts_status tsi_matrix_create_as_is(ts_context *context, const tsi_matrix_desc *desc, ts_matrix **matrix) {
  tsi_matrix_desc own = *desc;
  tsi_csr_facts facts;
  *matrix = NULL;
  TSI_TRY(matrix_validate(context, desc, &facts));
  if (own.keep_host_copy == 0) own.keep_host_copy = -1;
  return create(context, &own, &facts, matrix);
}

static ts_status create_scaled(ts_context *context, const tsi_matrix_desc *desc, ts_matrix **matrix) {
  tsi_matrix_desc scaled = *desc;
  tsi_csr_facts facts;
  void *memory;
  TSI_TRY(matrix_validate(context, desc, &facts));
  TSI_TRY(tsi_poll(context));
  const tsi_exponents exponents = facts.exponents;
  const int exponent = tsi_scaling_exponent(exponents, TSI_ORDINARY_MATRIX);
  const int negated = !constrained_of(desc) && facts.is_negative;
  TSI_TRY(tsi_csr_scale(context, &desc->csr, exponent, negated, &scaled.csr, &memory));
  ts_status status = memory ? tsi_csr_look(context, &scaled.csr, constrained_of(desc), &facts) : TS_OK;
  if (status >= 0) status = create(context, &scaled, &facts, matrix);
  tsi_free(context, memory);
  if (status < 0) return status;
  (*matrix)->exponent = exponent;
  (*matrix)->negated = negated;
  (*matrix)->may_scale = 1;
  (*matrix)->loses_digits = tsi_loses_digits(exponents, exponent);
  return TS_OK;
}

ts_status tsi_matrix_create(ts_context *context, const tsi_matrix_desc *desc, ts_matrix **matrix) {
  *matrix = NULL;
  tsi_begin_together(context);
  const ts_status status = tsi_end_together(context, create_scaled(context, desc, matrix));
  if (status < 0) ts_matrix_destroy(matrix);
  return status;
}

static ts_status create_given(ts_context *context, const ts_matrix_desc *given, ts_matrix **matrix) {
  tsi_loans loans = {0};
  tsi_matrix_desc desc;
  TSI_TRY(tsi_matrix_desc_check(context, given));
  TSI_TRY(tsi_matrix_create_on_device(context, given, matrix));
  if (*matrix) return TS_OK;
  ts_status status = tsi_matrix_desc_given(context, given, &loans, &desc);
  if (status == TS_OK) status = create_scaled(context, &desc, matrix);
  tsi_loans_free(context, &loans);
  return status;
}

ts_status ts_matrix_create(ts_context *context, const ts_matrix_desc *desc, ts_matrix **matrix) {
  TSI_BEGIN(context, context);
  TSI_REQUIRE(context, matrix);
  *matrix = NULL;
  TSI_REQUIRE(context, desc);
  tsi_begin_together(context);
  const ts_status status = tsi_end_together(context, create_given(context, desc, matrix));
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
  const tsi_matrix_desc desc = {.row_space = csr->row_space, .column_space = csr->column_space};
  const tsi_host_csr none = {0}; /* a linear space needs only the size */
  A->layout = tsi_calloc(context, 1, sizeof *A->layout);
  const ts_status status = A->layout ? tsi_matrix_make_spaces(A, &desc, &none)
                                     : tsi_out_of_memory(context, "a layout", sizeof *A->layout);
  if (status < 0) {
    tsi_matrix_release_parts(A);
    return status;
  }
  A->layout->format = TS_FORMAT_CSR;
  A->impl = impl;
  *matrix = A;
  return TS_OK;
}

void tsi_matrix_release(ts_matrix *A) {
  if (--A->references > 0) return;
  tsi_matrix_destroy_low_parts(A);
  A->kind->destroy(A);
  tsi_matrix_release_parts(A);
}

void ts_matrix_destroy(ts_matrix **matrix) {
  if (!matrix || !*matrix) return;
  ts_context *context = (*matrix)->context;
  tsi_enter_to_destroy(context);
  tsi_matrix_release(*matrix);
  tsi_leave(context, TS_OK);
  *matrix = NULL;
}

/* ---- Queries ---- */

ts_space *ts_matrix_get_row_space(const ts_matrix *matrix) {
  return matrix ? matrix->row_space : NULL;
}
ts_space *ts_matrix_get_column_space(const ts_matrix *matrix) {
  return matrix ? matrix->column_space : NULL;
}

ts_status ts_matrix_get_info(const ts_matrix *matrix, ts_matrix_info *info) {
  TSI_BEGIN(matrix, matrix->context);
  TSI_REQUIRE(matrix->context, info);
  *info = matrix->info;
  info->choice = matrix->choice;
  if (matrix->negated) info->negative_diagonal = 1;
  return TS_OK;
}
