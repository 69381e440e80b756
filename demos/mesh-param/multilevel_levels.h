/* The matrices of the coarser meshes, on the host. Internal to multilevel.c. */
#ifndef MULTILEVEL_LEVELS_H
#define MULTILEVEL_LEVELS_H

#include "charts.h"
#include "hierarchy.h"
#include "sparse.h"

enum { LEVELS_MOST = HIERARCHY_LEVELS + 1 };

typedef struct coarse_level {
  sparse A;       /* scaled to the diagonal 1 */
  double largest; /* eigenvalue of it */
  sparse P, R;    /* from the next coarser level, and to it: the transpose; empty on the coarsest one */
} coarse_level;

typedef struct coarse_levels {
  int count; /* the mesh itself included; 0: it cannot be made coarse enough for a dense factor */
  coarse_level level[LEVELS_MOST];
  sparse inverse, inverse_transposed; /* of Cholesky's factor L of the coarsest A: L^-1, dense */
  double *scale;                      /* 1 / sqrt of the diagonal of the matrix as it was given */
} coarse_levels;

/* `A` is taken over, also on failure. Returns 0, or 1 with one line in `message`. Where count is 0, `why` says
 * what is in the way. */
int coarse_levels_create(const mesh *m, const charts *c, const unsigned char *pinned, sparse *A,
                         coarse_levels *out, char why[MESH_MESSAGE], char message[MESH_MESSAGE]);
void coarse_levels_free(coarse_levels *l);

#endif
