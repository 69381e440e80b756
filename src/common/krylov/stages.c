/* Auto in stages. If the method and the preconditioner are both auto, a solve that fails goes on with another
 * pair, from the x that it has reached:
 *
 *   chosen    what auto is for the matrix
 *   minres    where cg finds that the matrix is not positive definite
 *   factors   gmres with ilu, for what bicgstab and minres do not solve
 *   direct    refinement with the factors of the matrix, if there is the module and they are small enough
 *   least     lsmr, if these say that the matrix is singular: the least-squares x
 *
 * The stages share max_iterations. A stage is left before it fails once its iterations have taken as long as
 * the direct factors would, or half of the iterations that there are, unless its residual falls so fast that
 * about as many again will do. So the time is at most about twice that of the better of the two, as for a skier
 * who buys skis after having paid their price in rent. Times are counted in operations: the same system takes
 * the same stages each time. The solver's next solve begins with the stage that ended this one. */
#include "stages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/core/core.h"
#include "common/matrix/csr.h"
#include "common/matrix/operator.h"
#include "common/precond/direct.h"

enum { CHOSEN, MINRES, FACTORS, DIRECT, LEAST, STAGES, most_runs = 2 * STAGES };

struct tsi_stages {
  ts_solver *solvers[STAGES]; /* NULL: not made so far. The first is the caller's */
  ts_solver_desc asked;       /* with max_iterations resolved */
  unsigned excluded, tried;   /* bits: what cannot be made for the matrix, what has run in this solve */
  int begins_with, last;      /* of the next solve, of the last */
  int is_singular;            /* as the direct factors say, or their failure */
  double direct_time;         /* nanoseconds that factors take; 0: not known so far; INFINITY: there are none */
  int count;                  /* runs of the last solve */
  ts_stage_info runs[most_runs];
  char choices[most_runs][200], messages[most_runs][160];
};

static const char *const stage_names[STAGES] = {"the method chosen first", "minres", "gmres with ilu",
                                                "direct"};

/* ---- What it costs ---- */

/* Nanoseconds of an iteration. A host's core takes some 3 for an entry of factors. */
static double iteration_time(const ts_solver *k) {
  const tsi_tuning *tuning = &k->context->tuning;
  const tsi_cost *cost = &k->preconditioner->cost;
  const int products = k->desc.method == TS_METHOD_BICGSTAB ? 2 : 1;
  const ts_preconditioner_kind kind = k->preconditioner->kind->kind;
  const int is_on_host = kind == TS_PRECONDITIONER_ILU || kind == TS_PRECONDITIONER_IC;
  const double entries = (double)k->matrix->info.nonzeros, factor_entry = 3;
  const double product = tuning->entry_nanoseconds * entries,
               applied = cost->products * entries * (is_on_host ? factor_entry : tuning->entry_nanoseconds);
  return products * (tuning->iteration_nanoseconds + product + applied);
}

/* An analysis orders a graph with the entries of A as its edges. */
static double analysis_time(const ts_matrix *A) {
  return 1e6 + 200.0 * (double)A->info.nonzeros;
}

/* The sum over columns of their squares is at least entries^2 / n, and three times that as a rule. */
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

/* Not between tsi_enter and tsi_leave. */
static void price_direct(tsi_stages *t) {
  enum { most_entries = 100000000 };
  const ts_matrix *A = t->solvers[CHOSEN]->matrix;
  double entries = INFINITY;
  if (t->direct_time > 0) return;
  t->direct_time = INFINITY;
  if (predict(A, &entries) < 0) {
    t->is_singular = ts_last_error_row(A->context) >= 0; /* structurally */
    tsi_clear_error(A->context);
  } else if (entries <= most_entries) {
    t->direct_time = factor_time(A, entries);
  }
}

/* Whether the stage may follow. */
static int is_open(const tsi_stages *t, int stage) {
  if (stage == FACTORS && t->solvers[CHOSEN]->desc.method == TS_METHOD_CG) return 0;
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

/* Whether, at its mean pace, the residual will have fallen to the goal after so many iterations. */
static int is_enough(double best, int done, double goal, double iterations) {
  return best < 1 && done * log(goal) / log(best) <= iterations;
}

static int has_taken_half(const tsi_stages *t, const ts_solver *k, int done) {
  enum { few = 200 }; /* iterations that are not shared */
  const int goes_on = k->desc.method != TS_METHOD_CG && k->desc.method != TS_METHOD_LSMR && is_open(t, FACTORS);
  return goes_on && t->asked.max_iterations >= few && done > k->desc.max_iterations / 2;
}

void tsi_stage_watch(tsi_solve *s, int checked, int count) {
  ts_solver *k = s->solver;
  tsi_stages *t = k->part_of;
  ts_context *context = k->context;
  const double spent = checked * iteration_time(k), goal = goal_of(s);
  /* The recurrence has met the rule before, and b - A x has not: that is what counts from then on. */
  const int is_refuted = k->stage_best <= goal;
  for (int i = 0; i < count; i++) k->stage_best = fmin(k->stage_best, k->history[i]);
  const double best = is_refuted ? s->measure : k->stage_best;
  if (s->ended || k == t->solvers[DIRECT] || best <= goal) return;
  if (is_open(t, DIRECT) && t->direct_time == 0 && spent > analysis_time(k->matrix)) {
    tsi_leave(context, TS_OK);
    price_direct(t);
    if (tsi_enter(context) < 0) {
      tsi_solve_finish(s, TS_REASON_BREAKDOWN, context->error);
      return;
    }
  }
  const int is_dear = is_open(t, DIRECT) && t->direct_time > 0 && spent > t->direct_time,
            is_late = has_taken_half(t, k, checked);
  const double affordable = is_late ? k->desc.max_iterations : fmin(2.0 * checked, k->desc.max_iterations);
  if ((!is_dear && !is_late) || is_enough(best, checked, goal, affordable)) return;
  k->is_left = 1;
  tsi_solve_finish(s, TS_REASON_STOPPED,
                   is_dear ? "left, since direct factors are expected to cost no more"
                           : "left, since at its pace the iterations would not be enough");
}

/* ---- Stages ---- */

int tsi_stages_are_open(const ts_solver_desc *asked) {
  return asked->method == TS_METHOD_AUTO && asked->preconditioner_kind == TS_PRECONDITIONER_AUTO &&
         !asked->preconditioner && !asked->transposed && !asked->fixed_iterations &&
         asked->stop == TS_STOP_RESIDUAL;
}

ts_status tsi_stages_create(ts_solver *first, const ts_solver_desc *asked) {
  const ts_matrix *A = first->matrix;
  const unsigned factors = 1u << FACTORS | 1u << DIRECT;
  tsi_stages *t = tsi_calloc(first->context, 1, sizeof *t);
  if (!t) return tsi_out_of_memory(first->context, "a solver", sizeof *t);
  t->asked = *asked;
  t->asked.null_space = NULL; /* that of the first is shared */
  t->asked.max_iterations = first->desc.max_iterations;
  t->solvers[CHOSEN] = first;
  if (A->kind->has_no_entries || A->all_rows || A->row_space != A->column_space) t->excluded |= factors;
  if (A->kind->has_no_entries || A->row_space->constrained) t->excluded |= 1u << LEAST;
  if (!A->info.symmetric || first->desc.method == TS_METHOD_MINRES) t->excluded |= 1u << MINRES;
  first->stages = first->part_of = t;
  return TS_OK;
}

void tsi_stages_destroy(ts_solver *first) {
  tsi_stages *t = first->stages;
  if (!t) return;
  for (int i = CHOSEN + 1; i < STAGES; i++) ts_solver_destroy(&t->solvers[i]);
  tsi_free(first->context, t);
  first->stages = NULL;
}

const ts_solver *tsi_stages_present(const ts_solver *first) {
  return first->stages ? first->stages->solvers[first->stages->last] : first;
}

/* A small A^T r does not say that r is small, or as small as it can be. */
static double least_rtol(double rtol) {
  return fmin(rtol, fmax(1e-3 * rtol, 1e-14));
}

/* gmres takes the factors over that bicgstab had. */
static ts_solver_desc describe(const tsi_stages *t, int stage) {
  ts_solver_desc desc = t->asked;
  ts_preconditioner *chosen = t->solvers[CHOSEN]->preconditioner;
  desc.zero_start = 0;
  if (stage == MINRES || stage == LEAST) {
    desc.method = stage == MINRES ? TS_METHOD_MINRES : TS_METHOD_LSMR;
    if (stage == LEAST) desc.rtol = least_rtol(t->solvers[CHOSEN]->desc.rtol);
  } else if (stage == DIRECT) {
    desc.preconditioner_kind = TS_PRECONDITIONER_DIRECT;
  } else {
    desc.method = TS_METHOD_GMRES;
    desc.restart = 100;
    if (chosen->kind->kind == TS_PRECONDITIONER_ILU)
      desc.preconditioner = chosen;
    else
      desc.preconditioner_kind = TS_PRECONDITIONER_ILU;
  }
  return desc;
}

/* An error that ends the solve: what the matrix does not have, and factors beyond memory, are left out. */
static int is_fatal(int stage, ts_status status) {
  return status == TS_ERROR_DEVICE || status == TS_ERROR_SHADER ||
         (tsi_is_memory(status) && stage != DIRECT && stage != FACTORS);
}

/* Whether the stage is there. */
static ts_status make(tsi_stages *t, int stage, int *made) {
  ts_solver *first = t->solvers[CHOSEN];
  ts_context *context = first->context;
  *made = 1;
  if (t->solvers[stage]) return TS_OK;
  const ts_solver_desc desc = describe(t, stage);
  const ts_status status = tsi_solver_create(first->matrix, &desc, &t->solvers[stage]);
  if (status == TS_OK) {
    t->solvers[stage]->part_of = t;
    if (stage != LEAST) tsi_null_space_share(&t->solvers[stage]->null_space, first->null_space);
    return TS_OK;
  }
  *made = 0;
  if (is_fatal(stage, status)) return status;
  t->excluded |= 1u << stage;
  if (stage == DIRECT && ts_last_error_row(context) >= 0) t->is_singular = 1;
  tsi_log(context, TS_LOG_LEVEL_INFO, "auto leaves out %s: %s", stage_names[stage], context->error);
  tsi_clear_error(context);
  return TS_OK;
}

/* The residual is what rounding x leaves. */
static int is_at_limit(const ts_result *r) {
  return r->reason == TS_REASON_STAGNATED && r->relative_residual <= 4 * r->attainable_residual;
}

/* What may follow a run that has failed; -1: nothing. Factors that take seconds come after what may not need
 * them. */
static int following(tsi_stages *t, int stage, const ts_result *r) {
  const double soon = 3e9;
  if (stage == CHOSEN && r->reason == TS_REASON_INDEFINITE && is_open(t, MINRES)) return MINRES;
  if (r->reason == TS_REASON_INCOMPATIBLE) return is_open(t, LEAST) ? LEAST : -1;
  if (stage == DIRECT) t->is_singular = 1; /* refinement does not fail of other matrices */
  if (is_open(t, DIRECT)) price_direct(t);
  const int may_factor = is_open(t, DIRECT) && isfinite(t->direct_time), may_gmres = is_open(t, FACTORS);
  if (t->is_singular && is_open(t, LEAST)) return LEAST;
  if (is_at_limit(r)) return may_factor && t->direct_time <= soon ? DIRECT : -1;
  if (may_factor && (t->direct_time <= soon || !may_gmres)) return DIRECT;
  return may_gmres ? FACTORS : -1;
}

/* Whether ||r|| is the smallest that there is, to about ten digits. cg and minres may find a part of b that no
 * x reaches and not solve what is left of b. */
static int is_least(const ts_solver *k, const ts_result *r) {
  return k->least_left <= fmax(k->desc.rtol, 1e-5 * r->incompatible);
}

/* At the limit of x's precision there is nothing to gain, but for an x that is long for what it has of the null
 * space of a singular matrix: in doubles the factors tell, whose limit is final. */
static int is_final(const ts_solver *k, const ts_result *r) {
  if (k == k->part_of->solvers[LEAST]) return 1;
  if (is_at_limit(r) && (k == k->part_of->solvers[DIRECT] || !k->pairs)) return 1;
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

/* ---- A solve ---- */

static void note(tsi_stages *t, const ts_solver *k, const ts_result *r) {
  if (t->count == most_runs) t->count--;
  const int i = t->count++;
  const ts_preconditioner *M = k->preconditioner;
  snprintf(t->choices[i], sizeof t->choices[i], "%s", M->choice);
  snprintf(t->messages[i], sizeof t->messages[i], "%s", r->message);
  t->runs[i] = (ts_stage_info){.method = r->method,
                               .preconditioner = M->kind->kind,
                               .choice = t->choices[i],
                               .iterations = r->iterations,
                               .relative_residual = r->relative_residual,
                               .reason = r->reason,
                               .message = t->messages[i]};
  tsi_log(k->context, TS_LOG_LEVEL_INFO,
          "auto: %s, preconditioner %s: %d iterations, relative residual %.2g: %s", ts_method_name(r->method),
          ts_preconditioner_kind_name(M->kind->kind), r->iterations, r->relative_residual, r->message);
}

/* r becomes the result of all runs up to this one. */
static void add(ts_result *r, const ts_result *before) {
  r->iterations += before->iterations;
  r->restarts += before->restarts;
  r->host_synchronisations += before->host_synchronisations;
  for (int p = 0; p < 4; p++) r->precision_iterations[p] += before->precision_iterations[p];
}

/* lsmr's rule is about A^T r: the result becomes one about r. */
static ts_status judge_least(const ts_solver *k, double rtol, ts_status status, ts_result *r) {
  const double left = r->reduction, gradient = r->relative_residual;
  r->relative_residual = left;
  r->attainable_residual = NAN;
  if (r->reason == TS_REASON_STOPPED) return status;
  if (left <= rtol) {
    r->reason = TS_REASON_CONVERGED;
    snprintf(r->message, sizeof r->message, "%s", ts_reason_text(r->reason));
    tsi_clear_error(k->context);
    return TS_OK;
  }
  if (!(gradient <= rtol)) return status;
  r->incompatible = left;
  r->reason = TS_REASON_INCOMPATIBLE;
  snprintf(r->message, sizeof r->message,
           "the matrix is singular, and %.2g of the right-hand side is a part that no x reaches; of the rest "
           "||A^T r|| is %.2g ||A^T b||",
           left, gradient);
  return tsi_fail(k->context, TS_NOT_CONVERGED, "%s", r->message);
}

/* bicgstab's factors serve gmres, which does not bring them up to date. */
static ts_status run(const tsi_stages *t, int stage, int before, const ts_vector *b, ts_vector *x,
                     ts_result *result) {
  ts_solver *k = t->solvers[stage];
  if (k->desc.preconditioner) TSI_TRY(tsi_solver_update_preconditioner(t->solvers[CHOSEN]));
  k->desc.zero_start = before < 0 ? t->asked.zero_start : 0;
  k->iterations_before = before < 0 ? 0 : before;
  k->desc.max_iterations = t->asked.max_iterations - k->iterations_before;
  k->is_left = 0;
  k->stage_best = INFINITY;
  const ts_status status = tsi_solver_solve_once(k, b, x, result);
  const double rtol = t->solvers[CHOSEN]->desc.rtol;
  return stage == LEAST && status >= 0 ? judge_least(k, rtol, status, result) : status;
}

/* A stage that was left for another goes on itself if that is not there after all. */
static int next_stage(tsi_stages *t, int stage, const ts_result *r, ts_status *status) {
  int next, made = 0;
  do {
    next = following(t, stage, r);
    if (next >= 0) *status = make(t, next, &made);
  } while (*status == TS_OK && next >= 0 && !made);
  return next < 0 && t->solvers[stage]->is_left ? stage : next;
}

/* An x that failed may have anything in the null space of a singular matrix, also numbers that are not finite
 * in unknowns without an equation, and its residual does not show that. From 0 lsmr makes the shortest x. It
 * may not come to an end, so the x before is kept. */
static ts_status prepare_x(int next, const ts_result *r, ts_vector *x, ts_vector **kept) {
  const int is_better = r->relative_residual <= 1;
  if (x->space->constrained || (next != LEAST && is_better)) return TS_OK;
  if (is_better) {
    TSI_TRY(ts_vector_create(x->space, &(ts_vector_desc){.components = x->components}, kept));
    TSI_TRY(ts_vector_copy(*kept, x));
  }
  return ts_vector_fill(x, 0);
}

static ts_status take_back(const ts_vector *kept, double residual, ts_vector *x, ts_result *r) {
  const int is_solved = r->reason == TS_REASON_CONVERGED || r->reason == TS_REASON_INCOMPATIBLE;
  if (!kept || is_solved || r->relative_residual <= residual) return TS_OK;
  r->relative_residual = residual;
  return ts_vector_copy(x, kept);
}

static ts_status solve_in_stages(tsi_stages *t, const ts_vector *b, ts_vector *x, ts_vector **kept,
                                 ts_result *result) {
  ts_result sum = {0};
  int stage = t->begins_with, before = -1;
  for (;;) {
    t->tried |= 1u << stage;
    const ts_status status = run(t, stage, before, b, x, result);
    if (status < 0) return status;
    TSI_TRY(take_back(*kept, sum.relative_residual, x, result));
    note(t, t->solvers[stage], result);
    add(result, &sum);
    const int is_end = status == TS_OK || is_final(t->solvers[stage], result);
    t->last = stage;
    if (is_end && result->reason != TS_REASON_STOPPED) t->begins_with = stage;
    if (is_end || result->iterations >= t->asked.max_iterations) return status;
    ts_status failed = TS_OK;
    const int next = next_stage(t, stage, result, &failed);
    if (failed < 0) return failed;
    if (next < 0) return TS_NOT_CONVERGED;
    if (next != stage) tsi_solver_destroy_workspace(t->solvers[stage]);
    TSI_TRY(prepare_x(next, result, x, kept));
    sum = *result;
    before = result->iterations;
    stage = next;
  }
}

ts_status tsi_stages_solve(ts_solver *first, const ts_vector *b, ts_vector *x, ts_result *result) {
  tsi_stages *t = first->stages;
  ts_vector *kept = NULL;
  t->count = 0;
  t->tried = 0;
  const ts_status status = solve_in_stages(t, b, x, &kept, result);
  ts_vector_destroy(&kept);
  return status == TS_NOT_CONVERGED ? tsi_fail(first->context, status, "%s", result->message) : status;
}

/* ---- Information ---- */

int ts_solver_get_stage_count(const ts_solver *solver) {
  return solver && solver->stages ? solver->stages->count : 0;
}

ts_status ts_solver_get_stage(const ts_solver *solver, int stage, ts_stage_info *info) {
  TSI_BEGIN(solver, solver->context);
  TSI_REQUIRE(solver->context, info);
  const int count = ts_solver_get_stage_count(solver);
  if (stage < 0 || stage >= count)
    return tsi_fail(solver->context, TS_ERROR_INVALID_ARGUMENT,
                    count ? "stage is %d; it goes from 0 to %d" : "stage is %d; the last solve had none%.0d",
                    stage, count - 1);
  *info = solver->stages->runs[stage];
  return TS_OK;
}
