/* Small square systems in doubles that are not floats. The library solves them, and the residual of the numbers
 * read is checked in long double. */
#ifndef SMALL_SYSTEM_H
#define SMALL_SYSTEM_H

#include "helpers.h"

typedef struct small_system {
  int n;
  double *a, *b; /* a: row by row; the matrix does not store zeros */
} small_system;

typedef struct small_outcome {
  ts_status status;
  ts_result result;
  double residual; /* ||b - A x|| / ||b|| of the doubles that were read */
  double size;     /* ||A||_F ||x|| / ||b||: rounding x to doubles leaves a residual of about 2^-54 of it */
} small_outcome;

small_system small_create(int n); /* all zeros */
void small_free(small_system *s);

/* A = U diag(singular values) V^T, with U and V products of `reflections` random reflections, and U = V if
 * symmetric. b is random. */
small_system small_random(int n, const double *singular_values, int symmetric, int reflections, ref_random *r);

/* Solves from x = 0. An error counts as a failure. */
small_outcome small_solve(ts_context *context, const small_system *s, const ts_solver_desc *desc);

/* Checks that TS_OK and the residual in the result are true. Returns 0 after a failure. */
int small_check_honest(const small_outcome *outcome, const ts_solver_desc *desc);

#endif
