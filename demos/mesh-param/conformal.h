/* Least-squares conformal maps (Levy, Petitjean, Ray and Maillot 2002). They choose u and v of every flat
 * vertex so that in every triangle the gradients of u and v are, as nearly as possible, perpendicular and of
 * equal length. With two vertices pinned in every chart the map is unique. */
#ifndef CONFORMAL_H
#define CONFORMAL_H

#include <texsolve/system.h>

#include "charts.h"

typedef enum conformal_preconditioner {
  CONFORMAL_AUTO, /* AMG if a chart is large, otherwise Jacobi; Jacobi for solvers other than CG */
  CONFORMAL_JACOBI,
  CONFORMAL_AMG /* algebraic multigrid; CG on formed normal equations (amg_solver.h) */
} conformal_preconditioner;

const char *conformal_preconditioner_name(conformal_preconditioner preconditioner);

typedef struct conformal_options {
  ts_format format;                        /* default: TS_FORMAT_AUTO */
  ts_method method;                        /* default: TS_METHOD_AUTO */
  ts_normal normal;                        /* default: TS_NORMAL_AUTO */
  conformal_preconditioner preconditioner; /* default: CONFORMAL_AUTO */
  double rtol;        /* for ||A^T W A x - A^T W b|| / ||A^T W b||, in double precision; default: 1e-5 */
  int max_iterations; /* over all passes; default: 100000 */
  ts_vector **places; /* default: NULL; otherwise u and v also stay on the device, see conformal_solve */
  ts_progress_fn progress;
  void *progress_user;
} conformal_options;

/* Resolves CONFORMAL_AUTO for these charts. Returns other values unchanged. */
conformal_preconditioner conformal_choose(const conformal_options *options, const charts *c);

/* Work on coarser meshes (levels_solve). */
typedef struct levels_result {
  int levels;     /* number of levels coarser than the mesh; 0: the mesh is small or cannot be coarsened */
  int iterations; /* sum over the levels */
  double seconds; /* total time */
} levels_result;

typedef struct conformal_result {
  int converged;
  int iterations, passes; /* a pass computes a correction in single precision */
  int32_t unknowns, rows;
  int64_t nonzeros;
  double residual;       /* see rtol; for the returned u, v */
  double residual_start; /* for the u, v at the start */
  double energy;         /* sum over triangles of (sigma_1 - sigma_2)^2 area, in the units of `uv` */
  ts_format format;
  ts_normal normal;
  ts_method method;
  size_t bytes_device;
  double seconds_build, seconds_layout, seconds_solve;
  conformal_preconditioner preconditioner; /* the one that was used */
  int coarser;                             /* levels of the preconditioner, without the matrix itself */
  levels_result levels;                    /* 0 from conformal_solve */
  char choice[340], message[200];          /* as in ts_system_result */
} conformal_result;

/* The condition of triangle t in complex numbers: the sum of w_k (u_k + i v_k) should be 0. w_k = re[k] + i
 * im[k] is the edge opposite corner k. `weight` multiplies the square of the condition, and is bounded for
 * degenerate triangles. */
typedef struct conformal_condition {
  double re[3], im[3], weight;
} conformal_condition;

conformal_condition conformal_condition_of(const mesh *m, int32_t t);

/* Computes the residual of u, v as `rtol` defines it. Returns 0, or 1 with one line in `message`. */
int conformal_residual(const mesh *m, const charts *c, const unsigned char *pinned, const double *uv,
                       double *residual, char message[MESH_MESSAGE]);

/* Replaces `uv`, the start, by the map. Vertices with a flag in `pinned` keep their values.
 *
 * This is iterative refinement. The right-hand side of each pass is the residual of the conditions for the
 * present `uv`. The device computes a correction, which is added in double precision. Passes end when the
 * residual in double precision is small enough or stops falling.
 *
 * *options->places becomes a vector of the context, in which the device adds up the start and the corrections.
 * Index 2 v is u of flat vertex v, and 2 v + 1 is its v. The caller destroys it. It is NULL if there was
 * nothing to solve.
 *
 * Returns 0, whether converged or not, or 1 with one line in `message`; `uv` is then unchanged. */
int conformal_solve(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                    const conformal_options *options, double *uv, conformal_result *result,
                    char message[MESH_MESSAGE]);

/* ---- levels.cpp: a start from coarser meshes ---- */

/* Solves on coarser meshes. The coarsest is first, and each solution is the start of the next finer mesh. `uv`
 * becomes a start for the mesh itself. `uv` and `pinned` are as in conformal_solve; `options` must select
 * Jacobi. Returns 0, or 1 with one line in `message`. */
int levels_solve(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                 const conformal_options *options, double *uv, levels_result *result,
                 char message[MESH_MESSAGE]);

#endif
