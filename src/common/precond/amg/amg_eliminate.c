/* Inverts an unsymmetric matrix of the last level: Gauss-Jordan elimination of D^-1/2 A D^-1/2 in place, in
 * double, with complete pivoting. It ends when the remainder is at rounding level. The remaining unknowns are
 * excluded, together with an equal number of equations. */
#include <math.h>
#include <string.h>

#include "amg.h"

static const double rounding = 2e-5; /* as for symmetric matrices */

typedef struct elimination {
  double *a;
  size_t n, k;     /* rows; the step */
  double *scales;  /* D^-1/2 */
  double *largest; /* of each row from column k on; and their columns */
  size_t *places;
  size_t *rows, *columns; /* of A */
} elimination;

static void find_largest(const elimination *e, size_t i, size_t from) {
  const double *row = e->a + i * e->n;
  e->largest[i] = 0;
  e->places[i] = from;
  for (size_t j = from; j < e->n; j++)
    if (fabs(row[j]) > e->largest[i]) {
      e->largest[i] = fabs(row[j]);
      e->places[i] = j;
    }
}

/* Searches rows that are not yet pivots. */
static size_t find_pivot(const elimination *e) {
  size_t best = e->k;
  for (size_t i = e->k + 1; i < e->n; i++)
    if (e->largest[i] > e->largest[best]) best = i;
  return best;
}

static void swap(double *a, double *b) {
  const double t = *a;
  *a = *b;
  *b = t;
}

static void exchange(const elimination *e, size_t row, size_t column) {
  const size_t n = e->n, k = e->k;
  for (size_t j = 0; j < n && row != k; j++) swap(&e->a[row * n + j], &e->a[k * n + j]);
  for (size_t i = 0; i < n && column != k; i++) swap(&e->a[i * n + column], &e->a[i * n + k]);
  const size_t of_row = e->rows[row], of_column = e->columns[column];
  e->rows[row] = e->rows[k];
  e->rows[k] = of_row;
  e->columns[column] = e->columns[k];
  e->columns[k] = of_column;
}

static void divide_row(const elimination *e) {
  double *row = e->a + e->k * e->n;
  const double inverse = 1 / row[e->k];
  row[e->k] = 1;
  for (size_t j = 0; j < e->n; j++) row[j] *= inverse;
}

static void eliminate(const void *arguments, size_t first, size_t last) {
  const elimination *e = arguments;
  const size_t n = e->n, k = e->k;
  const double *restrict pivot = e->a + k * n;
  for (size_t i = first; i < last; i++) {
    if (i == k) continue;
    double *restrict row = e->a + i * n;
    const double factor = row[k];
    row[k] = 0;
    for (size_t j = 0; j < n; j++) row[j] -= factor * pivot[j];
    if (i > k) find_largest(e, i, k + 1);
  }
}

static void load_matrix(const tsi_amg_csr *A, const elimination *e) {
  const size_t n = e->n;
  for (size_t i = 0; i < n; i++) {
    e->scales[i] = 1;
    for (int32_t f = A->offsets[i]; f < A->offsets[i + 1]; f++)
      if (A->indices[f] == (int32_t)i && A->values[f] != 0) e->scales[i] = 1 / sqrt(fabs((double)A->values[f]));
    e->rows[i] = e->columns[i] = i;
  }
  for (size_t i = 0; i < n; i++) {
    for (int32_t f = A->offsets[i]; f < A->offsets[i + 1]; f++) {
      const size_t j = (size_t)A->indices[f];
      e->a[i * n + j] += (double)A->values[f] * e->scales[i] * e->scales[j];
    }
    find_largest(e, i, 0);
  }
}

/* The steps performed are the nonzero rows and columns of the inverse. */
static void write_inverse(const elimination *e, float *inverse) {
  const size_t n = e->n;
  memset(inverse, 0, n * n * sizeof *inverse);
  for (size_t i = 0; i < e->k; i++)
    for (size_t j = 0; j < e->k; j++) {
      const size_t row = e->columns[i], column = e->rows[j];
      inverse[row * n + column] = (float)(e->a[i * n + j] * e->scales[row] * e->scales[column]);
    }
}

static void invert(const ts_context *context, const tsi_amg_csr *A, elimination *e, float *inverse) {
  load_matrix(A, e);
  double first = 0;
  for (e->k = 0; e->k < e->n; e->k++) {
    const size_t row = find_pivot(e);
    if (e->k == 0) first = e->largest[row];
    if (!(e->largest[row] > rounding * first)) break;
    const size_t column = e->places[row];
    exchange(e, row, column);
    divide_row(e);
    tsi_parallel(context, e->n, eliminate, e);
  }
  write_inverse(e, inverse);
}

ts_status tsi_amg_invert_unsymmetric(ts_context *context, const tsi_amg_csr *A, float **inverse) {
  const size_t n = (size_t)A->rows;
  int threads;
  TSI_TRY(tsi_threads(context, &threads));
  double *numbers = tsi_calloc(context, n * (n + 2), sizeof *numbers);
  size_t *places = tsi_malloc(context, 3 * n, sizeof *places);
  *inverse = numbers && places ? tsi_malloc(context, n * n, sizeof **inverse) : NULL;
  if (*inverse) {
    elimination e = {.a = numbers,
                     .n = n,
                     .scales = numbers + n * n,
                     .largest = numbers + n * (n + 1),
                     .places = places,
                     .rows = places + n,
                     .columns = places + 2 * n};
    invert(context, A, &e, *inverse);
  }
  tsi_free(context, numbers);
  tsi_free(context, places);
  return *inverse ? TS_OK
                  : tsi_out_of_memory(context, "the last level of amg", (n * n + n * n / 2) * sizeof *numbers);
}
