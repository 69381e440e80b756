/* Preconditioners for the library's conjugate gradients on conformal maps. From coarser meshes (hierarchy.h): a
 * V-cycle of multigrid, whose coarse matrices are P^T A P with the places that a collapse gave a vertex between
 * its neighbours in P. Everything runs on the device, by the operations of texsolve.h. Or the library's
 * algebraic multigrid (texsolve/amg.h). Functions return 0, or 1 with one line in `message`. */
#ifndef MULTILEVEL_H
#define MULTILEVEL_H

#include <texsolve/system.h>

#include "charts.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct multilevel multilevel;

/* For the normal equations of a conformal map, in which rows of pinned unknowns are those of the identity.
 * `*out` is NULL where the mesh cannot be made coarse enough, and `why` says what is in the way. */
int multilevel_create(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                      ts_format format, multilevel **out, char why[MESH_MESSAGE], char message[MESH_MESSAGE]);
/* The same by algebraic multigrid. `uv`: a map of the right shape, as a start is; it need not be near. */
int multilevel_create_algebraic(ts_context *context, const mesh *m, const charts *c,
                                const unsigned char *pinned, const double *uv, ts_format format,
                                multilevel **out, char message[MESH_MESSAGE]);
void multilevel_destroy(multilevel **out);
int multilevel_coarser(const multilevel *s); /* meshes, or levels */

/* A x = b from x = 0, with cycles in single precision; b is 0 where unknowns are pinned. Of `how`: precision,
 * rtol, by which the residual of this correction is to fall, max_iterations, progress. The first result has the
 * times of the set-up too. */
int multilevel_solve(multilevel *s, const ts_system_solve_desc *how, const double *b, double *x,
                     ts_system_result *result, char message[MESH_MESSAGE]);

/* x of the last solve on the device, borrowed until the next one. */
ts_vector *multilevel_vector(const multilevel *s);

#ifdef __cplusplus
}
#endif
#endif
