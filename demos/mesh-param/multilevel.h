/* A preconditioner from coarser meshes (hierarchy.h) for the library's conjugate gradients: a V-cycle of
 * multigrid, whose coarse matrices are P^T A P with the places that a collapse gave a vertex between its
 * neighbours in P. Everything runs on the device, by the operations of texsolve.h. Functions return 0, or 1
 * with one line in `message`. */
#ifndef MULTILEVEL_H
#define MULTILEVEL_H

#include <texsolve/solver.h>

#include "charts.h"
#include "sparse.h"

typedef struct multilevel multilevel;

typedef struct multilevel_info {
  int levels;          /* coarser ones */
  int32_t coarsest;    /* unknowns, which a dense factorization solves for */
  int64_t nonzeros;    /* of the finest matrix */
  ts_format format;    /* of it */
  size_t bytes_device; /* of all matrices */
  double seconds_build, seconds_layout;
} multilevel_info;

typedef struct multilevel_solve_desc {
  double rtol; /* how far the residual of this correction is to fall */
  int max_iterations;
  int on_host; /* the iteration in double precision on the host, only its cycles on the device: for meshes whose
                  smooth changes single precision does not see. Default: everything on the device */
  ts_progress_fn progress;
  void *progress_user;
} multilevel_solve_desc;

typedef struct multilevel_result {
  int iterations;
  int stopped; /* by `progress` */
  double seconds;
} multilevel_result;

/* `A`: the normal equations of u and v side by side, symmetric; rows of pinned unknowns are those of the
 * identity. It is taken over, also on failure. `*out` is NULL where the mesh cannot be made coarse enough, and
 * `why` says what is in the way. */
int multilevel_create(ts_context *context, const mesh *m, const charts *c, const unsigned char *pinned,
                      ts_format format, sparse *A, multilevel **out, char why[MESH_MESSAGE],
                      char message[MESH_MESSAGE]);
void multilevel_destroy(multilevel **out);
void multilevel_get_info(const multilevel *s, multilevel_info *info);

/* A x = b from x = 0, both as long as A. */
int multilevel_solve(multilevel *s, const multilevel_solve_desc *desc, const double *b, double *x,
                     multilevel_result *result, char message[MESH_MESSAGE]);

/* x of the last solve on the device, borrowed until the next one. */
ts_vector *multilevel_vector(const multilevel *s);

#endif
