/* A start from coarser meshes. */
#ifndef LEVELS_H
#define LEVELS_H

#include "conformal.h"

/* Solves on coarser meshes, the coarsest first, each from what the one before has found, and leaves `uv` as a
 * start for the mesh itself. `uv` and `pinned` as in conformal_solve, `options` with Jacobi's preconditioner.
 * Returns 0, or 1 with one line in `message`. */
int levels_solve(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                 const conformal_options *options, double *uv, levels_result *result,
                 char message[MESH_MESSAGE]);

#endif
