/* ts_solver_read_iterate: the x of a running solve, for the progress callback. The solve has x and its update
 * e, both scaled; the sum goes through two vectors that exist only during the call. */
#include "common/core/core.h"
#include "solver.h"
#include "stages.h"

/* The sum x + e of the solve. richardson adds e before its check. */
static ts_status add_update(const tsi_solve *s, ts_vector *sum) {
  const ts_solver *k = s->solver;
  if (k->method == &tsi_richardson) return tsi_copy_parts(sum, ts_constant(1), k->x);
  return tsi_solve_add(s, sum, k->e);
}

/* Writes the sum without the scale of the solve to `out`, which holds doubles. */
static ts_status unscale(const tsi_solve *s, ts_vector *sum, ts_vector *out) {
  ts_solver *k = s->solver;
  ts_vector *x = k->x;
  const int exponent = tsi_solve_exponent_of_x(s, out);
  k->x = sum;
  const ts_status status = tsi_solve_write_x(s, out, exponent);
  k->x = x;
  return status;
}

ts_status ts_solver_read_iterate(ts_solver *solver, ts_array x) {
  TSI_BEGIN(solver, solver->context);
  ts_context *context = solver->context;
  const tsi_solve *s = tsi_stages_at_check(solver);
  if (!s)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "the solver is not at a check: call this in the progress callback of its solve");
  const ts_solver *k = s->solver;
  if (k->method == &tsi_gmres || s->purified)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "%s has no x %s", k->method->name,
                    s->purified ? "while it removes a null space" : "within a cycle");
  const int parts = tsi_parts(k->x);
  ts_vector *sum = NULL, *out = NULL;
  TSI_TRY(tsi_enter(context));
  ts_status status = tsi_arena_create(k->matrix->column_space, k->components, parts, &sum, 1, 0, NULL);
  if (status == TS_OK)
    status =
        tsi_arena_create(k->matrix->column_space, k->components, context->caps.pairs ? 3 : 1, &out, 1, 0, NULL);
  if (status == TS_OK) status = add_update(s, sum);
  if (status == TS_OK) status = unscale(s, sum, out);
  tsi_leave(context, status);
  if (status == TS_OK) status = ts_vector_read(out, x);
  ts_vector_destroy(&sum);
  ts_vector_destroy(&out);
  return status;
}
