/* bench scaling --rtol R: solves to a tolerance in place of the time of an iteration. */
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
  double gigabytes; /* of device memory, with the solver */
} scaling_solved;

/* Conjugate gradients with Jacobi, b = 1, to options->rtol: the median of up to three solves behind a first one
 * that makes workspace, or that one where it takes seconds. All ranks call it. Nonzero after a message. */
int scaling_solve_matrix(ts_context *context, const bench_options *options, ts_matrix *A,
                         scaling_solved *solved);

/* A message that the solve has not converged, and BENCH_INCOMPLETE, or 0. */
int scaling_solve_check(const scaling_solved *solved);

/* By all ranks, of a matrix that may be larger than any of them could hold. `box` is NULL for a matrix that
 * rank 0 has. All ranks call it; one of them reports. Nonzero after a message, and where the solve does not
 * converge, with its figures in the report. */
int scaling_solve(ts_context *context, const bench_options *options, const generated_box *box, const char *name,
                  int32_t rows, struct report *r);

#endif
