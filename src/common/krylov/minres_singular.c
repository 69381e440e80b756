/* MINRES: a singular matrix and a right-hand side with a part that no x reaches.
 *
 * MINRES minimises the norm of r in M^-1. At the minimum A M^-1 r = 0, and v = M^-1 r is in the null space.
 * Because of rounding, a Lanczos process started from r reaches that only to about the square root of the
 * precision. A second process finds the remaining part of v outside the null space. x reaches its right-hand
 * side entirely:
 *
 *   A z = A v;  v = v - z
 *   b = b - (v^T r / v^T v) v;  x = x - (v^T x / v^T v) v
 *
 * removes the part of b along v. Without M that is the whole unreachable part, since v is r. With M the method
 * continues with the rest of r, and removes a null space of several dimensions one direction at a time. */
#include <math.h>

#include "series.h"
#include "common/core/core.h"

enum { MOST_PROJECTIONS = 100 };

/* v is in the null space if |A v| / (|A| |v|) is below this, in the norms of M^-1 and M. */
static const double null_size = 0x1p-34;

/* Numbers of v: v^T v, v^T r, and the square of |A v| in the norm of M^-1. */
enum { VV, VR, AVAV, NUMBERS };

/* Writes v = M^-1 r, or v - z if e holds z, to the ring's first vector, and computes its numbers. `q` becomes A
 * v. */
static ts_status look_at_residual(const tsi_solve *s, ts_vector *q, double numbers[NUMBERS][4]) {
  const ts_solver *k = s->solver;
  const int at = s->iteration, first = tsi_series_slot(k, at + 1, 0); /* unused numbers */
  ts_vector *v = tsi_series_vector(k, at);
  TSI_TRY(tsi_series_scale(s, at, k->r));
  if (s->purified) TSI_TRY(k->context->ops->axpby(v, ts_constant(1), v, ts_constant(-1), k->e));
  TSI_TRY(tsi_spmv(q, k->matrix, v));
  if (k->z) TSI_TRY(tsi_solver_precondition(k, k->z, q));
  const tsi_dot sums[] = {
      {first + VV, v, v, NULL}, {first + VR, v, k->r, NULL}, {first + AVAV, q, k->z ? k->z : q, k->m}};
  TSI_TRY(tsi_dots(k->slots, sums, 3, k->scratch));
  TSI_TRY(tsi_scalars_read(k->slots, 0, TSI_SLOT_OWN + k->own_slots, k->numbers));
  for (int n = 0; n < NUMBERS; n++)
    for (int c = 0; c < 4; c++) numbers[n][c] = tsi_number(k, first + n, c);
  return TS_OK;
}

/* |A v| / (|A| |v|) */
static double null_ratio(const tsi_solve *s, double numbers[NUMBERS][4], int c) {
  tsi_series *of = tsi_series_of(s->solver, c);
  double r, v;
  tsi_series_norms(s, of, c, s->iteration, &r, &v);
  const double ratio = sqrt(fabs(numbers[AVAV][c])) / (of->size * v);
  return numbers[VV][c] > 0 && isfinite(ratio) ? ratio : 1;
}

static int is_null(const tsi_solve *s, double numbers[NUMBERS][4], int c) {
  return null_ratio(s, numbers, c) <= null_size &&
         fabs(numbers[VR][c]) / sqrt(numbers[VV][c]) > 0.1 * s->tolerance[c];
}

static unsigned find_least(const tsi_solve *s) {
  unsigned some = s->purified;
  for (int c = 0; c < s->solver->components && !s->purified; c++)
    if (tsi_series_of(s->solver, c)->is_least && s->norm_r[c] > s->tolerance[c]) some |= 1u << c;
  return some;
}

/* Starts A z = A v in those components. `q` is A v. */
static ts_status purify(tsi_solve *s, const ts_vector *q, unsigned least) {
  const ts_solver *k = s->solver;
  const int at = s->iteration, slot = tsi_series_slot(k, at + 1, 0);
  double marked[4];
  for (int c = 0; c < 4; c++) marked[c] = least >> c & 1;
  s->purified = least;
  TSI_TRY(tsi_series_begin_phase(s));
  TSI_TRY(tsi_scalars_write(k->slots, slot, 1, marked));
  ts_vector *u = tsi_minres_residual(k, at);
  TSI_TRY(k->context->ops->axpby(u, ts_scaled(1, k->slots, slot), q, ts_constant(0), q));
  return tsi_series_scale(s, at, u);
}

/* y = y - c v. y may have several parts, and `q` is overwritten. */
static ts_status subtract(const ts_solver *k, ts_vector *y, int slot, const double c[4], const ts_vector *v,
                          ts_vector *q) {
  TSI_TRY(tsi_scalars_write(k->slots, slot, 1, c));
  TSI_TRY(k->context->ops->axpby(q, ts_scaled(1, k->slots, slot), v, ts_constant(0), v));
  return tsi_add_to_parts(y, ts_constant(-1), q);
}

/* Removes the parts of b and x along v, in components with v in the null space. */
static ts_status remove_null_part(tsi_solve *s, ts_vector *q, double numbers[NUMBERS][4], const int null[4]) {
  const ts_solver *k = s->solver;
  const int slot = tsi_series_slot(k, s->iteration + 1, 0);
  const ts_vector *v = tsi_series_vector(k, s->iteration), x = tsi_first_part(k->x);
  double of_b[4] = {0}, of_x[4];
  TSI_TRY(k->context->ops->reduce(k->slots, slot, TSI_REDUCE_DOT, v, &x));
  TSI_TRY(tsi_scalars_read(k->slots, slot, 1, of_x));
  for (int c = 0; c < 4; c++) {
    of_x[c] = null[c] && isfinite(of_x[c]) ? of_x[c] / numbers[VV][c] : 0;
    if (!null[c]) continue;
    const double all = s->norm_rule[c], removed = fabs(numbers[VR][c]) / sqrt(numbers[VV][c]);
    of_b[c] = numbers[VR][c] / numbers[VV][c];
    s->incompatible[c] = fmin(all, hypot(s->incompatible[c], removed));
    s->norm_b[c] = sqrt(fmax(0, all * all - s->incompatible[c] * s->incompatible[c]));
  }
  TSI_TRY(subtract(k, k->b, slot, of_b, v, q));
  return subtract(k, k->x, slot, of_x, v, q);
}

ts_status tsi_minres_handle_least(tsi_solve *s, int *is_handled) {
  const ts_solver *k = s->solver;
  ts_vector *q = tsi_minres_residual(k, s->iteration + 1); /* the Lanczos process has ended */
  double numbers[NUMBERS][4];
  int null[4] = {0}, some = 0;
  *is_handled = 0;
  if (s->projections >= MOST_PROJECTIONS) return TS_OK;
  const unsigned least = find_least(s), before = s->purified;
  TSI_TRY(look_at_residual(s, q, numbers));
  for (int c = 0; c < k->components; c++) some += null[c] = least >> c & 1 && is_null(s, numbers, c);
  s->purified = 0;
  if (!some && before) return TS_OK;
  *is_handled = 1;
  if (!some) return purify(s, q, least);
  s->projections++;
  s->in_vain = s->best_is_kept = 0;
  TSI_TRY(remove_null_part(s, q, numbers, null));
  TSI_TRY(tsi_solve_measure(s, k->x, q));
  tsi_solve_read_numbers(s);
  s->best = s->result->relative_residual;
  if (!s->met) return k->method->begin(s);
  tsi_solve_finish_converged(s);
  return TS_OK;
}
