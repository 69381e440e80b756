/* Auto in stages. If the method and the preconditioner are both auto, a solve that fails continues with another
 * pair, from the x that it has reached:
 *
 *   chosen    the first choice of auto for the matrix
 *   cycles    cg with amg, as soon as that will take less time than Jacobi still needs (outlook.h)
 *   minres    if cg finds that the matrix is not positive definite
 *   factors   gmres with ilu, after a failure of bicgstab, idr or minres
 *   plain     gmres without factors, which may not help, if the matrix is not symmetric
 *   direct    refinement with the factors of the matrix, if the module is available and they are small enough
 *   least     lsmr, if these find that the matrix is singular: the least-squares x; also for a small matrix
 * with pivots of 0, if x is so long that rounding keeps the residual above the rule
 *
 * The stages share max_iterations. A stage ends before it fails when its iterations have taken as long as the
 * direct factors would, or half of max_iterations. It continues if its residual falls so fast that about the
 * same number of iterations again will be enough. So the time is at most about twice that of the better choice,
 * as in the ski rental problem. Times are counted in operations: the same system always runs the same stages.
 * The solver's next solve starts with the stage that ended this one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/core/core.h"
#include "common/matrix/csr.h"
#include "stage_choice.h"

static const char *const stage_names[STAGES] = {"the method chosen first", "amg",   "minres",
                                                "gmres with ilu",          "gmres", "direct"};

/* ---- Stages ---- */

int tsi_stages_are_open(const ts_solver_desc *asked) {
  return (asked->method == TS_METHOD_AUTO || asked->method == TS_METHOD_CG) &&
         asked->preconditioner_kind == TS_PRECONDITIONER_AUTO && !asked->preconditioner && !asked->transposed &&
         !asked->fixed_iterations && asked->stop == TS_STOP_RESIDUAL;
}

static unsigned excluded_stages(const tsi_stages *t, const ts_solver *first) {
  const ts_matrix *A = first->matrix;
  const unsigned factors = 1u << FACTORS | 1u << DIRECT, all = (1u << STAGES) - 1;
  unsigned excluded = t->outlook.is_open ? 0 : 1u << CYCLES;
  if (t->asked.method == TS_METHOD_CG) return excluded | (all & ~(1u << CHOSEN | 1u << CYCLES));
  if (A->kind->has_no_entries || A->all_rows || A->row_space != A->column_space) excluded |= factors;
  if (A->kind->has_no_entries || A->row_space->constrained) excluded |= 1u << LEAST;
  if (!A->info.symmetric || first->desc.method == TS_METHOD_MINRES) excluded |= 1u << MINRES;
  if (A->info.symmetric || A->all_rows) excluded |= 1u << PLAIN;
  if (first->preconditioner->left_out == TS_PRECONDITIONER_ILU) excluded |= 1u << FACTORS;
  return excluded;
}

ts_status tsi_stages_create(ts_solver *first, const ts_solver_desc *asked) {
  tsi_stages *t = tsi_calloc(first->context, 1, sizeof *t);
  if (!t) return tsi_out_of_memory(first->context, "a solver", sizeof *t);
  const ts_status status = tsi_outlook_create(first, &t->outlook);
  if (status < 0 || (asked->method == TS_METHOD_CG && !t->outlook.is_open)) {
    tsi_free(first->context, t);
    return status;
  }
  t->asked = *asked;
  t->asked.null_space = NULL; /* shared with the first solver instead */
  t->asked.max_iterations = first->desc.max_iterations;
  t->solvers[CHOSEN] = first;
  t->excluded = excluded_stages(t, first);
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

const tsi_solve *tsi_stages_at_check(const ts_solver *first) {
  if (first->at_check || !first->stages) return first->at_check;
  for (int stage = 0; stage < STAGES; stage++) {
    const ts_solver *k = first->stages->solvers[stage];
    if (k && k->at_check) return k->at_check;
  }
  return NULL;
}

int *tsi_solver_zero_start(ts_solver *k) {
  return k->stages ? &k->stages->asked.zero_start : &k->desc.zero_start;
}

/* A small A^T r does not imply that r is small, or minimal. */
static double least_rtol(double rtol) {
  return fmin(rtol, fmax(1e-3 * rtol, 1e-14));
}

/* gmres reuses the factors of the first stage. */
static ts_solver_desc describe(const tsi_stages *t, int stage) {
  ts_solver_desc desc = t->asked;
  const ts_solver *first = t->solvers[CHOSEN];
  desc.zero_start = 0;
  if (stage == CYCLES) {
    desc.method = TS_METHOD_CG;
    desc.preconditioner_kind = TS_PRECONDITIONER_AMG;
    desc.reductions = 0; /* 1 requires a diagonal preconditioner */
  } else if (stage == MINRES || stage == LEAST) {
    desc.method = stage == MINRES ? TS_METHOD_MINRES : TS_METHOD_LSMR;
    if (stage == LEAST) desc.rtol = least_rtol(first->desc.rtol);
  } else if (stage == DIRECT) {
    desc.preconditioner_kind = TS_PRECONDITIONER_DIRECT;
  } else {
    desc.method = TS_METHOD_GMRES;
    if (stage == FACTORS) desc.restart = 100;
    if (stage == PLAIN)
      desc.preconditioner_kind = tsi_preconditioner_choose_diagonal(first->matrix);
    else if (first->preconditioner->kind->kind == TS_PRECONDITIONER_ILU)
      desc.preconditioner = first->preconditioner;
    else
      desc.preconditioner_kind = TS_PRECONDITIONER_ILU;
  }
  return desc;
}

/* Whether an error ends the solve. A stage that the matrix does not support, or with factors or levels that
 * exceed the memory, is skipped, unless other ranks had enough memory. */
static int is_fatal(const ts_matrix *A, int stage, ts_status status) {
  const int may_be_large = stage == DIRECT || stage == FACTORS || stage == CYCLES;
  return status == TS_ERROR_DEVICE || status == TS_ERROR_SHADER || status == TS_ERROR_STOPPED ||
         (tsi_is_memory(status) && (!may_be_large || A->all_rows));
}

/* Sets the reason for amg, unless amg has turned out to be useless. */
static ts_status check_amg(tsi_stages *t) {
  ts_preconditioner *M = t->solvers[CYCLES]->preconditioner;
  const tsi_outlook *o = &t->outlook;
  char why[160];
  if (M->kind->disappoints(M, why, sizeof why)) {
    ts_solver_destroy(&t->solvers[CYCLES]);
    return tsi_fail(t->solvers[CHOSEN]->context, TS_ERROR_UNSUPPORTED, "%s", why);
  }
  if (t->count == 0)
    snprintf(M->choice, sizeof M->choice,
             "amg: after solves with jacobi that took %.0f iterations longer than cycles", o->paid);
  else
    snprintf(M->choice, sizeof M->choice,
             "amg: after %d iterations of jacobi, with about %.0f left (condition number %.2g so far); amg "
             "takes as long as %.0f",
             t->runs[t->count - 1].iterations, o->remaining, o->condition, o->price);
  return TS_OK;
}

/* Creates the stage if it does not exist yet. Sets *made to whether it exists. */
static ts_status make(tsi_stages *t, int stage, int *made) {
  ts_solver *first = t->solvers[CHOSEN];
  ts_context *context = first->context;
  *made = 1;
  if (t->solvers[stage]) return TS_OK;
  const ts_solver_desc desc = describe(t, stage);
  const int needs_copy =
      stage == CYCLES && !tsi_preconditioner_has_entries(first->matrix, TS_PRECONDITIONER_AMG);
  ts_status status = needs_copy ? tsi_matrix_keep_host_copy(first->matrix) : TS_OK;
  if (status == TS_OK) status = tsi_solver_create(first->matrix, &desc, &t->solvers[stage]);
  if (status == TS_OK && stage == CYCLES) status = check_amg(t);
  if (status == TS_OK) {
    t->solvers[stage]->part_of = t;
    if (stage != LEAST) tsi_null_space_share(&t->solvers[stage]->null_space, first->null_space);
    return TS_OK;
  }
  *made = 0;
  if (is_fatal(first->matrix, stage, status)) return status;
  t->excluded |= 1u << stage;
  if (stage == CYCLES) t->outlook.is_open = 0;
  if (stage == DIRECT && ts_last_error_row(context) >= 0) t->is_singular = 1;
  tsi_log(context, TS_LOG_LEVEL_INFO, "auto skips %s: %s", stage_names[stage], context->error);
  tsi_clear_error(context);
  return TS_OK;
}

/* ---- A solve ---- */

static void note(tsi_stages *t, const ts_solver *k, const ts_result *r) {
  if (t->count == MOST_RUNS) t->count--;
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

/* Turns r into the sum of all runs up to this one. */
static void add(ts_result *r, const ts_result *before) {
  r->iterations += before->iterations;
  r->restarts += before->restarts;
  r->host_synchronisations += before->host_synchronisations;
  for (int p = 0; p < 4; p++) r->precision_iterations[p] += before->precision_iterations[p];
}

/* lsmr's rule is about A^T r. Converts the result to one about r. */
static ts_status check_least(const ts_solver *k, double rtol, ts_status status, ts_result *r) {
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

/* gmres may use the first stage's factors, which it does not update itself. */
static ts_status run(tsi_stages *t, int stage, int before, const ts_vector *b, ts_vector *x,
                     ts_result *result) {
  ts_solver *k = t->solvers[stage];
  if (k->desc.preconditioner) TSI_TRY(tsi_solver_update_preconditioner(t->solvers[CHOSEN]));
  k->desc.zero_start = before < 0 ? t->asked.zero_start : 0;
  k->iterations_before = before < 0 ? 0 : before;
  k->desc.max_iterations = t->asked.max_iterations - k->iterations_before;
  k->is_left = t->leaves_for_amg = 0;
  if (stage == CHOSEN) tsi_outlook_begin(&t->outlook);
  k->stage_best = k->stage_low = INFINITY;
  k->stage_verified = 0;
  const ts_status status = tsi_solver_solve_once(k, b, x, result);
  const double rtol = t->solvers[CHOSEN]->desc.rtol;
  return stage == LEAST && status >= 0 ? check_least(k, rtol, status, result) : status;
}

/* A stage that was left for another continues if the other one cannot be created. */
static int next_stage(tsi_stages *t, int stage, const ts_result *r, ts_status *status) {
  int next, made = 0;
  do {
    next = tsi_stage_following(t, stage, r);
    if (next >= 0) *status = make(t, next, &made);
  } while (*status == TS_OK && next >= 0 && !made);
  return next < 0 && t->solvers[stage]->is_left ? stage : next;
}

/* An x that failed may have any part in the null space of a singular matrix, even numbers that are not finite
 * in unknowns without an equation. Its residual does not show that. Started from 0, lsmr finds the shortest x.
 * It may not finish, so the previous x is kept. */
static ts_status prepare_x(int next, const ts_result *r, ts_vector *x, ts_vector **kept) {
  const int is_better = r->relative_residual <= 1;
  if (x->space->constrained || (next != LEAST && is_better)) return TS_OK;
  if (is_better) {
    TSI_TRY(ts_vector_create(x->space, &(ts_vector_desc){.components = x->components}, kept));
    TSI_TRY(ts_vector_copy(*kept, x));
  }
  return ts_vector_fill(x, 0);
}

/* Restores the kept x, if the run after it has not found a better one. Restores its result too, if that was at
 * the limit of rounding. */
static ts_status restore_kept(const ts_vector *kept, const ts_result *before, ts_vector *x, ts_result *r,
                              int *is_back) {
  const int is_solved = r->reason == TS_REASON_CONVERGED || r->reason == TS_REASON_INCOMPATIBLE;
  *is_back = kept && !is_solved && !(r->relative_residual <= before->relative_residual);
  if (!*is_back) return TS_OK;
  r->relative_residual = before->relative_residual;
  if (tsi_stage_is_at_limit(before) && r->reason != TS_REASON_STOPPED) {
    r->reason = before->reason;
    r->rounded_residual = before->rounded_residual;
    r->attainable_residual = before->attainable_residual;
    snprintf(r->message, sizeof r->message, "%s", before->message);
  }
  return ts_vector_copy(x, kept);
}

static ts_status solve_in_stages(tsi_stages *t, const ts_vector *b, ts_vector *x, ts_vector **kept,
                                 ts_result *result) {
  ts_result sum = {0};
  int stage = t->begins_with, last = stage, before = -1, is_back = 0;
  for (;;) {
    t->tried |= 1u << stage;
    const ts_status status = run(t, stage, before, b, x, result);
    if (status < 0) return status;
    TSI_TRY(restore_kept(*kept, &sum, x, result, &is_back));
    note(t, t->solvers[stage], result);
    add(result, &sum);
    const int is_end = status == TS_OK || tsi_stage_is_final(t->solvers[stage], result);
    t->last = stage;
    if (is_end && result->reason != TS_REASON_STOPPED) tsi_stage_learn(t, is_back ? last : stage, result);
    if (is_end || result->iterations >= t->asked.max_iterations) return status;
    ts_status failed = TS_OK;
    const int next = next_stage(t, stage, result, &failed);
    if (failed == TS_ERROR_STOPPED) { /* x is that of the stage before */
      tsi_result_stop(result);
      return TS_NOT_CONVERGED;
    }
    if (failed < 0) return failed;
    if (next < 0) return TS_NOT_CONVERGED;
    if (next != stage) tsi_solver_destroy_workspace(t->solvers[stage]);
    TSI_TRY(prepare_x(next, result, x, kept));
    sum = *result;
    before = result->iterations;
    last = stage;
    stage = next;
  }
}

/* Starts with AMG if the solves so far have cost as much as its set-up. */
static ts_status begin(tsi_stages *t) {
  int made = 0;
  t->count = 0;
  t->tried = 0;
  if (t->begins_with != CHOSEN || !tsi_outlook_has_paid(&t->outlook, t->solvers[CHOSEN])) return TS_OK;
  TSI_TRY(make(t, CYCLES, &made));
  if (!made) return TS_OK;
  tsi_solver_destroy_workspace(t->solvers[CHOSEN]);
  t->begins_with = CYCLES;
  return TS_OK;
}

ts_status tsi_stages_solve(ts_solver *first, const ts_vector *b, ts_vector *x, ts_result *result) {
  tsi_stages *t = first->stages;
  ts_vector *kept = NULL;
  TSI_TRY(begin(t));
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
                    count ? "stage is %d; it must be 0 to %d" : "stage is %d; the last solve had none%.0d",
                    stage, count - 1);
  *info = solver->stages->runs[stage];
  return TS_OK;
}
