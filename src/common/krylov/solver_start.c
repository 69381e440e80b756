/* Evaluates the numbers of b and of the first residual: the tolerance of the rule, and whether the solve needs
 * iterations. */
#include <math.h>

#include "common/core/core.h"
#include "solver.h"

/* Whether all numbers of the start are finite. */
static int is_finite(const tsi_solve *s, int from_zero) {
  const ts_solver *k = s->solver;
  for (int c = 0; c < k->components; c++) {
    const double bb = k->transposed || !from_zero ? tsi_number(k, TSI_SLOT_BB, c) : 0;
    if (!isfinite(tsi_number(k, TSI_SLOT_MAX_B, c)) || !isfinite(bb) ||
        !isfinite(tsi_number(k, TSI_SLOT_RR, c)) || !isfinite(tsi_number(k, tsi_norm_slot(k), c)))
      return 0;
  }
  return 1;
}

/* A number of the start is not finite: checks whether the input already was not. If only A x is far larger than
 * b, x is unrelated to the solution, and 0 is the better start. */
static ts_status treat_the_infinite(tsi_solve *s, const ts_vector *x, int from_zero) {
  const ts_solver *k = s->solver;
  TSI_TRY(k->context->ops->reduce(k->slots, TSI_SLOT_MAX_X, TSI_REDUCE_MAX_ABS, x, x));
  TSI_TRY(tsi_solver_read_slots(k));
  for (int c = 0; c < k->components; c++) {
    const int b_is_finite = isfinite(tsi_number(k, TSI_SLOT_MAX_B, c));
    if (b_is_finite && (k->desc.zero_start || isfinite(tsi_number(k, TSI_SLOT_MAX_X, c)))) continue;
    tsi_solve_finish(s, TS_REASON_NAN_INPUT,
                     b_is_finite ? "the starting value holds a NaN or an infinity"
                                 : "the right-hand side holds a NaN or an infinity");
    return TS_OK;
  }
  if (!from_zero && !tsi_solve_has_constrained(k)) {
    TSI_TRY(tsi_fill(k->x, 0));
    s->x_was_zeroed = 1;
    TSI_TRY(tsi_solve_first_residual(s, 0));
    TSI_TRY(tsi_solver_read_slots(k));
    if (is_finite(s, 0)) return TS_OK;
  }
  tsi_solve_finish(s, TS_REASON_BREAKDOWN,
                   "breakdown: the first residual leaves the range of single precision; scale the system");
  return TS_OK;
}

void tsi_solve_set_start(tsi_solve *s, const double norms[4]) {
  const ts_solver *k = s->solver;
  ts_result *result = s->result;
  result->reduction = k->transposed ? s->left_start : 0;
  result->relative_residual = 0;
  for (int c = 0; c < k->components; c++) {
    if (!k->transposed && s->norm_start[c] > 0)
      result->reduction = fmax(result->reduction, norms[c] / s->norm_start[c]);
    result->relative_residual = fmax(result->relative_residual, tsi_solve_relative(s, c, norms[c]));
  }
}

/* The square of the norm that rtol is relative to. */
static double rule_of_b(const ts_solver *k, int component) {
  return tsi_number(k, k->transposed ? TSI_SLOT_GB : TSI_SLOT_BB, component);
}

/* The norms of a component at the start, and its tolerance. */
static void read_start_norms(tsi_solve *s, int c, int from_zero) {
  const ts_solver *k = s->solver;
  const double rr = tsi_number(k, TSI_SLOT_RR, c), start = sqrt(tsi_number(k, tsi_norm_slot(k), c));
  const double rule = from_zero && !k->transposed ? start : fmax(sqrt(rule_of_b(k, c)), s->norm_constrained[c]);
  s->norm_b[c] = k->transposed ? sqrt(tsi_number(k, TSI_SLOT_BB, c)) : rule;
  s->norm_r[c] = start;
  if (s->iteration == 0) s->norm_start[c] = start;
  s->norm_rule[c] = rule > 0 ? rule : start;
  s->scale_x[c] -= tsi_scale_of_b((float)tsi_number(k, TSI_SLOT_MAX_B, c));
  if (s->scale_x[c] < 0) s->is_far = 1;
  const int of_residual = s->scale_x[c] - k->matrix->exponent;
  const double atol = ldexp(k->desc.atol, k->transposed ? of_residual - k->transposed->exponent : of_residual);
  s->tolerance[c] = fmax(k->desc.rtol * s->norm_rule[c], atol);
  if (s->iteration == 0)
    s->left_start = tsi_larger(s->left_start, s->norm_b[c] > 0 ? sqrt(rr) / s->norm_b[c] : sqrt(rr));
}

/* ---- b = 0 ---- */

/* b = 0 fits every scale, so it gets the scale of x. */
static ts_status use_scale_of_x(tsi_solve *s, const ts_vector *x) {
  const ts_solver *k = s->solver;
  const int exponent = x->exponent + k->matrix->exponent;
  if (s->b_exponent == exponent) return TS_OK;
  for (int c = 0; c < k->components; c++)
    if (tsi_number(k, TSI_SLOT_MAX_B, c) != 0) return TS_OK;
  for (int c = 0; c < k->components; c++) s->scale_x[c] += s->b_exponent - exponent;
  s->b_exponent = exponent;
  TSI_TRY(tsi_solve_read_x(s, x));
  TSI_TRY(tsi_solve_first_residual(s, 0));
  return tsi_solver_read_slots(k);
}

/* r = b - A x with the constrained unknowns only: their contribution, which replaces b = 0. */
static ts_status residual_of_constrained(const ts_solver *k) {
  ts_vector free = tsi_first_part(k->r), fixed = tsi_first_part(k->e), x = tsi_first_part(k->x);
  TSI_TRY(tsi_solve_drop_constrained(k, &free, &x));
  TSI_TRY(tsi_fill(k->e, 0));
  TSI_TRY(k->context->ops->axpby(&fixed, ts_constant(1), &x, ts_constant(-1), &free));
  return tsi_solver_residual(k, k->e);
}

/* Norms of that residual, after scaling to about 1, as for any other b. */
static ts_status measure_constrained(tsi_solve *s, const ts_vector *x) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  double max_b[4], found[4], norms[4];
  if (!tsi_solve_has_constrained(k)) return TS_OK;
  TSI_TRY(residual_of_constrained(k));
  TSI_TRY(ops->reduce(k->slots, TSI_SLOT_MAX_X, TSI_REDUCE_MAX_ABS, k->r, k->r));
  TSI_TRY(tsi_scalars_read(k->slots, TSI_SLOT_MAX_X, 1, found));
  for (int c = 0; c < 4; c++)
    max_b[c] = c < k->components && rule_of_b(k, c) == 0 ? found[c] : tsi_number(k, TSI_SLOT_MAX_B, c);
  TSI_TRY(tsi_scalars_write(k->slots, TSI_SLOT_MAX_B, 1, max_b));
  TSI_TRY(ops->scalars_normalise(k->slots, TSI_SLOT_MAX_B, TSI_SLOT_SCALE));
  TSI_TRY(tsi_solve_read_x(s, x));
  TSI_TRY(residual_of_constrained(k));
  TSI_TRY(ops->reduce(k->slots, TSI_SLOT_RR, TSI_REDUCE_NORM2, k->r, k->r));
  TSI_TRY(tsi_scalars_read(k->slots, TSI_SLOT_RR, 1, norms));
  for (int c = 0; c < k->components; c++) s->norm_constrained[c] = rule_of_b(k, c) == 0 ? norms[c] : 0;
  return TS_OK;
}

/* x = 0 in the marked components, except for constrained unknowns. */
static ts_status zero_components(const ts_solver *k, const double marked[4]) {
  const tsi_ops *ops = k->context->ops;
  TSI_TRY(tsi_scalars_write(k->slots, TSI_SLOT_MAX_X, 1, marked));
  for (ts_vector *p = k->x; p; p = p->low) {
    ts_vector part = tsi_first_part(p), free = tsi_first_part(k->r);
    if (tsi_solve_has_constrained(k)) TSI_TRY(tsi_solve_drop_constrained(k, &free, &part));
    TSI_TRY(ops->axpby(&part, ts_constant(1), &part, ts_scaled(-1, k->slots, TSI_SLOT_MAX_X),
                       tsi_solve_has_constrained(k) ? &free : &part));
  }
  return TS_OK;
}

/* If b = 0, the solution is 0 regardless of the start, and the rule cannot be relative to ||b||. Constrained
 * unknowns keep their values, and their contribution replaces b in the rule. */
static ts_status treat_zero_b(tsi_solve *s, const ts_vector *x) {
  const ts_solver *k = s->solver;
  double marked[4] = {0}, max_x[4];
  int some = 0, zeroed = 0;
  for (int c = 0; c < k->components; c++)
    if (rule_of_b(k, c) == 0) some = 1;
  if (!some) return TS_OK;
  TSI_TRY(measure_constrained(s, x));
  TSI_TRY(k->context->ops->reduce(k->slots, TSI_SLOT_MAX_X, TSI_REDUCE_MAX_ABS, x, x));
  TSI_TRY(tsi_scalars_read(k->slots, TSI_SLOT_MAX_X, 1, max_x));
  for (int c = 0; c < k->components; c++) {
    if (rule_of_b(k, c) != 0 || s->norm_constrained[c] != 0 || max_x[c] == 0) continue;
    marked[c] = 1;
    zeroed = 1;
  }
  if (zeroed) TSI_TRY(zero_components(k, marked));
  if (zeroed) s->x_was_zeroed = 1;
  TSI_TRY(tsi_solve_first_residual(s, 0));
  return tsi_solver_read_slots(k);
}

/* ---- The start ---- */

ts_status tsi_solve_check_start(tsi_solve *s, const ts_vector *x, int from_zero) {
  const ts_solver *k = s->solver;
  int all_zero = 1, met = 1;
  s->x_is_zero = from_zero || k->desc.precision == TS_PRECISION_AUTO;
  if (!from_zero) TSI_TRY(use_scale_of_x(s, x));
  if (!is_finite(s, from_zero)) TSI_TRY(treat_the_infinite(s, x, from_zero));
  if (s->ended) return TS_OK;
  if (!from_zero) TSI_TRY(treat_zero_b(s, x));
  for (int c = 0; c < k->components; c++) {
    const double max_b = tsi_number(k, TSI_SLOT_MAX_B, c);
    read_start_norms(s, c, from_zero);
    if (!from_zero && tsi_number(k, TSI_SLOT_MAX_X, c) != 0) s->x_is_zero = 0;
    if (max_b > 0 && s->norm_b[c] == 0 && !(tsi_solve_unreachable(s, c) > 0)) {
      tsi_solve_finish(s, TS_REASON_BREAKDOWN, tsi_scale_b_vanishes);
      return TS_OK;
    }
    if (s->norm_start[c] > ldexp(tsi_solve_unreachable(s, c), -20))
      all_zero = 0; /* otherwise r is only the rounding of that part */
    if (!(s->norm_r[c] <= s->tolerance[c])) met = 0;
  }
  s->measure = 0;
  for (int c = 0; c < k->components; c++)
    if (s->norm_rule[c] > 0) s->measure = tsi_larger(s->measure, s->norm_r[c] / s->norm_rule[c]);
  tsi_solve_set_start(s, s->norm_r);
  if (k->transposed) tsi_solve_read_numbers(s); /* its iterations use the attainable residual */
  s->x_is_current = 0;
  if (all_zero) {
    s->result->reduction = k->transposed ? s->left_start : 0;
    s->result->relative_residual = tsi_solve_incompatible(s);
    tsi_solve_finish_converged(s);
    if (s->result->reason == TS_REASON_CONVERGED && s->x_was_zeroed)
      tsi_solve_finish(s, TS_REASON_CONVERGED, "the right-hand side is 0, and so is the solution");
    else if (s->result->reason == TS_REASON_CONVERGED)
      tsi_solve_finish(s, TS_REASON_ZERO_RESIDUAL, NULL);
    return TS_OK;
  }
  if (!met || k->desc.stop != TS_STOP_RESIDUAL) return TS_OK;
  TSI_TRY(tsi_solve_measure(s, k->x, k->e));
  tsi_solve_read_numbers(s);
  TSI_TRY(tsi_solve_round(s, k->e));
  for (int c = 0; c < k->components; c++) s->max_x[c] = 0; /* x still is the user's */
  if (s->met) tsi_solve_finish_converged(s);
  return TS_OK;
}
