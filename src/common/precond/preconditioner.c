/* Preconditioners: creation, and what solvers ask of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "amg/amg.h"
#include "common/core/core.h"
#include "common/layout/layout.h"
#include "multigrid/multigrid.h"
#include "preconditioner.h"

/* ---- The descriptor ---- */

static ts_status foreign(ts_context *context, const char *field, ts_preconditioner_kind kind) {
  return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is set, and kind is %s, to which it does not belong",
                  field, ts_preconditioner_kind_name(kind));
}

static ts_status check_fields(ts_context *context, const ts_preconditioner_desc *desc) {
  const ts_preconditioner_kind kind = desc->kind;
  if (!ts_preconditioner_kind_name(kind))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "kind is %d, which is no ts_preconditioner_kind", kind);
  if (desc->block_size && kind != TS_PRECONDITIONER_BLOCK_JACOBI) return foreign(context, "block_size", kind);
  if (desc->multigrid && kind != TS_PRECONDITIONER_MULTIGRID) return foreign(context, "multigrid", kind);
  if (desc->amg && kind != TS_PRECONDITIONER_AMG) return foreign(context, "amg", kind);
  if (desc->degree && kind != TS_PRECONDITIONER_CHEBYSHEV) return foreign(context, "degree", kind);
  if (desc->apply && kind != TS_PRECONDITIONER_CUSTOM) return foreign(context, "apply", kind);
  if (desc->user && kind != TS_PRECONDITIONER_CUSTOM) return foreign(context, "user", kind);
  if (desc->symmetric && kind != TS_PRECONDITIONER_CUSTOM) return foreign(context, "symmetric", kind);
  if (kind == TS_PRECONDITIONER_MULTIGRID && !desc->multigrid)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "kind is multigrid and multigrid is NULL; ts_multigrid_create makes one");
  if (kind == TS_PRECONDITIONER_CUSTOM && !desc->apply)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "kind is custom and apply is NULL");
  return tsi_check_reserved(context, "", desc->reserved, sizeof desc->reserved);
}

static ts_status resolve_block_size(const ts_matrix *A, ts_preconditioner_desc *desc) {
  ts_context *context = A->context;
  if (desc->kind != TS_PRECONDITIONER_BLOCK_JACOBI) return TS_OK;
  if (A->stencil)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "the matrix is a stencil, for which there is no block Jacobi");
  const int log2_size = A->layout->blocks.log2_size, own = log2_size ? 1 << log2_size : 0;
  if (desc->block_size == 0) desc->block_size = own ? own : 4;
  if (desc->block_size < 2 || desc->block_size > 16)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "block_size is %d; it goes from 2 to 16, or 0 for the default", desc->block_size);
  if (own && desc->block_size != own)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "block_size is %d; the matrix is stored in blocks of %d", desc->block_size, own);
  if (!A->host_copy)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "block Jacobi needs a matrix made with keep_host_copy, whose blocks it inverts");
  return TS_OK;
}

static ts_status resolve_degree(ts_context *context, ts_preconditioner_desc *desc) {
  enum { most = 16 };
  if (desc->degree < 0 || desc->degree > most)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "degree is %d; it goes from 1 to %d, or 0 for the default", desc->degree, most);
  if (desc->kind == TS_PRECONDITIONER_CHEBYSHEV && desc->degree == 0) desc->degree = TSI_CHEBYSHEV_DEGREE;
  return TS_OK;
}

static ts_status check_isai(const ts_matrix *A, const ts_preconditioner_desc *desc) {
  if (desc->kind != TS_PRECONDITIONER_ISAI || A->host_copy) return TS_OK;
  if (A->stencil)
    return tsi_fail(A->context, TS_ERROR_UNSUPPORTED, "the matrix is a stencil, for which there is no isai");
  return tsi_fail(A->context, TS_ERROR_INVALID_ARGUMENT,
                  "isai needs a matrix made with keep_host_copy, whose factors it inverts");
}

/* ---- Creation ---- */

/* What auto has chosen is AMG only if all rows are positive on the diagonal, of which the choice looks at a
 * sample, and if aggregation ends at a level that is solved exactly. */
static ts_status settle_choice(ts_preconditioner *M, ts_status status) {
  const int is_refused = M->desc.kind == TS_PRECONDITIONER_AMG && status == TS_ERROR_INVALID_ARGUMENT;
  if (status < 0 && !is_refused) return status;
  if (is_refused) {
    snprintf(M->choice, sizeof M->choice, "jacobi: %.180s", M->context->error);
    tsi_clear_error(M->context);
  } else if (M->amg && !M->amg->inverse) {
    snprintf(M->choice, sizeof M->choice, "jacobi: aggregation leaves %lld of %lld rows",
             (long long)M->amg->level[M->amg->levels - 1].rows, (long long)tsi_all_rows(M->matrix));
    tsi_amg_destroy(M->context, &M->amg);
  }
  if (!M->amg) M->desc.kind = TS_PRECONDITIONER_JACOBI;
  tsi_log(M->context, TS_LOG_INFO, "preconditioner %s", M->choice);
  return TS_OK;
}

static ts_status update(ts_preconditioner *preconditioner);

static ts_status create(ts_matrix *matrix, ts_preconditioner_desc resolved,
                        ts_preconditioner **preconditioner) {
  ts_context *context = matrix->context;
  TSI_TRY(check_fields(context, &resolved));
  if (!matrix->has_diagonal)
    return tsi_fail(
        context, TS_ERROR_INVALID_ARGUMENT,
        "a preconditioner needs a square matrix with one space for rows and columns; this one is %d x %d",
        matrix->info.rows, matrix->info.columns);
  if (resolved.multigrid && resolved.multigrid->matrix->row_space != matrix->row_space)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "multigrid was made for a matrix over another space");
  char choice[sizeof(*preconditioner)->choice] = "";
  if (resolved.kind == TS_PRECONDITIONER_AUTO)
    TSI_TRY(tsi_preconditioner_choose(matrix, &resolved.kind, choice, sizeof choice));
  TSI_TRY(resolve_block_size(matrix, &resolved));
  TSI_TRY(resolve_degree(context, &resolved));
  TSI_TRY(check_isai(matrix, &resolved));
  ts_preconditioner *M = tsi_calloc(context, 1, sizeof *M);
  if (!M) return tsi_out_of_memory(context, "a preconditioner", sizeof *M);
  M->context = context;
  M->references = 1;
  M->matrix = matrix;
  M->desc = resolved;
  M->changes = matrix->changes;
  memcpy(M->choice, choice, sizeof choice);
  matrix->references++;
  ts_status status = resolved.kind == TS_PRECONDITIONER_AMG ? tsi_amg_create(M) : update(M);
  if (choice[0]) status = settle_choice(M, status);
  if (status < 0) {
    matrix->references--;
    tsi_free(context, M);
    return status;
  }
  *preconditioner = M;
  return TS_OK;
}

ts_status ts_preconditioner_create(ts_matrix *matrix, const ts_preconditioner_desc *desc,
                                   ts_preconditioner **preconditioner) {
  static const ts_preconditioner_desc defaults;
  if (!desc) desc = &defaults;
  if (!matrix && desc->kind == TS_PRECONDITIONER_MULTIGRID && desc->multigrid) matrix = desc->multigrid->matrix;
  TSI_BEGIN(matrix, matrix->context);
  ts_context *context = matrix->context;
  TSI_REQUIRE(context, preconditioner);
  *preconditioner = NULL;
  tsi_begin_together(context);
  const ts_status status = tsi_end_together(context, create(matrix, *desc, preconditioner));
  if (status < 0) ts_preconditioner_destroy(preconditioner);
  return status;
}

void tsi_preconditioner_retain(ts_preconditioner *M) {
  M->references++;
}

void ts_preconditioner_destroy(ts_preconditioner **preconditioner) {
  if (!preconditioner || !*preconditioner) return;
  ts_preconditioner *M = *preconditioner;
  *preconditioner = NULL;
  if (--M->references > 0) return;
  ts_context *context = M->context;
  ts_matrix_destroy(&M->blocks);
  tsi_amg_destroy(context, &M->amg);
  tsi_chebyshev_destroy(context, &M->chebyshev);
  tsi_isai_destroy(context, &M->isai);
  tsi_enter_to_destroy(context);
  tsi_matrix_release(M->matrix);
  tsi_leave(context, TS_OK);
  tsi_free(context, M);
}

static ts_status update(ts_preconditioner *preconditioner) {
  preconditioner->changes = preconditioner->matrix->changes;
  switch (preconditioner->desc.kind) {
  case TS_PRECONDITIONER_BLOCK_JACOBI:
    return tsi_block_jacobi_build(preconditioner);
  case TS_PRECONDITIONER_AMG:
    return tsi_amg_update(preconditioner);
  case TS_PRECONDITIONER_CHEBYSHEV:
    return tsi_chebyshev_build(preconditioner);
  case TS_PRECONDITIONER_ISAI:
    return tsi_isai_build(preconditioner);
  default:
    return TS_OK;
  }
}

ts_status ts_preconditioner_update(ts_preconditioner *preconditioner) {
  TSI_BEGIN(preconditioner, preconditioner->context);
  tsi_begin_together(preconditioner->context);
  return tsi_end_together(preconditioner->context, update(preconditioner));
}

ts_preconditioner_kind ts_preconditioner_get_kind(const ts_preconditioner *preconditioner) {
  return preconditioner ? preconditioner->desc.kind : TS_PRECONDITIONER_NONE;
}

const char *ts_preconditioner_choice(const ts_preconditioner *preconditioner) {
  return preconditioner ? preconditioner->choice : "";
}

/* ---- Application ---- */

int tsi_preconditioner_is_symmetric(const ts_preconditioner *M) {
  if (M->desc.kind == TS_PRECONDITIONER_ISAI) return tsi_isai_is_symmetric(M->isai);
  return M->desc.kind != TS_PRECONDITIONER_CUSTOM || M->desc.symmetric;
}

int tsi_preconditioner_exponent(const ts_preconditioner *M) {
  return M->desc.kind == TS_PRECONDITIONER_CUSTOM ? 0 : M->matrix->exponent;
}

ts_status tsi_preconditioner_check(const ts_preconditioner *M, int components) {
  if (M->desc.kind == TS_PRECONDITIONER_AMG) return tsi_amg_prepare(M->amg, components);
  if (M->desc.kind == TS_PRECONDITIONER_CHEBYSHEV) return tsi_chebyshev_prepare(M, components);
  if (M->desc.kind == TS_PRECONDITIONER_ISAI) return tsi_isai_prepare(M, components);
  if (M->desc.kind != TS_PRECONDITIONER_MULTIGRID) return TS_OK;
  if (components != 1)
    return tsi_fail(M->context, TS_ERROR_INCOMPATIBLE,
                    "b and x have %d components; multigrid as preconditioner takes one", components);
  return tsi_multigrid_check_current(M->desc.multigrid);
}

/* The caller's function enters and leaves the library by itself. */
static ts_status call(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  tsi_leave(M->context, TS_OK);
  const ts_status status = M->desc.apply(M->desc.user, z, r);
  if (status == TS_OK) return tsi_enter(M->context);
  char error[sizeof M->context->error];
  memcpy(error, M->context->error, sizeof error);
  TSI_TRY(tsi_enter(M->context));
  memcpy(M->context->error, error, sizeof error);
  if (status < 0 && error[0]) return status;
  return tsi_fail(M->context, status < 0 ? status : TS_ERROR_INVALID_ARGUMENT,
                  "the preconditioner's function returned %s", ts_status_name(status));
}

ts_status tsi_precondition(ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  switch (M->desc.kind) {
  case TS_PRECONDITIONER_MULTIGRID:
    return tsi_multigrid_precondition(M->desc.multigrid, z, r);
  case TS_PRECONDITIONER_AMG:
    return tsi_amg_cycle(M->amg, z, r);
  case TS_PRECONDITIONER_CHEBYSHEV:
    return tsi_chebyshev_apply(M, z, r);
  case TS_PRECONDITIONER_ISAI:
    return tsi_isai_apply(M, z, r);
  case TS_PRECONDITIONER_CUSTOM:
    return call(M, z, r);
  default:
    return tsi_spmv(z, M->blocks, r);
  }
}

static ts_status apply_diagonal(const ts_preconditioner *M, ts_vector *z, const ts_vector *r) {
  const tsi_ops *ops = M->context->ops;
  if (M->desc.kind == TS_PRECONDITIONER_NONE) return ops->axpby(z, ts_constant(1), r, ts_constant(0), r);
  TSI_TRY(tsi_diagonal(z, M->matrix));
  TSI_TRY(ops->reciprocal(z, z));
  return ops->multiply(z, z, r);
}

ts_status ts_preconditioner_apply(ts_preconditioner *preconditioner, ts_vector *z, const ts_vector *r) {
  TSI_REQUIRE(NULL, preconditioner);
  ts_preconditioner *M = preconditioner;
  ts_context *context = M->context;
  tsi_clear_error(context);
  TSI_REQUIRE(context, z);
  TSI_REQUIRE(context, r);
  const ts_space *space = M->matrix->row_space;
  TSI_TRY(tsi_check_space(z, space, "z", "the preconditioner", "the matrix's space", "ts_matrix_row_space"));
  TSI_TRY(tsi_check_space(r, space, "r", "the preconditioner", "the matrix's space", "ts_matrix_row_space"));
  if (z == r) return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "z is r");
  if (z->components != r->components)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "z has %d components and r %d", z->components,
                    r->components);
  TSI_TRY(tsi_preconditioner_check(M, r->components));
  TSI_TRY(TSI_ENTER_WITH(context, z, r));
  ts_status status = tsi_clear_low(z); /* of which most kinds write the first part alone */
  if (status == TS_OK)
    status = tsi_preconditioner_is_diagonal(M) ? apply_diagonal(M, z, r) : tsi_precondition(M, z, r);
  const int exponent = M->desc.kind == TS_PRECONDITIONER_NONE ? 0 : tsi_preconditioner_exponent(M);
  if (status == TS_OK && exponent) status = tsi_multiply_by_power(z, -exponent);
  return tsi_leave(context, status);
}

/* ---- Null space ---- */

ts_status tsi_preconditioner_project(ts_preconditioner *M, ts_vector *b, double *removed) {
  *removed = 0;
  if (M->desc.kind != TS_PRECONDITIONER_MULTIGRID) return TS_OK;
  ts_multigrid *mg = M->desc.multigrid;
  const tsi_stencil *stencil = mg->matrix->stencil;
  if (stencil->part_count == 0) return TS_OK;
  TSI_TRY(tsi_multigrid_sum_parts(mg, b, TSI_MG_SUMS_B));
  TSI_TRY(tsi_multigrid_remove_means(mg, b, TSI_MG_SUMS_B));
  double sums[4 * 8];
  double squares = 0;
  TSI_TRY(tsi_scalars_read(mg->slots, TSI_MG_SUMS_B, stencil->part_count, sums));
  for (int k = 0; k < stencil->part_count; k++)
    squares += sums[4 * (size_t)k] * sums[4 * (size_t)k] / stencil->part_sizes[k];
  *removed = sqrt(squares);
  return TS_OK;
}
