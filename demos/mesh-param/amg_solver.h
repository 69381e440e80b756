/* Conjugate gradients on the normal equations of a conformal map, with the library's algebraic multigrid as
 * preconditioner (texsolve/amg.h). Functions return 0, or 1 with one line in `message`. */
#ifndef AMG_SOLVER_H
#define AMG_SOLVER_H

#include <texsolve/system.h>

#include "charts.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct amg_solver amg_solver;

/* Rows of pinned unknowns become identity rows. `uv` is a map of the right shape, such as a start. It need not
 * be close to the solution. */
int amg_solver_create(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                      const double *uv, ts_format format, amg_solver **out, char message[MESH_MESSAGE]);
void amg_solver_destroy(amg_solver **out);
int amg_solver_levels(const amg_solver *s); /* number of levels coarser than the matrix */

/* Solves A x = b from x = 0, with cycles in single precision. b is 0 at pinned unknowns. Uses these members of
 * `how`: precision, rtol (the reduction of this correction's residual), max_iterations and progress. The first
 * result includes the times of the set-up. */
int amg_solver_solve(amg_solver *s, const ts_system_solve_desc *how, const double *b, double *x,
                     ts_system_result *result, char message[MESH_MESSAGE]);

/* x of the last solve on the device. The solver owns it, and the next solve overwrites it. */
ts_vector *amg_solver_vector(const amg_solver *s);

#ifdef __cplusplus
}
#endif
#endif
