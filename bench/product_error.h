/* The error of a product y = A x, relative to sums in double precision. */
#ifndef BENCH_PRODUCT_ERROR_H
#define BENCH_PRODUCT_ERROR_H

#include "generate.h"

/* The largest error of y, each row relative to the sum of its terms' magnitudes; infinite if y contains NaN. */
double product_error(const generated_matrix *A, int components, const float *x, const float *y);

/* A bound of the rounding error: a sum of n terms in single precision is within n 2^-24 of the sum of
 * magnitudes (Higham 2002, 3.1). */
double product_error_bound(int32_t longest_row);

#endif
