/* The conjugate gradient solver: its descriptor, its workspace, and the checks before a solve. */
#include <math.h>
#include <stdio.h>

#include "cg.h"
#include "common/core/core.h"
#include "common/precond/multigrid/multigrid.h"

static int has_one_reduction(const ts_context *context) {
  return context->ops->dots && context->ops->cg && !(context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS);
}

/* Only where nothing else is asked for than what the device does by itself. */
static int runs_on_device(const ts_context *context, const ts_matrix *A, const ts_cg_desc *resolved) {
  const tsi_ops *ops = context->ops;
  return ops->cg && ops->cg->iterate && !(context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS) &&
         resolved->preconditioner != TS_PRECONDITIONER_MULTIGRID && resolved->reductions == 2 &&
         ops->cg->fits(A);
}

static ts_status resolve_reductions(ts_context *context, const ts_matrix *A, ts_cg_desc *desc) {
  const tsi_tiling *t = &A->row_space->tiling;
  if (desc->reductions < 0 || desc->reductions > 2)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "reductions is %d; it is 1 or 2, or 0 for the default",
                    desc->reductions);
  if (desc->preconditioner == TS_PRECONDITIONER_MULTIGRID) {
    if (desc->reductions == 1)
      return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                      "reductions is 1; with multigrid as preconditioner iterations have 2");
    desc->reductions = 2;
  }
  if (desc->reductions == 1 && !has_one_reduction(context))
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "reductions is 1; backend %s has iterations with 2 reductions only%s",
                    context->backend_name, context->ops->cg ? " without fused operations" : "");
  if (desc->reductions == 0)
    desc->reductions =
        has_one_reduction(context) && (int64_t)t->width * t->height <= context->caps.one_reduction_texels ? 1
                                                                                                          : 2;
  return TS_OK;
}

static ts_status check_multigrid(ts_context *context, const ts_matrix *A, const ts_cg_desc *desc) {
  const int wanted = desc->preconditioner == TS_PRECONDITIONER_MULTIGRID;
  if (wanted && !desc->multigrid)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "preconditioner is multigrid and multigrid is NULL; ts_multigrid_create makes one");
  if (!wanted && desc->multigrid)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "multigrid is set and preconditioner is %d, not TS_PRECONDITIONER_MULTIGRID (%d)",
                    desc->preconditioner, TS_PRECONDITIONER_MULTIGRID);
  if (wanted && desc->multigrid->matrix != A)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE, "multigrid was made for another matrix than the solver");
  return TS_OK;
}

static ts_status resolve(ts_context *context, const ts_matrix *A, const ts_cg_desc *desc, ts_cg_desc *out) {
  static const ts_cg_desc defaults;
  *out = desc ? *desc : defaults;
  if (out->preconditioner < TS_PRECONDITIONER_JACOBI || out->preconditioner > TS_PRECONDITIONER_MULTIGRID)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "preconditioner is %d, which is no ts_preconditioner",
                    out->preconditioner);
  TSI_TRY(check_multigrid(context, A, out));
  if (out->stop != TS_STOP_DELTA && out->stop != TS_STOP_RESIDUAL)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "stop is %d, which is no ts_stop", out->stop);
  if (!(out->rtol >= 0 && out->rtol < 1))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "rtol is %g; it must be at least 0 and less than 1",
                    out->rtol);
  if (out->max_iterations < 0)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "max_iterations is %d, less than 0",
                    out->max_iterations);
  if (out->check_interval < 0 || out->check_interval > 1024)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "check_interval is %d; it goes from 1 to 1024, or 0 for the default", out->check_interval);
  if (out->rtol == 0) out->rtol = 1e-5;
  if (out->max_iterations == 0) {
    const double wanted = 10.0 * A->info.rows;
    out->max_iterations = wanted < 1000 ? 1000 : wanted > 100000 ? 100000 : (int)wanted;
  }
  TSI_TRY(resolve_reductions(context, A, out));
  /* A cycle of multigrid costs more than a wait. A device that iterates by itself also knows when to end. */
  enum { on_device = 250 };
  if (out->check_interval == 0)
    out->check_interval = out->multigrid                    ? 1
                          : runs_on_device(context, A, out) ? on_device
                                                            : context->caps.check_interval;
  return TS_OK;
}

ts_status ts_cg_create(ts_matrix *matrix, const ts_cg_desc *desc, ts_cg **out) {
  TSI_REQUIRE(NULL, matrix);
  ts_context *context = matrix->context;
  tsi_clear_error(context);
  TSI_REQUIRE(context, out);
  *out = NULL;
  if (!matrix->has_diagonal)
    return tsi_fail(
        context, TS_ERROR_INVALID_ARGUMENT,
        "conjugate gradients need a square matrix with one space for rows and columns; this one is %d x %d",
        matrix->info.rows, matrix->info.columns);
  ts_cg_desc resolved;
  TSI_TRY(resolve(context, matrix, desc, &resolved));
  ts_cg *cg = tsi_calloc(context, 1, sizeof *cg);
  if (!cg) return tsi_out_of_memory(context, "a solver", sizeof *cg);
  cg->context = context;
  cg->matrix = matrix;
  cg->desc = resolved;
  cg->on_device = runs_on_device(context, matrix, &resolved);
  cg->overlap = context->caps.check_overlap;
  if (cg->on_device || cg->overlap >= resolved.check_interval) cg->overlap = 0;
  cg->ring = 2 * (resolved.check_interval + cg->overlap + 1);
  cg->history = tsi_malloc(context, (size_t)cg->ring, sizeof *cg->history);
  cg->numbers = tsi_malloc(context, (size_t)TSI_CG_RING + 2 * (size_t)cg->ring, 4 * sizeof *cg->numbers);
  if (!cg->history || !cg->numbers) {
    tsi_free(context, cg->history);
    tsi_free(context, cg->numbers);
    tsi_free(context, cg);
    return tsi_out_of_memory(context, "a solver", (size_t)resolved.check_interval * 80);
  }
  matrix->references++;
  *out = cg;
  return TS_OK;
}

static void destroy_workspace(ts_cg *cg) {
  ts_vector_destroy(&cg->x);
  ts_vector_destroy(&cg->r);
  ts_vector_destroy(&cg->d);
  ts_vector_destroy(&cg->q);
  ts_vector_destroy(&cg->b);
  ts_vector_destroy(&cg->e);
  ts_vector_destroy(&cg->m);
  ts_vector_destroy(&cg->z);
  ts_vector_destroy(&cg->scratch);
  ts_vector_destroy(&cg->r_next);
  ts_vector_destroy(&cg->d_next);
  ts_scalars_destroy(&cg->slots);
  cg->components = 0;
}

void ts_cg_destroy(ts_cg **out) {
  if (!out || !*out) return;
  ts_cg *cg = *out;
  ts_context *context = cg->context;
  destroy_workspace(cg);
  tsi_enter_to_destroy(context);
  tsi_matrix_release(cg->matrix);
  tsi_leave(context, TS_OK);
  tsi_free(context, cg->history);
  tsi_free(context, cg->numbers);
  tsi_free(context, cg);
  *out = NULL;
}

/* 1 / diagonal, or a multiple of the identity that brings a matrix far from 1 to about 1. */
static int needs_m(const ts_cg *cg) {
  return cg->desc.preconditioner == TS_PRECONDITIONER_JACOBI ||
         (cg->desc.preconditioner == TS_PRECONDITIONER_NONE && tsi_scale_exponent(cg->matrix));
}

static ts_status create_workspace(ts_cg *cg, int components) {
  if (cg->components == components && !cg->m == !needs_m(cg)) return TS_OK;
  destroy_workspace(cg);
  ts_vector *vectors[10];
  int count = 6, m = -1, multigrid = -1, scratch = -1, next = -1;
  if (needs_m(cg)) m = count++;
  if (cg->desc.preconditioner == TS_PRECONDITIONER_MULTIGRID) multigrid = count++;
  if (tsi_needs_scratch(cg->context)) scratch = count++;
  if (cg->desc.reductions == 1) {
    next = count;
    count += 2;
  }
  TSI_TRY(tsi_enter(cg->context));
  TSI_TRY(tsi_leave(cg->context, tsi_group_create(cg->matrix->row_space, components, vectors, count,
                                                  TSI_CG_RING + 2 * cg->ring, &cg->slots)));
  cg->e = vectors[0]; /* e and r side by side: axpy2_dot updates both */
  cg->r = vectors[1];
  cg->x = vectors[2];
  cg->d = vectors[3];
  cg->q = vectors[4];
  cg->b = vectors[5];
  cg->m = m >= 0 ? vectors[m] : NULL;
  cg->z = multigrid >= 0 ? vectors[multigrid] : NULL;
  cg->scratch = scratch >= 0 ? vectors[scratch] : NULL;
  cg->r_next = next >= 0 ? vectors[next] : NULL;
  cg->d_next = next >= 0 ? vectors[next + 1] : NULL;
  cg->components = components;
  return TS_OK;
}

/* What the matrix alone tells: the method would not work. */
static int refuse(const ts_cg *cg, ts_cg_result *result) {
  const ts_matrix_info *info = &cg->matrix->info;
  if (!info->symmetric) {
    result->reason = TS_REASON_NOT_SYMMETRIC;
    snprintf(result->message, sizeof result->message,
             "the matrix is not symmetric: the entry in row %d, column %d differs from its mirror",
             info->unsymmetric_row, info->unsymmetric_column);
    return 1;
  }
  if (cg->desc.preconditioner == TS_PRECONDITIONER_JACOBI && info->zero_diagonal_row >= 0) {
    result->reason = TS_REASON_ZERO_DIAGONAL;
    snprintf(result->message, sizeof result->message,
             "the Jacobi preconditioner needs a diagonal without zeros; it is 0 or missing in row %d",
             info->zero_diagonal_row);
    return 1;
  }
  return 0;
}

ts_status ts_cg_solve(ts_cg *cg, const ts_vector *b, ts_vector *x, ts_cg_result *result) {
  TSI_REQUIRE(NULL, cg);
  ts_context *context = cg->context;
  tsi_clear_error(context);
  TSI_REQUIRE(context, b);
  TSI_REQUIRE(context, x);
  const ts_space *space = cg->matrix->row_space;
  TSI_TRY(tsi_check_space(b, space, "b", "the solver", "the matrix's space", "ts_matrix_row_space"));
  TSI_TRY(tsi_check_space(x, space, "x", "the solver", "the matrix's space", "ts_matrix_row_space"));
  TSI_TRY(tsi_check_components(b, x));
  if (cg->desc.multigrid && b->components != 1)
    return tsi_fail(context, TS_ERROR_INCOMPATIBLE,
                    "b and x have %d components; multigrid as preconditioner takes one", b->components);
  if (cg->desc.multigrid) TSI_TRY(tsi_multigrid_check_current(cg->desc.multigrid));

  ts_cg_result own;
  if (!result) result = &own;
  *result = (ts_cg_result){.delta_ratio = NAN, .relative_residual = NAN, .attainable_residual = NAN};
  TSI_TRY(create_workspace(cg, b->components));
  if (refuse(cg, result)) {
    if (cg->desc.zero_start) TSI_TRY(ts_vector_fill(x, 0));
    return TS_NOT_CONVERGED;
  }

  const uint64_t waits = context->waits;
  TSI_TRY(tsi_enter(context));
  TSI_TRY(tsi_leave(context, tsi_cg_run(cg, b, x, result)));
  result->waits = (int)(context->waits - waits);
  return result->reason <= TS_REASON_ZERO_RESIDUAL ? TS_OK : TS_NOT_CONVERGED;
}
