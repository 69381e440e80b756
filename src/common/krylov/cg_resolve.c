/* Conjugate gradients: what the descriptor leaves open, which is the number of reductions, the distance of
 * checks, and with AMG the precision. */
#include "cg_operations.h"
#include "common/core/core.h"
#include "solver.h"

static int has_one_reduction(const ts_context *context) {
  return context->ops->dots && context->ops->cg && !(context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS);
}

static ts_preconditioner_kind kind_of(const ts_solver_desc *desc) {
  return desc->preconditioner ? desc->preconditioner->desc.kind : desc->preconditioner_kind;
}

static int is_diagonal(const ts_solver_desc *desc) {
  const ts_preconditioner_kind kind = kind_of(desc);
  return kind == TS_PRECONDITIONER_JACOBI || kind == TS_PRECONDITIONER_NONE;
}

int tsi_cg_runs_on_device(const ts_matrix *A, const ts_solver_desc *resolved) {
  const tsi_ops *ops = A->context->ops;
  return ops->cg && ops->cg->iterate && !(A->context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS) &&
         is_diagonal(resolved) && resolved->reductions == 2 && ops->cg->fits(A);
}

static ts_status resolve_reductions(const ts_matrix *A, ts_solver_desc *desc) {
  ts_context *context = A->context;
  const tsi_tiling *t = &A->row_space->tiling;
  if (desc->reductions < 0 || desc->reductions > 2)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "reductions is %d; it is 1 or 2, or 0 for the default",
                    desc->reductions);
  if (!is_diagonal(desc)) {
    if (desc->reductions == 1)
      return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                      "reductions is 1; iterations with a preconditioner that is not diagonal have 2");
    desc->reductions = 2;
  }
  if (desc->reductions == 1 && !has_one_reduction(context))
    return tsi_fail(
        context, TS_ERROR_UNSUPPORTED, "reductions is 1; backend %s has iterations with 2 reductions only%s",
        context->backend_name, context->ops->cg && context->ops->dots ? " without fused operations" : "");
  if (desc->reductions == 0)
    desc->reductions =
        has_one_reduction(context) && (double)t->width * t->height <= context->tuning.one_reduction_texels ? 1
                                                                                                           : 2;
  return TS_OK;
}

ts_status tsi_cg_resolve(const ts_matrix *A, ts_solver_desc *desc) {
  TSI_TRY(resolve_reductions(A, desc));
  /* A cycle of multigrid costs more than a wait. A device that iterates by itself also knows when to end. */
  enum { on_device = 250 };
  const ts_context *context = A->context;
  const ts_preconditioner *M = desc->preconditioner;
  const ts_preconditioner_kind kind = kind_of(desc);
  const int cycles = kind == TS_PRECONDITIONER_MULTIGRID || kind == TS_PRECONDITIONER_AMG;
  const int interval = (int)context->tuning.check_interval;
  /* What is around a cycle costs little even in double, and residuals need not be replaced then. */
  if (desc->precision == TS_PRECISION_AUTO && kind == TS_PRECONDITIONER_AMG)
    desc->precision = TS_PRECISION_DOUBLE;
  const int degree = M && M->desc.degree ? M->desc.degree : TSI_CHEBYSHEV_DEGREE;
  if (desc->check_interval == 0)
    desc->check_interval = cycles                                ? 1
                           : kind == TS_PRECONDITIONER_CHEBYSHEV ? (interval + degree - 1) / degree
                           : tsi_cg_runs_on_device(A, desc)      ? on_device
                                                                 : interval;
  return TS_OK;
}
