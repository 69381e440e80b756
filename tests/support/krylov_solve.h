/* Solves for the tests of Krylov methods. */
#ifndef KRYLOV_SOLVE_H
#define KRYLOV_SOLVE_H

#include <texsolve/solver.h>

#include "helpers.h"

/* The methods for unsymmetric matrices. */
enum { KRYLOV_METHODS = 3 };
extern const ts_method krylov_methods[KRYLOV_METHODS];

/* The observations of a progress callback. */
typedef struct watch {
  int calls, last_iteration, stop_at, numbers;
  int out_of_order; /* calls with inconsistent counts */
  double last;
} watch;

int observe(const ts_progress *progress, void *user);

/* One solve from host arrays. `xs` holds the start and receives the result. b must be unchanged, and the
 * padding of x must be 0. */
ts_status krylov_solve(ts_method method, ts_matrix *matrix, const ts_solver_desc *desc, int components,
                       const float *bs, float *xs, ts_result *result);

/* A backend either creates a solver with one reduction, or reports that it supports only two. */
int has_one_reduction(ts_context *context);

#endif
