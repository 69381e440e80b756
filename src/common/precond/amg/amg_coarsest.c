/* Inverts the matrix of the last level by A = L L^T in double. */
#include <math.h>
#include <string.h>

#include "amg.h"
#include "common/core/clones.h"

/* A pivot below this share of its diagonal is a zero perturbed by rounding the entries to floats on each level.
 * Above it, the amplification of rounding errors is within the precision of floats. */
static const double rounding = 2e-5;

/* The loops below add entries in the order of m and run along rows, so that the compiler can vectorise them.
 * They process several m at once, so that each row is loaded and stored only once for all of them. */
enum {
  AT_ONCE = 4,
  WIDTH = 32 /* adjacent columns per thread */
};

typedef struct dense {
  double *a;
  size_t n, parts;
  double *pivots;
  double *rows; /* of the product: one per part */
  float *inverse;
} dense;

CPU_INLINE void add(double *restrict to, double factor, const double *restrict from, size_t count) {
  for (size_t j = 0; j < count; j++) to[j] += factor * from[j];
}

/* Adds several rows: factors[k] times the row at from[k n], k = 0 .. AT_ONCE - 1. */
CPU_INLINE void add_several(double *restrict to, const double *factors, const double *restrict from, size_t n,
                            size_t count) {
  const double a = factors[0], b = factors[1], c = factors[2], d = factors[3];
  const double *second = from + n, *third = second + n, *fourth = third + n;
  for (size_t j = 0; j < count; j++) to[j] = to[j] + a * from[j] + b * second[j] + c * third[j] + d * fourth[j];
}

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Adds to `to`, which begins with column j: sign times rows m = first .. end-1, each multiplied by its entry in
 * column i. Ends before column `last`, with `triangle` also after column m. */
CPU_CLONES
static void add_rows(const dense *d, double *to, size_t i, size_t j, size_t last, double sign, size_t first,
                     size_t end, int triangle) {
  const size_t n = d->n;
  size_t m = first;
  for (; m + AT_ONCE <= end; m += AT_ONCE) {
    const double *from = d->a + m * n;
    const size_t count = (triangle ? least(m + 1, last) : last) - j;
    double factors[AT_ONCE];
    for (size_t k = 0; k < AT_ONCE; k++) factors[k] = sign * from[k * n + i];
    add_several(to, factors, from + j, n, count);
    for (size_t k = 1; k < AT_ONCE && triangle; k++)
      add(to + count, factors[k], from + k * n + j + count, least(m + k + 1, last) - j - count);
  }
  for (; m < end; m++)
    add(to, sign * d->a[m * n + i], d->a + m * n + j, (triangle ? least(m + 1, last) : last) - j);
}

/* Replaces the upper triangle by L^T. Rows with a pivot at rounding level become 0. */
static void factorise(const dense *d) {
  for (size_t i = 0; i < d->n; i++) {
    double *row = d->a + i * d->n;
    const double diagonal = row[i];
    add_rows(d, row + i, i, i, d->n, -1, 0, i, 0);
    const double pivot = row[i] > rounding * diagonal ? sqrt(row[i]) : 0;
    row[i] = pivot;
    for (size_t j = i + 1; j < d->n; j++) row[j] = pivot > 0 ? row[j] / pivot : 0;
  }
}

/* Computes columns j .. last-1 of L^-1 below its given diagonal, from L^T. They are independent of other
 * columns. */
static void invert_columns(const dense *d, size_t j, size_t last) {
  for (size_t i = j + 1; i < d->n; i++) {
    double *row = d->a + i * d->n;
    const size_t end = least(i, last);
    add_rows(d, row + j, i, j, end, -1, j, i, 1);
    for (size_t k = j; k < end; k++) row[k] = d->pivots[i] > 0 ? row[k] / d->pivots[i] : 0;
  }
}

static void invert_factor(const void *arguments, size_t first, size_t last) {
  const dense *d = arguments;
  for (size_t p = first; p < last; p++)
    for (size_t j = p * WIDTH; j < d->n; j += d->parts * WIDTH) invert_columns(d, j, least(j + WIDTH, d->n));
}

/* Multiplies L^-1 from the left by its transpose. */
static void multiply(const void *arguments, size_t first, size_t last) {
  const dense *d = arguments;
  const size_t n = d->n;
  for (size_t p = first; p < last; p++) {
    double *row = d->rows + p * n;
    for (size_t i = p; i < n; i += d->parts) {
      memset(row, 0, n * sizeof *row);
      add_rows(d, row + i, i, i, n, 1, i, n, 1);
      for (size_t j = i; j < n; j++) d->inverse[i * n + j] = d->inverse[j * n + i] = (float)row[j];
    }
  }
}

static void invert(const ts_context *context, dense *d) {
  factorise(d);
  for (size_t i = 0; i < d->n; i++) {
    double *diagonal = d->a + i * d->n + i;
    d->pivots[i] = *diagonal;
    *diagonal = *diagonal > 0 ? 1 / *diagonal : 0;
  }
  tsi_parallel(context, d->parts, invert_factor, d);
  tsi_parallel(context, d->parts, multiply, d);
}

static void expand_matrix(const tsi_amg_csr *A, double *a) {
  const size_t n = (size_t)A->rows;
  for (size_t i = 0; i < n; i++)
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
      const size_t j = (size_t)A->indices[e];
      if (i == j)
        a[i * n + i] += (double)A->values[e];
      else
        a[i < j ? i * n + j : j * n + i] += (double)A->values[e] / 2;
    }
}

ts_status tsi_amg_invert(ts_context *context, const tsi_amg_csr *A, float **inverse) {
  const size_t n = (size_t)A->rows;
  int threads;
  TSI_TRY(tsi_threads(context, &threads));
  const size_t parts = (size_t)threads, doubles = n * (n + 1 + parts);
  double *a = tsi_calloc(context, doubles, sizeof *a);
  *inverse = a ? tsi_malloc(context, n * n, sizeof **inverse) : NULL;
  if (*inverse) {
    dense d = {a, n, parts, a + n * n, a + n * (n + 1), *inverse};
    expand_matrix(A, a);
    invert(context, &d);
  }
  tsi_free(context, a);
  return *inverse ? TS_OK
                  : tsi_out_of_memory(context, "the last level of amg", (doubles + n * n / 2) * sizeof *a);
}
