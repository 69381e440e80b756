/* Conjugate gradients: the defaults of the descriptor. These are the number of reductions, the check interval
 * of a device that iterates on its own, and the precision with an expensive preconditioner. */
#include "cg_operations.h"
#include "common/core/core.h"
#include "solver.h"

static int has_one_reduction(const ts_context *context) {
  return context->ops->dots && context->ops->cg && !(context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS);
}

int tsi_cg_runs_on_device(const ts_matrix *A, const ts_preconditioner *M, const ts_solver_desc *resolved) {
  const tsi_ops *ops = A->context->ops;
  return ops->cg && ops->cg->iterate && !(A->context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS) &&
         tsi_preconditioner_is_diagonal(M) && resolved->reductions == 2 && !A->function && ops->cg->fits(A);
}

static ts_status resolve_reductions(const ts_matrix *A, const ts_preconditioner *M, ts_solver_desc *desc) {
  ts_context *context = A->context;
  const tsi_tiling *t = &A->row_space->tiling;
  if (desc->reductions < 0 || desc->reductions > 2)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "reductions is %d; it must be 1 or 2, or 0 for the default", desc->reductions);
  if (!tsi_preconditioner_is_diagonal(M)) {
    if (desc->reductions == 1)
      return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                      "reductions is 1; iterations with a preconditioner that is not diagonal need 2");
    desc->reductions = 2;
  }
  if (desc->reductions == 1 && !has_one_reduction(context))
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "reductions is 1; backend %s supports only 2 reductions%s",
                    context->backend_name,
                    context->ops->cg && context->ops->dots ? " without fused operations" : "");
  if (desc->reductions == 0)
    desc->reductions =
        has_one_reduction(context) && (double)t->width * t->height <= context->tuning.one_reduction_texels ? 1
                                                                                                           : 2;
  return TS_OK;
}

ts_status tsi_cg_resolve(const ts_matrix *A, const ts_preconditioner *M, ts_solver_desc *desc) {
  /* Time of double from the start, compared with auto: AMG of 4 products took 0 to 13 % less on the CPU and in
   * llvmpipe. AMG of 7 products took 12 to 20 % less. Multigrid of 4 products of a stencil, which reads few
   * bytes in single precision, took 17 to 24 % less in llvmpipe. On the CPU it took 13 % less at rtol 1e-10 and
   * 6 to 30 % more at 1e-5. */
  const double many_products = A->kind->has_no_entries ? 5.5 : 3.5;
  TSI_TRY(resolve_reductions(A, M, desc));
  /* Compared with such an application, the rest of an iteration is cheap even in double, and residuals need not
   * be replaced. */
  if (desc->precision == TS_PRECISION_AUTO && M->cost.products >= many_products)
    desc->precision = TS_PRECISION_DOUBLE;
  /* A device that iterates on its own detects the end. */
  if (desc->check_interval == 0 && tsi_cg_runs_on_device(A, M, desc)) desc->check_interval = 250;
  return TS_OK;
}
