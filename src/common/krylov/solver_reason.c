/* Why a solve ends, and the text of its message. */
#include <math.h>
#include <stdio.h>

#include "common/core/core.h"
#include "solver.h"
#include "stages.h"

void tsi_solve_finish(tsi_solve *s, ts_reason reason, const char *message) {
  s->ended = 1;
  s->result->reason = reason;
  snprintf(s->result->message, sizeof s->result->message, "%s", message ? message : ts_reason_text(reason));
}

void tsi_result_stop(ts_result *result) {
  result->reason = TS_REASON_STOPPED;
  snprintf(result->message, sizeof result->message, "%s", ts_status_text(TS_ERROR_STOPPED));
}

double tsi_solve_unreachable(const tsi_solve *s, int component) {
  return hypot(s->incompatible[component], s->null_part[component]);
}

double tsi_solve_whole_norm(const tsi_solve *s, int component, double norm) {
  const double unreachable = tsi_solve_unreachable(s, component);
  return unreachable > 0 ? hypot(norm, unreachable) : norm;
}

double tsi_solve_incompatible(const tsi_solve *s) {
  double largest = 0;
  for (int c = 0; c < s->solver->components; c++)
    if (tsi_solve_unreachable(s, c) > 0)
      largest = fmax(largest, tsi_solve_unreachable(s, c) / tsi_solve_whole_norm(s, c, s->norm_b[c]));
  return largest;
}

/* If the unreachable part of b is why the rule is not met, reports it and returns 1. */
static int finish_incompatible(tsi_solve *s) {
  double left = 0;
  int is_incompatible = 0;
  char text[160];
  for (int c = 0; c < s->solver->components; c++) {
    const double b = tsi_solve_whole_norm(s, c, s->norm_b[c]);
    const double allowed = fmax(s->solver->desc.rtol * b, s->tolerance[c]);
    if (tsi_solve_unreachable(s, c) > 1e-3 * allowed && tsi_solve_whole_norm(s, c, s->norm_r[c]) > allowed)
      is_incompatible = 1;
    left = tsi_larger(left, b > 0 ? s->norm_r[c] / b : s->norm_r[c]);
  }
  if (!is_incompatible) return 0;
  s->solver->least_left = left;
  snprintf(
      text, sizeof text,
      "the matrix is singular, and %.2g of the right-hand side is a part that no x reaches; without it the "
      "relative residual is %.2g",
      tsi_solve_incompatible(s), left);
  tsi_solve_finish(s, TS_REASON_INCOMPATIBLE, text);
  return 1;
}

void tsi_solve_finish_converged(tsi_solve *s) {
  if (!finish_incompatible(s)) tsi_solve_finish(s, TS_REASON_CONVERGED, NULL);
}

/* The definition of the relative residual, for messages. */
static const char *measure_name(const tsi_solve *s) {
  return s->solver->transposed ? "||A^T r|| / ||A^T b|| =" : "a relative residual of";
}

/* A remedy when a precision has reached its limit. */
static const char *advice(const tsi_solve *s) {
  const int can_raise = s->solver->context->caps.pairs;
  switch (s->precision) {
  case TS_PRECISION_SINGLE:
    if (can_raise && s->solver->desc.precision == TS_PRECISION_AUTO) return "precision double may help";
    return can_raise ? "precision auto continues from there" : "this backend supports only single precision";
  case TS_PRECISION_MIXED:
    return "precision double or a better preconditioner may help";
  default:
    return "a better preconditioner may help, or a larger tolerance";
  }
}

void tsi_solve_finish_stagnated(tsi_solve *s) {
  const ts_result *result = s->result;
  const ts_solver *k = s->solver;
  const int goes_on = k->desc.precision == TS_PRECISION_AUTO && !k->pairs; /* in double */
  char text[sizeof s->result->message];
  s->at_limit = 1;
  if (!goes_on && finish_incompatible(s)) return;
  snprintf(text, sizeof text, "%s stagnated in %s precision at %s %.2g; %s", k->method->name,
           ts_precision_name(s->precision), measure_name(s), result->relative_residual, advice(s));
  tsi_solve_finish(s, TS_REASON_STAGNATED, text);
}

void tsi_solve_finish_at_maximum(tsi_solve *s) {
  char text[160];
  if (finish_incompatible(s)) return;
  const int names_precision = s->is_slow && s->precision != TS_PRECISION_DOUBLE;
  snprintf(text, sizeof text, "the maximum of %d iterations was reached at %s %.2g%s%s",
           s->solver->desc.max_iterations, measure_name(s), s->result->relative_residual,
           names_precision ? "; " : "", names_precision ? advice(s) : "");
  tsi_solve_finish(s, TS_REASON_MAX_ITERATIONS, text);
}

/* ||r|| / ||b|| of the recurrence at this check. With TS_STOP_DELTA, cg does not compute it. */
static double recurrence_residual(const tsi_solve *s, int count) {
  double largest = 0;
  if (s->solver->desc.method != TS_METHOD_CG) return s->solver->history[count - 1];
  if (s->solver->desc.stop != TS_STOP_RESIDUAL) return NAN;
  for (int c = 0; c < s->solver->components; c++)
    if (s->norm_rule[c] > 0) largest = tsi_larger(largest, s->norm_r[c] / s->norm_rule[c]);
  return largest;
}

ts_status tsi_solve_progress(tsi_solve *s, int checked, int count) {
  const ts_solver_desc *desc = &s->solver->desc;
  s->reported = checked;
  if (s->solver->part_of) tsi_stage_watch(s, checked, count);
  if (count <= 0) return TS_OK;
  tsi_history_add(s->solver, count);
  if (tsi_poll_stops(s->solver->context))
    tsi_solve_finish(s, TS_REASON_STOPPED, ts_status_text(TS_ERROR_STOPPED));
  if (!desc->progress) return TS_OK;
  const ts_progress progress = {.iteration = s->solver->iterations_before + checked,
                                .count = count,
                                .history = s->solver->history,
                                .relative_residual = recurrence_residual(s, count)};
  int stops;
  s->solver->at_check = s;
  const ts_status status =
      tsi_call_progress(s->solver->context, desc->progress, &progress, desc->progress_user, &stops);
  s->solver->at_check = NULL;
  if (stops) tsi_solve_finish(s, TS_REASON_STOPPED, NULL);
  return status;
}
