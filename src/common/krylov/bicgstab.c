/* BiCGSTAB (van der Vorst 1992) with M from the right, written once for all backends on top of the ops table:
 *
 *   r = b - A x;  e = 0;  p = r;  rho = r~^T r            r~ is the shadow vector
 *   repeat
 *     v = A M^-1 p;  sigma = r~^T v;  alpha = rho / sigma
 *     e = e + alpha p;  s = r - alpha v
 *     t = A M^-1 s;  omega = t^T s / t^T t
 *     e = e + omega s;  r = s - omega t
 *     beta = (rho_new / rho) (alpha / omega);  p = r + beta (p - omega v)
 *
 * and x + M^-1 e is the solution. Coefficients are quotients of two device slots. beta needs two of them: since
 * alpha / rho = 1 / sigma, beta (p - omega v) = (rho_new / sigma) (p / omega - v). So the host reads numbers
 * only at checks.
 *
 * A breakdown is a division by 0, or a t^T s that is only rounding compared with |t| |s|. phases.h has the
 * reaction to it and the other checks.
 *
 * The shadow vector is random, not the first r as in most programs. With r itself, a smooth b and strong
 * convection, rho falls to 1e-16 |r~| |r|, and r grows by 1e9 before it falls. There a double keeps half of its
 * digits, a float none. With a random vector r did not grow in the same systems. After a restart the shadow
 * vector is the residual at that restart, after the next one another random vector, and so on. */
#include <math.h>

#include "common/core/core.h"
#include "phases.h"

enum { SHADOW, OTHER_SHADOW, P, V, T, BEST_E, VECTORS };

/* Numbers of each iteration: rho and r^T r at its start, then its divisors. */
enum { RHO, RR, SIGMA, TS, TT, NUMBERS };

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

static ts_status fill_random(ts_vector *v, uint32_t seed) {
  const size_t count = (size_t)ts_space_get_size(v->space) * (size_t)v->components;
  float *values = tsi_malloc(v->context, count, sizeof *values);
  if (!values) return tsi_out_of_memory(v->context, "a solver", count * sizeof *values);
  uint32_t state = seed;
  for (size_t i = 0; i < count; i++) values[i] = tsi_phases_random(&state);
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

/* First the random one; then alternately the residual at the restart, and its product with the random one. */
static ts_status choose_shadow(const tsi_solve *s) {
  const ts_solver *k = s->solver;
  if (s->shadow == 0) return TS_OK;
  if (s->shadow % 2 == 0) return k->context->ops->multiply(k->own[OTHER_SHADOW], k->r, k->own[SHADOW]);
  return k->context->ops->axpby(k->own[OTHER_SHADOW], ts_constant(1), k->r, ts_constant(0), k->r);
}

/* The sums of r at the start of an iteration. */
static ts_status sum_residual(tsi_solve *s) {
  const ts_solver *k = s->solver;
  const tsi_dot sums[2] = {{slot_of(k, s->iteration, RHO), shadow_of(s), k->r, NULL},
                           {slot_of(k, s->iteration, RR), k->r, k->r, NULL}};
  return tsi_dots(k->slots, sums, 2, k->scratch);
}

/* Restarts from x and its residual r. */
static ts_status bicgstab_begin(tsi_solve *s) {
  const ts_solver *k = s->solver;
  TSI_TRY(tsi_phases_begin(s));
  TSI_TRY(choose_shadow(s));
  TSI_TRY(k->context->ops->axpby(k->own[P], ts_constant(1), k->r, ts_constant(0), k->r));
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

/* Describes the breakdown in an iteration; NULL if none. Solved components are ignored: their numerators are as
 * small as their divisors. */
static const char *broken(const tsi_solve *s, int iteration) {
  const ts_solver *k = s->solver;
  const double rounding = tsi_epsilon(k);
  for (int c = 0; c < k->components; c++) {
    const double r = sqrt(number(k, iteration, RR, c)), rr_new = number(k, iteration + 1, RR, c);
    const double rho = number(k, iteration, RHO, c), sigma = number(k, iteration, SIGMA, c),
                 ts = number(k, iteration, TS, c), tt = number(k, iteration, TT, c);
    if (!isfinite(rr_new) || !isfinite(rho) || !isfinite(sigma) || !isfinite(ts) || !isfinite(tt))
      return tsi_phases_out_of_range;
    const double solved = 0.1 * s->tolerance[c];
    if (r <= solved) continue;
    if (rho == 0) return "the residual is orthogonal to the shadow vector";
    if (sigma == 0) return "A p is orthogonal to the shadow vector";
    if (sqrt(rr_new) <= solved) continue;
    const double ss = tt > 0 ? rr_new + ts * ts / tt : rr_new;
    if (fabs(ts) <= rounding * sqrt(tt) * sqrt(ss)) return "A s is orthogonal to s";
    if (sqrt(rr_new) * rounding > s->norm_r[c]) return tsi_phases_grown;
  }
  return NULL;
}

static int residual_slot(const ts_solver *k, int iteration) {
  return slot_of(k, iteration, RR);
}

static const tsi_phases phases = {.title = "BiCGSTAB",
                                  .best = BEST_E,
                                  .work = T,
                                  .residual_slot = residual_slot,
                                  .broken = broken,
                                  .resume = sum_residual};

static ts_status bicgstab_check(tsi_solve *s, int checked) {
  return tsi_phases_check(s, &phases, checked);
}

static ts_status bicgstab_finish(tsi_solve *s) {
  return tsi_phases_finish(s, &phases);
}

const tsi_method tsi_bicgstab = {.name = "bicgstab",
                                 .preconditioned_from_right = 1,
                                 .plan = bicgstab_plan,
                                 .prepare = bicgstab_prepare,
                                 .run = tsi_solve_run,
                                 .run_fixed = tsi_solve_run_fixed,
                                 .begin = bicgstab_begin,
                                 .iterate = bicgstab_iterate,
                                 .check = bicgstab_check,
                                 .finish = bicgstab_finish};
