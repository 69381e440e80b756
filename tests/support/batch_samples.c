/* Samples of batches, and their references. */
#include "batch_samples.h"

#include "dense.h"

void batch_fill_values(batch *s, batch_family kind, uint64_t seed) {
  ref_random random = {seed};
  for (size_t k = 0; k < s->systems; k++) {
    double *values = s->values + k * s->entries;
    for (int32_t i = 0; i < s->n; i++)
      for (int32_t e = s->offsets[i]; e < s->offsets[i + 1]; e++) {
        const int32_t j = s->columns[e];
        const unsigned low = (unsigned)(i < j ? i : j), high = (unsigned)(i < j ? j : i);
        const unsigned key = (low * 7919u + high * 104729u + (unsigned)k * 31u) % 1000u;
        values[e] = j == i              ? 4.1 + (double)(k % 3) + 0.5 * (double)(i % 5)
                    : kind == SYMMETRIC ? -(double)key / 1000
                                        : (double)ref_uniform(&random, -1, 1);
      }
  }
}

batch batch_make(int n, size_t systems, batch_family kind) {
  static const int steps[] = {-3, -1, 0, 1, 3};
  batch s = {.n = n, .systems = systems};
  const size_t numbers = systems * (size_t)n;
  s.offsets = calloc((size_t)n + 1, sizeof *s.offsets);
  s.columns = calloc(5 * (size_t)n, sizeof *s.columns);
  for (int32_t i = 0; i < n; i++) {
    for (int k = 0; k < 5; k++)
      if (i + steps[k] >= 0 && i + steps[k] < n) s.columns[s.entries++] = i + steps[k];
    s.offsets[i + 1] = (int32_t)s.entries;
  }
  s.values = calloc(systems * s.entries + 1, sizeof *s.values);
  s.b = ref_doubles(numbers + 1, 5, -1, 1);
  s.x = calloc(numbers + 1, sizeof *s.x);
  s.results = calloc(systems + 1, sizeof *s.results);
  batch_fill_values(&s, kind, 11);
  return s;
}

void batch_free(batch *s) {
  free(s->offsets), free(s->columns), free(s->values), free(s->b), free(s->x), free(s->results);
  *s = (batch){0};
}

ts_batch_desc batch_desc(const batch *s) {
  return (ts_batch_desc){.systems = (int64_t)s->systems,
                         .rows = s->n,
                         .row_offsets = ts_host(s->offsets, (size_t)s->n + 1),
                         .column_indices = ts_host(s->columns, s->entries),
                         .values = ts_host((const double *)s->values, s->systems * s->entries),
                         .rtol = 1e-10};
}

size_t batch_numbers(const batch *s) {
  return s->systems * (size_t)s->n;
}

ts_status batch_solve(ts_context *in, batch *s, const ts_batch_desc *desc) {
  memset(s->results, 0x55, s->systems * sizeof *s->results);
  return ts_batch_solve(in, desc, ts_host((const double *)s->b, batch_numbers(s)),
                        ts_host(s->x, batch_numbers(s)), s->results);
}

/* Scaled, so that squares do not overflow. */
double batch_residual(const batch *s, size_t k) {
  const double *values = s->values + k * s->entries, *b = s->b + k * (size_t)s->n, *x = s->x + k * (size_t)s->n;
  double left = 0, size = 0, largest = 0;
  for (int32_t i = 0; i < s->n; i++) largest = fmax(largest, fabs(b[i]));
  if (largest == 0) largest = 1;
  for (int32_t i = 0; i < s->n; i++) {
    ref_sum sum = {b[i], 0};
    for (int32_t e = s->offsets[i]; e < s->offsets[i + 1]; e++)
      ref_add_product(&sum, -values[e], x[s->columns[e]]);
    const double rest = (sum.value + sum.rest) / largest;
    left += rest * rest;
    size += b[i] / largest * (b[i] / largest);
  }
  return sqrt(size > 0 ? left / size : left);
}

double batch_error(const batch *s, size_t k) {
  const size_t n = (size_t)s->n;
  double *a = calloc(n * n, sizeof *a), *x = malloc(n * sizeof *x), worst = 0, largest = 0;
  for (int32_t i = 0; i < s->n; i++)
    for (int32_t e = s->offsets[i]; e < s->offsets[i + 1]; e++)
      a[(size_t)i * n + (size_t)s->columns[e]] += s->values[k * s->entries + (size_t)e];
  memcpy(x, s->b + k * n, n * sizeof *x);
  CHECK(dense_eliminate(s->n, 1, a, x));
  for (size_t i = 0; i < n; i++) {
    worst = fmax(worst, fabs(x[i] - s->x[k * n + i]));
    largest = fmax(largest, fabs(x[i]));
  }
  free(a), free(x);
  return worst / largest;
}

int batch_check_converged(const batch *s, size_t k, double rtol) {
  const ts_batch_result *result = &s->results[k];
  const double residual = batch_residual(s, k);
  return CHECK(result->reason <= TS_REASON_ZERO_RESIDUAL) && CHECK(result->relative_residual <= rtol) &&
         CHECK(residual <= rtol + 1e-14) &&
         CHECK(fabs(residual - result->relative_residual) <= 0.01 * residual + 1e-14) &&
         CHECK(result->rounded_residual == result->relative_residual);
}

ts_status batch_solve_four(ts_context *in, const double a[16], const double b[4], double x[4],
                           ts_batch_desc desc, ts_batch_result *result) {
  static const int32_t offsets[] = {0, 4, 8, 12, 16};
  static const int32_t columns[] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
  desc.systems = 1;
  desc.rows = 4;
  desc.row_offsets = HOST(offsets);
  desc.column_indices = HOST(columns);
  desc.values = ts_host(a, 16);
  if (desc.rtol == 0) desc.rtol = 1e-10;
  return ts_batch_solve(in, &desc, ts_host(b, 4), ts_host(x, 4), result);
}
