/* The accuracy of a solution of `texsolve solve`, from the numbers in the files, in long double. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "solve.h"

/* For row i: b - A x, and |A| |x|. */
typedef struct row_sums {
  long double residual, size;
} row_sums;

static row_sums sum_row(const mm_csr *A, int32_t i, double b, const double *x, int exponent) {
  row_sums sums = {b, 0};
  for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; k++) {
    const long double term = (long double)A->values[k] * ldexp(x[A->column_indices[k]], -exponent);
    sums.residual -= term;
    sums.size += fabsl(term);
  }
  return sums;
}

static long double norm_of(const long double *values, size_t count) {
  long double squares = 0;
  for (size_t i = 0; i < count; i++) squares += values[i] * values[i];
  return sqrtl(squares);
}

/* Rounded to nine digits. */
static double shown(long double value) {
  char digits[32];
  snprintf(digits, sizeof digits, "%.8e", (double)value);
  return strtod(digits, NULL);
}

/* Adds row i's contribution to A^T r, A^T b and |A|^T (|A| |x| + |b|). */
static void add_transposed(const solve_system *system, int32_t i, double b, row_sums sums) {
  const mm_csr *A = &system->A;
  for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; k++) {
    long double *const column = system->transposed + A->column_indices[k];
    const long double value = A->values[k];
    column[0] += value * sums.residual;
    column[A->columns] += value * b;
    column[2 * (size_t)A->columns] += fabsl(value) * (sums.size + fabs(b));
  }
}

/* The criterion of least squares. `exponent`: the exponent of A^T b. */
static void check_gradient(const solve_system *system, int exponent, solve_accuracy *accuracy) {
  const size_t columns = (size_t)system->A.columns;
  const long double of_b = norm_of(system->transposed + columns, columns);
  const long double norm = of_b > 0 ? of_b : ldexpl(1, -exponent);
  accuracy->residual = shown(norm_of(system->transposed, columns) / norm);
  accuracy->rounding = (double)ldexpl(norm_of(system->transposed + 2 * columns, columns) / norm, -53);
}

solve_accuracy solve_residual(const solve_system *system, const double *x, int column) {
  const mm_csr *A = &system->A;
  const double *b = system->b + (size_t)column * (size_t)A->rows;
  const solve_exponents scale = system->exponents[column];
  long double r_squares = 0, sizes = 0, b_squares = 0;
  x += (size_t)column * (size_t)A->columns;
  for (size_t j = 0; system->is_least_squares && j < 3 * (size_t)A->columns; j++) system->transposed[j] = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    const row_sums sums = sum_row(A, i, b[i], x, scale.x);
    r_squares += sums.residual * sums.residual;
    sizes += sums.size * sums.size;
    b_squares += (long double)b[i] * b[i];
    if (system->is_least_squares) add_transposed(system, i, b[i], sums);
  }
  const long double norm = b_squares > 0 ? sqrtl(b_squares) : ldexpl(1, -scale.b);
  const double left = shown(sqrtl(r_squares) / norm);
  solve_accuracy accuracy = {left, (double)ldexpl(sqrtl(sizes) / norm, -53), left};
  if (system->is_least_squares) check_gradient(system, scale.b + system->exponent, &accuracy);
  return accuracy;
}

const char *solve_residual_text(double relative_residual, double rtol) {
  static char text[32];
  for (int digits = 3; digits <= 8; digits++) {
    snprintf(text, sizeof text, "%.*e", digits, relative_residual);
    if ((strtod(text, NULL) <= rtol) == (relative_residual <= rtol)) break;
  }
  return text;
}
