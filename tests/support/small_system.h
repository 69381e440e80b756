/* Small square systems in doubles that no float holds, solved by the library and judged by the residual of what
 * was read back, in long double. */
#ifndef SMALL_SYSTEM_H
#define SMALL_SYSTEM_H

#include "helpers.h"

typedef struct small_system {
  int n;
  double *a, *b; /* a: row by row; zeros are not stored in the matrix */
} small_system;

typedef struct small_outcome {
  ts_status status;
  ts_result result;
  double residual; /* ||b - A x|| / ||b|| of the doubles that were read */
  double size;     /* ||A||_F ||x|| / ||b||: rounding x to doubles leaves a residual of about 2^-54 of that */
} small_outcome;

small_system small_create(int n); /* all 0 */
void small_free(small_system *s);

/* A = U diag(singular values) V^T, with U and V products of `reflections` random reflections; symmetric: U = V.
 * b is random. */
small_system small_random(int n, const double *singular_values, int symmetric, int reflections, ref_random *r);

/* Solves from x = 0. An error is a failure. */
small_outcome small_solve(ts_context *context, const small_system *s, const ts_solver_desc *desc);

/* TS_OK and the residual in the result are true. Returns 0 if not, which is a failure. */
int small_check_honest(const small_outcome *outcome, const ts_solver_desc *desc);

#endif
