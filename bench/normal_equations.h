/* Normal equations of conditions, for generated least-squares matrices. */
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

/* Allocates `count` conditions with `entries` coefficients in total. Nonzero: out of memory. */
int conditions_create(conditions *c, int32_t count, int32_t unknowns, int64_t entries);
void conditions_free(conditions *c);

/* A = sum_r w_r a_r a_r^T, summed in double precision and rounded once, and b = sum_r w_r b_r a_r of `unknowns`
 * elements, unless NULL. Entries (i, j) and (j, i) are bitwise equal. Nonzero: out of memory, or the entries
 * exceed a 32-bit offset. */
int normal_equations(generated_matrix *A, const conditions *c, double *b);

#endif
