/* The method of `texsolve solve`: which one, and the solve by it. */
#include "solve.h"

/* Conjugate gradients where the matrix is symmetric. */
ts_method solve_choose(const solve_options *options, const ts_matrix_info *matrix) {
  if (options->method != TS_METHOD_AUTO) return options->method;
  return matrix->symmetric ? TS_METHOD_CG : TS_METHOD_BICGSTAB;
}

ts_status solve_by_method(const solve_options *o, ts_method method, solve_limits limits, ts_matrix *A,
                          const ts_vector *b, ts_vector *x, ts_progress_fn progress, void *user,
                          ts_result *result) {
  const ts_solver_desc desc = {.method = method,
                               .preconditioner_kind = o->preconditioner,
                               .stop = o->stop,
                               .rtol = limits.rtol,
                               .max_iterations = limits.max_iterations,
                               .check_interval = o->check_interval,
                               .restart = method == TS_METHOD_GMRES ? o->restart : 0,
                               .progress = progress,
                               .progress_user = user};
  return ts_solve(A, b, x, &desc, result);
}
