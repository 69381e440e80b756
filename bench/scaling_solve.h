/* bench scaling --rtol R: solves to a tolerance instead of single iterations. */
#ifndef BENCH_SCALING_SOLVE_H
#define BENCH_SCALING_SOLVE_H

#include <texsolve/solver.h>

#include "bench.h"
#include "generate_box.h"

struct report;

typedef struct scaling_solved {
  double seconds;
  ts_result result;
  ts_status status;
  double gigabytes; /* device memory, including the solver */
} scaling_solved;

/* Conjugate gradients with Jacobi, b = 1, to options->rtol. The result is the median of up to three solves
 * after a first one that allocates workspace, or the first if it takes seconds. Collective. Nonzero after a
 * message. */
int scaling_solve_matrix(ts_context *context, const bench_options *options, ts_matrix *A,
                         scaling_solved *solved);

/* Returns BENCH_INCOMPLETE after a message if the solve did not converge, otherwise 0. */
int scaling_solve_check(const scaling_solved *solved);

/* Solves with all ranks; the matrix may exceed the memory of each. `box` is NULL if rank 0 has the matrix.
 * Collective; one rank reports. Nonzero after a message, also if the solve does not converge; the report then
 * has its figures. */
int scaling_solve(ts_context *context, const bench_options *options, const generated_box *box, const char *name,
                  int32_t rows, struct report *r);

#endif
