/* The null space of a symmetric matrix: the part of b that no x reaches, and the part of x that A maps to 0. */
#ifndef TSI_NULL_SPACE_H
#define TSI_NULL_SPACE_H

#include <texsolve/solver.h>

#include "common/core/backend.h"

enum { TSI_MOST_NULL_VECTORS = 8 };

typedef struct tsi_null_space {
  ts_matrix *matrix; /* borrowed */
  int references;
  int count;      /* number of vectors; 0: none known */
  double *values; /* orthonormal vectors, one after the other; NULL: constants, if A maps them to 0 */
  int changes;    /* change counter of the matrix when constants were tested; -1: not yet */
  int components; /* of the vectors; 0: not created yet */
  double square;  /* v^T v */
  ts_vector *vectors[TSI_MOST_NULL_VECTORS], *work;
  ts_scalars *sums;
} tsi_null_space;

/* Stores the vectors of the descriptor. Without them it reserves space for constants, if the solver's
 * iterations end by a test. NULL if a solver cannot remove a null space of the matrix. */
ts_status tsi_null_space_create(ts_matrix *A, const ts_solver_desc *desc, tsi_null_space **space);
void tsi_null_space_destroy(tsi_null_space **space);
/* Shares the null space with another solver of the same matrix, which releases its own. NULL changes
 * nothing. */
void tsi_null_space_share(tsi_null_space **to, tsi_null_space *space);
/* Called before a solve, outside tsi_enter and tsi_leave. */
ts_status tsi_null_space_prepare(tsi_null_space *space, int components);
/* Removes the part of v in the null space. `norms`: the norm of that part for each component; NULL: not
 * requested, without synchronisation. */
ts_status tsi_null_space_remove(const tsi_null_space *space, ts_vector *v, double norms[4]);

#endif
