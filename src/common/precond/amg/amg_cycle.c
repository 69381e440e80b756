/* Cycles of algebraic multigrid, written once for all backends over the ops table:
 *
 *   cycle(l):  on the last level:  x = A^-1 b, a product with the inverse
 *              smooth x
 *              b' = P^T (b - A x);  x' = 0
 *              cycle(l + 1), once or twice
 *              x = x + P x'
 *              smooth x
 *
 * R is stored as -P^T, so that x' has the opposite sign and x = x - P x' is a residual, one operation.
 *
 * Smoothers, with D the diagonal or for l1-jacobi the sums of the magnitudes of rows, and lambda the largest
 * eigenvalue of D^-1 A:
 *
 *   jacobi       x = x + omega D^-1 (b - A x),  omega = 4 / (3 lambda), l1: 1
 *   chebyshev    d_0 = 1 / theta D^-1 r_0;  d_k = rho_k rho_k-1 d_k-1 + 2 rho_k / delta D^-1 r_k;  x = x + d_k
 *                on [lambda / ratio, lambda]: theta the middle, delta half the length (Saad 2003, 12.1)
 *   chebyshev4   d_k = (2 k - 1) / (2 k + 3) d_k-1 + (8 k + 4) / (2 k + 3) / lambda D^-1 r_k;  x = x + d_k
 *                (Lottes 2022, fourth kind)
 *
 * A direction is kept without the factor of D^-1 r, so that a step is d = D^-1 r + beta d;  x = x + alpha d. */
#include <math.h>
#include <string.h>

#include "amg.h"

/* ---- Smoothing ---- */

/* Of step k: x = x + alpha d after d = D^-1 r + beta d. */
typedef struct step {
  double alpha, beta;
} step;

static double largest(const tsi_amg *amg, int l) {
  return amg->level[l].eigenvalue;
}

/* The polynomial is small from a part of the largest eigenvalue up to it. */
static void plan_chebyshev(double lambda, int steps, step *plan) {
  const double smallest = lambda / 4, theta = (lambda + smallest) / 2, delta = (lambda - smallest) / 2;
  double rho = delta / theta;
  plan[0] = (step){1 / theta, 0};
  for (int k = 1; k < steps; k++) {
    const double next = 1 / (2 * theta / delta - rho), alpha = 2 * next / delta;
    plan[k] = (step){alpha, next * rho * plan[k - 1].alpha / alpha};
    rho = next;
  }
}

static void plan_fourth_kind(double lambda, int steps, step *plan) {
  for (int k = 0; k < steps; k++) {
    const double alpha = (8.0 * k + 4) / (2 * k + 3) / lambda;
    plan[k] = (step){alpha, k ? (2.0 * k - 1) / (2 * k + 3) * plan[k - 1].alpha / alpha : 0};
  }
}

static void plan_steps(const tsi_amg *amg, int l, int steps, step *plan) {
  const double lambda = largest(amg, l);
  switch (amg->desc.smoother) {
  case TS_AMG_CHEBYSHEV:
    plan_chebyshev(lambda, steps, plan);
    return;
  case TS_AMG_CHEBYSHEV4:
    plan_fourth_kind(lambda, steps, plan);
    return;
  default:
    for (int k = 0; k < steps; k++)
      plan[k] = (step){amg->desc.smoother == TS_AMG_JACOBI ? 4 / (3 * lambda) : 1, 0};
  }
}

/* r = b - A x in single precision. */
static ts_status residual(const tsi_amg_level *level, const ts_vector *b, const ts_vector *x) {
  return tsi_residual_of_parts(level->r, b, level->A, x, 1);
}

static ts_status smooth(const tsi_amg *amg, int l, int steps, ts_vector *x, const ts_vector *b, int x_is_zero) {
  const tsi_amg_level *level = &amg->level[l];
  const tsi_ops *ops = amg->context->ops;
  step plan[128];
  plan_steps(amg, l, steps, plan);
  for (int k = 0; k < steps; k++) {
    const ts_coefficient alpha = ts_constant(plan[k].alpha);
    const int first = x_is_zero && k == 0;
    if (!first) TSI_TRY(residual(level, b, x));
    const ts_vector *r = first ? b : level->r;
    if (plan[k].beta == 0)
      TSI_TRY(ops->multiply(level->d, level->inverse, r));
    else
      TSI_TRY(tsi_multiply_add(level->d, level->inverse, r, ts_constant(plan[k].beta), level->d, level->r));
    TSI_TRY(ops->axpby(x, alpha, level->d, ts_constant(first ? 0 : 1), x));
  }
  return TS_OK;
}

/* ---- Cycles ---- */

static ts_status cycle(const tsi_amg *amg, int l, ts_vector *x, const ts_vector *b, int x_is_zero) {
  const tsi_amg_level *level = &amg->level[l], *next = level + 1;
  const int sweeps = amg->desc.sweeps;
  if (l + 1 == amg->levels) {
    enum { in_place_of_inverse = 8 };
    return amg->inverse ? tsi_spmv(x, amg->inverse, b) : smooth(amg, l, in_place_of_inverse * sweeps, x, b, 1);
  }
  TSI_TRY(smooth(amg, l, sweeps, x, b, x_is_zero));
  TSI_TRY(residual(level, b, x));
  TSI_TRY(tsi_spmv(next->b, level->R, level->r));
  for (int visit = 0; visit < amg->desc.visits; visit++)
    TSI_TRY(cycle(amg, l + 1, next->x, next->b, visit == 0));
  TSI_TRY(tsi_residual_of_parts(x, x, level->P, next->x, 1));
  return smooth(amg, l, sweeps, x, b, 0);
}

ts_status tsi_amg_cycle(const tsi_amg *amg, ts_vector *z, const ts_vector *r) {
  return cycle(amg, 0, z, r, 1);
}

/* ---- Vectors ---- */

void tsi_amg_drop_vectors(tsi_amg *amg) {
  amg->components = 0;
  tsi_enter_to_destroy(amg->context);
  for (int l = 0; l < TSI_AMG_MAX_LEVELS; l++) {
    tsi_amg_level *level = &amg->level[l];
    ts_vector **vectors[] = {&level->inverse, &level->r, &level->d, &level->b, &level->x};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
      tsi_vector_destroy(*vectors[k]);
      *vectors[k] = NULL;
    }
  }
  tsi_leave(amg->context, TS_OK);
}

/* 1 / the sums of the magnitudes of rows, which the host knows. */
static ts_status write_l1(const tsi_amg *amg, int l) {
  const tsi_amg_csr *A = &amg->host.level[l].A;
  ts_vector *inverse = amg->level[l].inverse;
  const int components = inverse->components;
  float *values = tsi_malloc(amg->context, (size_t)A->rows, (size_t)components * sizeof *values);
  if (!values) return tsi_out_of_memory(amg->context, "a smoother", (size_t)A->rows * sizeof *values);
  for (int32_t i = 0; i < A->rows; i++) {
    double sum = 0;
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) sum += fabs((double)A->values[e]);
    for (int c = 0; c < components; c++)
      values[(size_t)i * (size_t)components + (size_t)c] = sum > 0 ? (float)(1 / sum) : 0;
  }
  const ts_status status = ts_vector_write(inverse, values, (size_t)A->rows * (size_t)components);
  tsi_free(amg->context, values);
  return status;
}

static ts_status invert_diagonal(const tsi_amg_level *level) {
  TSI_TRY(tsi_diagonal(level->inverse, level->A));
  return level->A->context->ops->reciprocal(level->inverse, level->inverse);
}

static ts_status make_vectors(tsi_amg *amg, int components) {
  for (int l = 0; l < amg->levels; l++) {
    tsi_amg_level *level = &amg->level[l];
    ts_vector *made[5] = {NULL};
    const int count = l > 0 ? 5 : 3;
    TSI_TRY(tsi_arena_create(level->A->row_space, components, 1, made, count, 0, NULL));
    level->inverse = made[0], level->r = made[1], level->d = made[2], level->b = made[3], level->x = made[4];
    level->eigenvalue = amg->host.level[l].bound;
  }
  return TS_OK;
}

ts_status tsi_amg_prepare(tsi_amg *amg, int components) {
  if (amg->components == components) return TS_OK;
  tsi_amg_drop_vectors(amg);
  TSI_TRY(tsi_enter(amg->context));
  ts_status status = make_vectors(amg, components);
  for (int l = 0; l < amg->levels && status == TS_OK && amg->desc.smoother != TS_AMG_L1_JACOBI; l++)
    status = invert_diagonal(&amg->level[l]);
  TSI_TRY(tsi_leave(amg->context, status));
  for (int l = 0; l < amg->levels && amg->desc.smoother == TS_AMG_L1_JACOBI; l++) TSI_TRY(write_l1(amg, l));
  amg->components = components;
  return TS_OK;
}
