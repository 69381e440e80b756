/* Batches of small systems for tests: samples, and checks against references. */
#ifndef BATCH_SAMPLES_H
#define BATCH_SAMPLES_H

#include <texsolve/batch.h>

#include "helpers.h"

/* Systems of one pattern. Row i has entries in columns i - 3, i - 1, i, i + 1 and i + 3. */
typedef struct batch {
  int n;
  size_t systems, entries;
  int32_t *offsets, *columns;
  double *values, *b, *x;
  ts_batch_result *results;
} batch;

typedef enum batch_family { SYMMETRIC, UNSYMMETRIC } batch_family;

/* Samples whose solutions have about the size of b; x is 0. */
batch batch_make(int n, size_t systems, batch_family kind);
void batch_free(batch *s);
/* Diagonally dominant values; the diagonal is larger in some systems. */
void batch_fill_values(batch *s, batch_family kind, uint64_t seed);

/* A descriptor with a tolerance of 1e-10; the numbers of b and of x; a call. */
ts_batch_desc batch_desc(const batch *s);
size_t batch_numbers(const batch *s);
ts_status batch_solve(ts_context *in, batch *s, const ts_batch_desc *desc);

/* ||b - A x|| / ||b|| of system k, with about 100 bits. */
double batch_residual(const batch *s, size_t k);
/* The largest difference from a direct solution, relative to the largest number of it. */
double batch_error(const batch *s, size_t k);
/* System k converged, its result reports it, and the true residual agrees. */
int batch_check_converged(const batch *s, size_t k, double rtol);

/* One system of four unknowns; its tolerance is 1e-10 by default. */
ts_status batch_solve_four(ts_context *in, const double a[16], const double b[4], double x[4],
                           ts_batch_desc desc, ts_batch_result *result);

#endif
