#include "dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

dense dense_create(int rows, int n, int components, int least_squares) {
  dense d = {rows, n, components, least_squares, NULL, NULL, NULL, NULL, NULL};
  d.a = calloc((size_t)rows * (size_t)n, sizeof *d.a);
  d.b = calloc((size_t)rows * (size_t)components, sizeof *d.b);
  d.weights = calloc((size_t)rows, sizeof *d.weights);
  d.values = calloc((size_t)n * (size_t)components, sizeof *d.values);
  d.locked = calloc((size_t)n, 1);
  for (int r = 0; r < rows; r++) d.weights[r] = 1;
  return d;
}

void dense_free(dense *d) {
  free(d->a), free(d->b), free(d->weights), free(d->values), free(d->locked);
  *d = (dense){0};
}

int dense_eliminate(int n, int components, double *a, double *b) {
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
    if (a[pivot * n + k] == 0) return 0;
    for (int j = 0; j < n; j++) {
      const double t = a[k * n + j];
      a[k * n + j] = a[pivot * n + j], a[pivot * n + j] = t;
    }
    for (int c = 0; c < components; c++) {
      const double t = b[k * components + c];
      b[k * components + c] = b[pivot * components + c], b[pivot * components + c] = t;
    }
    for (int i = k + 1; i < n; i++) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (int j = k; factor != 0 && j < n; j++) a[i * n + j] -= factor * a[k * n + j];
      for (int c = 0; c < components; c++) b[i * components + c] -= factor * b[k * components + c];
    }
  }
  for (int k = n - 1; k >= 0; k--)
    for (int c = 0; c < components; c++) {
      double sum = b[k * components + c];
      for (int j = k + 1; j < n; j++) sum -= a[k * n + j] * b[j * components + c];
      b[k * components + c] = sum / a[k * n + k];
    }
  return 1;
}

/* Computes b - A x_locked of one row into `b`. */
static void reduced_row(const dense *d, int row, double *b) {
  for (int c = 0; c < d->components; c++) {
    b[c] = d->b[row * d->components + c];
    for (int j = 0; j < d->n; j++)
      if (d->locked[j]) b[c] -= d->a[row * d->n + j] * d->values[j * d->components + c];
  }
}

int dense_solve(dense *d) {
  int free_count = 0;
  int *number = calloc((size_t)d->n, sizeof *number), *unknown = calloc((size_t)d->n, sizeof *unknown);
  for (int j = 0; j < d->n; j++)
    if (!d->locked[j]) {
      unknown[free_count] = j;
      number[j] = free_count++;
    }
  const int m = free_count, components = d->components;
  double *a = calloc((size_t)m * (size_t)m + 1, sizeof *a);
  double *b = calloc((size_t)m * (size_t)components + 1, sizeof *b);
  for (int r = 0; r < d->rows; r++) {
    double rhs[DENSE_COMPONENTS];
    reduced_row(d, r, rhs);
    if (!d->least_squares) {
      if (d->locked[r]) continue;
      for (int k = 0; k < m; k++) a[number[r] * m + k] = d->a[r * d->n + unknown[k]];
      memcpy(b + number[r] * components, rhs, (size_t)components * sizeof *b);
      continue;
    }
    for (int i = 0; i < m; i++) {
      const double w = d->weights[r] * d->a[r * d->n + unknown[i]];
      for (int k = 0; w != 0 && k < m; k++) a[i * m + k] += w * d->a[r * d->n + unknown[k]];
      for (int c = 0; c < components; c++) b[i * components + c] += w * rhs[c];
    }
  }
  const int solved = dense_eliminate(m, components, a, b);
  for (int k = 0; k < m; k++)
    memcpy(d->values + unknown[k] * components, b + k * components, (size_t)components * sizeof *b);
  free(number), free(unknown), free(a), free(b);
  return solved;
}

/* ---- Samples ---- */

static double uniform(ref_random *random) {
  return (double)ref_uniform(random, -1, 1);
}

dense dense_square(int n, int per_row, int symmetric, int components, uint64_t seed) {
  dense d = dense_create(n, n, components, 0);
  ref_random random = {seed};
  for (int i = 0; i < n; i++)
    for (int k = 0; k < per_row; k++) {
      const int j = ref_below(&random, n);
      if (j == i) continue;
      d.a[i * n + j] = uniform(&random);
      if (symmetric) d.a[j * n + i] = d.a[i * n + j];
    }
  for (int i = 0; i < n; i++) {
    double sum = 0.1;
    for (int j = 0; j < n; j++) sum += fabs(d.a[i * n + j]);
    d.a[i * n + i] = sum;
  }
  for (int k = 0; k < n * components; k++) d.b[k] = uniform(&random);
  return d;
}

dense dense_least_squares(int rows, int n, int per_row, int components, uint64_t seed) {
  dense d = dense_create(rows, n, components, 1);
  ref_random random = {seed};
  for (int r = 0; r < rows; r++) {
    if (r < n) d.a[r * n + r] = 1 + 0.5 * uniform(&random);
    for (int k = 0; r >= n && k < per_row; k++) d.a[r * n + ref_below(&random, n)] = uniform(&random);
    d.weights[r] = 0.5 + 0.45 * uniform(&random);
  }
  for (int k = 0; k < rows * components; k++) d.b[k] = uniform(&random);
  return d;
}

void dense_lock(dense *d, int first, int step, uint64_t seed) {
  ref_random random = {seed};
  for (int j = first; j < d->n; j += step) {
    d->locked[j] = 1;
    for (int c = 0; c < d->components; c++) d->values[j * d->components + c] = 3 * uniform(&random);
  }
}

/* ---- The system builder ---- */

void dense_lock_system(ts_system *system, const dense *d) {
  ts_context *context = ts_system_get_context(system);
  for (int j = 0; j < d->n; j++)
    if (d->locked[j]) {
      CHECK_OK(context, ts_system_set_value(system, j, d->values + j * d->components));
      CHECK_OK(context, ts_system_lock(system, j));
    }
}

ts_system *dense_system(ts_context *context, const dense *d, int symmetric) {
  const ts_system_desc desc = {
      .unknowns = d->n, .components = d->components, .least_squares = d->least_squares, .symmetric = symmetric};
  ts_system *system = NULL;
  CHECK_OK(context, ts_system_create(context, &desc, &system));
  if (system) dense_lock_system(system, d);
  return system;
}

void dense_state_rows(ts_system *system, const dense *d) {
  int32_t *unknowns = calloc((size_t)d->n, sizeof *unknowns);
  double *coefficients = calloc((size_t)d->n, sizeof *coefficients);
  ts_context *context = ts_system_get_context(system);
  CHECK_OK(context, ts_system_begin(system));
  for (int r = 0; r < d->rows; r++) {
    int count = 0;
    for (int j = 0; j < d->n; j++)
      if (d->a[r * d->n + j] != 0) {
        unknowns[count] = j;
        coefficients[count++] = d->a[r * d->n + j];
      }
    const double weight = d->least_squares ? d->weights[r] : 1;
    const ts_status status =
        ts_system_row(system, count, unknowns, coefficients, d->b + r * d->components, weight);
    if (!CHECK_OK(context, status)) break;
  }
  CHECK_OK(context, ts_system_end(system));
  free(unknowns), free(coefficients);
}

double dense_difference(ts_system *system, const dense *d) {
  const size_t count = (size_t)d->n * (size_t)d->components;
  double *values = calloc(count, sizeof *values), largest[DENSE_COMPONENTS] = {0}, worst = 0;
  if (!CHECK_OK(ts_system_get_context(system), ts_system_get_values(system, ts_host(values, count))))
    worst = INFINITY;
  for (size_t k = 0; k < count; k++) {
    const size_t c = k % (size_t)d->components;
    if (fabs(d->values[k]) > largest[c]) largest[c] = fabs(d->values[k]);
  }
  for (size_t k = 0; k < count; k++) {
    const double difference = fabs(values[k] - d->values[k]) / largest[k % (size_t)d->components];
    if (!(difference <= worst)) worst = difference;
  }
  free(values);
  return worst;
}
