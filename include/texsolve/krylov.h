/* Krylov methods for systems that conjugate gradients cannot solve: matrices that are not symmetric, and least
 * squares with matrices that are not square.
 *
 *   BiCGSTAB   van der Vorst 1992, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution
 *              of nonsymmetric linear systems". Two products an iteration, a fixed number of vectors.
 *
 *   GMRES(m)   Saad and Schultz 1986, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric
 *              linear systems", restarted after m iterations. One product an iteration, the smallest residual
 *              of all vectors of the cycle, but m + 1 vectors to keep and to orthogonalise against.
 *   CGLS       Hestenes and Stiefel 1952: conjugate gradients on A^T A x = A^T b without forming A^T A; as
 *              stable as LSQR (Paige and Saunders 1982).
 *
 * All run on every backend, with up to four components at once, each with its own coefficients. BiCGSTAB and
 * GMRES are preconditioned from the right, so that the residual they look at is that of the system itself.
 * Numbers stay on the device: only a check waits for it.
 *
 * Threads, errors and ownership are as in texsolve.h.
 */
#ifndef TEXSOLVE_KRYLOV_H
#define TEXSOLVE_KRYLOV_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ts_krylov ts_krylov;

typedef struct ts_krylov_desc {
  ts_preconditioner preconditioner; /* default: Jacobi; or none */
  double rtol;             /* ||b - A x|| <= rtol ||b||, computed anew from x; where b is 0, relative to
                              the first residual. Default: 1e-5 */
  int max_iterations;      /* default: 10 times the unknowns, at least 1000, at most 100000 */
  int check_interval;      /* iterations between two checks, 1 to 1024; after a start or a restart checks
                              begin with every iteration and double their distance up to this; GMRES checks
                              at the end of a cycle too. Default: the backend's */
  int zero_start;          /* as in ts_cg_desc */
  int restart;             /* ts_gmres_create only: m, 1 to 200; more than there are unknowns
                              counts as that many. Default: 30 */
  ts_progress_fn progress; /* its history: ||r|| / ||b|| of the recurrence, the largest component */
  void *progress_user;
} ts_krylov_desc;

/* Prepares a solver for a square matrix with one space for rows and columns. It keeps its workspace between
 * solves and the matrix alive; after ts_matrix_set_values it uses the new values. `desc` may be NULL.
 * Errors: TS_ERROR_INVALID_ARGUMENT, memory. */
TS_API ts_status ts_bicgstab_create(ts_matrix *matrix, const ts_krylov_desc *desc, ts_krylov **solver);

/* The same for GMRES. It waits for the device at checks and once a restart, where the small least-squares
 * problem is solved on the host in double precision. */
TS_API ts_status ts_gmres_create(ts_matrix *matrix, const ts_krylov_desc *desc, ts_krylov **solver);

TS_API void ts_krylov_destroy(ts_krylov **solver);

/* Solves A x = b for every component at once, starting from the values in x (a new vector holds 0) or, with
 * zero_start, from 0. x and b are over the matrix's space. Unknowns of locked rows keep their values; with
 * zero_start they become 0.
 *
 * BiCGSTAB may break down: a number that it divides by becomes 0, or nothing but rounding. It then begins again
 * from the best x, where that gains nothing with another shadow vector; when four restarts in a row have
 * gained nothing the solve ends with TS_REASON_BREAKDOWN. Its first shadow vector is random, but always the
 * same. Where its residual has fallen by 1000 from a peak it is computed anew from x, and the iterations go on.
 *
 * Restarted GMRES may stagnate where GMRES would not: after two restarts that gain nothing the solve ends with
 * TS_REASON_STAGNATED, and the message names the restart.
 *
 * Returns TS_OK only if b - A x, computed anew, meets the rule in every component; TS_NOT_CONVERGED with the
 * reason in `result` and in x the iterate with the smallest residual that was computed so; or an error, x
 * undefined. `result` may be NULL; its delta_ratio is ||b - A x|| divided by what it was at the start, the
 * largest component. Waits for the device at checks only. */
TS_API ts_status ts_krylov_solve(ts_krylov *solver, const ts_vector *b, ts_vector *x, ts_cg_result *result);

/* ---- Least squares --------------------------------------------------------------------------- */

typedef struct ts_cgls ts_cgls;

/* Prepares CGLS for the least-squares problem min ||A x - b||, any number of rows and columns. `transposed` is
 * A^T over the same two spaces:
 *
 *   ts_matrix_desc desc = {.csr = A^T, .row_space = ts_matrix_column_space(A),
 *                          .column_space = ts_matrix_row_space(A), .keep_host_copy = 1};
 *
 * The descriptor is that of the solvers above, with these differences: rtol bounds ||A^T (b - A x)|| / ||A^T
 * b||; Jacobi, M = diag(A^T A), needs a `transposed` that was made with keep_host_copy; the callback's history
 * is ||A^T r|| / ||A^T b|| of the recurrence; max_iterations goes by the columns. The solver keeps both
 * matrices alive and uses their values as they are at every solve. Errors: TS_ERROR_INVALID_ARGUMENT (no host
 * copy for Jacobi, locked rows), TS_ERROR_INCOMPATIBLE (matrices whose spaces are not each other's), memory. */
TS_API ts_status ts_cgls_create(ts_matrix *matrix, ts_matrix *transposed, const ts_krylov_desc *desc,
                                ts_cgls **solver);
TS_API void ts_cgls_destroy(ts_cgls **solver);

/* Starts from the values in x, over the column space of A, or with zero_start from 0; b is over its row space.
 * Where A has not the full rank, a start from 0 leads to the solution that is shortest (with Jacobi: in the
 * norm of M).
 *
 * Returns as ts_krylov_solve. In the result relative_residual is ||A^T (b - A x)|| / ||A^T b||, computed anew,
 * attainable_residual an estimate for it (NaN without Jacobi), and delta_ratio ||b - A x|| / ||b||: what the
 * best x leaves of b, which need not be small. */
TS_API ts_status ts_cgls_solve(ts_cgls *solver, const ts_vector *b, ts_vector *x, ts_cg_result *result);

#ifdef __cplusplus
}
#endif
#endif
