/* Solves of the tests of Krylov methods. */
#ifndef KRYLOV_SOLVE_H
#define KRYLOV_SOLVE_H

#include <texsolve/solver.h>

#include "helpers.h"

/* Those for matrices that are not symmetric. */
enum { KRYLOV_METHODS = 3 };
extern const ts_method krylov_methods[KRYLOV_METHODS];

/* What a progress callback saw. */
typedef struct watch {
  int calls, last_iteration, stop_at, numbers;
  int out_of_order; /* calls whose counts do not fit together */
  double last;
} watch;

int observe(const ts_progress *progress, void *user);

/* One solve from host arrays; `xs` holds the start and receives the result. b must come out as it went in, and
 * the padding of x as 0. */
ts_status krylov_solve(ts_method method, ts_matrix *matrix, const ts_solver_desc *desc, int components,
                       const float *bs, float *xs, ts_result *result);

/* A backend either makes a solver with one reduction or says that it has two only. */
int has_one_reduction(ts_context *context);

#endif
