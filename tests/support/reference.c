#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Random numbers: xorshift with a multiplier ---- */

uint32_t ref_next(ref_random *r) {
  uint64_t s = r->state ? r->state : 0x9e3779b97f4a7c15u;
  s ^= s >> 12;
  s ^= s << 25;
  s ^= s >> 27;
  r->state = s;
  return (uint32_t)((s * 0x2545f4914f6cdd1du) >> 32);
}

int32_t ref_below(ref_random *r, int32_t bound) {
  return (int32_t)(((uint64_t)ref_next(r) * (uint32_t)bound) >> 32);
}

float ref_uniform(ref_random *r, float low, float high) {
  return low + (high - low) * (float)((ref_next(r) >> 8) * (1.0 / 16777216.0));
}

float *ref_values(size_t count, uint64_t seed, float low, float high) {
  ref_random r = {seed * 0x9e3779b97f4a7c15u + 1};
  float *values = malloc((count ? count : 1) * sizeof *values);
  for (size_t i = 0; i < count; i++) values[i] = ref_uniform(&r, low, high);
  return values;
}

double *ref_doubles(size_t count, uint64_t seed, double low, double high) {
  ref_random r = {seed * 0x9e3779b97f4a7c15u + 1};
  double *values = malloc((count ? count : 1) * sizeof *values);
  for (size_t i = 0; i < count; i++) {
    const uint64_t bits = (uint64_t)ref_next(&r) << 32 | ref_next(&r);
    values[i] = low + (high - low) * ((double)(bits >> 11) * 0x1p-53);
  }
  return values;
}

/* ---- Long sums ---- */

void ref_add(ref_sum *sum, double term) {
  const double value = sum->value + term, part = value - sum->value;
  sum->low += (sum->value - (value - part)) + (term - part);
  sum->value = value;
}

void ref_add_product(ref_sum *sum, double a, double b) {
  ref_add(sum, a * b);
  sum->low += fma(a, b, -(a * b));
}

/* ---- Operations ---- */

void ref_spmv(const ref_matrix *m, const unsigned char *constrained, int components, const float *x, double *y,
              double *magnitude) {
  for (int32_t i = 0; i < m->rows; i++) {
    for (int c = 0; c < components; c++) {
      double sum = 0, size = 0;
      for (int32_t k = m->offsets[i]; k < m->offsets[i + 1] && !(constrained && constrained[i]); k++) {
        const double product = (double)m->values[k] * x[(size_t)m->indices[k] * components + c];
        sum += product;
        size += fabs(product);
      }
      y[(size_t)i * components + c] = sum;
      if (magnitude) magnitude[(size_t)i * components + c] = size;
    }
  }
}

double ref_relative_residual(const ref_matrix *m, const unsigned char *constrained, int components,
                             int component, const float *x, const float *b) {
  double rr = 0, bb = 0;
  for (int32_t i = 0; i < m->rows; i++) {
    if (constrained && constrained[i]) continue;
    const double bi = b[(size_t)i * components + component];
    double r = bi;
    for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++)
      r -= (double)m->values[k] * x[(size_t)m->indices[k] * components + component];
    rr += r * r;
    bb += bi * bi;
  }
  return bb > 0 ? sqrt(rr / bb) : sqrt(rr);
}

double ref_worst_residual(const ref_matrix *m, const unsigned char *constrained, int components, const float *x,
                          const float *b) {
  double worst = 0;
  for (int c = 0; c < components; c++) {
    const double residual = ref_relative_residual(m, constrained, components, c, x, b);
    if (!(residual <= worst)) worst = residual; /* a NaN is the worst value */
  }
  return worst;
}

double ref_dot(size_t size, int components, int component, const float *x, const float *y, double *magnitude) {
  double sum = 0, total = 0;
  for (size_t i = 0; i < size; i++) {
    const double product = (double)x[i * components + component] * y[i * components + component];
    sum += product;
    total += fabs(product);
  }
  if (magnitude) *magnitude = total;
  return sum;
}

/* ---- Matrices ---- */

void ref_free(ref_matrix *m) {
  free(m->offsets);
  free(m->indices);
  free(m->values);
  memset(m, 0, sizeof *m);
}

ts_csr ref_csr(const ref_matrix *m) {
  const ts_csr csr = ts_host_csr(m->rows, m->columns, m->offsets, m->indices, m->values);
  return csr;
}

int64_t ref_nonzeros(const ref_matrix *m) {
  return m->offsets[m->rows];
}
int32_t ref_row_length(const ref_matrix *m, int32_t row) {
  return m->offsets[row + 1] - m->offsets[row];
}

int32_t ref_longest_row(const ref_matrix *m) {
  int32_t longest = 0;
  for (int32_t i = 0; i < m->rows; i++)
    if (ref_row_length(m, i) > longest) longest = ref_row_length(m, i);
  return longest;
}

ref_matrix ref_transpose(const ref_matrix *m) {
  const int32_t count = m->offsets[m->rows];
  ref_matrix t = {m->columns, m->rows, calloc((size_t)m->columns + 2, sizeof(int32_t)),
                  malloc(((size_t)count + 1) * sizeof(int32_t)), malloc(((size_t)count + 1) * sizeof(float))};
  int32_t *start = t.offsets + 1; /* shifted by one, so that filling moves every start to its final place */
  for (int32_t k = 0; k < count; k++) start[m->indices[k] + 1]++;
  for (int32_t j = 1; j <= m->columns; j++) start[j] += start[j - 1];
  for (int32_t i = 0; i < m->rows; i++)
    for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++) {
      const int32_t place = start[m->indices[k]]++;
      t.indices[place] = i;
      t.values[place] = m->values[k];
    }
  return t;
}
