/* How solvers stay within the range of single precision. */
#include "solver_scale.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "common/layout/layout.h"

/* For ordinary matrices a scale of 1 is as good as any. */
enum { ordinary = 24 };

int tsi_scale_exponent(const ts_matrix *A) {
  int exponent = 0;
  if (A->norm_infinity > 0 && !A->device_values) frexp(A->norm_infinity, &exponent);
  return exponent < -ordinary || exponent > ordinary ? exponent : 0;
}

int tsi_scale_target(const ts_matrix *A) {
  return tsi_scale_exponent(A) / 3;
}

int tsi_scale_of_b(float max_b) {
  int exponent = 0;
  if (max_b > 0 && isfinite(max_b)) frexpf(max_b, &exponent);
  if (exponent > 120) exponent = 120; /* as in scalars_normalise */
  if (exponent < -120) exponent = -120;
  return exponent;
}

/* A row of n entries has n roundings, which accumulate like random numbers. The rounded sums are a fraction of
 * the diagonal's term. Measured: 2^-27 sqrt(n) ||diag(A) x|| for rows of 7 to 3000 entries, within a factor of
 * 4. */
double tsi_residual_error(const ts_matrix *A, double dx) {
  if (!A->layout || !A->context->caps.single_residuals) return 0;
  return ldexp(sqrt(A->info.longest_row) * dx, -27);
}

double tsi_scale_overflow(const tsi_scale_end *end) {
  double largest = 0;
  for (int c = 0; c < end->components; c++) {
    const double max_x = end->unscale[c] > FLT_MAX ? fmax(1, end->max_x[c]) : end->max_x[c];
    largest = fmax(largest, end->unscale[c] * max_x);
  }
  return largest > FLT_MAX ? largest : 0;
}

int tsi_scale_underflow(const tsi_scale_end *end) {
  for (int c = 0; c < end->components; c++) {
    const double lost = FLT_MIN / end->unscale[c]; /* upper bound, per number of x */
    if (end->unscale[c] < 1 && lost * end->size * sqrt(end->unknowns) > 1e-3 * end->tolerance[c]) return 1;
  }
  return 0;
}

void tsi_scale_say_overflow(char *text, size_t size, const char *precision, double largest) {
  snprintf(text, size,
           "breakdown: the solution is beyond the range of %s precision: its largest number is about %.2g",
           precision, largest);
}

void tsi_scale_say_underflow(char *text, size_t size, const char *precision, double relative_residual) {
  snprintf(text, size,
           "breakdown: the solution is below the range of %s precision: what is left of it has a relative "
           "residual of %.2g",
           precision, relative_residual);
}

const char *const tsi_scale_b_vanishes =
    "breakdown: the right-hand side is below the range of single precision, or beyond it with the matrix";
