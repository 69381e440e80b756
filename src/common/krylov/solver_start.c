/* What the numbers of b and of the first residual say: what the rule asks for, and whether there is anything to
 * iterate. */
#include <math.h>

#include "common/core/core.h"
#include "solver.h"

/* Something is not finite at the start: was it so before? */
static ts_status name_the_infinite(tsi_solve *s, const ts_vector *x) {
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
  tsi_solve_finish(s, TS_REASON_BREAKDOWN,
                   "breakdown: the first residual leaves the range of single precision; scale the system");
  return TS_OK;
}

void tsi_solve_set_start(tsi_solve *s) {
  const ts_solver *k = s->solver;
  ts_result *result = s->result;
  result->reduction = k->transposed ? s->left_start : 0;
  result->relative_residual = 0;
  for (int c = 0; c < k->components; c++) {
    if (!k->transposed && s->norm_start[c] > 0) result->reduction = 1;
    result->relative_residual = fmax(result->relative_residual, tsi_solve_relative(s, c, s->norm_start[c]));
  }
}

/* The norms of a component at the start, and what the rule asks for. */
static void take_norms(tsi_solve *s, int c, int from_zero) {
  const ts_solver *k = s->solver;
  const double rr = tsi_number(k, TSI_SLOT_RR, c), start = sqrt(tsi_number(k, tsi_norm_slot(k), c));
  const double rule = k->transposed ? sqrt(tsi_number(k, TSI_SLOT_GB, c))
                      : from_zero   ? start
                                    : sqrt(tsi_number(k, TSI_SLOT_BB, c));
  s->norm_b[c] = k->transposed ? sqrt(tsi_number(k, TSI_SLOT_BB, c)) : rule;
  s->norm_r[c] = start;
  if (s->iteration == 0) s->norm_start[c] = start;
  s->norm_rule[c] = rule > 0 ? rule : start;
  s->unscale[c] = tsi_unscale_factor((float)tsi_number(k, TSI_SLOT_MAX_B, c),
                                     k->transposed ? k->exponent : tsi_scale_target(k->matrix));
  if (s->unscale[c] > 1) s->may_overflow = 1;
  const double atol = ldexp(k->desc.atol / s->unscale[c], -2 * k->exponent);
  s->tolerance[c] = fmax(k->desc.rtol * s->norm_rule[c], atol);
  if (s->iteration == 0)
    s->left_start = tsi_larger(s->left_start, s->norm_b[c] > 0 ? sqrt(rr) / s->norm_b[c] : sqrt(rr));
}

ts_status tsi_solve_judge_start(tsi_solve *s, const ts_vector *x, int from_zero) {
  const ts_solver *k = s->solver;
  int all_zero = 1, met = 1;
  s->x_is_zero = from_zero || k->desc.precision == TS_PRECISION_AUTO;
  for (int c = 0; c < k->components; c++) {
    const double max_b = tsi_number(k, TSI_SLOT_MAX_B, c);
    const double bb = k->transposed || !from_zero ? tsi_number(k, TSI_SLOT_BB, c) : 0;
    if (!isfinite(max_b) || !isfinite(bb) || !isfinite(tsi_number(k, TSI_SLOT_RR, c)) ||
        !isfinite(tsi_number(k, tsi_norm_slot(k), c)))
      return name_the_infinite(s, x);
    take_norms(s, c, from_zero);
    if (!from_zero && tsi_number(k, TSI_SLOT_MAX_X, c) != 0) s->x_is_zero = 0;
    if (max_b > 0 && s->norm_b[c] == 0 && !(s->incompatible > 0)) {
      tsi_solve_finish(s, TS_REASON_BREAKDOWN, tsi_scale_b_vanishes);
      return TS_OK;
    }
    if (s->norm_start[c] > ldexp(s->incompatible, -20)) all_zero = 0; /* else what rounding left of that part */
    if (!(s->norm_start[c] <= s->tolerance[c])) met = 0;
  }
  s->measure = 0;
  for (int c = 0; c < k->components; c++)
    if (s->norm_rule[c] > 0) s->measure = tsi_larger(s->measure, s->norm_start[c] / s->norm_rule[c]);
  tsi_solve_set_start(s);
  if (k->transposed) tsi_solve_take_over(s); /* its iterations look at what can be attained */
  s->settled = 0;
  if (all_zero) {
    const double b = tsi_solve_whole_norm(s, s->norm_b[0]);
    s->result->reduction = k->transposed ? s->left_start : 0;
    s->result->relative_residual = s->incompatible > 0 ? s->incompatible / b : 0;
    tsi_solve_finish_converged(s);
    if (s->result->reason == TS_REASON_CONVERGED) tsi_solve_finish(s, TS_REASON_ZERO_RESIDUAL, NULL);
    return TS_OK;
  }
  if (!met || k->desc.stop != TS_STOP_RESIDUAL) return TS_OK;
  TSI_TRY(tsi_solve_measure(s, k->x, k->e));
  tsi_solve_take_over(s);
  for (int c = 0; c < k->components; c++) s->max_x[c] = 0; /* x is still the user's */
  if (s->met) tsi_solve_finish_converged(s);
  return TS_OK;
}
