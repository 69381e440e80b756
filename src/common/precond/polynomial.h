/* Polynomials in D^-1 A as preconditioners and smoothers, and the estimate of the largest eigenvalue that they
 * require.
 *
 * A step is  r = b - A x;  d = D^-1 r + beta d;  x = x + alpha d.  The direction is stored without the factor
 * of D^-1 r, so that each assignment is one operation. From x = 0 the result is a polynomial in D^-1 A times
 * D^-1 b. It is symmetric and positive definite if A is and the polynomial is positive on the eigenvalues. */
#ifndef TSI_POLYNOMIAL_H
#define TSI_POLYNOMIAL_H

#include "common/core/backend.h"

enum { TSI_POLYNOMIAL_MOST = 16 /* steps */ };

typedef struct tsi_polynomial_step {
  double alpha, beta;
} tsi_polynomial_step;

/* Chebyshev's polynomials of the first kind on [eigenvalue / ratio, eigenvalue] (Saad 2003, "Iterative methods
 * for sparse linear systems", algorithm 12.1):
 *   d_0 = 1 / theta D^-1 r_0;  d_k = rho_k rho_k-1 d_k-1 + 2 rho_k / delta D^-1 r_k
 * with theta the interval's middle, delta half its length, rho_0 = delta / theta and
 * rho_k = 1 / (2 theta / delta - rho_k-1). */
void tsi_polynomial_first_kind(int degree, double eigenvalue, double ratio, tsi_polynomial_step *steps);

/* Chebyshev's polynomials of the fourth kind on [0, eigenvalue] (Lottes 2022, "Optimal polynomial smoothers for
 * multigrid V-cycles", algorithm 2):
 *   d_k = (2 k - 1) / (2 k + 3) d_k-1 + (8 k + 4) / (2 k + 3) / eigenvalue D^-1 r_k */
void tsi_polynomial_fourth_kind(int degree, double eigenvalue, tsi_polynomial_step *steps);

/* Performs the steps from x, or from 0 with x_is_zero; x is not read then. `inverse` is D^-1, with 0 in rows
 * without an equation; r and d are overwritten. All vectors must differ; only their first parts are used. */
ts_status tsi_polynomial_smooth(const tsi_polynomial_step *steps, int degree, const ts_matrix *A,
                                const ts_vector *inverse, ts_vector *x, const ts_vector *b, ts_vector *r,
                                ts_vector *d, int x_is_zero);

/* ---- The largest eigenvalue of D^-1 A ----
 *
 * If A is symmetric: Lanczos's method for D^-1/2 A D^-1/2, in the form of conjugate gradients. The coefficients
 * are the entries of a tridiagonal matrix. Its largest eigenvalue approaches that of D^-1 A from below (Saad
 * 2003, 6.7.3). Otherwise: the power method. The start vector is the same on every backend.
 *
 *   tsi_eigenvalue_start(A, r)                                  outside the library: it writes a vector
 *   tsi_eigenvalue_begin(A, inverse, r, d, q, slots, first)     within it, without host synchronisation
 *   tsi_scalars_read(slots, first, TSI_EIGENVALUE_SLOTS, numbers)
 *   tsi_eigenvalue_end(A, components, numbers)
 *
 * The calls are separate so that one read can serve several matrices. */
enum { TSI_EIGENVALUE_STEPS = 12, TSI_EIGENVALUE_SLOTS = 2 * TSI_EIGENVALUE_STEPS + 1 };

ts_status tsi_eigenvalue_start(const ts_matrix *A, ts_vector *r);
/* r, d and q are overwritten. */
ts_status tsi_eigenvalue_begin(const ts_matrix *A, const ts_vector *inverse, ts_vector *r, ts_vector *d,
                               ts_vector *q, ts_scalars *slots, int first);
/* The estimate times a safety factor, because it may be below the eigenvalue; 0 if the method fails because A
 * or D is 0 or not finite. */
double tsi_eigenvalue_end(const ts_matrix *A, int components, const double *numbers);

#endif
