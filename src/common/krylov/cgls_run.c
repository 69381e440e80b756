/* CGLS (Hestenes and Stiefel 1952) with M = diag(A^T A) or none, written once for all backends over the ops
 * table:
 *
 *   r = b - A x;  e = 0;  s = A^T r;  p = M^-1 s;  gamma_0 = s^T M^-1 s
 *   for k = 0, 1, ...
 *     q = A p
 *     alpha = gamma_k / q^T q
 *     e = e + alpha p;  r = r - alpha q
 *     s = A^T r;  gamma_k+1 = s^T M^-1 s
 *     p = M^-1 s + (gamma_k+1 / gamma_k) p
 *
 * A^T A is never formed, neither as a matrix nor in s: s comes from r by a product, so that the residual's
 * rounding enters once and not squared with the condition of A. As with conjugate gradients (cg_run.c) b is
 * scaled, what is added to x is kept apart in e, and convergence is what A^T (b - A x), computed anew, says.
 * Where A is far from 1, whose square single precision does not hold, 2^-k A takes its place and 2^k x that of
 * x. */
#include <math.h>
#include <stdio.h>

#include "cgls.h"
#include "common/core/core.h"

/* Of every iteration. */
enum { GAMMA, SS, QQ, NUMBERS };

typedef struct state {
  ts_cgls *solver;
  ts_cg_result *result;
  int iteration, reported, ended;
  double norm_b[4], norm_rule[4]; /* |b|, and |A^T b| or where that is 0 the first |A^T r|; all scaled */
  double norm_start[4];           /* the first |A^T r| */
  double left_start;              /* the first delta_ratio */
  double measure;                 /* the largest |A^T r| / norm_rule of x */
  double unscale[4];              /* what x is multiplied by at the end */
  int may_overflow;               /* by that */
  double max_x[4];                /* of x, then */
  int phase_start;                /* the iteration at which r was last computed anew */
  double best;                    /* smallest number of the history since then, and when it was seen */
  int best_at;
  int in_vain; /* verifications in a row that did not halve the measure */
} state;

static int slot_of(const ts_cgls *k, int iteration, int which) {
  return TSI_CGLS_RING + NUMBERS * (iteration % k->ring) + which;
}

static double number(const ts_cgls *k, int slot, int component) {
  return k->numbers[4 * slot + component];
}

static int has_jacobi(const ts_cgls *k) {
  return k->desc.preconditioner == TS_PRECONDITIONER_JACOBI;
}

static void finish(state *s, ts_reason reason, const char *message) {
  s->ended = 1;
  s->result->reason = reason;
  snprintf(s->result->message, sizeof s->result->message, "%s", message ? message : ts_reason_text(reason));
}

/* ---- The recurrence ---- */

/* out = 2^-k A v */
static ts_status multiply(const ts_cgls *k, ts_vector *out, const ts_matrix *A, const ts_vector *v) {
  const tsi_ops *ops = k->context->ops;
  TSI_TRY(ops->spmv(out, A, v));
  return k->exponent ? ops->axpby(out, ts_constant(ldexpf(1, -k->exponent)), out, ts_constant(0), out) : TS_OK;
}

static ts_status sum_gradient(const state *s) {
  const ts_cgls *k = s->solver;
  const tsi_dot sums[2] = {{slot_of(k, s->iteration, GAMMA), k->s, k->s, has_jacobi(k) ? k->m : NULL},
                           {slot_of(k, s->iteration, SS), k->s, k->s, NULL}};
  return tsi_dots(k->slots, sums, 2, k->scratch);
}

/* p = M^-1 s + beta p */
static ts_status update_direction(const ts_cgls *k, ts_coefficient beta) {
  if (has_jacobi(k)) return tsi_multiply_add(k->p, k->m, k->s, beta, k->p, k->scratch);
  return k->context->ops->axpby(k->p, ts_constant(1), k->s, beta, k->p);
}

/* From x and its r and s. */
static ts_status begin(state *s) {
  s->phase_start = s->best_at = s->iteration;
  s->best = INFINITY;
  TSI_TRY(s->solver->context->ops->fill(s->solver->e, 0));
  TSI_TRY(sum_gradient(s));
  return update_direction(s->solver, ts_constant(0));
}

static ts_status iterate(state *s) {
  const ts_cgls *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  const ts_slot gamma = {k->slots, slot_of(k, s->iteration, GAMMA)},
                qq = {k->slots, slot_of(k, s->iteration, QQ)},
                gamma_new = {k->slots, slot_of(k, s->iteration + 1, GAMMA)};
  const ts_coefficient one = ts_constant(1);
  TSI_TRY(multiply(k, k->q, k->matrix, k->p));
  TSI_TRY(ops->reduce(k->slots, qq.index, TSI_REDUCE_DOT, k->q, k->q));
  TSI_TRY(ops->axpby(k->e, ts_quotient(1, gamma, qq), k->p, one, k->e));
  TSI_TRY(ops->axpby(k->r, ts_quotient(-1, gamma, qq), k->q, one, k->r));
  TSI_TRY(multiply(k, k->s, k->transposed, k->r));
  s->iteration++;
  TSI_TRY(sum_gradient(s));
  return update_direction(k, ts_quotient(1, gamma_new, gamma));
}

/* ---- Verification ---- */

/* r = b - A x and s = A^T r. p is free. */
static ts_status compute_residual(const ts_cgls *k, const ts_vector *x) {
  const tsi_ops *ops = k->context->ops;
  if (k->exponent) {
    TSI_TRY(ops->axpby(k->p, ts_constant(ldexpf(1, -k->exponent)), x, ts_constant(0), x));
    x = k->p;
  }
  TSI_TRY(ops->residual(k->r, k->b, k->matrix, x));
  return multiply(k, k->s, k->transposed, k->r);
}

static ts_status measure(const state *s, const ts_vector *x) {
  const ts_cgls *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  if (s->may_overflow) TSI_TRY(ops->reduce(k->slots, TSI_CGLS_MAX_X, TSI_REDUCE_MAX_ABS, x, x));
  TSI_TRY(compute_residual(k, x));
  TSI_TRY(ops->reduce(k->slots, TSI_CGLS_RR, TSI_REDUCE_DOT, k->r, k->r));
  TSI_TRY(ops->reduce(k->slots, TSI_CGLS_SS, TSI_REDUCE_DOT, k->s, k->s));
  if (has_jacobi(k)) {
    TSI_TRY(ops->reciprocal(k->p, k->m));
    TSI_TRY(ops->multiply(k->p, k->p, x));
    TSI_TRY(ops->reduce(k->slots, TSI_CGLS_DX, TSI_REDUCE_DOT, k->p, k->p));
  }
  return tsi_scalars_read(k->slots, 0, TSI_CGLS_RING, k->numbers);
}

/* A NaN wins. */
static double larger(double a, double b) {
  return isnan(a) || a > b ? a : b;
}

/* With about what rounding A^T r in single precision adds to it, as far as A's size is known. */
static double relative_to_rule(const state *s) {
  const ts_cgls *k = s->solver;
  double largest = 0;
  for (int c = 0; c < k->components; c++) {
    const double rounding = has_jacobi(k) ? ldexp(k->frobenius * sqrt(number(k, TSI_CGLS_RR, c)), -26) : 0;
    const double whole = hypot(sqrt(number(k, TSI_CGLS_SS, c)), rounding);
    if (s->norm_rule[c] > 0) largest = larger(largest, whole / s->norm_rule[c]);
  }
  return largest;
}

/* The numbers in the slots are those of x. */
static void take_over(state *s) {
  const ts_cgls *k = s->solver;
  ts_cg_result *result = s->result;
  s->measure = relative_to_rule(s);
  result->relative_residual = result->delta_ratio = 0;
  result->attainable_residual = has_jacobi(k) ? 0 : NAN;
  for (int c = 0; c < k->components; c++) {
    const double r = sqrt(number(k, TSI_CGLS_RR, c)), rule = s->norm_rule[c] > 0 ? s->norm_rule[c] : 1;
    if (s->may_overflow) s->max_x[c] = number(k, TSI_CGLS_MAX_X, c);
    result->relative_residual = larger(result->relative_residual, sqrt(number(k, TSI_CGLS_SS, c)) / rule);
    result->delta_ratio = larger(result->delta_ratio, s->norm_b[c] > 0 ? r / s->norm_b[c] : r);
    if (!has_jacobi(k)) continue;
    /* What rounding x leaves, and what rounding A^T r does. */
    const double floor = ldexp(sqrt(number(k, TSI_CGLS_DX, c)) + 0.5 * k->frobenius * r, -23);
    result->attainable_residual = larger(result->attainable_residual, floor / rule);
  }
}

/* Takes x + e if its gradient, computed anew, is smaller than that of x. Afterwards r and s are those of x. */
static ts_status try_x(state *s) {
  ts_cgls *k = s->solver;
  TSI_TRY(k->context->ops->axpby(k->x_new, ts_constant(1), k->e, ts_constant(1), k->x));
  TSI_TRY(measure(s, k->x_new));
  if (!(relative_to_rule(s) < s->measure)) return compute_residual(k, k->x);
  ts_vector *better = k->x_new;
  k->x_new = k->x;
  k->x = better;
  take_over(s);
  return TS_OK;
}

static void finish_stagnated(state *s) {
  char text[160];
  if (has_jacobi(s->solver))
    snprintf(text, sizeof text,
             "CGLS stagnated at ||A^T r|| / ||A^T b|| = %.2g; single precision can reach about %.2g here",
             s->result->relative_residual, s->result->attainable_residual);
  else
    snprintf(text, sizeof text, "CGLS stagnated at ||A^T r|| / ||A^T b|| = %.2g", s->result->relative_residual);
  finish(s, TS_REASON_STAGNATED, text);
}

/* ---- Start ---- */

static ts_status name_the_infinite(state *s, const ts_vector *x) {
  ts_cgls *k = s->solver;
  TSI_TRY(k->context->ops->reduce(k->slots, TSI_CGLS_MAX_X, TSI_REDUCE_MAX_ABS, x, x));
  TSI_TRY(tsi_scalars_read(k->slots, 0, TSI_CGLS_RING, k->numbers));
  for (int c = 0; c < k->components; c++) {
    const int b_is_finite = isfinite(number(k, TSI_CGLS_MAX_B, c));
    if (b_is_finite && (k->desc.zero_start || isfinite(number(k, TSI_CGLS_MAX_X, c)))) continue;
    finish(s, TS_REASON_NAN_INPUT,
           b_is_finite ? "the starting value holds a NaN or an infinity"
                       : "the right-hand side holds a NaN or an infinity");
    return TS_OK;
  }
  finish(s, TS_REASON_BREAKDOWN,
         "breakdown: the first residual leaves the range of single precision; scale the system");
  return TS_OK;
}

/* What x is multiplied by, or with `back` what brings it back. */
static ts_coefficient scale_of(const ts_cgls *k, int back) {
  return ts_scaled(ldexpf(1, back ? -k->exponent : k->exponent), k->slots,
                   back ? TSI_CGLS_UNSCALE : TSI_CGLS_SCALE);
}

/* b and x into the workspace, scaled, and what they are measured by. */
static ts_status start(state *s, const ts_vector *b, const ts_vector *x) {
  const ts_cgls *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  const ts_coefficient zero = ts_constant(0), scale = ts_scaled(1, k->slots, TSI_CGLS_SCALE);
  TSI_TRY(ops->reduce(k->slots, TSI_CGLS_MAX_B, TSI_REDUCE_MAX_ABS, b, b));
  TSI_TRY(ops->scalars_normalise(k->slots, TSI_CGLS_MAX_B, TSI_CGLS_SCALE));
  TSI_TRY(ops->axpby(k->b, scale, b, zero, b));
  TSI_TRY(k->desc.zero_start ? ops->fill(k->x, 0) : ops->axpby(k->x, scale_of(k, 0), x, zero, x));
  TSI_TRY(ops->reduce(k->slots, TSI_CGLS_BB, TSI_REDUCE_DOT, k->b, k->b));
  TSI_TRY(multiply(k, k->s, k->transposed, k->b));
  TSI_TRY(ops->reduce(k->slots, TSI_CGLS_SB, TSI_REDUCE_DOT, k->s, k->s));
  TSI_TRY(measure(s, k->x));
  int all_zero = 1;
  for (int c = 0; c < k->components; c++) {
    const double sb = number(k, TSI_CGLS_SB, c), ss = number(k, TSI_CGLS_SS, c);
    const float max_b = k->numbers[4 * TSI_CGLS_MAX_B + c];
    if (!isfinite(max_b) || !isfinite(sb) || !isfinite(number(k, TSI_CGLS_RR, c)) || !isfinite(ss))
      return name_the_infinite(s, x);
    s->norm_b[c] = sqrt(number(k, TSI_CGLS_BB, c));
    s->norm_rule[c] = sb > 0 ? sqrt(sb) : sqrt(ss);
    s->norm_start[c] = sqrt(ss);
    s->unscale[c] = tsi_unscale_factor(max_b, k->exponent);
    if (s->unscale[c] > 1) s->may_overflow = 1;
    if (max_b > 0 && s->norm_b[c] == 0) {
      finish(s, TS_REASON_BREAKDOWN, tsi_scale_b_vanishes);
      return TS_OK;
    }
    if (ss != 0) all_zero = 0;
  }
  take_over(s);
  s->left_start = s->result->delta_ratio;
  for (int c = 0; c < k->components; c++) s->max_x[c] = 0; /* x is still the user's */
  if (all_zero)
    finish(s, TS_REASON_ZERO_RESIDUAL, NULL);
  else if (s->measure <= k->desc.rtol)
    finish(s, TS_REASON_CONVERGED, NULL);
  return TS_OK;
}

/* ---- Checks ---- */

static double claimed(const state *s, int iteration) {
  double largest = 0;
  for (int c = 0; c < s->solver->components; c++) {
    const double ss = number(s->solver, slot_of(s->solver, iteration, SS), c);
    if (!isfinite(ss)) return INFINITY;
    if (s->norm_rule[c] > 0) largest = fmax(largest, sqrt(ss) / s->norm_rule[c]);
  }
  return largest;
}

/* The recurrence claims convergence, or cannot go on: look at A^T (b - A x). */
static ts_status verify(state *s, int must_end) {
  const double before = s->measure;
  TSI_TRY(try_x(s));
  if (s->measure <= s->solver->desc.rtol) {
    finish(s, TS_REASON_CONVERGED, NULL);
    return TS_OK;
  }
  s->result->restarts++;
  s->in_vain = s->measure <= 0.5 * before ? 0 : s->in_vain + 1;
  if (!must_end && s->in_vain < 2) return begin(s);
  finish_stagnated(s);
  return TS_OK;
}

static ts_status judge(state *s, int checked) {
  const ts_cgls *k = s->solver;
  const int first = s->reported;
  for (int i = first; i < checked; i++) {
    const double ratio = claimed(s, i + 1);
    k->history[i - first] = ratio;
    if (i < s->phase_start || !(ratio < 0.9 * s->best)) continue;
    s->best = ratio;
    s->best_at = i + 1;
  }
  s->reported = checked;
  if (checked > first && k->desc.progress &&
      k->desc.progress(checked, k->history, checked - first, k->desc.progress_user)) {
    finish(s, TS_REASON_STOPPED, NULL);
    return TS_OK;
  }
  const double now = claimed(s, checked);
  /* Where s is nothing but the rounding of A^T r it does not get smaller any more. */
  const int at_limit = s->best <= s->result->attainable_residual;
  const int window = at_limit ? 25 : k->matrix->info.columns > 1000 ? k->matrix->info.columns : 1000;
  const int too_long = checked - s->best_at > window;
  return now <= k->desc.rtol || too_long || isinf(now) ? verify(s, too_long) : TS_OK;
}

/* Iterations up to the next check, then the numbers. Meanwhile the device goes on with `overlap` iterations. */
static ts_status advance(state *s) {
  const ts_cgls *k = s->solver;
  const int left = k->desc.max_iterations - s->iteration, done = s->iteration - s->phase_start;
  int steps = done < 1 ? 1 : done, overlap = 0;
  if (steps >= k->desc.check_interval) {
    steps = k->desc.check_interval;
    overlap = k->overlap;
  }
  if (steps > left) steps = left;
  if (overlap > left - steps) overlap = left - steps;
  for (int i = 0; i < steps; i++) TSI_TRY(iterate(s));
  const int checked = s->iteration;
  TSI_TRY(k->context->ops->scalars_read_begin(k->slots, 0, TSI_CGLS_RING + NUMBERS * k->ring));
  for (int i = 0; i < overlap; i++) TSI_TRY(iterate(s));
  k->context->waits++;
  TSI_TRY(k->context->ops->scalars_read_end(k->slots, k->numbers));
  return judge(s, checked);
}

/* ---- The end ---- */

/* The user's x from the workspace's, unless single precision does not hold it: then it stays what it was. */
static ts_status hand_back(state *s, ts_vector *x) {
  ts_cgls *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  ts_cg_result *result = s->result;
  tsi_scale_end end = {.components = k->components,
                       .unknowns = k->matrix->info.columns,
                       .rtol = k->desc.rtol,
                       .size = ldexp(k->matrix->norm_infinity, -k->exponent) *
                               ldexp(k->transposed->norm_infinity, -k->exponent)};
  for (int c = 0; c < k->components; c++) {
    end.unscale[c] = s->unscale[c];
    end.norm_b[c] = s->norm_rule[c];
    end.max_x[c] = s->max_x[c];
  }
  char text[160];
  const double largest = tsi_scale_overflow(&end);
  if (largest > 0) {
    result->delta_ratio = s->left_start;
    result->relative_residual = 0;
    for (int c = 0; c < k->components; c++)
      if (s->norm_rule[c] > 0)
        result->relative_residual = fmax(result->relative_residual, s->norm_start[c] / s->norm_rule[c]);
    tsi_scale_say_overflow(text, sizeof text, largest);
    finish(s, TS_REASON_BREAKDOWN, text);
    return k->desc.zero_start ? ops->fill(x, 0) : TS_OK;
  }
  TSI_TRY(ops->axpby(x, scale_of(k, 1), k->x, ts_constant(0), k->x));
  if (!tsi_scale_underflow(&end)) return TS_OK;
  TSI_TRY(ops->axpby(k->x, scale_of(k, 0), x, ts_constant(0), x));
  TSI_TRY(measure(s, k->x));
  take_over(s);
  if (result->reason != TS_REASON_CONVERGED || s->measure <= k->desc.rtol) return TS_OK;
  tsi_scale_say_underflow(text, sizeof text, result->relative_residual);
  finish(s, TS_REASON_BREAKDOWN, text);
  return TS_OK;
}

ts_status tsi_cgls_run(ts_cgls *k, const ts_vector *b, ts_vector *x, ts_cg_result *result) {
  const tsi_ops *ops = k->context->ops;
  state s = {.solver = k, .result = result};
  TSI_TRY(start(&s, b, x));
  /* There is nothing to iterate; x is as it was. */
  if (s.ended) return k->desc.zero_start ? ops->fill(x, 0) : TS_OK;
  TSI_TRY(begin(&s));
  while (!s.ended && s.iteration < k->desc.max_iterations) TSI_TRY(advance(&s));
  if (!s.ended || result->reason == TS_REASON_STOPPED) TSI_TRY(try_x(&s));
  if (!s.ended && s.measure <= k->desc.rtol) finish(&s, TS_REASON_CONVERGED, NULL);
  if (!s.ended) {
    char text[160];
    snprintf(text, sizeof text, "the maximum of %d iterations was reached at ||A^T r|| / ||A^T b|| = %.2g",
             k->desc.max_iterations, result->relative_residual);
    finish(&s, TS_REASON_MAX_ITERATIONS, text);
  }
  result->iterations = s.iteration;
  return hand_back(&s, x);
}
