/* The method of `texsolve solve`: which one, and the solve by it. */
#include <texsolve/krylov.h>

#include "solve.h"

/* Conjugate gradients where the matrix is symmetric. */
ts_method solve_choose(const solve_options *options, const ts_matrix_info *matrix) {
  if (options->method != TS_METHOD_AUTO) return options->method;
  return matrix->symmetric ? TS_METHOD_CG : TS_METHOD_BICGSTAB;
}

static ts_status solve_by_cg(const solve_options *o, solve_limits limits, ts_matrix *A, const ts_vector *b,
                             ts_vector *x, ts_progress_fn progress, void *user, ts_cg_result *result) {
  const ts_cg_desc desc = {.preconditioner = o->preconditioner,
                           .stop = o->stop,
                           .rtol = limits.rtol,
                           .max_iterations = limits.max_iterations,
                           .check_interval = o->check_interval,
                           .progress = progress,
                           .progress_user = user};
  ts_cg *cg = NULL;
  ts_status status = ts_cg_create(A, &desc, &cg);
  if (status >= 0) status = ts_cg_solve(cg, b, x, result);
  ts_cg_destroy(&cg);
  return status;
}

ts_status solve_by_method(const solve_options *o, ts_method method, solve_limits limits, ts_matrix *A,
                          const ts_vector *b, ts_vector *x, ts_progress_fn progress, void *user,
                          ts_cg_result *result) {
  if (method == TS_METHOD_CG) return solve_by_cg(o, limits, A, b, x, progress, user, result);
  const ts_krylov_desc desc = {.preconditioner = o->preconditioner,
                               .rtol = limits.rtol,
                               .max_iterations = limits.max_iterations,
                               .check_interval = o->check_interval,
                               .restart = o->restart,
                               .progress = progress,
                               .progress_user = user};
  ts_krylov *solver = NULL;
  ts_status status =
      method == TS_METHOD_GMRES ? ts_gmres_create(A, &desc, &solver) : ts_bicgstab_create(A, &desc, &solver);
  if (status >= 0) status = ts_krylov_solve(solver, b, x, result);
  ts_krylov_destroy(&solver);
  return status;
}
