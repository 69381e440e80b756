/* Iterations in series: the ring, the host's part of each series, and the verification of x. */
#include "series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/core/core.h"

/* ---- Storage ---- */

enum { STATE = sizeof(tsi_series) / sizeof(double), LONGEST = 2 * TSI_SERIES };
/* One slot of its own, the numbers of the iterations, the coefficients of a series. */
enum { SLOT_NORM = TSI_SLOT_OWN, SLOT_RING };

static int longest(const ts_solver *k) {
  return k->desc.check_interval + k->pipelined;
}

void tsi_series_plan(ts_solver *k, int vectors, int coefficients) {
  if (k->desc.check_interval > TSI_SERIES) k->desc.check_interval = TSI_SERIES;
  if (k->pipelined >= k->desc.check_interval) k->pipelined = 0;
  /* Two vectors before the series, the series, the iterations during its check, and the next vector. */
  k->ring = 2 + longest(k) + k->pipelined + 1;
  k->own_vectors = vectors + k->ring;
  k->own_slots = SLOT_RING - TSI_SLOT_OWN + TSI_SERIES_NUMBERS * k->ring + coefficients * longest(k);
  k->work_size = 4 * STATE;
  k->history_size = longest(k);
}

ts_vector *tsi_series_vector(const ts_solver *k, int iteration) {
  return k->own[k->own_vectors - k->ring + iteration % k->ring];
}

static int is_preconditioned(const ts_solver *k) {
  return k->m || k->z;
}

int tsi_series_slot(const ts_solver *k, int iteration, int number) {
  if (number == TSI_SERIES_KAPPA && !is_preconditioned(k)) number = TSI_SERIES_SIGMA;
  return SLOT_RING + TSI_SERIES_NUMBERS * (iteration % k->ring) + number;
}

int tsi_series_coefficient(const ts_solver *k, const tsi_series_method *method, int at, int number) {
  return SLOT_RING + TSI_SERIES_NUMBERS * k->ring + method->coefficients * at + number;
}

tsi_series *tsi_series_of(const ts_solver *k, int component) {
  return (tsi_series *)(void *)(k->work + (size_t)component * STATE);
}

double tsi_series_rounding(const ts_solver *k, double size) {
  return 256 * tsi_epsilon(k) * size;
}

/* The residual that the method minimises. */
static const ts_vector *residual_of(const ts_solver *k) {
  return k->transposed ? k->gradient : k->r;
}

/* ---- The basis ---- */

ts_status tsi_series_scale(const tsi_solve *s, int iteration, const ts_vector *u) {
  static const ts_slot one = {NULL, 0};
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  ts_vector *v = tsi_series_vector(k, iteration);
  const ts_slot sigma = {k->slots, tsi_series_slot(k, iteration, TSI_SERIES_SIGMA)};
  const int kappa = tsi_series_slot(k, iteration, TSI_SERIES_KAPPA);
  if (!is_preconditioned(k)) {
    TSI_TRY(ops->reduce(k->slots, sigma.index, TSI_REDUCE_NORM2, u, u));
    return ops->axpby(v, ts_quotient(1, one, sigma), u, ts_constant(0), u);
  }
  ts_vector *y = k->z ? k->z : v;
  TSI_TRY(tsi_solver_precondition(k, y, u));
  TSI_TRY(ops->reduce(k->slots, sigma.index, TSI_REDUCE_NORM2, y, y));
  TSI_TRY(ops->axpby(v, ts_quotient(1, one, sigma), y, ts_constant(0), y));
  return ops->reduce(k->slots, kappa, TSI_REDUCE_DOT, u, v);
}

void tsi_series_norms(const tsi_solve *s, tsi_series *of, int component, int iteration, double *u, double *v) {
  const ts_solver *k = s->solver;
  const double sigma = tsi_number(k, tsi_series_slot(k, iteration, TSI_SERIES_SIGMA), component),
               kappa = tsi_number(k, tsi_series_slot(k, iteration, TSI_SERIES_KAPPA), component);
  *u = 0;
  *v = 1;
  if (!isfinite(sigma) || !isfinite(kappa)) of->is_broken = 1;
  if (of->is_broken || sigma == 0 || kappa == 0) return;
  *u = sqrt(sigma) * sqrt(fabs(kappa));
  *v = sqrt(fabs(kappa) / sigma);
  if (kappa < 0 && *u > tsi_series_rounding(k, of->size)) of->indefinite = kappa * sigma;
  if (kappa < 0) *u = 0;
}

ts_status tsi_series_begin_phase(tsi_solve *s) {
  s->phase_start = s->phase_best_at = s->replaced_at = s->iteration;
  s->phase_best = INFINITY;
  s->largest = 0;
  s->scale = 1;
  return tsi_fill(s->solver->e, 0);
}

ts_status tsi_series_begin(tsi_solve *s, ts_vector *u) {
  enum { small = -16 };
  const ts_solver *k = s->solver;
  double largest = 0;
  int exponent = 0;
  TSI_TRY(tsi_series_begin_phase(s));
  s->purified = 0;
  for (int c = 0; c < k->components; c++) largest = fmax(largest, s->norm_r[c]);
  if (largest > 0 && isfinite(largest) && largest < ldexp(1, small)) frexp(largest, &exponent);
  s->scale = ldexp(1, -exponent);
  TSI_TRY(tsi_copy_parts(u, ts_constant(s->scale), residual_of(k)));
  return tsi_series_scale(s, s->iteration, u);
}

/* ---- The host's part of a series ---- */

static void begin_component(const tsi_solve *s, int c) {
  tsi_series *of = tsi_series_of(s->solver, c);
  double unit;
  *of = (tsi_series){0};
  tsi_series_norms(s, of, c, s->phase_start, &of->start, &unit);
  of->norm = of->start;
  of->ratio = of->start > 0 ? s->norm_r[c] * s->scale / of->start : 1;
  of->is_over = !(of->start > 0);
}

/* The predicted Euclidean norm, in the units of s->norm_r. */
static double predicted(const tsi_solve *s, int c) {
  const tsi_series *of = tsi_series_of(s->solver, c);
  return of->ratio * of->norm / s->scale;
}

static double largest_predicted(const tsi_solve *s) {
  double largest = 0;
  for (int c = 0; c < s->solver->components; c++)
    if (s->norm_rule[c] > 0) largest = tsi_larger(largest, predicted(s, c) / s->norm_rule[c]);
  return largest;
}

static void rotate_component(const tsi_solve *s, const tsi_series_method *method, int c, int i,
                             double *coefficients) {
  const ts_solver *k = s->solver;
  tsi_series *of = tsi_series_of(k, c);
  double of_component[8] = {0};
  if (!of->is_over) method->rotate(s, of, c, i, of_component);
  for (int n = 0; n < method->coefficients; n++) {
    if (!isfinite(of_component[n])) of->is_broken = 1;
    coefficients[4 * n + c] = of_component[n];
  }
  if (of->norm <= 4 * tsi_epsilon(k) * of->start || of->indefinite < 0 || of->is_broken) of->is_over = 1;
}

static int some_broken(const ts_solver *k) {
  for (int c = 0; c < k->components; c++)
    if (tsi_series_of(k, c)->is_broken) return 1;
  return 0;
}

/* Rotates iterations reported .. checked-1. Iterations after a number that is not finite are ignored. Returns
 * the first iteration that must not be added to e. */
static int rotate(const tsi_solve *s, const tsi_series_method *method, int first, int checked,
                  double *coefficients) {
  const ts_solver *k = s->solver;
  const int numbers = 4 * method->coefficients;
  int end = first;
  for (int i = first; i < checked; i++) {
    if (i == s->phase_start)
      for (int c = 0; c < k->components; c++) begin_component(s, c);
    const int counts = i >= s->phase_start && !some_broken(k);
    for (int c = 0; c < k->components && counts; c++)
      rotate_component(s, method, c, i, coefficients + (size_t)numbers * (size_t)(i - first));
    if (counts && !some_broken(k)) end = i + 1;
    k->history[i - first] = i >= s->phase_start && !s->purified ? largest_predicted(s) : s->measure;
  }
  return end;
}

static ts_status add_series(const tsi_solve *s, const tsi_series_method *method, int checked) {
  const ts_solver *k = s->solver;
  const int first = s->reported, begin = first > s->phase_start ? first : s->phase_start;
  double coefficients[LONGEST * 8 * 4] = {0};
  const int end = rotate(s, method, first, checked, coefficients);
  if (end <= begin) return TS_OK;
  TSI_TRY(tsi_scalars_write(k->slots, tsi_series_coefficient(k, method, 0, 0),
                            method->coefficients * (end - begin),
                            coefficients + 4 * (size_t)method->coefficients * (size_t)(begin - first)));
  return method->update(s, begin, end);
}

/* ---- Verification of x ---- */

static int all_over(const ts_solver *k) {
  for (int c = 0; c < k->components; c++)
    if (!tsi_series_of(k, c)->is_over) return 0;
  return 1;
}

static int some_least(const tsi_solve *s) {
  for (int c = 0; c < s->solver->components; c++)
    if (tsi_series_of(s->solver, c)->is_least && s->norm_r[c] > s->tolerance[c]) return 1;
  return 0;
}

static int is_predicted(const tsi_solve *s) {
  for (int c = 0; c < s->solver->components; c++)
    if (s->norm_rule[c] > 0 && !(predicted(s, c) <= s->tolerance[c])) return 0;
  return 1;
}

/* e contains the part that must be removed from v (minres_singular.c). */
static int is_pure(const tsi_solve *s) {
  for (int c = 0; c < s->solver->components; c++) {
    const tsi_series *of = tsi_series_of(s->solver, c);
    if (of->norm > 1e-7 * of->start) return 0;
  }
  return 1;
}

/* The norm in M^-1 of the residual of x, which was just computed. */
static ts_status measure_norm(const tsi_solve *s, double norms[4]) {
  const ts_solver *k = s->solver;
  const ts_vector *r = residual_of(k);
  memcpy(norms, s->norm_r, 4 * sizeof *norms);
  if (!is_preconditioned(k)) return TS_OK;
  if (k->z) TSI_TRY(tsi_solver_precondition(k, k->z, r));
  const tsi_dot sum = {SLOT_NORM, r, k->z ? k->z : r, k->m};
  TSI_TRY(tsi_dots(k->slots, &sum, 1, k->scratch));
  TSI_TRY(tsi_scalars_read(k->slots, SLOT_NORM, 1, norms));
  for (int c = 0; c < k->components; c++) norms[c] = norms[c] > 0 ? sqrt(norms[c]) : 0;
  return TS_OK;
}

/* Adds e to x. Without M the smaller residual is better. With M, the better residual has the smaller norm in
 * M^-1, which the next iterations reduce further. Halving it is a gain. */
static ts_status add_update(tsi_solve *s, ts_vector *work, double norms[4], int *gained) {
  const ts_solver *k = s->solver;
  const double before = s->measure;
  TSI_TRY(is_preconditioned(k) ? tsi_solve_try_anyway(s, k->e, work) : tsi_solve_try(s, k->e, work));
  *gained = s->measure <= 0.5 * before;
  TSI_TRY(measure_norm(s, norms));
  for (int c = 0; c < k->components && is_preconditioned(k); c++)
    if (s->norm_r[c] > s->tolerance[c] && norms[c] * s->scale <= 0.5 * tsi_series_of(k, c)->start) *gained = 1;
  return TS_OK;
}

/* If the recurrence agrees with the residual of x, it continues from there with the current ratios. */
static ts_status go_on(tsi_solve *s, const double norms[4], int *goes_on) {
  const ts_solver *k = s->solver;
  *goes_on = 0;
  for (int c = 0; c < k->components; c++)
    if (s->norm_r[c] > s->tolerance[c] && !(norms[c] * s->scale <= 1.25 * tsi_series_of(k, c)->norm))
      return TS_OK;
  for (int c = 0; c < k->components; c++) {
    tsi_series *of = tsi_series_of(k, c);
    if (norms[c] > 0) of->ratio = s->norm_r[c] / norms[c];
  }
  *goes_on = 1;
  s->phase_best = INFINITY;
  s->phase_best_at = s->replaced_at = s->iteration;
  s->largest = 0;
  return tsi_fill(k->e, 0);
}

static ts_status finish_indefinite(tsi_solve *s) {
  const ts_solver *k = s->solver;
  char text[160];
  for (int c = 0; c < k->components; c++) {
    const double squared = tsi_series_of(k, c)->indefinite;
    if (!(squared < 0)) continue;
    snprintf(text, sizeof text,
             "the preconditioner is not positive definite: v^T M^-1 v is %.3g in iteration %d", squared,
             s->reported);
    tsi_solve_finish(s, TS_REASON_INDEFINITE, text);
  }
  return TS_OK;
}

/* The second consecutive failure. */
static void finish_in_vain(tsi_solve *s) {
  char text[160];
  if (!some_broken(s->solver) || s->result->relative_residual <= s->result->attainable_residual) {
    tsi_solve_finish_stagnated(s);
    return;
  }
  snprintf(text, sizeof text,
           "breakdown: a number left the range of single precision in iteration %d, at a relative residual of "
           "%.2g",
           s->reported, s->result->relative_residual);
  tsi_solve_finish(s, TS_REASON_BREAKDOWN, text);
}

/* Adds e to x if that is better. Then the solve ends, the recurrence continues, or the method restarts from
 * x. */
static ts_status verify(tsi_solve *s, const tsi_series_method *method, ts_vector *work, int must_end) {
  const ts_solver *k = s->solver;
  const ts_vector *const x = k->x;
  const int is_least = method->handle_least && k->pairs && some_least(s);
  double norms[4];
  int is_handled = 0, gained;
  TSI_TRY(add_update(s, work, norms, &gained));
  if (s->met) {
    tsi_solve_finish_converged(s);
    return TS_OK;
  }
  TSI_TRY(finish_indefinite(s));
  if (s->ended) return TS_OK;
  if (!all_over(k) && !must_end && k->x != x) {
    TSI_TRY(go_on(s, norms, &is_handled));
    if (is_handled) return TS_OK;
  }
  s->result->restarts++;
  s->in_vain = gained ? 0 : s->in_vain + 1;
  if (is_least) {
    TSI_TRY(method->handle_least(s, &is_handled));
    if (is_handled) return TS_OK;
  }
  const int rises = some_least(s) && !k->pairs && k->desc.precision == TS_PRECISION_AUTO;
  if (!must_end && !rises && s->in_vain < 2) return k->method->begin(s);
  finish_in_vain(s);
  return TS_OK;
}

static ts_status end_purification(tsi_solve *s, const tsi_series_method *method) {
  int is_handled = 0;
  TSI_TRY(method->handle_least(s, &is_handled));
  if (!is_handled) finish_in_vain(s);
  return TS_OK;
}

ts_status tsi_series_check(tsi_solve *s, const tsi_series_method *method, ts_vector *work, int checked) {
  enum { INTERVAL = 16 /* minimum number of iterations between two verifications */ };
  const double fallen = 1e-3;
  const ts_solver *k = s->solver;
  const int first = s->reported;
  TSI_TRY(add_series(s, method, checked));
  for (int i = first; i < checked; i++) {
    const double number = k->history[i - first];
    tsi_solve_note(s, number);
    if (i < s->phase_start) continue;
    if (i >= s->replaced_at) s->largest = fmax(s->largest, number);
    if (!(number < 0.9 * s->phase_best)) continue;
    s->phase_best = number;
    s->phase_best_at = i + 1;
  }
  TSI_TRY(tsi_solve_progress(s, checked, checked - first));
  if (s->ended || checked <= s->phase_start) return TS_OK;
  const int too_long = checked - s->phase_best_at > tsi_window(k->matrix);
  const int must_end = too_long || tsi_solve_should_rise(s, checked, s->norm_rule);
  if (s->purified) return must_end || all_over(k) || is_pure(s) ? end_purification(s, method) : TS_OK;
  const int has_fallen =
      checked - s->replaced_at >= INTERVAL && k->history[checked - first - 1] <= fallen * s->largest;
  return must_end || all_over(k) || is_predicted(s) || has_fallen ? verify(s, method, work, must_end) : TS_OK;
}

ts_status tsi_series_finish(tsi_solve *s, ts_vector *work) {
  if (s->ended && s->result->reason != TS_REASON_STOPPED) return TS_OK;
  return s->purified ? TS_OK : tsi_solve_try(s, s->solver->e, work);
}

ts_status tsi_series_run_fixed(tsi_solve *s, const tsi_series_method *method) {
  const ts_solver *k = s->solver;
  const int all = k->desc.fixed_iterations;
  s->reported = s->iteration;
  TSI_TRY(k->method->begin(s));
  while (s->iteration < all) {
    const int left = all - s->iteration, steps = left < k->desc.check_interval ? left : k->desc.check_interval;
    for (int i = 0; i < steps; i++) TSI_TRY(k->method->iterate(s));
    TSI_TRY(tsi_solve_read(s, 0, TSI_SLOT_OWN + k->own_slots, 0, k->method->iterate));
    TSI_TRY(add_series(s, method, s->iteration));
    s->reported = s->iteration;
  }
  return TS_OK;
}
