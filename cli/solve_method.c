/* The method of `texsolve solve`: which one, its preconditioner, the solve by it, and what is to be said of it.
 */
#include "solve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- The preconditioner ---- */

int solve_has_setup(const solve_options *o) {
  return o->preconditioner != TS_PRECONDITIONER_JACOBI && o->preconditioner != TS_PRECONDITIONER_NONE;
}

int solve_needs_host_copy(const solve_options *o) {
  return solve_has_setup(o) && o->preconditioner != TS_PRECONDITIONER_CHEBYSHEV;
}

static ts_status take_hierarchy(const ts_preconditioner *M, solve_hierarchy *hierarchy) {
  ts_status status = ts_preconditioner_amg_info(M, &hierarchy->info);
  for (int l = 0; l < hierarchy->info.levels && status == TS_OK; l++)
    status = ts_preconditioner_amg_level(M, l, &hierarchy->levels[l]);
  return status;
}

ts_status solve_make_preconditioner(const solve_options *o, const ts_amg_desc *amg, ts_matrix *A,
                                    ts_preconditioner **made, solve_outcome *outcome) {
  const ts_preconditioner_desc desc = {.kind = o->preconditioner,
                                       .block_size = o->block_size,
                                       .degree = o->degree,
                                       .amg = o->preconditioner == TS_PRECONDITIONER_AMG ? amg : NULL};
  const ts_status status = ts_preconditioner_create(A, &desc, made);
  if (status < 0) return status;
  outcome->preconditioner = ts_preconditioner_get_kind(*made);
  snprintf(outcome->preconditioner_choice, sizeof outcome->preconditioner_choice, "%s",
           ts_preconditioner_choice(*made));
  if (outcome->preconditioner == TS_PRECONDITIONER_JACOBI) ts_preconditioner_destroy(made);
  return outcome->preconditioner == TS_PRECONDITIONER_AMG ? take_hierarchy(*made, &outcome->hierarchy) : TS_OK;
}

/* ---- The method ---- */

/* Conjugate gradients where the matrix is symmetric. */
ts_method solve_choose(const solve_options *options, const ts_matrix_info *matrix) {
  if (options->method != TS_METHOD_AUTO) return options->method;
  return matrix->symmetric ? TS_METHOD_CG : TS_METHOD_BICGSTAB;
}

ts_status solve_by_method(const solve_options *o, ts_preconditioner *M, ts_matrix *A, const ts_vector *b,
                          ts_vector *x, ts_progress_fn progress, void *user, solve_outcome *outcome) {
  const ts_solver_desc desc = {.method = outcome->method,
                               .preconditioner = M,
                               .preconditioner_kind = M ? 0 : outcome->preconditioner,
                               .stop = o->stop,
                               .precision = o->precision,
                               .rtol = o->rtol,
                               .zero_start = !o->x0,
                               .max_iterations = o->max_iterations,
                               .check_interval = o->check_interval,
                               .restart = outcome->method == TS_METHOD_GMRES ? o->restart : 0,
                               .progress = progress,
                               .progress_user = user};
  return ts_solve(A, b, x, &desc, &outcome->result);
}

/* ---- The residual on the host has the last word ---- */

static void judge(const solve_options *o, solve_outcome *outcome) {
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
  return outcome->preconditioner == TS_PRECONDITIONER_NONE     ? "--preconditioner jacobi"
         : outcome->preconditioner == TS_PRECONDITIONER_JACOBI ? "--preconditioner block-jacobi"
                                                               : NULL;
}

/* What may help instead, beside a larger tolerance; NULL: nothing. */
static const char *remedy(const solve_options *o, const solve_outcome *outcome) {
  const solve_accuracy *a = &outcome->accuracy;
  const int names_precision = strstr(outcome->result.message, "; precision ") != NULL;
  if (outcome->result.reason == TS_REASON_MAX_ITERATIONS && !names_precision)
    return "a larger --max-iterations";
  if (outcome->result.reason == TS_REASON_MAX_ITERATIONS && o->precision != TS_PRECISION_SINGLE)
    return "--precision double, a larger --max-iterations";
  if (o->precision == TS_PRECISION_SINGLE) return "--precision auto";
  if (o->precision == TS_PRECISION_MIXED) return "--precision double";
  if (a->residual <= 8 * a->rounding) return NULL;
  return outcome->method == TS_METHOD_GMRES ? "a larger --restart" : other_preconditioner(outcome);
}

/* Which method may, in place of the one that cannot; NULL: none. */
static const char *other_method(const solve_outcome *outcome) {
  const ts_reason reason = outcome->result.reason;
  const int refused = reason == TS_REASON_INDEFINITE || reason == TS_REASON_NOT_SYMMETRIC;
  if (outcome->method == TS_METHOD_CG && refused) return "--solver bicgstab or gmres";
  if (outcome->method == TS_METHOD_BICGSTAB && reason == TS_REASON_BREAKDOWN && !outcome->out_of_range)
    return "--solver gmres";
  return NULL;
}

static void say_not_reached(const solve_options *o, solve_outcome *outcome) {
  const ts_result *r = &outcome->result;
  const char *residual = solve_residual_text(outcome->accuracy.residual, o->rtol);
  const char *help = remedy(o, outcome);
  char *const text = outcome->message;
  const size_t size = sizeof outcome->message;
  if (r->reason == TS_REASON_MAX_ITERATIONS)
    snprintf(text, size, "the maximum of %d iterations was reached at a relative residual of %s", r->iterations,
             residual);
  else
    snprintf(text, size, "stagnated at a relative residual of %s in %s precision", residual,
             r->precision == TS_PRECISION_AUTO ? "single" : ts_precision_name(r->precision));
  const size_t used = strlen(text);
  snprintf(text + used, size - used, " (hint: try %s%sa larger --rtol)", help ? help : "", help ? ", or " : "");
}

const char *solve_how_it_ended(const solve_outcome *outcome) {
  return outcome->status == TS_OK                      ? "converged"
         : outcome->result.reason == TS_REASON_STOPPED ? "stopped"
                                                       : "not converged";
}

void solve_conclude(const solve_options *o, solve_outcome *outcome) {
  const ts_result *r = &outcome->result;
  char *const text = outcome->message;
  const size_t size = sizeof outcome->message;
  if (o->stop == TS_STOP_RESIDUAL) judge(o, outcome);
  if (r->reason == TS_REASON_STAGNATED || r->reason == TS_REASON_MAX_ITERATIONS) {
    say_not_reached(o, outcome);
    return;
  }
  if (r->reason == TS_REASON_STOPPED) {
    snprintf(text, size, "stopped after %d iterations at a relative residual of %s", r->iterations,
             solve_residual_text(outcome->accuracy.residual, o->rtol));
    return;
  }
  const char *other = other_method(outcome);
  snprintf(text, size, "%s", r->message[0] ? r->message : ts_reason_text(r->reason));
  /* The device's own residual has other digits. */
  char *rest = strstr(text, ", at a relative residual of ");
  if (rest)
    snprintf(rest, size - (size_t)(rest - text), ", at a relative residual of %s",
             solve_residual_text(outcome->accuracy.residual, o->rtol));
  const size_t used = strlen(text);
  if (other) snprintf(text + used, size - used, " (hint: try %s)", other);
}
