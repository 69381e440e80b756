#define _POSIX_C_SOURCE 200809L /* for setenv */
#include "direct_samples.h"

#include <math.h>
#include <stdlib.h>

int direct_is_built(void) {
#ifdef TEXSOLVE_TEST_DIRECT
  setenv("TEXSOLVE_DIRECT_MODULE", TEXSOLVE_TEST_DIRECT, 1);
  return !test_is_ranks();
#else
  return 0;
#endif
}

void direct_hide(const char *path) {
  setenv("TEXSOLVE_DIRECT_MODULE", path, 1);
}

direct_sample direct_of(int n, double *dense) {
  const size_t rows = (size_t)n;
  direct_sample s = {.n = n,
                     .dense = dense,
                     .offsets = calloc(rows + 1, sizeof *s.offsets),
                     .columns = calloc(rows * rows, sizeof *s.columns),
                     .values = calloc(rows * rows, sizeof *s.values),
                     .floats = calloc(rows * rows, sizeof *s.floats)};
  int32_t next = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      const double value = dense[i * n + j];
      if (value == 0) continue;
      s.columns[next] = j;
      s.values[next] = value;
      s.floats[next++] = (float)value;
    }
    s.offsets[i + 1] = next;
  }
  return s;
}

void direct_free(direct_sample *s) {
  free(s->dense), free(s->offsets), free(s->columns), free(s->values), free(s->floats);
  *s = (direct_sample){0};
}

void direct_round(direct_sample *s) {
  for (int i = 0; i < s->n * s->n; i++) s->dense[i] = (double)(float)s->dense[i];
  for (int32_t e = 0; e < s->offsets[s->n]; e++) s->values[e] = (double)s->floats[e];
}

void direct_scale(direct_sample *s, int exponent) {
  for (int i = 0; i < s->n * s->n; i++) s->dense[i] = ldexp(s->dense[i], exponent);
  for (int32_t e = 0; e < s->offsets[s->n]; e++) s->values[e] = ldexp(s->values[e], exponent);
}

/* ---- Families ---- */

/* From -1 to 1. */
static double random_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-52 - 1;
}

static void fill_symmetric(int n, double *a, double diagonal, uint64_t *state) {
  for (int i = 0; i < n; i++) {
    a[i * n + i] = diagonal + random_number(state);
    for (int d = 1; d <= 7 && i + d < n; d += 3) a[i * n + i + d] = a[(i + d) * n + i] = random_number(state);
  }
}

static void fill_kkt(int n, double *a, uint64_t *state) {
  const int constraints = n / 3;
  fill_symmetric(n, a, 8, state);
  for (int i = n - constraints; i < n; i++) {
    for (int j = 0; j < n; j++) a[i * n + j] = a[j * n + i] = 0;
    const int k = 2 * (i - (n - constraints));
    a[i * n + k] = a[k * n + i] = 1 + random_number(state) / 2;
    a[i * n + k + 1] = a[(k + 1) * n + i] = random_number(state) / 2;
  }
}

static void fill_shifted(int n, double *a, uint64_t *state) {
  const int shift = n / 2 + 1;
  for (int i = 0; i < n; i++) {
    for (int d = 1; d < n; d += 5)
      if ((i + d) % n != i) a[i * n + (i + d) % n] = random_number(state) / 4;
    a[i * n + (i + shift) % n] = 3 + random_number(state);
  }
}

static int unit_of_row(int i) {
  return i * 5 % 31 - 15;
}

int direct_row_exponent(const direct_sample *s, int i) {
  return s->family == DIRECT_UNITS ? unit_of_row(i) : 0;
}

direct_sample direct_make(int family, int n) {
  uint64_t state = 17 + (uint64_t)family;
  double *a = calloc((size_t)n * (size_t)n, sizeof *a);
  switch (family) {
  case DIRECT_POSITIVE:
  case DIRECT_NEGATIVE:
    fill_symmetric(n, a, 8, &state);
    break;
  case DIRECT_INDEFINITE:
    fill_symmetric(n, a, 1.125, &state);
    for (int i = 0; i + 1 < n; i += 2) a[i * n + i + 1] = a[(i + 1) * n + i] = 5;
    break;
  case DIRECT_KKT:
    fill_kkt(n, a, &state);
    break;
  case DIRECT_PERMUTATION:
    for (int i = 0; i < n; i++) a[i * n + (i * 7 + 3) % n] = 2 + random_number(&state);
    break;
  case DIRECT_ZERO_DIAGONAL:
    fill_shifted(n, a, &state);
    for (int i = 0; i < n; i++) a[i * n + i] = 0;
    break;
  default:
    fill_shifted(n, a, &state);
    for (int i = 0; i < n; i++) a[i * n + i] += 0.25 * random_number(&state);
  }
  for (int i = 0; i < n * n; i++) {
    if (family == DIRECT_NEGATIVE) a[i] = -a[i];
    if (family == DIRECT_UNITS) a[i] = ldexp(a[i], unit_of_row(i / n) + i % n * 3 % 17 - 8);
  }
  direct_sample made = direct_of(n, a);
  made.family = family;
  return made;
}

/* ---- Use by the library ---- */

ts_matrix *direct_matrix(ts_context *context, const direct_sample *s, int as_floats) {
  const int is_auto = !test_is_gl() || s->family == DIRECT_KKT; /* each format compiles its own shaders */
  const double *doubles = s->values;
  const float *floats = s->floats;
  const ts_matrix_desc desc = {.format = is_auto ? TS_FORMAT_AUTO : TS_FORMAT_JAGGED,
                               .csr = as_floats ? ts_host_csr(s->n, s->n, s->offsets, s->columns, floats)
                                                : ts_host_csr(s->n, s->n, s->offsets, s->columns, doubles)};
  ts_matrix *A = NULL;
  CHECK_OK(context, ts_matrix_create(context, &desc, &A));
  return A;
}

double direct_residual(const direct_sample *s, int components, const double *x, const double *b) {
  double worst = 0;
  for (int c = 0; c < components; c++) {
    long double residual = 0, norm = 0;
    double largest = 0; /* squares may overflow where long double equals double */
    for (int i = 0; i < s->n; i++) largest = fmax(largest, fabs(b[i * components + c]));
    for (int i = 0; i < s->n; i++) {
      long double r = b[i * components + c];
      norm += r / largest * (r / largest);
      for (int j = 0; j < s->n; j++) r -= (long double)s->dense[i * s->n + j] * x[j * components + c];
      residual += r / largest * (r / largest);
    }
    const double relative = (double)sqrtl(residual / norm);
    if (!(relative <= worst)) worst = relative;
  }
  return worst;
}
