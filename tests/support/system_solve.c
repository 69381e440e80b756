#include "system_solve.h"

ts_context *context;

const ts_system_solve_desc tight = {.solver.stop = TS_STOP_RESIDUAL, .solver.rtol = 1e-6};

ts_status solve_system(ts_system *system, const ts_system_solve_desc *desc, ts_system_result *result) {
  memset(result, 0x55, sizeof *result);
  const ts_status status = ts_system_solve(system, desc, result);
  if (status == TS_NOT_CONVERGED) test_fail(__FILE__, __LINE__, "not converged: %s", result->message);
  return status;
}

void solve_and_compare(ts_system *system, const dense *d, const ts_system_solve_desc *desc,
                       ts_system_result *result) {
  CHECK_OK(context, solve_system(system, desc, result));
  CHECK_CLOSE(dense_difference(system, d), 0, 2e-5);
  CHECK(result->normal_residual <= 2e-6);
  CHECK_INT(result->rows, d->rows);
  CHECK_CONTAINS(result->message, "converged");
}
