/* Least-squares conformal maps: Levy, Petitjean, Ray and Maillot 2002. */
#ifndef TEXSOLVE_WEB_LSCM_H
#define TEXSOLVE_WEB_LSCM_H

#include <texsolve/solver.h>

/* Computes texture coordinates uv, two for each vertex, that preserve angles as well as possible. `pins` are
 * the vertices with given coordinates: 2 * pin_count numbers in pin_uv. `positions` has 3 numbers per vertex,
 * `corners` 3 vertices per triangle. Vertices without triangles get NaN. `desc` has the options of the solve:
 * without a method and a preconditioner a factor of the matrix solves it (factor.h).
 *
 * The energy is the sum over triangles of |W_1 U_1 + W_2 U_2 + W_3 U_3|^2 / (4 area), with the complex opposite
 * edges W and U = u + i v: a hermitian 3 x 3 block per triangle, which is a 6 x 6 block in u and v.
 *
 * Returns TS_NOT_CONVERGED as ts_solver_solve does. Errors: TS_ERROR_INVALID_ARGUMENT (a triangle without an
 * area whose vertices occur in no other), memory, those of the solver. */
ts_status tsw_lscm(ts_context *context, const double *positions, int32_t vertices, const int32_t *corners,
                   int32_t triangles, const int32_t *pins, int32_t pin_count, const double *pin_uv,
                   const ts_solver_desc *desc, double *uv, ts_result *result);

#endif
