/* A solve by a Krylov method for matrices that are not symmetric: its start, how x is verified, its end.
 *
 * As in cg_run.c b is scaled by a power of two, each component by its own, and what iterations add up is kept
 * apart from x. A method never judges itself: x takes what was added only if b - A x, computed anew, became
 * smaller by it, and convergence is what that residual says. */
#include <math.h>
#include <stdio.h>

#include "common/core/core.h"
#include "common/grid/grid.h"
#include "krylov.h"

void tsi_krylov_finish(tsi_krylov_state *s, ts_reason reason, const char *message) {
  s->ended = 1;
  s->result->reason = reason;
  snprintf(s->result->message, sizeof s->result->message, "%s", message ? message : ts_reason_text(reason));
}

void tsi_krylov_finish_stagnated(tsi_krylov_state *s) {
  char text[160];
  snprintf(text, sizeof text,
           "%s stagnated at a relative residual of %.2g; single precision can reach about %.2g for this system",
           s->solver->method->name, s->result->relative_residual, s->result->attainable_residual);
  tsi_krylov_finish(s, TS_REASON_STAGNATED, text);
}

void tsi_krylov_progress(tsi_krylov_state *s, int checked, int count) {
  const ts_krylov_desc *desc = &s->solver->desc;
  if (count > 0 && desc->progress && desc->progress(checked, s->solver->history, count, desc->progress_user))
    tsi_krylov_finish(s, TS_REASON_STOPPED, NULL);
}

ts_status tsi_krylov_apply(const ts_krylov *k, ts_vector *out, const ts_vector *v) {
  const tsi_ops *ops = k->context->ops;
  if (!k->m) return ops->spmv(out, k->matrix, v);
  TSI_TRY(ops->multiply(k->z, k->m, v));
  return ops->spmv(out, k->matrix, k->z);
}

/* ---- Verification ---- */

/* A NaN wins. */
static double larger(double a, double b) {
  return isnan(a) || a > b ? a : b;
}

/* r = b - A x, and the sums that tell what x is worth, on the host. */
static ts_status measure(const tsi_krylov_state *s, const ts_vector *x, ts_vector *work, int with_b) {
  const ts_krylov *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  if (s->may_overflow) TSI_TRY(ops->reduce(k->slots, TSI_KRYLOV_MAX_X, TSI_REDUCE_MAX_ABS, x, x));
  TSI_TRY(ops->residual(k->r, k->b, k->matrix, x));
  TSI_TRY(ops->diagonal(work, k->matrix));
  TSI_TRY(ops->multiply(work, work, x));
  const tsi_dot sums[3] = {
      {TSI_KRYLOV_RR, k->r, k->r, NULL}, {TSI_KRYLOV_DX, work, work, NULL}, {TSI_KRYLOV_BB, k->b, k->b, NULL}};
  TSI_TRY(tsi_dots(k->slots, sums, with_b ? 3 : 2, k->scratch));
  return tsi_scalars_read(k->slots, 0, TSI_KRYLOV_OWN, k->numbers);
}

/* The residual of the slots, with its own rounding, relative to what rtol is relative to. */
static double relative_to_rule(const tsi_krylov_state *s) {
  double largest = 0;
  for (int c = 0; c < s->solver->components; c++) {
    const double r = sqrt((double)tsi_krylov_number(s->solver, TSI_KRYLOV_RR, c));
    const double dx = sqrt((double)tsi_krylov_number(s->solver, TSI_KRYLOV_DX, c));
    const double whole = hypot(r, tsi_residual_error(s->solver->matrix, dx));
    if (s->norm_rule[c] > 0) largest = larger(largest, whole / s->norm_rule[c]);
  }
  return largest;
}

/* The numbers in the slots are those of x. */
static void take_over(tsi_krylov_state *s) {
  const ts_krylov *k = s->solver;
  ts_cg_result *result = s->result;
  s->measure = relative_to_rule(s);
  result->relative_residual = result->attainable_residual = result->delta_ratio = 0;
  for (int c = 0; c < k->components; c++) {
    const double r = sqrt((double)tsi_krylov_number(k, TSI_KRYLOV_RR, c)), b = s->norm_b[c];
    const double floor = ldexp(sqrt((double)tsi_krylov_number(k, TSI_KRYLOV_DX, c)), -23);
    s->norm_r[c] = r;
    if (s->may_overflow) s->max_x[c] = tsi_krylov_number(k, TSI_KRYLOV_MAX_X, c);
    result->relative_residual = larger(result->relative_residual, b > 0 ? r / b : r);
    result->attainable_residual = larger(result->attainable_residual, b > 0 ? floor / b : floor);
    if (s->norm_start[c] > 0) result->delta_ratio = larger(result->delta_ratio, r / s->norm_start[c]);
  }
}

ts_status tsi_krylov_try(tsi_krylov_state *s, const ts_vector *e, ts_vector *work) {
  ts_krylov *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  if (k->m)
    TSI_TRY(tsi_multiply_add(k->x_new, k->m, e, ts_constant(1), k->x, k->scratch));
  else
    TSI_TRY(ops->axpby(k->x_new, ts_constant(1), e, ts_constant(1), k->x));
  TSI_TRY(measure(s, k->x_new, work, 0));
  if (!(relative_to_rule(s) < s->measure)) return ops->residual(k->r, k->b, k->matrix, k->x);
  ts_vector *better = k->x_new;
  k->x_new = k->x;
  k->x = better;
  take_over(s);
  return TS_OK;
}

/* ---- Start ---- */

/* What b and x are multiplied by, or with `back` what brings them back. */
static ts_coefficient scale_of(const ts_krylov *k, int back) {
  const int target = tsi_scale_target(k->matrix);
  return ts_scaled(ldexpf(1, back ? -target : target), k->slots, back ? TSI_KRYLOV_UNSCALE : TSI_KRYLOV_SCALE);
}

/* Brings b and x into the workspace, scaled. Locked rows of b are no equations and become 0. */
static ts_status take_in(const ts_krylov *k, const ts_vector *b, const ts_vector *x) {
  const tsi_ops *ops = k->context->ops;
  const ts_coefficient zero = ts_constant(0), scale = scale_of(k, 0);
  if (k->matrix->row_space->locked) {
    TSI_TRY(ops->free_rows(k->b, b));
    b = k->b;
  } else if (k->matrix->stencil && k->matrix->stencil->has_holes) {
    /* b - A 0, which is 0 at points without equation, whatever b holds there. */
    TSI_TRY(ops->fill(k->x, 0));
    TSI_TRY(ops->residual(k->b, b, k->matrix, k->x));
    b = k->b;
  }
  TSI_TRY(ops->reduce(k->slots, TSI_KRYLOV_MAX_B, TSI_REDUCE_MAX_ABS, b, b));
  TSI_TRY(ops->scalars_normalise(k->slots, TSI_KRYLOV_MAX_B, TSI_KRYLOV_SCALE));
  TSI_TRY(ops->axpby(k->b, scale, b, zero, b));
  TSI_TRY(k->desc.zero_start ? ops->fill(k->x, 0) : ops->axpby(k->x, scale, x, zero, x));
  if (!k->m) return TS_OK;
  if (k->desc.preconditioner == TS_PRECONDITIONER_NONE)
    return ops->fill(k->m, ldexpf(1, -tsi_scale_exponent(k->matrix)));
  TSI_TRY(ops->diagonal(k->m, k->matrix));
  return ops->reciprocal(k->m, k->m);
}

/* Something is not finite at the start: was it so before? */
static ts_status name_the_infinite(tsi_krylov_state *s, const ts_vector *x) {
  ts_krylov *k = s->solver;
  TSI_TRY(k->context->ops->reduce(k->slots, TSI_KRYLOV_MAX_X, TSI_REDUCE_MAX_ABS, x, x));
  TSI_TRY(tsi_scalars_read(k->slots, 0, TSI_KRYLOV_OWN, k->numbers));
  for (int c = 0; c < k->components; c++) {
    const int b_is_finite = isfinite(tsi_krylov_number(k, TSI_KRYLOV_MAX_B, c));
    if (b_is_finite && (k->desc.zero_start || isfinite(tsi_krylov_number(k, TSI_KRYLOV_MAX_X, c)))) continue;
    tsi_krylov_finish(s, TS_REASON_NAN_INPUT,
                      b_is_finite ? "the starting value holds a NaN or an infinity"
                                  : "the right-hand side holds a NaN or an infinity");
    return TS_OK;
  }
  tsi_krylov_finish(s, TS_REASON_BREAKDOWN,
                    "breakdown: the first residual leaves the range of single precision; scale the system");
  return TS_OK;
}

static ts_status judge_start(tsi_krylov_state *s, const ts_vector *x) {
  const ts_krylov *k = s->solver;
  int all_zero = 1;
  for (int c = 0; c < k->components; c++) {
    const double bb = tsi_krylov_number(k, TSI_KRYLOV_BB, c), rr = tsi_krylov_number(k, TSI_KRYLOV_RR, c);
    const float max_b = k->numbers[4 * TSI_KRYLOV_MAX_B + c];
    if (!isfinite(max_b) || !isfinite(bb) || !isfinite(rr)) return name_the_infinite(s, x);
    s->norm_b[c] = sqrt(bb);
    s->norm_start[c] = sqrt(rr);
    s->norm_rule[c] = bb > 0 ? s->norm_b[c] : s->norm_start[c];
    s->unscale[c] = tsi_unscale_factor(max_b, tsi_scale_target(k->matrix));
    if (s->unscale[c] > 1) s->may_overflow = 1;
    if (max_b > 0 && bb == 0) {
      tsi_krylov_finish(s, TS_REASON_BREAKDOWN, tsi_scale_b_vanishes);
      return TS_OK;
    }
    if (rr != 0) all_zero = 0;
  }
  take_over(s);
  for (int c = 0; c < k->components; c++) s->max_x[c] = 0; /* x is still the user's */
  if (all_zero)
    tsi_krylov_finish(s, TS_REASON_ZERO_RESIDUAL, NULL);
  else if (s->measure <= k->desc.rtol)
    tsi_krylov_finish(s, TS_REASON_CONVERGED, NULL);
  return TS_OK;
}

/* ---- The end ---- */

/* The user's x from the workspace's, unless single precision does not hold it: then it stays what it was. */
static ts_status hand_back(tsi_krylov_state *s, ts_vector *x) {
  ts_krylov *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  ts_cg_result *result = s->result;
  tsi_scale_end end = {.components = k->components,
                       .size = k->matrix->norm_infinity,
                       .unknowns = k->matrix->info.rows,
                       .rtol = k->desc.rtol};
  for (int c = 0; c < k->components; c++) {
    end.unscale[c] = s->unscale[c];
    end.norm_b[c] = s->norm_rule[c];
    end.max_x[c] = s->max_x[c];
  }
  char text[160];
  const double largest = tsi_scale_overflow(&end);
  if (largest > 0) {
    result->delta_ratio = result->relative_residual = 0;
    for (int c = 0; c < k->components; c++) {
      if (s->norm_start[c] > 0) result->delta_ratio = 1;
      const double ratio = s->norm_b[c] > 0 ? s->norm_start[c] / s->norm_b[c] : s->norm_start[c];
      result->relative_residual = fmax(result->relative_residual, ratio);
    }
    tsi_scale_say_overflow(text, sizeof text, largest);
    tsi_krylov_finish(s, TS_REASON_BREAKDOWN, text);
    return k->desc.zero_start ? ops->fill(x, 0) : TS_OK;
  }
  TSI_TRY(ops->axpby(x, scale_of(k, 1), k->x, ts_constant(0), k->x));
  if (!tsi_scale_underflow(&end)) return TS_OK;
  TSI_TRY(ops->axpby(k->x, scale_of(k, 0), x, ts_constant(0), x));
  TSI_TRY(measure(s, k->x, k->x_new, 0));
  take_over(s);
  if (result->reason != TS_REASON_CONVERGED || s->measure <= k->desc.rtol) return TS_OK;
  tsi_scale_say_underflow(text, sizeof text, result->relative_residual);
  tsi_krylov_finish(s, TS_REASON_BREAKDOWN, text);
  return TS_OK;
}

/* ---- The solve ---- */

ts_status tsi_krylov_run(ts_krylov *k, const ts_vector *b, ts_vector *x, ts_cg_result *result) {
  tsi_krylov_state s = {.solver = k, .result = result};
  TSI_TRY(take_in(k, b, x));
  TSI_TRY(measure(&s, k->x, k->x_new, 1));
  TSI_TRY(judge_start(&s, x));
  /* There is nothing to iterate; x is as it was. */
  if (s.ended) return k->desc.zero_start ? k->context->ops->fill(x, 0) : TS_OK;
  TSI_TRY(k->method->run(&s));
  if (!s.ended || result->reason == TS_REASON_STOPPED) {
    TSI_TRY(k->method->settle(&s));
    if (!s.ended && s.measure <= k->desc.rtol) tsi_krylov_finish(&s, TS_REASON_CONVERGED, NULL);
    if (!s.ended) {
      char text[160];
      snprintf(text, sizeof text, "the maximum of %d iterations was reached at a relative residual of %.2g",
               k->desc.max_iterations, result->relative_residual);
      tsi_krylov_finish(&s, TS_REASON_MAX_ITERATIONS, text);
    }
  }
  result->iterations = s.iteration;
  return hand_back(&s, x);
}
