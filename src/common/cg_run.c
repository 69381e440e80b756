/* Conjugate gradients with a diagonal preconditioner M (Buatois et al. 2008, section 1.2), written once for all
 * backends over the ops table:
 *
 *   r = b - A x;  e = 0;  d = M^-1 r;  delta_0 = r^T M^-1 r
 *   for k = 0, 1, ...
 *     q = A d
 *     alpha = delta_k / d^T q
 *     e = e + alpha d;  r = r - alpha q
 *     delta_k+1 = r^T M^-1 r
 *     d = M^-1 r + (delta_k+1 / delta_k) d
 *
 * Every delta and d^T q stays in a device slot; alpha and beta are quotients of slots that the updates evaluate
 * themselves. The host reads the slots of all iterations since the last check at once.
 *
 * Where a pass costs more than its work, the two reductions of an iteration become one (Meurant 1987,
 * "Multitasking the conjugate gradient method on the CRAY X-MP/48"), since r_k+1 = r_k - alpha q and d^T q =
 * r_k^T M^-1 q:
 *
 *   q = A d
 *   delta_k = r^T M^-1 r;  d^T q;  q^T M^-1 q
 *   alpha = delta_k / d^T q;  beta = alpha (q^T M^-1 q) / (d^T q) - 1
 *   e = e + alpha d;  r = r - alpha q;  d = M^-1 r + beta d
 *
 * delta is summed from r in every iteration, so that the error of a beta does not live on in the next.
 *
 * Against single precision:
 * - Steps are added up in e, which becomes part of x when r is computed from x. Adding every small step to x at
 * once would round x as often.
 * - b is scaled by a power of two so that its largest element is about 1, each component by its own.
 * - r follows a recurrence and drifts away from b - A x. When the recurrence claims convergence, r is computed
 * anew; if that does not confirm it, the iteration begins again from there. When two such replacements in a row
 * do not halve the residual, it is at the limit of single precision: stagnation.
 * - d^T q <= 0 may be an indefinite matrix or rounding. The iteration begins again with a check and d^T d in
 * each iteration (careful mode), where the two can be told apart. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cg.h"
#include "common.h"

typedef struct cg_state {
  ts_cg *cg;
  ts_cg_result *result;
  int iteration; /* done so far */
  int reported;  /* iterations whose numbers were read */
  int careful;
  double delta_0[4];
  double norm_b[4];    /* of the scaled b */
  double norm_rule[4]; /* what TS_STOP_RESIDUAL is relative to: norm_b, or where b is 0 that of the first
                          residual */
  double norm_r[4];    /* of the recurrence, at the last check; for TS_STOP_RESIDUAL */
  double best;         /* smallest delta ratio so far, and when it was seen */
  int best_iteration;
  double verified; /* the rule's measure at the last verification, and how often it did not halve */
  int verified_in_vain;
} cg_state;

static int delta_slot(const ts_cg *cg, int iteration) {
  return TSI_CG_RING + 2 * (iteration % cg->ring);
}
static int dq_slot(const ts_cg *cg, int iteration) {
  return delta_slot(cg, iteration) + 1;
}
static float number(const ts_cg *cg, int slot, int component) {
  return cg->numbers[4 * slot + component];
}

static ts_status read_slots(ts_cg *cg) {
  return tsi_scalars_read(cg->slots, 0, TSI_CG_RING + 2 * cg->ring, cg->numbers);
}

static int finish(cg_state *s, ts_reason reason, const char *message) {
  s->result->reason = reason;
  snprintf(s->result->message, sizeof s->result->message, "%s", message ? message : ts_reason_text(reason));
  return 1;
}

/* ---- The recurrence ---- */

static tsi_dot delta_of(const ts_cg *cg, int slot) {
  return (tsi_dot){slot, cg->r, cg->r, cg->m};
}

/* d = M^-1 r + beta d */
static ts_status update_direction(ts_cg *cg, ts_coefficient beta) {
  if (cg->m) return tsi_multiply_add(cg->d, cg->m, cg->r, beta, cg->d, cg->scratch);
  return cg->context->ops->axpby(cg->d, ts_constant(1), cg->r, beta, cg->d);
}

/* The sums of r that tell where the solve stands; `more` may be one further sum. */
static ts_status sum_residual(const cg_state *s, const tsi_dot *more) {
  const ts_cg *cg = s->cg;
  tsi_dot sums[TSI_MAX_DOTS] = {delta_of(cg, delta_slot(cg, s->iteration)), {TSI_CG_RR, cg->r, cg->r, NULL}};
  if (more) sums[2] = *more;
  return tsi_dots(cg->slots, sums, more ? 3 : 2, cg->scratch);
}

/* r = b - A x with all of x */
static ts_status replace_residual(const cg_state *s, const tsi_dot *more) {
  const ts_cg *cg = s->cg;
  TSI_TRY(cg->context->ops->residual(cg->r, cg->b, cg->matrix, cg->x));
  return sum_residual(s, more);
}

/* e = 0, d = M^-1 r */
static ts_status begin_directions(const cg_state *s) {
  TSI_TRY(s->cg->context->ops->fill(s->cg->e, 0));
  return update_direction(s->cg, ts_constant(0));
}

static void swap(ts_vector **a, ts_vector **b) {
  ts_vector *c = *a;
  *a = *b;
  *b = c;
}

static ts_status iterate_with_one_reduction(cg_state *s) {
  ts_cg *cg = s->cg;
  const tsi_ops *ops = cg->context->ops;
  const int delta = delta_slot(cg, s->iteration), dq = dq_slot(cg, s->iteration);
  const tsi_dot sums[TSI_MAX_DOTS] = {
      {delta, cg->r, cg->r, cg->m}, {dq, cg->d, cg->q, NULL}, {TSI_CG_QMQ, cg->q, cg->q, cg->m}};
  TSI_TRY(ops->spmv(cg->q, cg->matrix, cg->d));
  TSI_TRY(tsi_dots(cg->slots, sums, TSI_MAX_DOTS, cg->scratch));
  const tsi_cg_update update = {.e = cg->e,
                                .r_new = cg->r_next,
                                .d_new = cg->d_next,
                                .r = cg->r,
                                .d = cg->d,
                                .q = cg->q,
                                .m = cg->m,
                                .slots = cg->slots,
                                .delta = delta,
                                .dq = dq,
                                .qmq = TSI_CG_QMQ};
  TSI_TRY(ops->cg_update(&update));
  swap(&cg->r, &cg->r_next);
  swap(&cg->d, &cg->d_next);
  s->iteration++;
  return TS_OK;
}

static ts_status iterate(cg_state *s) {
  ts_cg *cg = s->cg;
  if (cg->r_next && !s->careful) return iterate_with_one_reduction(s);
  const tsi_ops *ops = cg->context->ops;
  const ts_slot delta = {cg->slots, delta_slot(cg, s->iteration)};
  const ts_slot dq = {cg->slots, dq_slot(cg, s->iteration)};
  const ts_slot delta_new = {cg->slots, delta_slot(cg, s->iteration + 1)};
  TSI_TRY(ops->spmv(cg->q, cg->matrix, cg->d));
  TSI_TRY(ops->reduce(cg->slots, dq.index, TSI_REDUCE_DOT, cg->d, cg->q));
  if (s->careful) TSI_TRY(ops->reduce(cg->slots, TSI_CG_DD, TSI_REDUCE_DOT, cg->d, cg->d));
  TSI_TRY(tsi_axpy2_dot(cg->e, ts_quotient(1, delta, dq), cg->d, cg->r, ts_quotient(-1, delta, dq), cg->q,
                        cg->m, cg->slots, delta_new.index, cg->scratch));
  TSI_TRY(update_direction(cg, ts_quotient(1, delta_new, delta)));
  s->iteration++;
  return TS_OK;
}

/* ---- Set-up ---- */

/* Brings b and x into the workspace, scaled. Locked rows of b are no equations and become 0. */
static ts_status take_in(ts_cg *cg, const ts_vector *b, const ts_vector *x) {
  const tsi_ops *ops = cg->context->ops;
  const ts_coefficient zero = ts_constant(0), scale = ts_scaled(1, cg->slots, TSI_CG_SCALE);
  if (cg->matrix->row_space->tiling.locked_count) {
    TSI_TRY(ops->free_rows(cg->b, b));
    b = cg->b;
  }
  TSI_TRY(ops->reduce(cg->slots, TSI_CG_MAX_B, TSI_REDUCE_MAX_ABS, b, b));
  TSI_TRY(ops->scalars_normalise(cg->slots, TSI_CG_MAX_B, TSI_CG_SCALE));
  TSI_TRY(ops->axpby(cg->b, scale, b, zero, b));
  TSI_TRY(cg->desc.zero_start ? ops->fill(cg->x, 0) : ops->axpby(cg->x, scale, x, zero, x));
  if (cg->m) {
    TSI_TRY(ops->diagonal(cg->m, cg->matrix));
    TSI_TRY(ops->reciprocal(cg->m, cg->m));
  }
  return TS_OK;
}

/* With a start from 0, r is b. */
static ts_status first_residual(const cg_state *s) {
  const ts_cg *cg = s->cg;
  const tsi_dot bb = {TSI_CG_BB, cg->b, cg->b, NULL};
  if (!cg->desc.zero_start) return replace_residual(s, &bb);
  TSI_TRY(cg->context->ops->axpby(cg->r, ts_constant(1), cg->b, ts_constant(0), cg->b));
  return sum_residual(s, NULL);
}

/* Something is not finite at the start: was it so before? */
static ts_status name_the_infinite(cg_state *s, const ts_vector *x) {
  ts_cg *cg = s->cg;
  TSI_TRY(cg->context->ops->reduce(cg->slots, TSI_CG_MAX_X, TSI_REDUCE_MAX_ABS, x, x));
  TSI_TRY(read_slots(cg));
  for (int c = 0; c < cg->components; c++) {
    const int b_is_finite = isfinite(number(cg, TSI_CG_MAX_B, c));
    if (b_is_finite && isfinite(number(cg, TSI_CG_MAX_X, c))) continue;
    char text[160];
    snprintf(text, sizeof text, "the %s holds a NaN or an infinity",
             b_is_finite ? "starting value" : "right-hand side");
    finish(s, TS_REASON_NAN_INPUT, text);
    return TS_OK;
  }
  finish(s, TS_REASON_BREAKDOWN,
         "breakdown: the first residual leaves the range of single precision; scale the system");
  return TS_OK;
}

/* Looks at the numbers of the start. Sets `*ended` if there is nothing to iterate. */
static ts_status judge_start(cg_state *s, const ts_vector *x, int *ended) {
  const ts_cg *cg = s->cg;
  int all_zero = 1;
  for (int c = 0; c < cg->components; c++) {
    const double delta = number(cg, delta_slot(cg, 0), c), rr = number(cg, TSI_CG_RR, c);
    if (!isfinite(number(cg, TSI_CG_MAX_B, c)) || !isfinite(delta) || !isfinite(rr)) {
      *ended = 1;
      return name_the_infinite(s, x);
    }
    s->delta_0[c] = delta;
    s->norm_r[c] = sqrt(rr);
    s->norm_b[c] = cg->desc.zero_start ? s->norm_r[c] : sqrt(number(cg, TSI_CG_BB, c));
    s->norm_rule[c] = s->norm_b[c] > 0 ? s->norm_b[c] : s->norm_r[c];
    if (delta < 0) {
      char text[160];
      snprintf(text, sizeof text,
               "the matrix is not positive definite: r^T M^-1 r is %.3g at the start, so its diagonal "
               "has negative entries",
               delta);
      *ended = finish(s, TS_REASON_INDEFINITE, text);
      return TS_OK;
    }
    if (s->norm_r[c] != 0) all_zero = 0;
  }
  if (all_zero) {
    s->result->delta_ratio = s->result->relative_residual = 0;
    *ended = finish(s, TS_REASON_ZERO_RESIDUAL, NULL);
  }
  return TS_OK;
}

/* ---- Checks ---- */

static double delta_ratio(const cg_state *s, int iteration) {
  double largest = 0;
  for (int c = 0; c < s->cg->components; c++) {
    const double delta = number(s->cg, delta_slot(s->cg, iteration), c);
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
static double claimed(const cg_state *s, int iteration) {
  if (s->cg->desc.stop == TS_STOP_DELTA) return delta_ratio(s, iteration);
  double largest = 0;
  for (int c = 0; c < s->cg->components; c++)
    if (s->norm_rule[c] > 0) largest = fmax(largest, s->norm_r[c] / s->norm_rule[c]);
  return largest;
}

/* x = x + e; computes r anew, and the numbers of the result from it. To go on from there, begin_directions. */
static ts_status verify(cg_state *s, double *measure) {
  ts_cg *cg = s->cg;
  const tsi_ops *ops = cg->context->ops;
  const tsi_dot dx = {TSI_CG_DX, cg->q, cg->q, NULL}; /* q is free until the next iteration */
  TSI_TRY(ops->axpby(cg->x, ts_constant(1), cg->e, ts_constant(1), cg->x));
  TSI_TRY(ops->diagonal(cg->q, cg->matrix));
  TSI_TRY(ops->multiply(cg->q, cg->q, cg->x));
  TSI_TRY(replace_residual(s, &dx));
  TSI_TRY(read_slots(cg));
  ts_cg_result *result = s->result;
  result->relative_residual = result->attainable_residual = 0;
  for (int c = 0; c < cg->components; c++) {
    const double r = sqrt(number(cg, TSI_CG_RR, c)), b = s->norm_b[c];
    const double floor = ldexp(sqrt(number(cg, TSI_CG_DX, c)), -23);
    s->norm_r[c] = r;
    result->relative_residual = larger(result->relative_residual, b > 0 ? r / b : r);
    result->attainable_residual = larger(result->attainable_residual, b > 0 ? floor / b : floor);
  }
  result->delta_ratio = delta_ratio(s, s->iteration);
  *measure = claimed(s, s->iteration);
  return TS_OK;
}

/* The recurrence claims convergence, or has not improved for long: look at b - A x. */
static ts_status judge_by_residual(cg_state *s, int must_end, int *ended) {
  double measure;
  TSI_TRY(verify(s, &measure));
  if (measure <= s->cg->desc.rtol) {
    *ended = finish(s, TS_REASON_CONVERGED, NULL);
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
    *ended = finish(s, TS_REASON_STAGNATED, text);
    return TS_OK;
  }
  return begin_directions(s);
}

/* d^T q <= 0 where delta is not yet small. Returns the component, or -1. */
static int lost_curvature(const cg_state *s, int iteration) {
  const ts_cg *cg = s->cg;
  for (int c = 0; c < cg->components; c++) {
    const double delta = number(cg, delta_slot(cg, iteration), c);
    if (number(cg, dq_slot(cg, iteration), c) <= 0 && delta > 1e-13 * s->delta_0[c] && delta > FLT_MIN)
      return c;
  }
  return -1;
}

/* Of values that the device computed the norm is not known: about twice the largest diagonal entry. */
static ts_status measure_matrix(ts_cg *cg) {
  const tsi_ops *ops = cg->context->ops;
  TSI_TRY(ops->diagonal(cg->q, cg->matrix));
  TSI_TRY(ops->reduce(cg->slots, TSI_CG_DD, TSI_REDUCE_MAX_ABS, cg->q, cg->q));
  TSI_TRY(read_slots(cg));
  cg->matrix->norm_infinity = 2 * (double)number(cg, TSI_CG_DD, 0);
  return TS_OK;
}

/* In careful mode d^T d of the same iteration tells whether d^T q <= 0 is more than rounding. */
static int judge_curvature(cg_state *s, int iteration, int component) {
  const ts_cg *cg = s->cg;
  const double dq = number(cg, dq_slot(cg, iteration), component), dd = number(cg, TSI_CG_DD, component);
  char text[160];
  if (dq < -1e-6 * cg->matrix->norm_infinity * dd) {
    snprintf(text, sizeof text,
             "the matrix is not positive definite: d^T A d is %.3g with d^T d = %.3g in iteration %d", dq, dd,
             iteration + 1);
    return finish(s, TS_REASON_INDEFINITE, text);
  }
  snprintf(text, sizeof text,
           "stagnated: in iteration %d the matrix is singular or too ill-conditioned for single precision (d^T "
           "A d is %.2g)",
           iteration + 1, dq);
  return finish(s, TS_REASON_STAGNATED, text);
}

/* Looks at the numbers of iterations reported .. checked-1. */
static ts_status judge(cg_state *s, int checked, int *ended) {
  ts_cg *cg = s->cg;
  const int first = s->reported;
  int curvature_at = -1;
  for (int k = first; k < checked; k++) {
    const double ratio = delta_ratio(s, k + 1);
    cg->history[k - first] = ratio;
    if (curvature_at < 0 && lost_curvature(s, k) >= 0) curvature_at = k;
    if (curvature_at < 0 && isnan(ratio)) {
      char text[160];
      snprintf(text, sizeof text, "breakdown: a number left the range of single precision in iteration %d",
               k + 1);
      s->reported = checked;
      *ended = finish(s, TS_REASON_BREAKDOWN, text);
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
    *ended = finish(s, TS_REASON_STOPPED, NULL);
    return TS_OK;
  }
  if (curvature_at >= 0) {
    if (s->careful) {
      *ended = judge_curvature(s, curvature_at, lost_curvature(s, curvature_at));
      return TS_OK;
    }
    s->careful = 1;
    s->result->restarts++;
    if (cg->matrix->device_values) TSI_TRY(measure_matrix(cg));
    TSI_TRY(cg->context->ops->axpby(cg->x, ts_constant(1), cg->e, ts_constant(1), cg->x));
    TSI_TRY(replace_residual(s, NULL));
    return begin_directions(s);
  }
  const int window = cg->matrix->info.rows > 1000 ? cg->matrix->info.rows : 1000;
  const int too_long = checked - s->best_iteration > window;
  if (claimed(s, checked) <= cg->desc.rtol || too_long) return judge_by_residual(s, too_long, ended);
  return TS_OK;
}

/* One interval: iterations, then the numbers. Meanwhile the device goes on with `overlap` iterations. */
static ts_status advance(cg_state *s, int *ended) {
  ts_cg *cg = s->cg;
  const int left = cg->desc.max_iterations - s->iteration;
  int steps = s->careful ? 1 : cg->desc.check_interval, overlap = s->careful ? 0 : cg->overlap;
  if (steps > left) steps = left;
  if (overlap > left - steps) overlap = left - steps;
  for (int k = 0; k < steps; k++) TSI_TRY(iterate(s));
  const int checked = s->iteration;
  /* What the iterations themselves have not summed up. */
  tsi_dot sums[2];
  int count = 0;
  if (cg->r_next && !s->careful) sums[count++] = delta_of(cg, delta_slot(cg, checked));
  if (cg->desc.stop == TS_STOP_RESIDUAL) sums[count++] = (tsi_dot){TSI_CG_RR, cg->r, cg->r, NULL};
  TSI_TRY(tsi_dots(cg->slots, sums, count, cg->scratch));
  TSI_TRY(cg->context->ops->scalars_read_begin(cg->slots, 0, TSI_CG_RING + 2 * cg->ring));
  for (int k = 0; k < overlap; k++) TSI_TRY(iterate(s));
  cg->context->waits++;
  TSI_TRY(cg->context->ops->scalars_read_end(cg->slots, cg->numbers));
  for (int c = 0; c < cg->components; c++) s->norm_r[c] = sqrt(number(cg, TSI_CG_RR, c));
  return judge(s, checked, ended);
}

ts_status tsi_cg_run(ts_cg *cg, const ts_vector *b, ts_vector *x, ts_cg_result *result) {
  cg_state s = {.cg = cg, .result = result, .best = INFINITY, .verified = INFINITY};
  int ended = 0;
  TSI_TRY(take_in(cg, b, x));
  TSI_TRY(first_residual(&s));
  TSI_TRY(begin_directions(&s));
  TSI_TRY(read_slots(cg));
  TSI_TRY(judge_start(&s, x, &ended));
  /* There is nothing to iterate; x is as it was. */
  if (ended) return cg->desc.zero_start ? cg->context->ops->fill(x, 0) : TS_OK;
  /* The starting value may already satisfy the rule ||r|| <= rtol ||b||. */
  if (cg->desc.stop == TS_STOP_RESIDUAL && claimed(&s, 0) <= cg->desc.rtol)
    TSI_TRY(judge_by_residual(&s, 0, &ended));
  while (!ended && s.iteration < cg->desc.max_iterations) TSI_TRY(advance(&s, &ended));

  if (!ended || result->reason > TS_REASON_STAGNATED) {
    double measure;
    TSI_TRY(verify(&s, &measure));
    if (!ended && measure <= cg->desc.rtol)
      finish(&s, TS_REASON_CONVERGED, NULL);
    else if (!ended) {
      char text[160];
      snprintf(text, sizeof text, "the maximum of %d iterations was reached at a relative residual of %.2g",
               cg->desc.max_iterations, result->relative_residual);
      finish(&s, TS_REASON_MAX_ITERATIONS, text);
    }
  }
  result->iterations = s.iteration;
  return cg->context->ops->axpby(x, ts_scaled(1, cg->slots, TSI_CG_UNSCALE), cg->x, ts_constant(0), cg->x);
}
