/* Least-squares conformal maps (Levy, Petitjean, Ray and Maillot 2002): u and v of every flat vertex, such that
 * the gradients of u and v in every triangle are as nearly as can be perpendicular and of one length. With two
 * vertices pinned in every chart the map is unique. */
#ifndef CONFORMAL_H
#define CONFORMAL_H

#include <texsolve/system.h>

#include "charts.h"

typedef enum conformal_preconditioner {
  CONFORMAL_AUTO, /* AMG if a chart is large, otherwise Jacobi; Jacobi with other solvers than CG */
  CONFORMAL_JACOBI,
  CONFORMAL_AMG /* algebraic multigrid, of conjugate gradients on normal equations formed (amg_solver.h) */
} conformal_preconditioner;

const char *conformal_preconditioner_name(conformal_preconditioner preconditioner);

typedef struct conformal_options {
  ts_format format;                        /* default: TS_FORMAT_AUTO */
  ts_method method;                        /* default: TS_METHOD_AUTO */
  ts_normal normal;                        /* default: TS_NORMAL_AUTO */
  conformal_preconditioner preconditioner; /* default: CONFORMAL_AUTO */
  double rtol;        /* of ||A^T W A x - A^T W b|| / ||A^T W b||, in double precision; default: 1e-5 */
  int max_iterations; /* of all passes together; default: 100000 */
  ts_vector **places; /* default: NULL; else u and v are left on the device too, see conformal_solve */
  ts_progress_fn progress;
  void *progress_user;
} conformal_options;

/* What CONFORMAL_AUTO means for these charts; another one as it is. */
conformal_preconditioner conformal_choose(const conformal_options *options, const charts *c);

/* What was done on coarser meshes before (levels_solve). */
typedef struct levels_result {
  int levels;     /* coarser than the mesh; 0: it is small, or cannot be made coarser */
  int iterations; /* on all of them */
  double seconds; /* for everything */
} levels_result;

typedef struct conformal_result {
  int converged;
  int iterations, passes; /* a pass solves for a correction in single precision */
  int32_t unknowns, rows;
  int64_t nonzeros;
  double residual;       /* see rtol; of the u, v that are left */
  double residual_start; /* of those at the start */
  double energy;         /* sum over triangles of (sigma_1 - sigma_2)^2 area, in the units of `uv` */
  ts_format format;
  ts_normal normal;
  ts_method method;
  size_t bytes_device;
  double seconds_build, seconds_layout, seconds_solve;
  conformal_preconditioner preconditioner; /* that was used */
  int coarser;                             /* levels of the preconditioner, without the matrix itself */
  levels_result levels;                    /* all 0 from conformal_solve */
  char choice[340], message[200];          /* as in ts_system_result */
} conformal_result;

/* The condition of triangle t as a complex number: the sum of w_k (u_k + i v_k) is to be 0, where w_k = re[k] +
 * i im[k] is the edge opposite of corner k. Its square is counted by `weight`, which does not let it grow
 * without bounds where a triangle has no area. */
typedef struct conformal_condition {
  double re[3], im[3], weight;
} conformal_condition;

conformal_condition conformal_condition_of(const mesh *m, int32_t t);

/* The residual of u, v as `rtol` has it. Returns 0, or 1 with one line in `message`. */
int conformal_residual(const mesh *m, const charts *c, const unsigned char *pinned, const double *uv,
                       double *residual, char message[MESH_MESSAGE]);

/* `uv`: the start, and afterwards the map; those with a flag in `pinned` stay. The equations are assembled for
 * what is missing to the places where vertices are, and what the device finds in single precision is added to
 * these in double precision, until the residual in double precision is small enough or does not fall any more.
 *
 * `options->places` gets a vector of the context, where the device adds up the start and what it finds: index
 * 2 v is u of flat vertex v, and 2 v + 1 its v. The caller destroys it; NULL where nothing had to be solved.
 *
 * Returns 0, whether converged or not, or 1 with one line in `message`, u and v then being as at the start. */
int conformal_solve(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                    const conformal_options *options, double *uv, conformal_result *result,
                    char message[MESH_MESSAGE]);

/* ---- levels.cpp: a start from coarser meshes ---- */

/* Solves on coarser meshes, the coarsest first, each from what the one before has found, and leaves `uv` as a
 * start for the mesh itself. `uv` and `pinned` as in conformal_solve, `options` with Jacobi's preconditioner.
 * Returns 0, or 1 with one line in `message`. */
int levels_solve(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                 const conformal_options *options, double *uv, levels_result *result,
                 char message[MESH_MESSAGE]);

#endif
