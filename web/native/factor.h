/* A direct solve for systems of meshes: nested dissection of the nodes (George 1973) by their coordinates, and
 * a multifrontal Cholesky factorisation (Duff and Reid 1983) with dense fronts, in double precision. */
#ifndef TEXSOLVE_WEB_FACTOR_H
#define TEXSOLVE_WEB_FACTOR_H

#include <texsolve/solver.h>

/* A symmetric positive definite matrix in compressed rows, with two unknowns per node: rows 2 i and 2 i + 1
 * belong to node i, at positions[3 i .. 3 i + 2]. */
typedef struct factor_problem {
  int32_t nodes;
  const double *positions;
  const int32_t *row_offsets, *columns;
  const double *values;
  ts_progress_fn progress; /* called now and then; a nonzero result stops */
  void *progress_user;
  double most; /* numbers that the factor may have */
} factor_problem;

typedef enum factor_outcome {
  FACTOR_SOLVED,
  FACTOR_TOO_LARGE, /* more numbers than `most` */
  FACTOR_INDEFINITE,
  FACTOR_STOPPED,
  FACTOR_NO_MEMORY
} factor_outcome;

typedef struct factor factor;

/* Factorises the matrix; the factor is destroyed by factor_destroy. NULL unless the outcome is FACTOR_SOLVED.
 */
factor_outcome factor_create(const factor_problem *problem, factor **out);
void factor_destroy(factor *f);

/* Replaces b by the solution. */
void factor_solve(const factor *f, double *b);

#endif
