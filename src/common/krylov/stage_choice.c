/* Which stage of auto follows, and when a stage is left. */
#include "stage_choice.h"

#include <math.h>
#include <stdio.h>

#include "common/core/core.h"
#include "common/matrix/csr.h"
#include "common/precond/direct.h"

/* ---- Costs ---- */

/* Nanoseconds per iteration. A CPU core takes about 3 per entry of the factors. */
static double iteration_time(const ts_solver *k) {
  const tsi_tuning *tuning = &k->context->tuning;
  const tsi_cost *cost = &k->preconditioner->cost;
  const int products = k->desc.method == TS_METHOD_BICGSTAB ? 2 : 1;
  const ts_preconditioner_kind kind = k->preconditioner->kind->kind;
  const int is_on_host = kind == TS_PRECONDITIONER_ILU || kind == TS_PRECONDITIONER_IC;
  const double entries = k->part_of->outlook.entries, factor_entry = 3; /* of all ranks: they must agree */
  if (kind == TS_PRECONDITIONER_CHEBYSHEV)
    return products * tsi_preconditioner_iteration_time(k->matrix, kind, 0, entries, 1);
  const double product = tsi_preconditioner_product_time(k->matrix, 0, entries, 1),
               applied = cost->products * entries * (is_on_host ? factor_entry : tuning->entry_nanoseconds);
  return products * (tuning->iteration_nanoseconds + product + applied);
}

/* The analysis orders a graph with one edge per entry of A. */
static double analysis_time(const ts_matrix *A) {
  return 1e6 + 200.0 * (double)A->info.nonzeros;
}

/* The sum of the squared column counts is at least entries^2 / n, and usually three times that. */
static double factor_time(const ts_matrix *A, double entries) {
  const double operations = 3 * entries * entries / A->info.rows;
  return analysis_time(A) + 20 * entries + (A->info.symmetric ? 1 : 2) * operations;
}

static ts_status predict(const ts_matrix *A, double *entries) {
  tsi_matrix_entries given;
  TSI_TRY(tsi_matrix_read(A, &given));
  const ts_status status = tsi_direct_predict(A->context, &given.csr, A->row_space->constrained, entries);
  tsi_matrix_entries_free(A->context, &given);
  return status;
}

/* Must not be called between tsi_enter and tsi_leave. */
static void price_direct(tsi_stages *t) {
  enum { most_entries = 100000000 };
  const ts_matrix *A = t->solvers[CHOSEN]->matrix;
  double entries = INFINITY;
  if (t->direct_time > 0) return;
  t->direct_time = INFINITY;
  const ts_status status = predict(A, &entries);
  if (status == TS_ERROR_STOPPED) {
    t->direct_time = 0;
  } else if (status < 0) {
    t->is_singular = ts_last_error_row(A->context) >= 0; /* structurally singular */
    tsi_clear_error(A->context);
  } else if (entries <= most_entries) {
    t->direct_time = factor_time(A, entries);
  }
}

/* Whether the stage may follow. */
static int is_open(const tsi_stages *t, int stage) {
  if (stage == FACTORS && t->solvers[CHOSEN]->desc.method == TS_METHOD_CG) return 0;
  if (stage == PLAIN && is_open(t, FACTORS)) return 0;
  return !((t->excluded | t->tried) & 1u << stage);
}

/* ---- When a stage is left ---- */

/* The largest number of the history that meets the rule. */
static double goal_of(const tsi_solve *s) {
  double goal = 1;
  for (int c = 0; c < s->solver->components; c++)
    if (s->norm_rule[c] > 0) goal = fmin(goal, s->tolerance[c] / s->norm_rule[c]);
  return fmax(goal, 1e-16);
}

/* The remaining iterations of cg. For other methods they are unknown. */
static double remaining_iterations(const tsi_solve *s, int checked, double best, double goal) {
  const ts_solver *k = s->solver;
  if (k->desc.method != TS_METHOD_CG) return INFINITY;
  if (k == k->part_of->solvers[CHOSEN]) return k->part_of->outlook.remaining;
  return best < 1 ? checked * log(goal / best) / log(best) : INFINITY;
}

/* The factors justify an analysis if it takes a small part of the rest of the solve. An iteration with blocks
 * of 4 x 4 takes about a third of the time of one with single entries. */
static int may_analyse(const tsi_solve *s, int checked, double best, double goal) {
  const ts_solver *k = s->solver;
  const double small_part = 0.08, blocks = k->matrix->info.format == TS_FORMAT_BCRS4 ? 0.35 : 1,
               whole = (checked + remaining_iterations(s, checked, best, goal)) * iteration_time(k);
  return analysis_time(k->matrix) <= small_part * blocks * whole;
}

/* Whether the residual, at its mean rate, reaches the goal within this number of iterations. */
static int is_enough(double best, int done, double goal, double iterations) {
  return best < 1 && done * log(goal) / log(best) <= iterations;
}

static int has_used_half(const tsi_stages *t, const ts_solver *k, int done) {
  enum { few = 200 }; /* fewer iterations are not split */
  const int may_gmres = is_open(t, FACTORS) || is_open(t, PLAIN),
            goes_on = k->desc.method != TS_METHOD_CG && k->desc.method != TS_METHOD_LSMR && may_gmres;
  return goes_on && t->asked.max_iterations >= few && done > k->desc.max_iterations / 2;
}

/* The numbers of a recurrence that has drifted are void after b - A x was computed. */
static void note_history(const tsi_solve *s, int count) {
  ts_solver *k = s->solver;
  const int verified = s->phase_start > s->replaced_at ? s->phase_start : s->replaced_at;
  if (verified > k->stage_verified) k->stage_low = s->measure;
  k->stage_verified = verified;
  for (int i = 0; i < count; i++) {
    k->stage_best = fmin(k->stage_best, k->history[i]);
    k->stage_low = fmin(k->stage_low, k->history[i]);
  }
}

static void leave_for_amg(tsi_solve *s) {
  tsi_stages *t = s->solver->part_of;
  char text[160];
  snprintf(text, sizeof text, "left for amg: about %.0f iterations to go, and amg takes as long as %.0f",
           t->outlook.remaining, t->outlook.price);
  s->solver->is_left = t->leaves_for_amg = 1;
  tsi_solve_finish(s, TS_REASON_STOPPED, text);
}

/* An interval set by the user is kept. */
int tsi_stage_steps(const ts_solver *k, int iteration, int steps) {
  const tsi_stages *t = k->part_of;
  const int is_first = t && k == t->solvers[CHOSEN];
  return is_first && t->asked.check_interval == 0 ? tsi_outlook_steps(&t->outlook, iteration, steps) : steps;
}

void tsi_stage_note_iteration(const tsi_solve *s, int iteration) {
  tsi_stages *t = s->solver->part_of;
  if (t && s->solver == t->solvers[CHOSEN]) tsi_outlook_add(&t->outlook, s, iteration);
}

void tsi_stage_watch(tsi_solve *s, int checked, int count) {
  ts_solver *k = s->solver;
  tsi_stages *t = k->part_of;
  ts_context *context = k->context;
  const double spent = checked * iteration_time(k), goal = goal_of(s);
  /* The recurrence met the rule before, but b - A x did not: from then on only b - A x counts. */
  const int is_refuted = k->stage_best <= goal;
  note_history(s, count);
  const double best = is_refuted ? s->measure : k->stage_low;
  if (s->ended || k == t->solvers[DIRECT] || best <= goal) return;
  const int may_price = is_open(t, DIRECT) && t->direct_time == 0 && spent > analysis_time(k->matrix),
            is_first_cg = k == t->solvers[CHOSEN] && k->desc.method == TS_METHOD_CG,
            is_time = !is_first_cg || tsi_outlook_look(&t->outlook, s, checked, goal, may_price);
  if (is_first_cg && is_time && tsi_outlook_prefers_amg(&t->outlook, checked)) {
    leave_for_amg(s);
    return;
  }
  if (may_price && is_time && may_analyse(s, checked, best, goal)) {
    tsi_leave(context, TS_OK);
    price_direct(t);
    if (tsi_enter(context) < 0) {
      tsi_solve_finish(s, TS_REASON_BREAKDOWN, context->error);
      return;
    }
  }
  const int is_dear = is_open(t, DIRECT) && t->direct_time > 0 && spent > t->direct_time,
            is_late = has_used_half(t, k, checked);
  const double affordable = is_late ? k->desc.max_iterations : fmin(2.0 * checked, k->desc.max_iterations);
  if ((!is_dear && !is_late) || is_enough(best, checked, goal, affordable)) return;
  k->is_left = 1;
  tsi_solve_finish(s, TS_REASON_STOPPED,
                   is_dear ? "left, since direct factors are expected to take no longer"
                           : "left, since at its pace the iterations would not suffice");
}

/* ---- The next solve ---- */

/* If the AMG cycles alone take longer than Jacobi did, the solver returns to Jacobi permanently. */
void tsi_stage_learn(tsi_stages *t, int stage, const ts_result *r) {
  const ts_solver *k = t->solvers[stage];
  const double time = r->iterations * iteration_time(k);
  if (stage == CHOSEN && t->count == 1) {
    tsi_outlook_pay(&t->outlook, k, r->iterations);
    t->jacobi_time = time;
  }
  t->begins_with = stage;
  if (stage != CYCLES || t->count > 1 || t->jacobi_time == 0 || time <= t->jacobi_time) return;
  t->begins_with = CHOSEN;
  t->outlook.is_open = 0;
}

/* ---- The next stage ---- */

int tsi_stage_is_at_limit(const ts_result *r) {
  return r->reason == TS_REASON_STAGNATED && r->relative_residual <= 4 * r->attainable_residual;
}

/* The stage that follows a failed run; -1: none. Factors that take seconds come last, after stages that may not
 * need them. */
int tsi_stage_following(tsi_stages *t, int stage, const ts_result *r) {
  const double soon = 3e9;
  if (t->leaves_for_amg) return is_open(t, CYCLES) ? CYCLES : -1;
  if (stage <= CYCLES && r->reason == TS_REASON_INDEFINITE && is_open(t, MINRES)) return MINRES;
  if (r->reason == TS_REASON_INCOMPATIBLE) return is_open(t, LEAST) ? LEAST : -1;
  if (stage == DIRECT) t->is_singular = 1; /* refinement does not fail for other matrices */
  if (is_open(t, DIRECT)) price_direct(t);
  const int may_factor = is_open(t, DIRECT) && isfinite(t->direct_time), may_gmres = is_open(t, FACTORS);
  if (t->is_singular && is_open(t, LEAST)) return LEAST;
  if (tsi_stage_is_at_limit(r)) return may_factor && t->direct_time <= soon ? DIRECT : -1;
  if (may_factor && (t->direct_time <= soon || !may_gmres)) return DIRECT;
  if (may_gmres) return FACTORS;
  return is_open(t, PLAIN) ? PLAIN : -1;
}

/* Whether ||r|| is minimal, to about ten digits. cg and minres may find an unreachable part of b without
 * solving for the rest of b, or find that part only roughly. */
static int is_least(const ts_solver *k, const ts_result *r) {
  return k->least_left <= fmax(k->desc.rtol, 1e-5 * r->incompatible) && k->least_gradient <= 1e-6;
}

/* A matrix that also had pivots of 0 in ilu may be singular up to rounding, with an x that is long along the
 * null space. lsmr finds the shortest x, so it is tried if it is cheap. */
static int may_be_shorter(const tsi_stages *t) {
  enum { few = 1000 };
  const ts_solver *first = t->solvers[CHOSEN];
  return is_open(t, LEAST) && first->preconditioner->left_out == TS_PRECONDITIONER_ILU &&
         first->matrix->info.rows <= few;
}

/* At the limit of x's precision no stage can improve x. The exception is an x of a singular matrix that is long
 * along the null space. In doubles the direct factors detect that, and their limit is usually final. */
int tsi_stage_is_final(const ts_solver *k, const ts_result *r) {
  if (k == k->part_of->solvers[LEAST]) return 1;
  if (tsi_stage_is_at_limit(r) && k == k->part_of->solvers[DIRECT]) return !may_be_shorter(k->part_of);
  if (tsi_stage_is_at_limit(r) && !k->pairs) return 1;
  switch (r->reason) {
  case TS_REASON_STOPPED:
    return !k->is_left;
  case TS_REASON_INCOMPATIBLE:
    return is_least(k, r);
  case TS_REASON_MAX_ITERATIONS:
  case TS_REASON_STAGNATED:
  case TS_REASON_DIVERGED:
  case TS_REASON_INDEFINITE:
  case TS_REASON_BREAKDOWN:
    return 0;
  default:
    return 1;
  }
}
