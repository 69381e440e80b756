/* The time of an iteration of Jacobi-preconditioned conjugate gradients. */
#ifndef BENCH_CG_MEASURE_H
#define BENCH_CG_MEASURE_H

#include <texsolve/texsolve.h>

/* Solves of two lengths with one check at the end of each: their difference is the time of the iterations
 * alone. The tolerance is out of reach, so that a solve ends at its maximum of iterations. */
enum { CG_SHORT = 16, CG_LONG = 112, CG_WHOLE = 200 };

typedef struct cg_times {
  double iteration; /* seconds, of an iteration alone; NAN, and what follows from it, where noise was larger */
  double spread;    /* of it: (slowest - fastest) / median */
  double whole;     /* seconds of a solve of CG_WHOLE with the backend's own checks, per iteration */
} cg_times;

/* Nonzero after a message. */
int cg_measure(ts_context *context, ts_matrix *A, int components, int repeat, cg_times *times);

/* How many seconds cg_measure_solve takes at least where a product takes `product`. */
double cg_measure_least(double product, int iterations, int repeat);

/* A whole solve of at most `iterations` with the backend's own checks, start and end included, per iteration:
 * what a user waits for. Nonzero after a message, also for a matrix that is none for conjugate gradients. */
int cg_measure_solve(ts_context *context, ts_matrix *A, int iterations, int repeat, double *seconds,
                     double *spread);

#endif
