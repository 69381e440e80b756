/* Normal equations of conditions: for the matrices of least squares that benchmarks generate. */
#ifndef BENCH_NORMAL_EQUATIONS_H
#define BENCH_NORMAL_EQUATIONS_H

#include "generate.h"

/* Conditions a_r . x = b_r of weight w_r, r = 0 .. count - 1; entry k of condition r is at starts[r] + k. */
typedef struct conditions {
  int32_t count, unknowns;
  int32_t *starts, *columns; /* `count` + 1 starts */
  double *values, *weights;
  double *right; /* b; NULL: 0 */
} conditions;

/* Room for `count` conditions with `entries` coefficients altogether. Nonzero: no memory. */
int conditions_create(conditions *c, int32_t count, int32_t unknowns, int64_t entries);
void conditions_free(conditions *c);

/* A = sum_r w_r a_r a_r^T, added up in double precision and rounded once, and b = sum_r w_r b_r a_r, which has
 * `unknowns` elements; NULL: not wanted. Entry (i, j) is bitwise that of (j, i). Nonzero: no memory, or more
 * entries than a 32-bit offset counts. */
int normal_equations(generated_matrix *A, const conditions *c, double *b);

#endif
