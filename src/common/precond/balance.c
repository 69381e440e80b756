/* Scales rows and columns of small dense matrices by powers of two (Ruiz 2001, "A scaling algorithm to
 * equilibrate both rows and columns norms in matrices"). One limit then decides about pivots, regardless of the
 * units of unknowns and equations. Symmetric matrices stay symmetric. */
#include <math.h>

#include "preconditioner.h"

enum {
  MOST = 64,
  NEAR = 4,  /* maxima within a factor of 2^4 are left unchanged */
  PASSES = 8 /* each halves the exponents */
};

/* The exponents of the maxima of rows or columns. Returns their range. */
static int find_exponents(const double *largest, int n, int *exponents) {
  int low = 0, high = 0, found = 0;
  for (int i = 0; i < n; i++) {
    frexp(largest[i], &exponents[i]);
    if (largest[i] == 0) continue; /* singular; the caller detects that */
    if (!found || exponents[i] < low) low = exponents[i];
    if (!found || exponents[i] > high) high = exponents[i];
    found = 1;
  }
  return high - low;
}

static int balance_once(double *a, int n, int *rows, int *columns) {
  double of_rows[MOST] = {0}, of_columns[MOST] = {0}, factors[MOST];
  int row_exponents[MOST], column_exponents[MOST];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      of_rows[i] = fmax(of_rows[i], fabs(a[i * n + j]));
      of_columns[j] = fmax(of_columns[j], fabs(a[i * n + j]));
    }
  const int row_range = find_exponents(of_rows, n, row_exponents),
            column_range = find_exponents(of_columns, n, column_exponents);
  if (row_range <= NEAR && column_range <= NEAR) return 0;
  for (int j = 0; j < n; j++) {
    columns[j] -= column_exponents[j] / 2;
    factors[j] = ldexp(1, -(column_exponents[j] / 2));
  }
  for (int i = 0; i < n; i++) {
    const double factor = ldexp(1, -(row_exponents[i] / 2));
    rows[i] -= row_exponents[i] / 2;
    for (int j = 0; j < n; j++) a[i * n + j] *= factor * factors[j];
  }
  return 1;
}

void tsi_balance(double *a, int n, int *rows, int *columns) {
  for (int i = 0; i < n; i++) rows[i] = columns[i] = 0;
  for (int pass = 0; pass < PASSES && balance_once(a, n, rows, columns); pass++) {
  }
}
