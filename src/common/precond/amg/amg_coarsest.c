/* The inverse of the last level's matrix, A = L L^T in double. */
#include <math.h>
#include <string.h>

#include "amg.h"

/* A pivot below this share of its diagonal is what the rounding of the entries to floats, on each level, leaves
 * of 0. Above it rounding is enlarged by no more than a float's digits bear. */
static const double rounding = 1e-5;

/* The loops below add up every entry in the order of m, and run along rows, so that the compiler can work on
 * several entries at once; several m at once, for a row that is added to is loaded and stored once for all. */
enum { AT_ONCE = 4 };

static void add(double *restrict to, double factor, const double *restrict from, size_t count) {
  for (size_t j = 0; j < count; j++) to[j] += factor * from[j];
}

/* The same with factors[k] and from[k n] for k = 0, 1, ... AT_ONCE - 1. */
static void add_several(double *restrict to, const double *factors, const double *restrict from, size_t n,
                        size_t count) {
  const double a = factors[0], b = factors[1], c = factors[2], d = factors[3];
  const double *second = from + n, *third = second + n, *fourth = third + n;
  for (size_t j = 0; j < count; j++) to[j] = to[j] + a * from[j] + b * second[j] + c * third[j] + d * fourth[j];
}

/* Adds to row i, from column j on, sign times the rows m = first .. end-1, each times its entry in column i.
 * With `triangle` row m ends with column m. */
static void add_rows(double *a, size_t n, size_t i, size_t j, double sign, size_t first, size_t end,
                     int triangle) {
  double *to = a + i * n + j;
  size_t m = first;
  for (; m + AT_ONCE <= end; m += AT_ONCE) {
    const double *from = a + m * n;
    const size_t count = triangle ? m + 1 - j : n - j;
    double factors[AT_ONCE];
    for (size_t k = 0; k < AT_ONCE; k++) factors[k] = sign * from[k * n + i];
    add_several(to, factors, from + j, n, count);
    for (size_t k = 1; k < AT_ONCE && triangle; k++) add(to + count, factors[k], from + k * n + m + 1, k);
  }
  for (; m < end; m++) add(to, sign * a[m * n + i], a + m * n + j, triangle ? m + 1 - j : n - j);
}

/* The upper triangle becomes L^T; a row of L^T whose pivot is rounding becomes 0. */
static void factorise(double *a, size_t n) {
  for (size_t i = 0; i < n; i++) {
    double *row = a + i * n;
    const double diagonal = row[i];
    add_rows(a, n, i, i, -1, 0, i, 0);
    const double pivot = row[i] > rounding * diagonal ? sqrt(row[i]) : 0;
    row[i] = pivot;
    for (size_t j = i + 1; j < n; j++) row[j] = pivot > 0 ? row[j] / pivot : 0;
  }
}

/* From L^T above the diagonal, L^-1 below, where there are zeros; and on it. Rows and columns of unknowns
 * without a pivot become 0. */
static void invert_factor(double *a, size_t n) {
  for (size_t i = 0; i < n; i++) {
    double *row = a + i * n;
    const double pivot = row[i];
    add_rows(a, n, i, 0, -1, 0, i, 1);
    for (size_t j = 0; j < i; j++) row[j] = pivot > 0 ? row[j] / pivot : 0;
    row[i] = pivot > 0 ? 1 / pivot : 0;
  }
}

/* From L^-1, below the diagonal and on it, the product with its transpose from the left, above and on it. */
static void multiply(double *a, size_t n) {
  for (size_t i = 0; i < n; i++) {
    double *row = a + i * n;
    row[i] *= row[i];
    for (size_t j = i + 1; j < n; j++) row[j] = 0;
    add_rows(a, n, i, i, 1, i + 1, n, 1);
  }
}

ts_status tsi_amg_invert(ts_context *context, const tsi_amg_csr *A, float **inverse) {
  const size_t n = (size_t)A->rows;
  double *a = tsi_calloc(context, n * n, sizeof *a);
  *inverse = a ? tsi_malloc(context, n * n, sizeof **inverse) : NULL;
  if (!*inverse) {
    tsi_free(context, a);
    return tsi_out_of_memory(context, "the last level of amg", n * n * (sizeof *a + sizeof **inverse));
  }
  for (size_t i = 0; i < n; i++)
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
      const size_t j = (size_t)A->indices[e];
      if (i == j)
        a[i * n + i] += (double)A->values[e];
      else
        a[i < j ? i * n + j : j * n + i] += (double)A->values[e] / 2;
    }
  factorise(a, n);
  invert_factor(a, n);
  multiply(a, n);
  for (size_t i = 0; i < n; i++)
    for (size_t j = i; j < n; j++) (*inverse)[i * n + j] = (*inverse)[j * n + i] = (float)a[i * n + j];
  tsi_free(context, a);
  return TS_OK;
}
