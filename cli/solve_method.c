/* The method of `texsolve solve`: its choice, its preconditioner, the solve, and the messages. */
#include "solve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- The preconditioner ---- */

int solve_has_setup(const solve_options *o) {
  return o->preconditioner != TS_PRECONDITIONER_JACOBI && o->preconditioner != TS_PRECONDITIONER_NONE;
}

int solve_host_copy(const solve_options *o) {
  switch (o->preconditioner) {
  case TS_PRECONDITIONER_AUTO:
    return 0; /* the library's choice */
  case TS_PRECONDITIONER_CHEBYSHEV:
  case TS_PRECONDITIONER_DIRECT: /* reads the values back, which are doubles */
    return -1;
  default:
    return solve_has_setup(o) ? 1 : -1;
  }
}

static ts_status record_hierarchy(const ts_preconditioner *M, solve_hierarchy *hierarchy) {
  ts_status status = ts_preconditioner_get_amg_info(M, &hierarchy->info);
  for (int l = 0; l < hierarchy->info.levels && status == TS_OK; l++)
    status = ts_preconditioner_get_amg_level(M, l, &hierarchy->levels[l]);
  return status;
}

ts_status solve_record_preconditioner(const ts_preconditioner *M, solve_outcome *outcome) {
  ts_preconditioner_info info;
  const ts_status status = ts_preconditioner_get_info(M, &info);
  if (status < 0) return status;
  outcome->preconditioner = info.kind;
  snprintf(outcome->preconditioner_choice, sizeof outcome->preconditioner_choice, "%s", info.choice);
  outcome->factors = *info.factors ? info.factors : NULL;
  outcome->factor_entries = info.factor_entries;
  return outcome->preconditioner == TS_PRECONDITIONER_AMG ? record_hierarchy(M, &outcome->hierarchy) : TS_OK;
}

ts_status solve_make_preconditioner(const solve_options *o, const ts_amg_desc *amg, ts_matrix *A,
                                    ts_preconditioner **made, solve_outcome *outcome) {
  /* minres needs a positive definite preconditioner, although the matrix is indefinite. */
  const int is_auto = o->preconditioner == TS_PRECONDITIONER_AUTO && outcome->method == TS_METHOD_MINRES;
  const ts_preconditioner_desc desc = {.kind = is_auto ? TS_PRECONDITIONER_JACOBI : o->preconditioner,
                                       .block_size = o->block_size,
                                       .degree = o->degree,
                                       .fill = o->fill,
                                       .drop_tolerance = o->drop_tolerance,
                                       .scaling = o->scaling,
                                       .sweeps = o->sweeps,
                                       .levels = o->levels,
                                       .amg = o->preconditioner == TS_PRECONDITIONER_AMG ? amg : NULL};
  const ts_status status = ts_preconditioner_create(A, &desc, made);
  return status < 0 ? status : solve_record_preconditioner(*made, outcome);
}

/* ---- The method ---- */

/* As TS_METHOD_AUTO. A matrix with such a diagonal is not positive definite. */
ts_method solve_choose(const solve_options *options, const ts_matrix_info *matrix) {
  if (options->method != TS_METHOD_AUTO) return options->method;
  if (matrix->rows != matrix->columns) return TS_METHOD_LSMR;
  if (options->preconditioner == TS_PRECONDITIONER_DIRECT) return TS_METHOD_RICHARDSON;
  if (!matrix->symmetric)
    return options->preconditioner == TS_PRECONDITIONER_ILU ? TS_METHOD_IDR : TS_METHOD_BICGSTAB;
  return matrix->zero_diagonal_row < 0 && !matrix->negative_diagonal ? TS_METHOD_CG : TS_METHOD_MINRES;
}

int solve_is_open(const solve_options *o, const solve_outcome *outcome) {
  return o->method == TS_METHOD_AUTO && o->preconditioner == TS_PRECONDITIONER_AUTO &&
         o->stop == TS_STOP_RESIDUAL && !solve_is_least_squares(outcome->method);
}

void solve_record_stages(const ts_solver *solver, solve_outcome *outcome) {
  const int count = ts_solver_get_stage_count(solver);
  outcome->stages = 0;
  for (int i = 0; i < count && i < SOLVE_MOST_STAGES; i++) {
    ts_stage_info info;
    solve_stage *stage = &outcome->stage[i];
    if (ts_solver_get_stage(solver, i, &info) < 0) return;
    *stage = (solve_stage){.method = info.method,
                           .preconditioner = info.preconditioner,
                           .iterations = info.iterations,
                           .relative_residual = info.relative_residual};
    snprintf(stage->message, sizeof stage->message, "%s", info.message);
    outcome->method = info.method;
    outcome->preconditioner = info.preconditioner;
    outcome->stages++;
  }
  if (count > 1) (void)solve_record_preconditioner(ts_solver_get_preconditioner(solver), outcome);
}

/* Single precision adds to x a part of the null space of the rounded A, about 1e-6 of x and above the
 * tolerance. */
static ts_precision precision_of(const solve_options *o, ts_method method) {
  const int is_exact = solve_is_least_squares(method) && o->rtol < 1e-6;
  return o->precision == TS_PRECISION_AUTO && is_exact ? TS_PRECISION_DOUBLE : o->precision;
}

ts_status solve_create_solver(const solve_options *o, ts_preconditioner *M, ts_matrix *A,
                              ts_progress_fn progress, void *user, const solve_outcome *outcome,
                              ts_solver **solver) {
  const int is_open = solve_is_open(o, outcome);
  ts_solver_desc desc = {.method = is_open ? TS_METHOD_AUTO : outcome->method,
                         .preconditioner = M,
                         .preconditioner_kind = M || is_open ? TS_PRECONDITIONER_AUTO : outcome->preconditioner,
                         .stop = o->stop,
                         .precision = precision_of(o, outcome->method),
                         .rtol = o->rtol,
                         .zero_start = !o->x0,
                         .max_iterations = o->max_iterations,
                         .check_interval = o->check_interval,
                         .restart = outcome->method == TS_METHOD_GMRES ? o->restart : 0,
                         .progress = progress,
                         .progress_user = user};
  const ts_status status = ts_solver_create(A, &desc, solver);
  if (status != TS_ERROR_UNSUPPORTED || desc.precision == o->precision) return status;
  desc.precision = o->precision; /* the device has single precision only */
  return ts_solver_create(A, &desc, solver);
}

/* ---- The final decision, by the residual on the host ---- */

static void check_residual(const solve_options *o, solve_outcome *outcome) {
  ts_result *r = &outcome->result;
  const int converged = outcome->accuracy.residual <= o->rtol;
  if (converged && r->reason > TS_REASON_ZERO_RESIDUAL && r->reason != TS_REASON_STOPPED) {
    r->reason = TS_REASON_CONVERGED;
    r->message[0] = 0;
  }
  if (!converged && outcome->out_of_range) {
    r->reason = TS_REASON_BREAKDOWN;
    snprintf(r->message, sizeof r->message, "breakdown: the solution is %s the range of double precision",
             outcome->out_of_range > 0 ? "beyond" : "below");
  }
  if (!converged && r->reason <= TS_REASON_ZERO_RESIDUAL) r->reason = TS_REASON_STAGNATED;
  outcome->status = r->reason <= TS_REASON_ZERO_RESIDUAL ? TS_OK : TS_NOT_CONVERGED;
}

static const char *other_preconditioner(const solve_outcome *outcome) {
  if (outcome->hierarchy.info.stalled) return "a smaller --amg-strength";
  if (solve_is_least_squares(outcome->method))
    return outcome->jacobi_may_help ? "--preconditioner jacobi" : NULL;
  return outcome->preconditioner == TS_PRECONDITIONER_NONE     ? "--preconditioner jacobi"
         : outcome->preconditioner == TS_PRECONDITIONER_JACOBI ? "--preconditioner block-jacobi"
                                                               : NULL;
}

/* A remedy other than a larger tolerance, or NULL. */
static const char *remedy(const solve_options *o, const solve_outcome *outcome) {
  const solve_accuracy *a = &outcome->accuracy;
  const int names_precision = strstr(outcome->result.message, "; precision ") != NULL;
  if (outcome->result.reason == TS_REASON_MAX_ITERATIONS && outcome->jacobi_may_help)
    return "--preconditioner jacobi, a larger --max-iterations";
  if (outcome->result.reason == TS_REASON_MAX_ITERATIONS && !names_precision)
    return "a larger --max-iterations";
  if (outcome->result.reason == TS_REASON_MAX_ITERATIONS && o->precision != TS_PRECISION_SINGLE)
    return "--precision double, a larger --max-iterations";
  if (o->precision == TS_PRECISION_SINGLE) return "--precision auto";
  if (o->precision == TS_PRECISION_MIXED) return "--precision double";
  if (a->residual <= 8 * a->rounding) return NULL;
  return outcome->method == TS_METHOD_GMRES ? "a larger --restart" : other_preconditioner(outcome);
}

/* A method that may succeed instead, or NULL. */
static const char *other_method(const solve_outcome *outcome) {
  const ts_reason reason = outcome->result.reason;
  const int refused = reason == TS_REASON_INDEFINITE || reason == TS_REASON_NOT_SYMMETRIC;
  if (outcome->method == TS_METHOD_CG && reason == TS_REASON_INDEFINITE) return "--solver minres";
  if (refused && outcome->method != TS_METHOD_BICGSTAB)
    return reason == TS_REASON_INDEFINITE ? "--preconditioner jacobi" : "--solver bicgstab, idr or gmres";
  if (outcome->method == TS_METHOD_BICGSTAB && reason == TS_REASON_BREAKDOWN && !outcome->out_of_range)
    return "--solver idr or gmres";
  return NULL;
}

static void say_not_reached(const solve_options *o, solve_outcome *outcome) {
  const ts_result *r = &outcome->result;
  const char *residual = solve_residual_text(outcome->accuracy.residual, o->rtol);
  const char *help = remedy(o, outcome);
  char *const text = outcome->message;
  const size_t size = sizeof outcome->message;
  if (r->reason == TS_REASON_MAX_ITERATIONS)
    snprintf(text, size, "the maximum of %d iterations was reached at %s %s", r->iterations,
             solve_measure(outcome), residual);
  else
    snprintf(text, size, "stagnated at %s %s in %s precision", solve_measure(outcome), residual,
             r->precision == TS_PRECISION_AUTO ? "single" : ts_precision_name(r->precision));
  const size_t used = strlen(text);
  if (solve_is_least_squares(outcome->method) && outcome->accuracy.residual <= 8 * outcome->accuracy.rounding)
    snprintf(text + used, size - used, ", which is the rounding of b and x to doubles");
  else
    snprintf(text + used, size - used, " (hint: try %s%sa larger --rtol)", help ? help : "",
             help ? ", or " : "");
}

int solve_is_done(const solve_outcome *outcome) {
  return outcome->status == TS_OK || (outcome->short_of_limit == 0 &&
                                      outcome->result.reason != TS_REASON_STOPPED && !outcome->out_of_range);
}

const char *solve_how_it_ended(const solve_outcome *outcome) {
  return outcome->status == TS_OK                      ? "converged"
         : solve_is_done(outcome)                      ? "as exact as doubles are"
         : outcome->result.reason == TS_REASON_STOPPED ? "stopped"
                                                       : "not converged";
}

/* Sets the status, the reason and the message according to `accuracy`. */
static void conclude(const solve_options *o, solve_outcome *outcome) {
  const ts_result *r = &outcome->result;
  char *const text = outcome->message;
  const size_t size = sizeof outcome->message;
  if (o->stop == TS_STOP_RESIDUAL) check_residual(o, outcome);
  if (r->reason == TS_REASON_STAGNATED || r->reason == TS_REASON_MAX_ITERATIONS) {
    say_not_reached(o, outcome);
    return;
  }
  if (r->reason == TS_REASON_STOPPED) {
    snprintf(text, size, "stopped after %d iterations at %s %s", r->iterations, solve_measure(outcome),
             solve_residual_text(outcome->accuracy.residual, o->rtol));
    return;
  }
  const char *other = other_method(outcome);
  snprintf(text, size, "%s", r->message[0] ? r->message : ts_reason_text(r->reason));
  /* The device's own residual has different digits. */
  char *rest = strstr(text, ", at a relative residual of ");
  if (rest)
    snprintf(rest, size - (size_t)(rest - text), ", at %s %s", solve_measure(outcome),
             solve_residual_text(outcome->accuracy.residual, o->rtol));
  const size_t used = strlen(text);
  if (other) snprintf(text + used, size - used, " (hint: try %s)", other);
}

/* ---- Groups of columns ---- */

static double larger(double a, double b) {
  return isnan(a) || a > b ? a : b;
}

static solve_accuracy worst_of(solve_accuracy a, solve_accuracy b) {
  return (solve_accuracy){larger(a.residual, b.residual), larger(a.rounding, b.rounding),
                          larger(a.left, b.left)};
}

/* The maximum residuals of columns first to end - 1, and the residual of each. */
static solve_accuracy measure(const solve_system *system, const double *x, int first, int end,
                              solve_column *columns) {
  solve_accuracy worst = {0, 0, 0};
  for (int c = first; c < end; c++) {
    const solve_accuracy accuracy = solve_residual(system, x, c);
    columns[c].residual = accuracy.residual;
    columns[c].left = accuracy.left;
    columns[c].is_at_limit = isfinite(accuracy.residual) && accuracy.residual <= 8 * accuracy.rounding;
    worst = worst_of(accuracy, worst);
  }
  return worst;
}

/* In a group that did not converge, a column is solved if its residual is small enough. For the whole group a
 * rule other than the residual's decides. */
static void add_columns(const solve_options *o, int is_solved, int first, int end, solve_accuracy accuracy,
                        solve_outcome *outcome) {
  solve_column *const columns = outcome->columns;
  for (int c = first; c < end; c++) {
    const double r = columns[c].residual, worst = columns[outcome->worst].residual;
    columns[c].is_solved = is_solved || (o->stop == TS_STOP_RESIDUAL && r <= o->rtol);
    outcome->unsolved += !columns[c].is_solved;
    outcome->short_of_limit += !columns[c].is_solved && !columns[c].is_at_limit;
    if (r > worst || (isnan(r) && !isnan(worst))) outcome->worst = c;
  }
  outcome->accuracy = worst_of(accuracy, outcome->accuracy);
}

/* The first group and a stopped one count as worse. Otherwise a failure is worse than success, and a larger
 * residual than a smaller one. */
static int is_worse(const solve_outcome *group, const solve_outcome *before, int first) {
  const int fails = group->status != TS_OK, failed = before->status != TS_OK;
  if (first == 0 || group->result.reason == TS_REASON_STOPPED) return 1;
  return fails != failed ? fails : !(group->accuracy.residual <= before->accuracy.residual);
}

void solve_add_group(const solve_options *o, const solve_system *system, const double *x, int first, int end,
                     const solve_outcome *group, solve_outcome *outcome) {
  solve_outcome checked = *group;
  checked.accuracy = measure(system, x, first, end, outcome->columns);
  conclude(o, &checked);
  const ts_result before = outcome->result, *r = &checked.result;
  if (is_worse(&checked, outcome, first)) {
    outcome->status = checked.status;
    outcome->result = *r;
    outcome->first = first;
    memcpy(outcome->message, checked.message, sizeof outcome->message);
  }
  ts_result *const sum = &outcome->result;
  sum->iterations = before.iterations + r->iterations;
  sum->restarts = before.restarts + r->restarts;
  sum->host_synchronisations = before.host_synchronisations + r->host_synchronisations;
  for (int p = 0; p < 4; p++)
    sum->precision_iterations[p] = before.precision_iterations[p] + r->precision_iterations[p];
  if (r->iterations > outcome->most_iterations) outcome->most_iterations = r->iterations;
  add_columns(o, checked.status == TS_OK, first, end, checked.accuracy, outcome);
}

void solve_add_remaining(const solve_options *o, const solve_system *system, const double *x, int first,
                         solve_outcome *outcome) {
  const int end = system->columns;
  add_columns(o, 0, first, end, measure(system, x, first, end, outcome->columns), outcome);
}
