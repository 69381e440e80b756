#include "small_system.h"

#include <math.h>
#include <stdlib.h>

small_system small_create(int n) {
  const size_t size = (size_t)n;
  return (small_system){n, calloc(size * size, sizeof(double)), calloc(size, sizeof(double))};
}

void small_free(small_system *s) {
  free(s->a), free(s->b);
}

/* ---- Random systems ---- */

static double random_double(ref_random *r, double low, double high) {
  const double high_bits = ref_next(r), low_bits = ref_next(r);
  return low + (high - low) * (high_bits * 0x1p-32 + low_bits * 0x1p-64);
}

/* A = (I - 2 v v^T) A and/or A = A (I - 2 v v^T). A symmetric matrix needs both. */
static void reflect(small_system *s, const double *v, int left, int right) {
  const int n = s->n;
  for (int j = 0; left && j < n; j++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += v[i] * s->a[i * n + j];
    for (int i = 0; i < n; i++) s->a[i * n + j] -= 2 * sum * v[i];
  }
  for (int i = 0; right && i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += s->a[i * n + j] * v[j];
    for (int j = 0; j < n; j++) s->a[i * n + j] -= 2 * sum * v[j];
  }
}

static void fill_unit(double *v, int n, ref_random *r) {
  double squares = 0;
  for (int i = 0; i < n; i++) {
    v[i] = random_double(r, -1, 1);
    squares += v[i] * v[i];
  }
  for (int i = 0; i < n; i++) v[i] /= sqrt(squares);
}

small_system small_random(int n, const double *singular_values, int symmetric, int reflections, ref_random *r) {
  small_system s = small_create(n);
  double *v = calloc((size_t)n, sizeof *v);
  for (int i = 0; i < n; i++) s.a[i * n + i] = singular_values[i];
  for (int k = 0; n > 1 && k < reflections; k++) {
    fill_unit(v, n, r);
    reflect(&s, v, 1, symmetric);
    if (symmetric) continue;
    fill_unit(v, n, r);
    reflect(&s, v, 0, 1);
  }
  for (int i = 0; symmetric && i < n; i++)
    for (int j = 0; j < i; j++) s.a[i * n + j] = s.a[j * n + i];
  for (int i = 0; i < n; i++) s.b[i] = random_double(r, -0.5, 1);
  free(v);
  return s;
}

/* ---- Solves ---- */

static ts_matrix *make_double_matrix(ts_context *context, const small_system *s) {
  const int n = s->n;
  int32_t *offsets = calloc((size_t)n + 1, sizeof *offsets),
          *indices = calloc((size_t)(n * n), sizeof *indices);
  double *values = calloc((size_t)(n * n), sizeof *values);
  int32_t count = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      if (s->a[i * n + j] == 0) continue;
      indices[count] = j;
      values[count++] = s->a[i * n + j];
    }
    offsets[i + 1] = count;
  }
  const ts_matrix_desc desc = {.csr = ts_host_csr(n, n, offsets, indices, values)};
  ts_matrix *A = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &A));
  free(offsets), free(indices), free(values);
  return A;
}

static void measure(const small_system *s, const double *x, small_outcome *outcome) {
  long double rr = 0, bb = 0, xx = 0, aa = 0;
  for (int i = 0; i < s->n; i++) {
    const long double b = (long double)s->b[i];
    ref_sum sum = {s->b[i], 0}; /* 64 bits are too few if x is 1e9 times b */
    for (int j = 0; j < s->n; j++) ref_add_product(&sum, -s->a[i * s->n + j], x[j]);
    const long double r = (long double)sum.value + (long double)sum.low;
    for (int j = 0; j < s->n; j++) aa += (long double)s->a[i * s->n + j] * (long double)s->a[i * s->n + j];
    rr += r * r;
    bb += b * b;
    xx += (long double)x[i] * (long double)x[i];
  }
  outcome->residual = (double)sqrtl(rr / bb);
  outcome->size = (double)sqrtl(aa * xx / bb);
}

small_outcome small_solve(ts_context *context, const small_system *s, const ts_solver_desc *desc) {
  const ts_vector_desc doubles = {.precision = TS_PRECISION_DOUBLE};
  const size_t n = (size_t)s->n;
  small_outcome outcome = {.status = TS_ERROR_DEVICE, .residual = NAN};
  double *values = calloc(n, sizeof *values);
  ts_vector *b = NULL, *x = NULL;
  ts_matrix *A = make_double_matrix(context, s);
  if (A && CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &doubles, &b)) &&
      CHECK_OK(context, ts_vector_create(ts_matrix_get_row_space(A), &doubles, &x)) &&
      CHECK_OK(context, ts_vector_write(b, ts_host(s->b, n)))) {
    outcome.status = solve_vectors(A, b, x, desc, &outcome.result);
    if (outcome.status < 0) test_fail(__FILE__, __LINE__, "an error: %s", ts_last_error(context));
    if (CHECK_OK(context, ts_vector_read(x, ts_host(values, n)))) measure(s, values, &outcome);
  }
  ts_vector_destroy(&x);
  ts_vector_destroy(&b);
  ts_matrix_destroy(&A);
  free(values);
  return outcome;
}

int small_check_honest(const small_outcome *outcome, const ts_solver_desc *desc) {
  const double reported = outcome->result.relative_residual, residual = outcome->residual;
  const double allowed = 0.05 * residual + 0x1p-66 * outcome->size; /* products of third parts are omitted */
  if (outcome->status == TS_OK ? residual <= 1.02 * desc->rtol
                               : residual + allowed > 0.98 * desc->rtol && fabs(reported - residual) <= allowed)
    return 1;
  test_fail(__FILE__, __LINE__, "the residual is %.3g, asked %.3g, told %.3g: %s: %s", residual, desc->rtol,
            reported, outcome->status == TS_OK ? "solved" : "not solved", outcome->result.message);
  return 0;
}
