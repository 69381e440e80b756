/* The inverse of the last level's matrix, A = L L^T in double. */
#include <math.h>
#include <string.h>

#include "amg.h"

/* A pivot below this share of its diagonal is what the rounding of the entries to floats, on each level, leaves
 * of 0. Above it rounding is enlarged by no more than a float's digits bear. */
static const double rounding = 1e-5;

/* In place, by rows; a column of L whose pivot is rounding becomes 0. */
static void factorise(double *a, size_t n) {
  for (size_t k = 0; k < n; k++) {
    double *row = a + k * n;
    const double diagonal = row[k];
    for (size_t j = 0; j <= k; j++) {
      const double *other = a + j * n;
      double sum = row[j];
      for (size_t m = 0; m < j; m++) sum -= row[m] * other[m];
      if (j < k)
        row[j] = other[j] > 0 ? sum / other[j] : 0;
      else
        row[j] = sum > rounding * diagonal ? sqrt(sum) : 0;
    }
  }
}

/* L^-1 in place; rows and columns of unknowns without a pivot become 0. */
static void invert_factor(double *a, size_t n) {
  for (size_t i = 0; i < n; i++) {
    double *row = a + i * n;
    const double pivot = row[i];
    for (size_t j = 0; j < i; j++) {
      double sum = 0;
      for (size_t m = j; m < i; m++) sum -= row[m] * a[m * n + j];
      row[j] = pivot > 0 ? sum / pivot : 0;
    }
    row[i] = pivot > 0 ? 1 / pivot : 0;
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
        a[i > j ? i * n + j : j * n + i] += (double)A->values[e] / 2;
    }
  factorise(a, n);
  invert_factor(a, n);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = 0;
      for (size_t m = i; m < n; m++) sum += a[m * n + i] * a[m * n + j];
      (*inverse)[i * n + j] = (*inverse)[j * n + i] = (float)sum;
    }
  tsi_free(context, a);
  return TS_OK;
}
