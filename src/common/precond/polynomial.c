/* Polynomials in D^-1 A, and the largest eigenvalue of D^-1 A. */
#include "polynomial.h"

#include <math.h>

#include "common/core/core.h"
#include "common/krylov/solver_scale.h"

/* ---- Steps ---- */

/* d_k = c d_k-1 + alpha D^-1 r_k, stored divided by alpha. */
static tsi_polynomial_step step(double c, double alpha, double alpha_before) {
  return (tsi_polynomial_step){alpha, c * alpha_before / alpha};
}

void tsi_polynomial_first_kind(int degree, double eigenvalue, double ratio, tsi_polynomial_step *steps) {
  const double smallest = eigenvalue / ratio, theta = (eigenvalue + smallest) / 2,
               delta = (eigenvalue - smallest) / 2;
  double rho = delta / theta;
  steps[0] = step(0, 1 / theta, 0);
  for (int k = 1; k < degree; k++) {
    const double next = 1 / (2 * theta / delta - rho);
    steps[k] = step(next * rho, 2 * next / delta, steps[k - 1].alpha);
    rho = next;
  }
}

void tsi_polynomial_fourth_kind(int degree, double eigenvalue, tsi_polynomial_step *steps) {
  steps[0] = step(0, 4 / (3 * eigenvalue), 0);
  for (int k = 1; k < degree; k++)
    steps[k] = step((2.0 * k - 1) / (2 * k + 3), (8.0 * k + 4) / (2 * k + 3) / eigenvalue, steps[k - 1].alpha);
}

/* x_k+1 = x_k + alpha_k D^-1 (b - A x_k) + gamma_k (x_k - x_k-1),  gamma_k = alpha_k beta_k / alpha_k-1 */
static tsi_smoothing fused_step(const tsi_polynomial_step *steps, int k, const ts_vector *inverse,
                                const ts_vector *b) {
  const double gamma = k > 0 ? steps[k].alpha * steps[k].beta / steps[k - 1].alpha : 0;
  return (tsi_smoothing){
      .w = inverse, .b = b, .scale = 1, .alpha = (float)steps[k].alpha, .gamma = (float)gamma};
}

/* All steps from 0 in one operation, if the backend can. */
static ts_status smooth_at_once(const tsi_polynomial_step *steps, int degree, const ts_matrix *A,
                                const ts_vector *inverse, ts_vector *x, const ts_vector *b, int *done) {
  tsi_smoothing all[TSI_POLYNOMIAL_MOST];
  *done = 0;
  if (!A->kind->smooth_all || degree > TSI_POLYNOMIAL_MOST) return TS_OK;
  for (int k = 0; k < degree; k++) all[k] = fused_step(steps, k, inverse, b);
  return A->kind->smooth_all(x, A, all, degree, done);
}

/* One operation per step, which alternates between x and `other`. From 0 it is  x_1 = alpha_0 D^-1 b.  If the
 * second step is the last, it applies this factor. */
static ts_status smooth_fused(const tsi_polynomial_step *steps, int degree, const ts_matrix *A,
                              const ts_vector *inverse, ts_vector *x, const ts_vector *b, ts_vector *other,
                              int x_is_zero) {
  const tsi_ops *ops = A->context->ops;
  ts_vector *now = x_is_zero && degree % 2 == 0 ? other : x, *next = now == x ? other : x;
  double scale = 1;
  int k = 0;
  if (x_is_zero) {
    TSI_TRY(ops->multiply(now, inverse, b));
    scale = steps[k++].alpha;
    if (degree != 2) {
      TSI_TRY(ops->axpby(now, ts_constant(scale), now, ts_constant(0), now));
      scale = 1;
    }
  }
  for (; k < degree; k++) {
    tsi_smoothing step = fused_step(steps, k, inverse, b);
    step.x = now;
    step.before = step.gamma != 0 && !(x_is_zero && k == 1) ? next : NULL;
    step.scale = (float)scale;
    TSI_TRY(A->kind->smooth(next, A, &step));
    ts_vector *const written = next;
    next = now, now = written;
  }
  return now == x ? TS_OK : ops->axpby(x, ts_constant(1), now, ts_constant(0), x);
}

/* r is free after D^-1 r is computed. */
static ts_status smooth_in_parts(const tsi_polynomial_step *steps, int degree, const ts_matrix *A,
                                 const ts_vector *inverse, ts_vector *x, const ts_vector *b, ts_vector *r,
                                 ts_vector *d, int x_is_zero) {
  const tsi_ops *ops = A->context->ops;
  for (int k = 0; k < degree; k++) {
    const int from_zero = x_is_zero && k == 0;
    if (!from_zero) TSI_TRY(tsi_quick_residual(r, b, A, x));
    if (steps[k].beta == 0)
      TSI_TRY(ops->multiply(d, inverse, from_zero ? b : r));
    else
      TSI_TRY(tsi_multiply_add(d, inverse, r, ts_constant(steps[k].beta), d, r));
    TSI_TRY(ops->axpby(x, ts_constant(steps[k].alpha), d, ts_constant(from_zero ? 0 : 1), x));
  }
  return TS_OK;
}

ts_status tsi_polynomial_smooth(const tsi_polynomial_step *steps, int degree, const ts_matrix *A,
                                const ts_vector *inverse, ts_vector *x, const ts_vector *b, ts_vector *r,
                                ts_vector *d, int x_is_zero) {
  ts_vector first = tsi_first_part(x);
  const ts_vector given = tsi_first_part(b);
  if (tsi_smooths(A)) {
    int done = 0;
    if (x_is_zero) TSI_TRY(smooth_at_once(steps, degree, A, inverse, &first, &given, &done));
    return done ? TS_OK : smooth_fused(steps, degree, A, inverse, &first, &given, d, x_is_zero);
  }
  return smooth_in_parts(steps, degree, A, inverse, &first, &given, r, d, x_is_zero);
}

/* ---- The start ---- */

/* A pseudorandom number between -1 and 1 from an index (Steele, Lea and Flood 2014, "Fast splittable
 * pseudorandom number generators"). */
static float number_of(uint64_t index) {
  uint64_t x = (index + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (float)((double)(x >> 40) * 0x1p-23 - 1);
}

/* Scaled by the root of the size of A, so that r^T D^-1 r is about 1 per index regardless of that size. */
ts_status tsi_eigenvalue_start(const ts_matrix *A, ts_vector *r) {
  const size_t count = (size_t)r->space->tiling.size * (size_t)r->components;
  const float size = ldexpf(1, A->info.symmetric ? tsi_scale_exponent(A) / 2 : 0);
  float *values = tsi_malloc(A->context, count, sizeof *values);
  if (!values) return tsi_out_of_memory(A->context, "a start vector", count * sizeof *values);
  for (size_t i = 0; i < count; i++) values[i] = size * number_of(i);
  const ts_status status = tsi_vector_write_floats(r, values);
  tsi_free(A->context, values);
  return status;
}

/* ---- Lanczos ---- */

/* The slots of step k: r^T D^-1 r, and d^T A d of the direction. */
static int delta_slot(int first, int k) {
  return first + 2 * k;
}
static int product_slot(int first, int k) {
  return first + 2 * k + 1;
}

/* q is available for a fallback that needs a vector. */
static ts_status lanczos(const ts_matrix *A, const ts_vector *inverse, ts_vector *r, ts_vector *d, ts_vector *q,
                         ts_scalars *slots, int first) {
  const tsi_ops *ops = A->context->ops;
  TSI_TRY(ops->multiply(d, inverse, r));
  TSI_TRY(ops->reduce(slots, first, TSI_REDUCE_DOT, r, d));
  for (int k = 0; k < TSI_EIGENVALUE_STEPS; k++) {
    const ts_slot delta = {slots, delta_slot(first, k)}, next = {slots, delta_slot(first, k + 1)},
                  product = {slots, product_slot(first, k)};
    TSI_TRY(tsi_spmv_dot(q, A, d, slots, product.index));
    TSI_TRY(ops->axpby(r, ts_constant(1), r, ts_quotient(-1, delta, product), q));
    TSI_TRY(tsi_dots(slots, &(tsi_dot){next.index, r, r, inverse}, 1, q));
    TSI_TRY(tsi_multiply_add(d, inverse, r, ts_quotient(1, next, delta), d, q));
  }
  return TS_OK;
}

/* The number of eigenvalues above x of a symmetric tridiagonal matrix; `squares` are those of its off-diagonal
 * elements. */
static int count_above(const double *diagonal, const double *squares, int size, double x) {
  int count = 0;
  double pivot = 1;
  for (int k = 0; k < size; k++) {
    pivot = diagonal[k] - x - (k ? squares[k - 1] / pivot : 0);
    if (pivot == 0) pivot = -1e-300;
    count += pivot > 0;
  }
  return count;
}

static double largest_eigenvalue(const double *diagonal, const double *squares, int size) {
  double low = 0, high = 0;
  for (int k = 0; k < size; k++) {
    const double beside = (k ? sqrt(squares[k - 1]) : 0) + (k + 1 < size ? sqrt(squares[k]) : 0);
    high = fmax(high, diagonal[k] + beside);
  }
  for (int bisection = 0; bisection < 50; bisection++) {
    const double middle = (low + high) / 2;
    *(count_above(diagonal, squares, size, middle) ? &low : &high) = middle;
  }
  return high;
}

/* Uses the tridiagonal matrix up to the step in which the residual is rounding error or A / D is not positive.
 * If A and D are negative, both sums are. */
static double lanczos_value(const double *numbers, int component) {
  double diagonal[TSI_EIGENVALUE_STEPS], squares[TSI_EIGENVALUE_STEPS];
  int size = 0;
  double beta = 0, alpha_before = 1;
  for (; size < TSI_EIGENVALUE_STEPS; size++) {
    const double delta = numbers[4 * delta_slot(0, size) + component],
                 product = numbers[4 * product_slot(0, size) + component],
                 next = numbers[4 * delta_slot(0, size + 1) + component], alpha = delta / product;
    if (!(fabs(delta) > 1e-10 * fabs(numbers[component])) || !(alpha > 0) || !isfinite(product)) break;
    diagonal[size] = 1 / alpha + beta / alpha_before;
    beta = fmax(0, next / delta);
    squares[size] = beta / (alpha * alpha);
    alpha_before = alpha;
  }
  return largest_eigenvalue(diagonal, squares, size);
}

/* ---- The power method ---- */

/* Each direction is divided by its norm, so the next norm is the growth under D^-1 A. */
static ts_status power(const ts_matrix *A, const ts_vector *inverse, ts_vector *r, ts_vector *d, ts_vector *q,
                       ts_scalars *slots, int first) {
  const tsi_ops *ops = A->context->ops;
  TSI_TRY(ops->multiply(d, inverse, r));
  for (int k = 0;; k++) {
    const ts_slot norm = {slots, first + k}, one = {NULL, 0};
    TSI_TRY(ops->reduce(slots, norm.index, TSI_REDUCE_NORM2, d, d));
    if (k + 1 == TSI_EIGENVALUE_SLOTS) return TS_OK;
    TSI_TRY(ops->axpby(d, ts_quotient(1, one, norm), d, ts_constant(0), d));
    TSI_TRY(tsi_spmv(q, A, d));
    TSI_TRY(ops->multiply(d, inverse, q));
  }
}

/* The maximum over the last half of the steps, because complex eigenvalues make the norms oscillate. */
static double power_value(const double *numbers, int component) {
  double largest = 0;
  for (int k = TSI_EIGENVALUE_SLOTS / 2; k < TSI_EIGENVALUE_SLOTS; k++)
    largest = fmax(largest, numbers[4 * k + component]);
  return isfinite(largest) ? largest : 0;
}

/* ---- Both methods ---- */

ts_status tsi_eigenvalue_begin(const ts_matrix *A, const ts_vector *inverse, ts_vector *r, ts_vector *d,
                               ts_vector *q, ts_scalars *slots, int first) {
  return (A->info.symmetric ? lanczos : power)(A, inverse, r, d, q, slots, first);
}

double tsi_eigenvalue_end(const ts_matrix *A, int components, const double *numbers) {
  const double safety = 1.1;
  double largest = 0;
  for (int c = 0; c < components; c++)
    largest = fmax(largest, A->info.symmetric ? lanczos_value(numbers, c) : power_value(numbers, c));
  return safety * largest;
}
