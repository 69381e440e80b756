/* The null space of a symmetric matrix: what of b no x reaches, and what of x A does not see. */
#ifndef TSI_NULL_SPACE_H
#define TSI_NULL_SPACE_H

#include <texsolve/solver.h>

#include "common/core/backend.h"

enum { TSI_MOST_NULL_VECTORS = 8 };

typedef struct tsi_null_space {
  ts_matrix *matrix; /* borrowed */
  int references;
  int count;      /* of vectors; 0: none is known */
  double *values; /* orthonormal, one vector after the other; NULL: constants, if A maps these to 0 */
  int changes;    /* of the matrix, when constants were tried; -1: not yet */
  int components; /* of the vectors; 0: there are none yet */
  double square;  /* v^T v */
  ts_vector *vectors[TSI_MOST_NULL_VECTORS], *work;
  ts_scalars *sums;
} tsi_null_space;

/* The vectors that are given; or, if the solver's iterations end by a test, room for constants. NULL if the
 * matrix has no null space that a solver could take out. */
ts_status tsi_null_space_create(ts_matrix *A, const ts_solver_desc *desc, tsi_null_space **space);
void tsi_null_space_destroy(tsi_null_space **space);
/* Another solver of the same matrix has it too, in place of what it has. NULL changes nothing. */
void tsi_null_space_share(tsi_null_space **to, tsi_null_space *space);
/* Before a solve, and not within a public function's entry. */
ts_status tsi_null_space_prepare(tsi_null_space *space, int components);
/* v loses its part in the null space; `norms`: the norm of that for each component, NULL: nobody waits for it.
 */
ts_status tsi_null_space_take_out(const tsi_null_space *space, ts_vector *v, double norms[4]);

#endif
