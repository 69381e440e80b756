/* Eigen's solvers and CHOLMOD on the normal equations of a least-squares conformal map, for peer-lscm.
 * Functions return 0, or 1 with a line in `message`. */
#ifndef BENCH_LSCM_EIGEN_H
#define BENCH_LSCM_EIGEN_H

#ifdef __cplusplus
extern "C" {
#endif

#include "conformal.h"

typedef enum lscm_method {
  LSCM_CG,    /* ConjugateGradient in double precision, diagonal preconditioner */
  LSCM_DIRECT /* CHOLMOD's supernodal factorization */
} lscm_method;

typedef struct lscm_eigen lscm_eigen;

typedef struct lscm_problem {
  const mesh *m;
  const charts *c;
  const unsigned char *pinned; /* a flag per vertex of the flat map */
} lscm_problem;

typedef struct lscm_outcome {
  int iterations;
  double seconds_setup; /* of the preconditioner or the factorization */
  double seconds_solve;
  double cpu_setup, cpu_solve; /* CPU time of all threads */
} lscm_outcome;

/* Creates the conditions and their normal equations. `uv`: positions of the pinned vertices. Drops entries of
 * the normal equations that are only rounding errors of 0. `threads`: 0 for all. */
int lscm_eigen_create(const lscm_problem *problem, const double *uv, int threads, lscm_eigen **out,
                      char message[MESH_MESSAGE]);
void lscm_eigen_destroy(lscm_eigen **e);

/* The cost of forming the equations, and the entries before and after dropping. */
typedef struct lscm_forming {
  double seconds, cpu; /* wall-clock and CPU time */
  long long formed, kept;
} lscm_forming;

lscm_forming lscm_eigen_forming(const lscm_eigen *e);

/* Solves from `uv` to `uv`. Stops when the residual of conformal_residual is at most `rtol` or stops
 * decreasing, or after `max_iterations`. */
int lscm_eigen_solve(const lscm_eigen *e, lscm_method method, double rtol, int max_iterations, double *uv,
                     lscm_outcome *outcome, char message[MESH_MESSAGE]);

#ifdef __cplusplus
}
#endif
#endif
