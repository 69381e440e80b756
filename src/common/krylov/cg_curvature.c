/* Conjugate gradients: d^T q <= 0, caused by an indefinite matrix or by rounding. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "cg.h"
#include "common/core/core.h"
#include "common/matrix/operator.h"

double tsi_cg_visible(const tsi_solve *s, int component) {
  const double rounding = tsi_epsilon(s->solver);
  return fmax(25 * rounding * rounding * s->delta_begin[component], FLT_MIN);
}

int tsi_cg_lost_curvature(const tsi_solve *s, int iteration) {
  for (int c = 0; c < s->solver->components; c++)
    if (tsi_cg_dq_of(s, iteration, c) <= 0 && tsi_cg_delta_of(s, iteration, c) > tsi_cg_visible(s, c)) return c;
  return -1;
}

/* r is orthogonal to the earlier directions, so that d^T M d of d_k+1 = M^-1 r_k+1 + beta d_k is delta_k+1 +
 * beta^2 d_k^T M d_k. */
void tsi_cg_follow_direction(tsi_solve *s, int iteration) {
  for (int c = 0; c < s->solver->components; c++) {
    const double before = tsi_cg_delta_of(s, iteration, c), delta = tsi_cg_delta_of(s, iteration + 1, c);
    const double beta = before != 0 ? delta / before : 0;
    if (iteration == s->phase_start) s->direction[c] = before;
    s->direction[c] = delta + beta * beta * s->direction[c];
  }
}

static ts_status read_largest(const ts_solver *k, const ts_vector *v, double *largest) {
  double found[4];
  TSI_TRY(k->context->ops->reduce(k->slots, TSI_CG_SLOT_DD, TSI_REDUCE_MAX_ABS, v, v));
  TSI_TRY(tsi_scalars_read(k->slots, TSI_CG_SLOT_DD, 1, found));
  *largest = found[0];
  return TS_OK;
}

/* If the device computed the values, the norm is unknown. The estimate is twice the largest diagonal entry. For
 * an operator without a diagonal it is twice the factor by which it multiplies r. */
ts_status tsi_cg_measure_matrix(const ts_solver *k) {
  ts_vector q = tsi_first_part(k->own[TSI_CG_Q]);
  const ts_vector r = tsi_first_part(k->r);
  const int known = tsi_knows_diagonal(k->matrix);
  double largest, of_r = 1;
  TSI_TRY(known ? tsi_diagonal(&q, k->matrix) : tsi_spmv(&q, k->matrix, &r));
  TSI_TRY(read_largest(k, &q, &largest));
  if (!known) TSI_TRY(read_largest(k, &r, &of_r));
  k->matrix->norm_infinity = of_r > 0 ? 2 * largest / of_r : 0;
  return TS_OK;
}

static void finish_indefinite(tsi_solve *s, double dq, const char *m, double dmd, int iteration) {
  char text[160];
  snprintf(text, sizeof text,
           "the matrix is not positive definite: d^T A d is %.3g with d^T %sd = %.3g in iteration %d", dq, m,
           dmd, iteration + 1);
  tsi_solve_finish(s, TS_REASON_INDEFINITE, text);
}

/* Ends the solve if d^T q <= 0, compared with d^T M d, is clearly more than rounding. The eigenvalues of M^-1 A
 * are about 1 or less: that is the purpose of M. */
static void check_direction(tsi_solve *s, int iteration, int component, double dmd) {
  const ts_solver *k = s->solver;
  const int plain = !k->m && !k->z;
  const double dq = tsi_cg_dq_of(s, iteration, component),
               beyond_doubt = (plain ? 160 * k->matrix->norm_infinity : 1600) * tsi_epsilon(k);
  if (dmd > 0 && isfinite(dq) && dq < -beyond_doubt * dmd)
    finish_indefinite(s, dq, plain ? "" : "M ", dmd, iteration);
}

/* In checked mode, d^T d of the same iteration shows whether d^T q <= 0 is more than rounding. */
static void check_in_checked_mode(tsi_solve *s, int iteration, int component) {
  const double dq = tsi_cg_dq_of(s, iteration, component),
               dd = tsi_number(s->solver, TSI_CG_SLOT_DD, component);
  char text[160];
  if (isfinite(dq) && dq < -16 * tsi_epsilon(s->solver) * s->solver->matrix->norm_infinity * dd) {
    finish_indefinite(s, dq, "", dd, iteration);
    return;
  }
  snprintf(
      text, sizeof text,
      "stagnated: in iteration %d the matrix is singular or too ill-conditioned for %s precision (d^T A d is "
      "%.2g)",
      iteration + 1, s->precision == TS_PRECISION_DOUBLE ? "double" : "single", dq);
  tsi_solve_finish(s, TS_REASON_STAGNATED, text);
  s->at_limit = 1;
}

/* Restarts from x + e with a check in every iteration. */
static ts_status begin_checked(tsi_solve *s) {
  const ts_solver *k = s->solver;
  s->checked_mode = 1;
  s->result->restarts++;
  tsi_dot delta;
  TSI_TRY(tsi_solve_add(s, k->x, k->e));
  TSI_TRY(tsi_solve_keep_before(s, k->e, s->scale));
  s->x_is_zero = 0;
  s->scale = 1;
  s->scale_from = s->iteration;
  TSI_TRY(tsi_solver_residual(k, k->x));
  TSI_TRY(tsi_cg_sum_delta(s, &delta));
  const tsi_dot sums[2] = {delta, {TSI_SLOT_RR, k->r, k->r, NULL}};
  TSI_TRY(tsi_dots(k->slots, sums, 2, k->scratch));
  return tsi_cg_begin(s);
}

ts_status tsi_cg_check_curvature(tsi_solve *s, int iteration, int component, double dmd) {
  int is_projected;
  TSI_TRY(tsi_cg_project(s, &is_projected));
  if (is_projected || s->ended) return TS_OK;
  if (s->checked_mode) {
    check_in_checked_mode(s, iteration, component);
    return TS_OK;
  }
  if (s->solver->matrix->device_values) TSI_TRY(tsi_cg_measure_matrix(s->solver));
  if (!s->carried) check_direction(s, iteration, component, dmd); /* otherwise d^T M d is unknown */
  return s->ended ? TS_OK : begin_checked(s);
}
