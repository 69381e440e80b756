/* How solvers stay within the range of single precision. Host code only.
 *
 * b and x are multiplied by the same power of two, each component by its own, so that max |b| is about
 * 2^target. target is 0 unless the size of the matrix is far from 1. If b is about the cube root of A, then x,
 * r and the sums of their squares are in range for every A in range. Products of A with vectors as large as b
 * would leave the range. Therefore such a matrix always has a preconditioner, at least a multiple of the
 * identity. */
#ifndef TSI_SOLVER_SCALE_H
#define TSI_SOLVER_SCALE_H

#include "common/core/backend.h"

/* The exponent of the matrix's size if it is far from 1, otherwise 0. */
int tsi_scale_exponent(const ts_matrix *A);
/* The exponent that max |b| is scaled to. */
int tsi_scale_target(const ts_matrix *A);
/* The exponent that scalars_normalise removed from b. */
int tsi_scale_of_b(float max_b);

/* Estimates the error of ||b - A x|| on the device, compared with exact arithmetic for the same x, from
 * ||diag(A) x||. It is 0 if sums are in double or compensated. A solver that took such a residual for that of x
 * would reduce the sum of both to 0. Therefore it adds the squares of both. */
double tsi_residual_error(const ts_matrix *A, double dx);

/* The numbers needed before x is returned. For each component: the factor from the workspace to the user's
 * vector, and max |x| before scaling. */
typedef struct tsi_scale_end {
  int components;
  double unscale[4], max_x[4];
  double tolerance[4]; /* of the residual, before scaling */
  double size;         /* of the matrix: maximum row sum of magnitudes; 0 if unknown */
  int32_t unknowns;
} tsi_scale_end;

/* The largest number of x if a float cannot represent it, otherwise 0. */
double tsi_scale_overflow(const tsi_scale_end *end);
/* Whether numbers of x that underflow, or lose digits, could be visible in the residual. */
int tsi_scale_underflow(const tsi_scale_end *end);

/* "The solution is ...", for TS_REASON_BREAKDOWN. `precision` is the name of the vector's precision. */
void tsi_scale_say_overflow(char *text, size_t size, const char *precision, double largest);
void tsi_scale_say_underflow(char *text, size_t size, const char *precision, double relative_residual);
extern const char *const tsi_scale_b_vanishes;

#endif
