/* Stationary iterations with a preconditioner M (Richardson 1910), for any square matrix:
 *
 *   x = x + M^-1 r;  r = b - A x
 *
 * If M^-1 is one cycle of multigrid, this is the multigrid method as a standalone iteration; if M is the
 * diagonal, it is Jacobi's method. The iterations converge if the eigenvalues of I - M^-1 A are inside the unit
 * circle. Every iteration computes r from x, so no recurrence can drift. */
#include <math.h>

#include "common/core/core.h"
#include "solver.h"

enum { WORK, VECTORS };

static void richardson_plan(ts_solver *k) {
  k->own_vectors = VECTORS;
  k->history_size = 1;
}

static ts_status richardson_iterate(tsi_solve *s) {
  const ts_solver *k = s->solver;
  double factor;
  TSI_TRY(tsi_solve_rescale(s, &factor));
  TSI_TRY(tsi_solver_precondition(k, k->e, k->r));
  s->iteration++;
  return tsi_solve_accept(s, k->e, k->own[WORK]);
}

/* Checks the numbers of the last iteration. */
static ts_status richardson_check(tsi_solve *s) {
  const int window = s->solver->preconditioner->kind->is_exact ? 3 : 1000;
  const ts_result *result = s->result;
  const double measure = s->measure;
  s->solver->history[0] = measure;
  TSI_TRY(tsi_solve_progress(s, s->iteration, 1));
  if (s->ended) return TS_OK;
  if (s->met) {
    tsi_solve_finish_converged(s);
    return TS_OK;
  }
  if (!(measure < 1e6 * fmax(1, s->verified))) {
    tsi_solve_finish(s, TS_REASON_BREAKDOWN, "breakdown: x + M^-1 (b - A x) diverges; cg or gmres may not");
    return TS_OK;
  }
  s->verified = fmin(s->verified, measure);
  if (measure < 0.9 * s->phase_best) {
    s->phase_best = measure;
    s->phase_best_at = s->iteration;
  }
  const int at_limit = result->relative_residual <= 4 * result->attainable_residual;
  if (s->iteration - s->phase_best_at > (at_limit ? 3 : window)) tsi_solve_finish_stagnated(s);
  return TS_OK;
}

static ts_status richardson_run(tsi_solve *s) {
  s->phase_best = INFINITY;
  while (!s->ended && s->iteration < s->solver->desc.max_iterations) {
    TSI_TRY(richardson_iterate(s));
    TSI_TRY(richardson_check(s));
  }
  return TS_OK;
}

static ts_status run_fixed(tsi_solve *s) {
  const ts_solver *k = s->solver;
  for (; s->iteration < k->desc.fixed_iterations; s->iteration++) {
    TSI_TRY(tsi_solver_precondition(k, k->e, k->r));
    TSI_TRY(tsi_solve_add(s, k->x, k->e));
    TSI_TRY(tsi_solver_residual(k, k->x));
  }
  return tsi_fill(k->e, 0);
}

/* e is added to x in every iteration. */
static ts_status richardson_finish(tsi_solve *s) {
  (void)s;
  return TS_OK;
}

const tsi_method tsi_richardson = {.name = "richardson",
                                   .plan = richardson_plan,
                                   .run = richardson_run,
                                   .run_fixed = run_fixed,
                                   .finish = richardson_finish};
