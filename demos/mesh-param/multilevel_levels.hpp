/* The matrices of the coarser meshes, on the host. Internal to multilevel.cpp. */
#ifndef MULTILEVEL_LEVELS_HPP
#define MULTILEVEL_LEVELS_HPP

#include "charts.h"
#include "sparse.hpp"

struct coarse_level {
  sparse A;       /* scaled to the diagonal 1 */
  double largest; /* eigenvalue of it */
  sparse P, R;    /* from the next coarser level, and to it: the transpose; empty on the coarsest one */
};

struct coarse_levels {
  std::vector<coarse_level> level;    /* the mesh itself included; none: it cannot be made coarse enough */
  sparse inverse, inverse_transposed; /* of Cholesky's factor L of the coarsest A: L^-1, dense */
  std::vector<double> scale;          /* 1 / sqrt of the diagonal of the matrix as it was given */
};

/* A^T W A of the conditions (conformal.h), 2 unknowns a flat vertex; rows and columns of pinned ones are those
 * of the identity. What rounding leaves of 0 is taken out: u and v are coupled along the boundary alone, which
 * makes it half the entries. */
sparse normal_equations(const mesh &m, const charts &c, const unsigned char *pinned);

/* Of such a matrix. Where there are none `why` says what is in the way. Throws std::bad_alloc. */
coarse_levels find_coarse_levels(const mesh &m, const charts &c, const unsigned char *pinned, sparse A,
                                 char why[MESH_MESSAGE]);

#endif
