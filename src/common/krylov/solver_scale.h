/* How solvers stay within the range of single precision. Host code only.
 *
 * b and x are multiplied by the same power of two, each component by its own, so that max |b| is about
 * 2^target. That is 1 unless the matrix is far from 1 itself: b of about the cube root of A keeps x, r and the
 * sums of their squares within the range for every A that is. Products of A with what has the size of b would
 * leave it, so that such a matrix always has a preconditioner, if only a multiple of the identity. */
#ifndef TSI_SOLVER_SCALE_H
#define TSI_SOLVER_SCALE_H

#include "common/core/backend.h"

/* The exponent of the matrix's size where it is far from 1, else 0. */
int tsi_scale_exponent(const ts_matrix *A);
/* The exponent of what max |b| is brought to. */
int tsi_scale_target(const ts_matrix *A);
/* The exponent that scalars_normalise has taken out of b. */
int tsi_scale_of_b(float max_b);

/* About how far ||b - A x|| on the device is from that of the same x in exact arithmetic, by ||diag(A) x||: 0
 * where sums are in double or keep their errors. A solver that took such a residual for x's own would drive the
 * sum of both to 0: it counts their squares together. */
double tsi_residual_error(const ts_matrix *A, double dx);

/* The numbers of a solve that is about to hand x back. Of each component: the factor from the workspace into
 * the user's vector, and the largest |x| before it. */
typedef struct tsi_scale_end {
  int components;
  double unscale[4], max_x[4];
  double tolerance[4]; /* of the residual, before it */
  double size;         /* of the matrix: the largest sum of magnitudes in a row, 0 where that is not known */
  int32_t unknowns;
} tsi_scale_end;

/* The largest number of x if a float does not hold it, else 0. */
double tsi_scale_overflow(const tsi_scale_end *end);
/* Whether numbers of x that vanish, or lose digits, below the range could be seen in the residual. */
int tsi_scale_underflow(const tsi_scale_end *end);

/* "The solution is ...", for TS_REASON_BREAKDOWN; `precision` names that of the vector. */
void tsi_scale_say_overflow(char *text, size_t size, const char *precision, double largest);
void tsi_scale_say_underflow(char *text, size_t size, const char *precision, double relative_residual);
extern const char *const tsi_scale_b_vanishes;

#endif
