/* The time of an iteration of conjugate gradients with Jacobi's preconditioner. */
#ifndef BENCH_CG_MEASURE_H
#define BENCH_CG_MEASURE_H

#include <texsolve/texsolve.h>

/* Solves of two lengths with one check at their end. The difference is the time of the iterations alone. The
 * tolerance is unreachable, so a solve ends at the maximum of iterations. */
enum { CG_SHORT = 16, CG_LONG = 112, CG_WHOLE = 200 };

typedef struct cg_times {
  double iteration; /* seconds of an iteration alone; NAN, like the derived values, if noise was larger */
  double spread;    /* of `iteration`: (slowest - fastest) / median */
  double whole;     /* seconds per iteration of a solve of CG_WHOLE iterations with the backend's own checks */
} cg_times;

/* Nonzero after a message. */
int cg_measure(ts_context *context, ts_matrix *A, int components, int repeat, cg_times *times);

/* The minimum seconds that cg_measure_solve takes if a product takes `product`. */
double cg_measure_least(double product, int iterations, int repeat);

/* A whole solve of at most `iterations` with the backend's own checks, start and end included, per iteration:
 * the time that a user waits. Nonzero after a message, also if conjugate gradients cannot solve the matrix. */
int cg_measure_solve(ts_context *context, ts_matrix *A, int iterations, int repeat, double *seconds,
                     double *spread);

#endif
