/* LSMR (Fong and Saunders 2011, "LSMR: an iterative algorithm for sparse least-squares problems") with a
 * preconditioner M of A^T A, written once for all backends on top of the ops table. A may have any number of
 * rows and columns, and any rank:
 *
 *   p_1 = A^T (b - A x);  v_1 = M^-1 p_1 / sigma_1
 *   for j = 1, 2, ...
 *     q_j = A v_j - kappa_j q_j-1;  q_j = q_j / |q_j|                            kappa_j = p_j^T v_j
 *     p_j+1 = A^T q_j - (|q_j| / kappa_j) p_j
 *     v_j+1 = M^-1 p_j+1 / sigma_j+1                                             sigma_j = |M^-1 p_j|
 *
 * is the bidiagonalization that starts from A^T b (Paige and Saunders 1982, "LSQR", section 3, the second one),
 * without the roots of its usual scaling:
 *
 *   rho_j = |q_j| / |v_j|;  theta_j = |p_j|            with |v| in the norm of M, |p| in that of M^-1
 *
 * are the entries of the triangular matrix R that the first rotations of LSMR would have produced. Its second
 * rotations, of R^T, are on the host. The device stores
 *
 *   h_j = v_j - t h_j-1, in place of v_j;  g_j = h_j / |v_j| - c g_j-1;  e = e + step g_j     (series.h)
 *
 * The norm of A^T r in M^-1 is minimal in the Krylov space, and neither it nor |r| ever grows. x - x_0 is in
 * the range of M^-1 A^T: from 0 that is the shortest solution (in the norm of M).
 *
 * The process starts from A^T r, which verification computes from x, not from r. Therefore each start is as
 * accurate as that vector. r is not small if b is unreachable, and A^T r of a rounded r is only rounding. */
#include <math.h>

#include "series.h"
#include "common/core/core.h"

/* p_j and p_j+1, alternating; g. Over the rows: q_j-1 and q_j, alternating. */
enum { P, OTHER_P, G, VECTORS, ROW_VECTORS = 2 };
/* Update coefficients of an iteration. */
enum { TURN, KEEP, WEIGHT, STEP, COEFFICIENTS };
/* State of the rotations: the last one; rho_j-1 rho_bar_j-1; TURN of the next iteration; the sign of the number
 * with `norm` as its magnitude. */
enum { COSINE, SINE, PRODUCT, NEXT_TURN, SIGN };

static void lsmr_plan(ts_solver *k) {
  tsi_series_plan(k, VECTORS, COEFFICIENTS);
  k->own_row_vectors = ROW_VECTORS;
}

/* ---- The bidiagonalization ---- */

static ts_vector *p_of(const ts_solver *k, int iteration) {
  return k->own[P + iteration % 2];
}

static ts_vector *q_of(const ts_solver *k, int iteration) {
  return k->vectors[k->vector_count - 1 - iteration % ROW_VECTORS];
}

static ts_slot slot(const ts_solver *k, int iteration, int number) {
  return (ts_slot){k->slots, tsi_series_slot(k, iteration, number)};
}

static ts_status lsmr_begin(tsi_solve *s) {
  return tsi_series_begin(s, p_of(s->solver, s->iteration));
}

static ts_status lsmr_iterate(tsi_solve *s) {
  static const ts_slot number_one = {NULL, 0};
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  const int j = s->iteration;
  const ts_slot kappa = slot(k, j, TSI_SERIES_KAPPA), norm = slot(k, j, TSI_SERIES_OTHER);
  const ts_coefficient one = ts_constant(1), zero = ts_constant(0);
  ts_vector *q = q_of(k, j), *p = p_of(k, j + 1);
  TSI_TRY(tsi_spmv(q, k->matrix, tsi_series_vector(k, j)));
  if (j > s->phase_start) TSI_TRY(ops->axpby(q, ts_scaled(-1, k->slots, kappa.index), q_of(k, j + 1), one, q));
  TSI_TRY(ops->reduce(k->slots, norm.index, TSI_REDUCE_NORM2, q, q));
  TSI_TRY(ops->axpby(q, ts_quotient(1, number_one, norm), q, zero, q));
  TSI_TRY(tsi_spmv(p, k->transposed, q));
  TSI_TRY(ops->axpby(p, ts_quotient(-1, norm, kappa), p_of(k, j), one, p));
  s->iteration++;
  return tsi_series_scale(s, j + 1, p);
}

/* ---- Series ---- */

static void lsmr_rotate(const tsi_solve *s, tsi_series *of, int c, int j, double *coefficients) {
  const ts_solver *k = s->solver;
  double *const last = of->rotations, p, v, theta, v_next;
  if (j == s->phase_start) {
    last[COSINE] = last[PRODUCT] = last[SIGN] = 1;
    last[SINE] = last[NEXT_TURN] = 0;
  }
  tsi_series_norms(s, of, c, j, &p, &v);
  const double rho = tsi_number(k, tsi_series_slot(k, j, TSI_SERIES_OTHER), c) / v;
  of->size = fmax(of->size, rho);
  tsi_series_norms(s, of, c, j + 1, &theta, &v_next);
  of->size = fmax(of->size, theta);
  if (theta <= tsi_series_rounding(k, of->size)) theta = 0;
  if (theta == 0 || rho <= tsi_series_rounding(k, of->size)) of->is_over = 1;
  if (rho <= tsi_series_rounding(k, of->size)) return;
  const double rho_bar = hypot(last[COSINE] * rho, theta), cosine = last[COSINE] * rho / rho_bar;
  coefficients[TURN] = -last[NEXT_TURN];
  coefficients[KEEP] = -last[SINE] * rho * rho / last[PRODUCT];
  coefficients[WEIGHT] = 1 / v;
  coefficients[STEP] = last[SIGN] * cosine * of->norm / (rho * rho_bar);
  last[NEXT_TURN] = v_next * theta / (rho * v);
  last[PRODUCT] = rho * rho_bar;
  last[COSINE] = cosine;
  last[SINE] = theta / rho_bar;
  last[SIGN] = -last[SIGN];
  of->norm *= last[SINE];
}

static const tsi_series_method series;

static ts_coefficient coefficient(const ts_solver *k, int at, int number) {
  return ts_scaled(1, k->slots, tsi_series_coefficient(k, &series, at, number));
}

/* h_j and g_j, combined with the pending step along g_j-1. */
static ts_status update_directions(const tsi_solve *s, int first, int j) {
  const ts_solver *k = s->solver;
  const tsi_ops *ops = k->context->ops;
  const int at = j - first;
  ts_vector *h = tsi_series_vector(k, j), *g = k->own[G];
  if (j == s->phase_start) return ops->axpby(g, coefficient(k, at, WEIGHT), h, ts_constant(0), h);
  const ts_vector *before = tsi_series_vector(k, j - 1);
  if (at > 0)
    TSI_TRY(tsi_axpy2(k->e, coefficient(k, at - 1, STEP), g, h, coefficient(k, at, TURN), before));
  else
    TSI_TRY(ops->axpby(h, coefficient(k, at, TURN), before, ts_constant(1), h));
  return ops->axpby(g, coefficient(k, at, WEIGHT), h, coefficient(k, at, KEEP), g);
}

static ts_status lsmr_update(const tsi_solve *s, int first, int end) {
  const ts_solver *k = s->solver;
  for (int j = first; j < end; j++) TSI_TRY(update_directions(s, first, j));
  return k->context->ops->axpby(k->e, coefficient(k, end - 1 - first, STEP), k->own[G], ts_constant(1), k->e);
}

static const tsi_series_method series = {
    .coefficients = COEFFICIENTS, .rotate = lsmr_rotate, .update = lsmr_update};

/* p_j+1 is free between iterations. */
static ts_vector *free_vector(const tsi_solve *s) {
  return p_of(s->solver, s->iteration + 1);
}

static ts_status lsmr_check(tsi_solve *s, int checked) {
  return tsi_series_check(s, &series, free_vector(s), checked);
}

static ts_status lsmr_run_fixed(tsi_solve *s) {
  return tsi_series_run_fixed(s, &series);
}

static ts_status lsmr_finish(tsi_solve *s) {
  return tsi_series_finish(s, free_vector(s));
}

const tsi_method tsi_lsmr = {.name = "lsmr",
                             .plan = lsmr_plan,
                             .run = tsi_solve_run,
                             .run_fixed = lsmr_run_fixed,
                             .begin = lsmr_begin,
                             .iterate = lsmr_iterate,
                             .check = lsmr_check,
                             .finish = lsmr_finish};
