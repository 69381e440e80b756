/* The checks of conjugate gradients: what the numbers of the iterations say, and how a solve ends. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "cg.h"
#include "common/core/core.h"

int tsi_cg_finish(tsi_cg_state *s, ts_reason reason, const char *message) {
  s->result->reason = reason;
  snprintf(s->result->message, sizeof s->result->message, "%s", message ? message : ts_reason_text(reason));
  return 1;
}

/* Of b or of a residual, with what no x reaches. */
static double whole_norm(const tsi_cg_state *s, double norm) {
  return s->incompatible > 0 ? hypot(norm, s->incompatible) : norm;
}

int tsi_cg_finish_converged(tsi_cg_state *s) {
  char text[160];
  if (!(s->incompatible > s->cg->desc.rtol * whole_norm(s, s->norm_b[0])))
    return tsi_cg_finish(s, TS_REASON_CONVERGED, NULL);
  snprintf(
      text, sizeof text,
      "the matrix is singular, and %.2g of the right-hand side is a part that no x reaches; without it the "
      "relative residual is %.2g",
      s->incompatible / whole_norm(s, s->norm_b[0]),
      s->norm_b[0] > 0 ? s->norm_r[0] / s->norm_b[0] : s->norm_r[0]);
  return tsi_cg_finish(s, TS_REASON_INCOMPATIBLE, text);
}

/* Something is not finite at the start: was it so before? */
static ts_status name_the_infinite(tsi_cg_state *s, const ts_vector *x) {
  ts_cg *cg = s->cg;
  TSI_TRY(cg->context->ops->reduce(cg->slots, TSI_CG_MAX_X, TSI_REDUCE_MAX_ABS, x, x));
  TSI_TRY(tsi_cg_read_slots(cg));
  for (int c = 0; c < cg->components; c++) {
    const int b_is_finite = isfinite(tsi_cg_number(cg, TSI_CG_MAX_B, c));
    if (b_is_finite && (cg->desc.zero_start || isfinite(tsi_cg_number(cg, TSI_CG_MAX_X, c)))) continue;
    char text[160];
    snprintf(text, sizeof text, "the %s holds a NaN or an infinity",
             b_is_finite ? "starting value" : "right-hand side");
    tsi_cg_finish(s, TS_REASON_NAN_INPUT, text);
    return TS_OK;
  }
  tsi_cg_finish(s, TS_REASON_BREAKDOWN,
                "breakdown: the first residual leaves the range of single precision; scale the system");
  return TS_OK;
}

/* Looks at the numbers of the start. Sets `*ended` if there is nothing to iterate. */
ts_status tsi_cg_judge_start(tsi_cg_state *s, const ts_vector *x, int *ended) {
  const ts_cg *cg = s->cg;
  int all_zero = 1;
  for (int c = 0; c < cg->components; c++) {
    const double delta = tsi_cg_number(cg, tsi_cg_delta_slot(cg, 0), c), rr = tsi_cg_number(cg, TSI_CG_RR, c);
    const float max_b = cg->numbers[4 * TSI_CG_MAX_B + c];
    if (!isfinite(max_b) || !isfinite(delta) || !isfinite(rr)) {
      *ended = 1;
      return name_the_infinite(s, x);
    }
    s->delta_0[c] = delta;
    s->norm_r[c] = s->norm_start[c] = sqrt(rr);
    s->norm_b[c] = cg->desc.zero_start ? s->norm_r[c] : sqrt((double)tsi_cg_number(cg, TSI_CG_BB, c));
    s->norm_rule[c] = s->norm_b[c] > 0 ? s->norm_b[c] : s->norm_r[c];
    s->unscale[c] = tsi_unscale_factor(max_b, tsi_scale_target(cg->matrix));
    if (s->unscale[c] > 1) s->may_overflow = 1;
    if (max_b > 0 && s->norm_b[c] == 0 && !cg->z) {
      *ended = tsi_cg_finish(s, TS_REASON_BREAKDOWN, tsi_scale_b_vanishes);
      return TS_OK;
    }
    if (s->norm_r[c] <= ldexp(s->incompatible, -20)) continue; /* 0, or what rounding left of that part */
    if (delta < 0) {
      char text[160];
      snprintf(text, sizeof text,
               "the matrix is not positive definite: r^T M^-1 r is %.3g at the start, so its diagonal "
               "has negative entries",
               delta);
      *ended = tsi_cg_finish(s, TS_REASON_INDEFINITE, text);
      return TS_OK;
    }
    if (delta == 0) {
      *ended =
          tsi_cg_finish(s, TS_REASON_BREAKDOWN,
                        "breakdown: r^T M^-1 r is 0 at the start, and r is not: the matrix is not positive "
                        "definite, or out of the range of single precision");
      return TS_OK;
    }
    all_zero = 0;
  }
  if (!all_zero) return TS_OK;
  s->result->delta_ratio = 0;
  s->result->relative_residual = s->incompatible > 0 ? s->incompatible / whole_norm(s, s->norm_b[0]) : 0;
  *ended = tsi_cg_finish_converged(s);
  if (s->result->reason == TS_REASON_CONVERGED) tsi_cg_finish(s, TS_REASON_ZERO_RESIDUAL, NULL);
  return TS_OK;
}

static double delta_ratio(const tsi_cg_state *s, int iteration) {
  double largest = 0;
  for (int c = 0; c < s->cg->components; c++) {
    const double delta = tsi_cg_number(s->cg, tsi_cg_delta_slot(s->cg, iteration), c);
    if (!isfinite(delta)) return NAN;
    if (s->delta_0[c] > 0) largest = fmax(largest, sqrt(fabs(delta) / s->delta_0[c]));
  }
  return largest;
}

/* A NaN wins. */
static double larger(double a, double b) {
  return isnan(a) || a > b ? a : b;
}

/* What the recurrence says of the stopping rule: a number that is at most rtol on convergence. */
double tsi_cg_claimed(const tsi_cg_state *s, int iteration) {
  if (s->cg->desc.stop == TS_STOP_DELTA) return delta_ratio(s, iteration);
  double largest = 0;
  for (int c = 0; c < s->cg->components; c++)
    if (s->norm_rule[c] > 0) largest = larger(largest, s->norm_r[c] / s->norm_rule[c]);
  return largest;
}

/* x = x + e; computes r anew, and the numbers of the result from it. To go on from there, begin_directions. */
ts_status tsi_cg_verify(tsi_cg_state *s, double *measure) {
  ts_cg *cg = s->cg;
  const tsi_ops *ops = cg->context->ops;
  const tsi_dot dx = {TSI_CG_DX, cg->q, cg->q, NULL}; /* q is free until the next iteration */
  TSI_TRY(ops->axpby(cg->x, ts_constant(1), cg->e, ts_constant(1), cg->x));
  TSI_TRY(ops->diagonal(cg->q, cg->matrix));
  TSI_TRY(ops->multiply(cg->q, cg->q, cg->x));
  if (s->may_overflow) TSI_TRY(ops->reduce(cg->slots, TSI_CG_MAX_X, TSI_REDUCE_MAX_ABS, cg->x, cg->x));
  TSI_TRY(tsi_cg_replace_residual(s, &dx));
  TSI_TRY(tsi_cg_read_slots(cg));
  s->settled = 1;
  ts_cg_result *result = s->result;
  result->relative_residual = result->attainable_residual = 0;
  for (int c = 0; c < cg->components; c++) {
    const double rest = sqrt((double)tsi_cg_number(cg, TSI_CG_RR, c));
    const double r = whole_norm(s, rest), b = whole_norm(s, s->norm_b[c]);
    const double floor = ldexp(sqrt((double)tsi_cg_number(cg, TSI_CG_DX, c)), -23);
    s->norm_r[c] = rest;
    result->relative_residual = larger(result->relative_residual, b > 0 ? r / b : r);
    result->attainable_residual = larger(result->attainable_residual, b > 0 ? floor / b : floor);
  }
  result->delta_ratio = delta_ratio(s, s->iteration);
  *measure = tsi_cg_claimed(s, s->iteration);
  for (int c = 0; c < cg->components && cg->desc.stop == TS_STOP_RESIDUAL; c++) {
    const double dx_norm = sqrt((double)tsi_cg_number(cg, TSI_CG_DX, c));
    const double whole = hypot(s->norm_r[c], tsi_residual_error(cg->matrix, dx_norm));
    if (s->norm_rule[c] > 0) *measure = larger(*measure, whole / s->norm_rule[c]);
  }
  return TS_OK;
}

/* The recurrence claims convergence, or has not improved for long: look at b - A x. */
ts_status tsi_cg_judge_by_residual(tsi_cg_state *s, int must_end, int *ended) {
  double measure;
  TSI_TRY(tsi_cg_verify(s, &measure));
  if (measure <= s->cg->desc.rtol) {
    *ended = tsi_cg_finish_converged(s);
    return TS_OK;
  }
  s->verified_in_vain = measure > 0.5 * s->verified ? s->verified_in_vain + 1 : 0;
  s->verified = fmin(measure, s->verified);
  s->result->restarts++;
  if (must_end || s->verified_in_vain >= 2) {
    char text[160];
    snprintf(text, sizeof text,
             "stagnated at a relative residual of %.2g; single precision can reach about %.2g for this system",
             s->result->relative_residual, s->result->attainable_residual);
    *ended = tsi_cg_finish(s, TS_REASON_STAGNATED, text);
    return TS_OK;
  }
  return tsi_cg_begin_directions(s);
}

double tsi_cg_visible(const tsi_cg_state *s, int component) {
  return fmax(1e-13 * s->delta_0[component], FLT_MIN);
}

/* d^T q <= 0 where delta is not yet small. Returns the component, or -1. */
static int lost_curvature(const tsi_cg_state *s, int iteration) {
  const ts_cg *cg = s->cg;
  for (int c = 0; c < cg->components; c++) {
    const double delta = tsi_cg_number(cg, tsi_cg_delta_slot(cg, iteration), c);
    if (tsi_cg_number(cg, tsi_cg_dq_slot(cg, iteration), c) <= 0 && delta > tsi_cg_visible(s, c)) return c;
  }
  return -1;
}

/* d^T M d of the iteration after this one. r is orthogonal to the directions before, so that
 * d_k+1 = M^-1 r_k+1 + beta d_k makes it delta_k+1 + beta^2 d_k^T M d_k. */
static void follow_direction(tsi_cg_state *s, int iteration) {
  for (int c = 0; c < s->cg->components; c++) {
    const double before = tsi_cg_number(s->cg, tsi_cg_delta_slot(s->cg, iteration), c),
                 delta = tsi_cg_number(s->cg, tsi_cg_delta_slot(s->cg, iteration + 1), c);
    const double beta = before != 0 ? delta / before : 0;
    if (iteration == s->begun) s->direction[c] = before;
    s->direction[c] = delta + beta * beta * s->direction[c];
  }
}

/* Of values that the device computed the norm is not known: about twice the largest diagonal entry. */
static ts_status measure_matrix(ts_cg *cg) {
  const tsi_ops *ops = cg->context->ops;
  TSI_TRY(ops->diagonal(cg->q, cg->matrix));
  TSI_TRY(ops->reduce(cg->slots, TSI_CG_DD, TSI_REDUCE_MAX_ABS, cg->q, cg->q));
  TSI_TRY(tsi_cg_read_slots(cg));
  cg->matrix->norm_infinity = 2 * (double)tsi_cg_number(cg, TSI_CG_DD, 0);
  return TS_OK;
}

/* d^T q <= 0 against d^T M d: beyond doubt more than rounding? The eigenvalues of M^-1 A are about 1 and less,
 * if M is there to make them so. */
static int judge_by_direction(tsi_cg_state *s, int iteration, int component, double dmd) {
  const ts_cg *cg = s->cg;
  const int plain = !cg->m && !cg->z;
  const double dq = tsi_cg_number(cg, tsi_cg_dq_slot(cg, iteration), component),
               beyond_doubt = plain ? 1e-5 * cg->matrix->norm_infinity : 1e-4;
  if (!(dmd > 0 && dq < -beyond_doubt * dmd)) return 0;
  char text[160];
  snprintf(text, sizeof text,
           "the matrix is not positive definite: d^T A d is %.3g with d^T %sd = %.3g in iteration %d", dq,
           plain ? "" : "M ", dmd, iteration + 1);
  return tsi_cg_finish(s, TS_REASON_INDEFINITE, text);
}

/* In careful mode d^T d of the same iteration tells whether d^T q <= 0 is more than rounding. */
static int judge_curvature(tsi_cg_state *s, int iteration, int component) {
  const ts_cg *cg = s->cg;
  const double dq = tsi_cg_number(cg, tsi_cg_dq_slot(cg, iteration), component),
               dd = tsi_cg_number(cg, TSI_CG_DD, component);
  char text[160];
  if (dq < -1e-6 * cg->matrix->norm_infinity * dd) {
    snprintf(text, sizeof text,
             "the matrix is not positive definite: d^T A d is %.3g with d^T d = %.3g in iteration %d", dq, dd,
             iteration + 1);
    return tsi_cg_finish(s, TS_REASON_INDEFINITE, text);
  }
  snprintf(text, sizeof text,
           "stagnated: in iteration %d the matrix is singular or too ill-conditioned for single precision (d^T "
           "A d is %.2g)",
           iteration + 1, dq);
  return tsi_cg_finish(s, TS_REASON_STAGNATED, text);
}

/* Looks at the numbers of iterations reported .. checked-1. */
ts_status tsi_cg_judge(tsi_cg_state *s, int checked, int *ended) {
  ts_cg *cg = s->cg;
  const int first = s->reported;
  int curvature_at = -1, component = -1;
  double dmd = 0; /* of that component there */
  for (int k = first; k < checked; k++) {
    const double ratio = delta_ratio(s, k + 1);
    cg->history[k - first] = ratio;
    /* Directions of before a restart, on which iterations went on while its check was awaited, are given up. */
    if (k >= s->begun && curvature_at < 0 && (component = lost_curvature(s, k)) >= 0) {
      curvature_at = k;
      dmd = k == s->begun ? tsi_cg_number(cg, tsi_cg_delta_slot(cg, k), component) : s->direction[component];
    }
    follow_direction(s, k);
    if (curvature_at < 0 && isnan(ratio)) {
      char text[160];
      snprintf(text, sizeof text, "breakdown: a number left the range of single precision in iteration %d",
               k + 1);
      s->reported = checked;
      *ended = tsi_cg_finish(s, TS_REASON_BREAKDOWN, text);
      return TS_OK;
    }
    if (ratio < 0.9 * s->best) {
      s->best = ratio;
      s->best_iteration = k + 1;
    }
  }
  s->reported = checked;
  if (cg->desc.progress && checked > first &&
      cg->desc.progress(checked, cg->history, checked - first, cg->desc.progress_user)) {
    *ended = tsi_cg_finish(s, TS_REASON_STOPPED, NULL);
    return TS_OK;
  }
  if (curvature_at >= 0) {
    if (s->careful) {
      *ended = judge_curvature(s, curvature_at, component);
      return TS_OK;
    }
    if (cg->matrix->device_values) TSI_TRY(measure_matrix(cg));
    if (judge_by_direction(s, curvature_at, component, dmd)) {
      *ended = 1;
      return TS_OK;
    }
    s->careful = 1;
    s->result->restarts++;
    TSI_TRY(cg->context->ops->axpby(cg->x, ts_constant(1), cg->e, ts_constant(1), cg->x));
    TSI_TRY(tsi_cg_replace_residual(s, NULL));
    return tsi_cg_begin_directions(s);
  }
  const int window = cg->matrix->info.rows > 1000 ? cg->matrix->info.rows : 1000;
  const int too_long = checked - s->best_iteration > window;
  if (tsi_cg_claimed(s, checked) <= cg->desc.rtol || too_long)
    return tsi_cg_judge_by_residual(s, too_long, ended);
  return TS_OK;
}
