/* Conjugate gradients on the normal equations of a conformal map, preconditioned by the library's algebraic
 * multigrid (texsolve/amg.h). Functions return 0, or 1 with one line in `message`. */
#ifndef AMG_SOLVER_H
#define AMG_SOLVER_H

#include <texsolve/system.h>

#include "charts.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct amg_solver amg_solver;

/* Rows of pinned unknowns are those of the identity. `uv`: a map of the right shape, as a start is; it need not
 * be near. */
int amg_solver_create(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                      const double *uv, ts_format format, amg_solver **out, char message[MESH_MESSAGE]);
void amg_solver_destroy(amg_solver **out);
int amg_solver_levels(const amg_solver *s); /* coarser than the matrix */

/* A x = b from x = 0, with cycles in single precision; b is 0 where unknowns are pinned. Of `how`: precision,
 * rtol, by which the residual of this correction is to fall, max_iterations, progress. The first result has the
 * times of the set-up too. */
int amg_solver_solve(amg_solver *s, const ts_system_solve_desc *how, const double *b, double *x,
                     ts_system_result *result, char message[MESH_MESSAGE]);

/* x of the last solve on the device, borrowed until the next one. */
ts_vector *amg_solver_vector(const amg_solver *s);

#ifdef __cplusplus
}
#endif
#endif
