/* Solves of the tests of Krylov methods for matrices that are not symmetric. */
#ifndef KRYLOV_SOLVE_H
#define KRYLOV_SOLVE_H

#include <texsolve/solver.h>

#include "cg_solve.h"

typedef struct krylov_method {
  const char *name;
  ts_method method;
} krylov_method;

enum { KRYLOV_METHODS = 2 };
extern const krylov_method krylov_methods[KRYLOV_METHODS];

/* One solve from host arrays, as `solve` of cg_solve.h; b must come out as it went in. */
ts_status krylov_solve(const krylov_method *method, ts_matrix *matrix, const ts_solver_desc *desc,
                       int components, const float *bs, float *xs, ts_result *result);

#endif
