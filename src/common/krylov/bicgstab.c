/* BiCGSTAB (van der Vorst 1992) with M from the right, written once for all backends over the ops table:
 *
 *   r = b - A x;  e = 0;  p = r;  rho = r~^T r            r~ is the shadow vector
 *   repeat
 *     v = A M^-1 p;  sigma = r~^T v;  alpha = rho / sigma
 *     e = e + alpha p;  s = r - alpha v
 *     t = A M^-1 s;  omega = t^T s / t^T t
 *     e = e + omega s;  r = s - omega t
 *     beta = (rho_new / rho) (alpha / omega);  p = r + beta (p - omega v)
 *
 * and x + M^-1 e is the solution. Coefficients are quotients of two device slots, and beta is made of two of
 * them: since alpha / rho = 1 / sigma, beta (p - omega v) = (rho_new / sigma) (p / omega - v). So no number
 * comes to the host but at checks.
 *
 * What may go wrong is looked for at checks, in the numbers of all iterations since the last one:
 * - rho or sigma is 0, or t^T s is no more than rounding beside |t| |s|: breakdown.
 * - r has grown so far that no digit of x is left, or is not finite: the same.
 * Then, and where r has not become smaller for long (tsi_patience), the method begins again from the best x
 * with another shadow vector. Whatever the coefficients were, r has followed e, so that what a phase gained is
 * not lost.
 *
 * In single precision r drifts away from b - A (x + M^-1 e), the further the larger it was in between. Where it
 * has fallen by 1000 from its peak, and where it meets the rule, it is replaced by that residual, and the
 * directions go on (Sleijpen and van der Vorst 1996, "Reliable updated residuals in hybrid Bi-CG methods").
 * Only if it was wrong twice does the method restart.
 *
 * The residual oscillates. Where a check finds it much smaller than before, e is kept: what the last iterations
 * made worse is not what a solve ends or restarts with.
 *
 * The shadow vector is random, not the first r as in most programs: with a smooth b and much convection rho
 * falls to 1e-16 |r~| |r| with r itself, and r grows by 1e9 before it falls. A double leaves half of its digits
 * there, a float none. With a random one r did not grow in the same systems. After a restart the shadow vector
 * is the residual at that restart, then another random one, and so on. */
#include <math.h>
#include <stdio.h>

#include "common/core/core.h"
#include "solver.h"

enum { SHADOW, OTHER_SHADOW, P, V, T, BEST_E, VECTORS };

/* Of every iteration: at its start rho and r^T r, then what it divides by. */
enum { RHO, RR, SIGMA, TS, TT, NUMBERS };

enum { REPLACEMENT_INTERVAL = 16 /* iterations at least */ };

static int slot_of(const ts_solver *k, int iteration, int number) {
  return TSI_SLOT_OWN + NUMBERS * (iteration % k->ring) + number;
}

static double number(const ts_solver *k, int iteration, int which, int component) {
  return tsi_number(k, slot_of(k, iteration, which), component);
}

static void bicgstab_plan(ts_solver *k) {
  k->ring = 2 * (k->desc.check_interval + k->pipelined + 1);
  k->own_vectors = VECTORS;
  k->own_slots = NUMBERS * k->ring;
  k->history_size = k->ring;
}

/* Numbers from -1 to 1 that are always the same (Marsaglia 2003, "Xorshift RNGs"). */
static ts_status fill_random(ts_vector *v, uint32_t seed) {
  const size_t count = (size_t)ts_space_get_size(v->space) * (size_t)v->components;
  float *values = tsi_malloc(v->context, count, sizeof *values);
  if (!values) return tsi_out_of_memory(v->context, "a solver", count * sizeof *values);
  uint32_t x = seed;
  for (size_t i = 0; i < count; i++) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    values[i] = ldexpf((float)(x >> 8), -23) - 1;
  }
  const ts_status status = tsi_vector_write_floats(v, values);
  tsi_free(v->context, values);
  return status;
}

static ts_status bicgstab_prepare(ts_solver *k) {
  return fill_random(k->own[SHADOW], 2463534242u);
}

/* ---- Iterations ---- */

static const ts_vector *shadow_of(const tsi_solve *s) {
  return s->solver->own[s->shadow ? OTHER_SHADOW : SHADOW];
}

/* The random one first; then the residual of the restart, and its product with the random one, in turn. */
static ts_status choose_shadow(const tsi_solve *s) {
  const ts_solver *k = s->solver;
  if (s->shadow == 0) return TS_OK;
  if (s->shadow % 2 == 0) return k->context->ops->multiply(k->own[OTHER_SHADOW], k->r, k->own[SHADOW]);
  return k->context->ops->axpby(k->own[OTHER_SHADOW], ts_constant(1), k->r, ts_constant(0), k->r);
}

/* The sums of r at the start of an iteration. */
static ts_status sum_residual(const tsi_solve *s) {
  const ts_solver *k = s->solver;
  const tsi_dot sums[2] = {{slot_of(k, s->iteration, RHO), shadow_of(s), k->r, NULL},
                           {slot_of(k, s->iteration, RR), k->r, k->r, NULL}};
  return tsi_dots(k->slots, sums, 2, k->scratch);
}

/* e begins anew. */
static void forget_best(tsi_solve *s) {
  s->number_kept = INFINITY;
  s->kept_at = -1;
}

/* Restarts from x and its residual r. */
static ts_status bicgstab_begin(tsi_solve *s) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  const ts_coefficient one = ts_constant(1), zero = ts_constant(0);
  s->phase_start = s->phase_best_at = s->iteration;
  s->phase_best = INFINITY;
  s->replaced_at = s->iteration;
  s->largest = 0;
  s->false_convergences = 0;
  s->phase_start_measure = s->measure;
  forget_best(s);
  TSI_TRY(choose_shadow(s));
  TSI_TRY(tsi_fill(k->e, 0));
  TSI_TRY(ops->axpby(k->own[P], one, k->r, zero, k->r));
  return sum_residual(s);
}

static ts_status bicgstab_iterate(tsi_solve *s) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  ts_vector *p = k->own[P], *v = k->own[V], *t = k->own[T], *e = k->e;
  const int now = s->iteration;
  const ts_slot rho = {k->slots, slot_of(k, now, RHO)}, sigma = {k->slots, slot_of(k, now, SIGMA)},
                ts = {k->slots, slot_of(k, now, TS)}, tt = {k->slots, slot_of(k, now, TT)},
                rho_new = {k->slots, slot_of(k, now + 1, RHO)};
  TSI_TRY(tsi_solver_apply(k, v, p));
  TSI_TRY(ops->reduce(k->slots, sigma.index, TSI_REDUCE_DOT, shadow_of(s), v));
  TSI_TRY(tsi_axpy2(e, ts_quotient(1, rho, sigma), p, k->r, ts_quotient(-1, rho, sigma), v));
  TSI_TRY(tsi_solver_apply(k, t, k->r));
  const tsi_dot sums[2] = {{ts.index, t, k->r, NULL}, {tt.index, t, t, NULL}};
  TSI_TRY(tsi_dots(k->slots, sums, 2, k->scratch));
  TSI_TRY(ops->axpby(e, ts_quotient(1, ts, tt), k->r, ts_constant(1), e));
  TSI_TRY(ops->axpby(k->r, ts_quotient(-1, ts, tt), t, ts_constant(1), k->r));
  s->iteration++;
  TSI_TRY(sum_residual(s));
  TSI_TRY(ops->axpby(p, ts_quotient(1, tt, ts), p, ts_constant(-1), v));
  return ops->axpby(p, ts_quotient(1, rho_new, sigma), p, ts_constant(1), k->r);
}

/* ---- Checks ---- */

/* What broke down in an iteration, NULL if nothing did. Components that are solved do not count: what they
 * divide is as small as what they divide by. */
static const char *broken(const tsi_solve *s, int iteration) {
  const ts_solver *k = s->solver;
  const double rounding = tsi_epsilon(k);
  for (int c = 0; c < k->components; c++) {
    const double r = sqrt(number(k, iteration, RR, c)), rr_new = number(k, iteration + 1, RR, c);
    const double rho = number(k, iteration, RHO, c), sigma = number(k, iteration, SIGMA, c),
                 ts = number(k, iteration, TS, c), tt = number(k, iteration, TT, c);
    if (!isfinite(rr_new) || !isfinite(rho) || !isfinite(sigma) || !isfinite(ts) || !isfinite(tt))
      return "a number left the range of single precision";
    const double solved = 0.1 * s->tolerance[c];
    if (r <= solved) continue;
    if (rho == 0) return "the residual is orthogonal to the shadow vector";
    if (sigma == 0) return "A p is orthogonal to the shadow vector";
    if (sqrt(rr_new) <= solved) continue;
    const double ss = tt > 0 ? rr_new + ts * ts / tt : rr_new;
    if (fabs(ts) <= rounding * sqrt(tt) * sqrt(ss)) return "A s is orthogonal to s";
    if (sqrt(rr_new) * rounding > s->norm_r[c])
      return "the residual has grown beyond what single precision holds";
  }
  return NULL;
}

/* Keeps the present e, a few iterations after the check that found `number` so small. */
static ts_status keep_best(tsi_solve *s, double number) {
  const ts_solver *k = s->solver;
  const double much = 0.25;
  s->number_now = number;
  if (!(number < much * fmin(s->number_kept, s->measure))) return TS_OK;
  s->number_kept = number;
  s->kept_at = s->iteration;
  return k->context->ops->axpby(k->own[BEST_E], ts_constant(1), k->e, ts_constant(0), k->e);
}

/* x = x + M^-1 e with the better e of the present one and the one that was kept, if x gets better by it. */
static ts_status try_best(tsi_solve *s) {
  const ts_solver *k = s->solver;
  const int is_kept = s->number_kept < s->number_now;
  return tsi_solve_try(s, is_kept ? k->own[BEST_E] : k->e, k->own[T]);
}

/* x = x + M^-1 e if that is better, and r recomputed in either case. The directions go on. */
static ts_status replace_residual(tsi_solve *s) {
  const ts_solver *k = s->solver;
  const double before = s->measure;
  TSI_TRY(tsi_solve_try(s, k->e, k->own[T]));
  if (s->measure < before) {
    TSI_TRY(tsi_fill(k->e, 0));
    forget_best(s);
  } else
    TSI_TRY(tsi_solver_residual(k, k->x_new));
  s->replaced_at = s->phase_best_at = s->iteration;
  s->phase_best = INFINITY;
  s->largest = 0;
  s->false_convergences = s->measure <= 0.5 * before ? 0 : s->false_convergences + 1;
  if (s->met)
    tsi_solve_finish_converged(s);
  else if (s->false_convergences >= 2 && s->result->relative_residual <= s->result->attainable_residual)
    tsi_solve_finish_stagnated(s);
  return s->ended ? TS_OK : sum_residual(s);
}

/* Begins again from the best x, or ends where that was in vain too often. */
static ts_status restart(tsi_solve *s, double before, const char *what, int iteration) {
  const ts_solver *k = s->solver;
  s->result->restarts++;
  s->in_vain = s->measure <= (what ? 0.9 : 0.5) * before ? 0 : s->in_vain + 1;
  if (s->in_vain) s->shadow++;
  if (s->in_vain < 4) {
    TSI_TRY(tsi_solver_residual(k, k->x));
    return bicgstab_begin(s);
  }
  if (!what || s->result->relative_residual <= s->result->attainable_residual) {
    tsi_solve_finish_stagnated(s);
    return TS_OK;
  }
  char text[160];
  snprintf(text, sizeof text, "breakdown of BiCGSTAB in iteration %d, where %s, at a relative residual of %.2g",
           iteration + 1, what, s->result->relative_residual);
  tsi_solve_finish(s, TS_REASON_BREAKDOWN, text);
  return TS_OK;
}

/* The recurrence residual meets the rule, it has broken down (`what`), or it has made no progress for long. */
static ts_status look_at_residual(tsi_solve *s, int converged, const char *what, int where) {
  if (converged) {
    TSI_TRY(replace_residual(s));
    if (s->ended || s->false_convergences < 2) return TS_OK;
  } else {
    TSI_TRY(try_best(s));
    if (s->met) {
      tsi_solve_finish_converged(s);
      return TS_OK;
    }
  }
  return restart(s, s->phase_start_measure, what, where);
}

/* This precision is given up: with the best x. */
static ts_status end_at_best(tsi_solve *s) {
  TSI_TRY(try_best(s));
  if (s->met)
    tsi_solve_finish_converged(s);
  else
    tsi_solve_finish_stagnated(s);
  return TS_OK;
}

/* Looks at the numbers of iterations reported .. checked-1. */
static ts_status judge(tsi_solve *s, int checked) {
  const ts_solver *k = s->solver;
  const int first = s->reported;
  const char *what = NULL;
  int where = 0;
  for (int i = first; i < checked; i++) {
    const double ratio = tsi_solve_recurrence_residual(s, slot_of(k, i + 1, RR));
    k->history[i - first] = ratio;
    if (i < s->phase_start) continue;
    tsi_solve_note(s, ratio);
    if (i + 1 == s->kept_at) s->number_kept = ratio;
    if (!what && (what = broken(s, i))) where = i;
    if (i < s->replaced_at) continue;
    s->largest = fmax(s->largest, ratio);
    if (ratio < 0.9 * s->phase_best) {
      s->phase_best = ratio;
      s->phase_best_at = i + 1;
    }
  }
  tsi_solve_progress(s, checked, checked - first);
  if (s->ended) return TS_OK;
  const double now = tsi_solve_recurrence_residual(s, slot_of(k, checked, RR));
  if (checked > s->phase_start) TSI_TRY(keep_best(s, now));
  const int window = tsi_patience(k->matrix, 3 << s->in_vain);
  const int converged = !what && tsi_solve_recurrence_converged(s, slot_of(k, checked, RR));
  if (tsi_solve_should_rise(s, checked, s->norm_rule)) return end_at_best(s);
  if (converged || what || checked - s->phase_best_at > window)
    return look_at_residual(s, converged, what, where);
  if (now <= 1e-3 * s->largest && checked - s->replaced_at >= REPLACEMENT_INTERVAL) return replace_residual(s);
  return TS_OK;
}

/* Where the iterations or the callback ended the solve within a phase. */
static ts_status settle(tsi_solve *s) {
  if (s->ended && s->result->reason != TS_REASON_STOPPED) return TS_OK;
  return try_best(s);
}

const tsi_method tsi_bicgstab = {.name = "bicgstab",
                                 .preconditioned_from_right = 1,
                                 .plan = bicgstab_plan,
                                 .prepare = bicgstab_prepare,
                                 .run = tsi_solve_run,
                                 .run_fixed = tsi_solve_run_fixed,
                                 .begin = bicgstab_begin,
                                 .iterate = bicgstab_iterate,
                                 .judge = judge,
                                 .settle = settle};
