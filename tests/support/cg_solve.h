/* Solves of the tests of conjugate gradients. */
#ifndef CG_SOLVE_H
#define CG_SOLVE_H

#include "helpers.h"

/* What a progress callback saw. */
typedef struct watch {
  int calls, last_iteration, stop_at, numbers;
  int out_of_order; /* calls whose counts do not fit together */
  double last;
} watch;

int observe(int iteration, const double *history, int count, void *user);

/* One solve from host arrays; `xs` holds the start and receives the result. b must come out as it went in, and
 * the padding of x as 0. */
ts_status solve(ts_matrix *matrix, const ts_solver_desc *desc, int components, const float *bs, float *xs,
                ts_result *result);

/* A backend either makes a solver with one reduction or says that it has two only. */
int has_one_reduction(ts_context *context);

#endif
