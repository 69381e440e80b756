/* The matrices of the coarser meshes, on the host. Internal to multilevel.cpp. */
#ifndef MULTILEVEL_LEVELS_HPP
#define MULTILEVEL_LEVELS_HPP

#include <cstdint>
#include <vector>

#include "charts.h"

/* ---- sparse.cpp: sparse matrices on the host in double precision ---- */

struct sparse {
  int32_t rows = 0, columns = 0;
  std::vector<int32_t> offsets{0}, column; /* offsets: rows + 1 */
  std::vector<double> value;

  /* Rows are filled one after the other. Throws where entries cannot be counted in 32 bits. */
  void add(int32_t j, double number) {
    column.push_back(j);
    value.push_back(number);
  }
  void end_row();

  double diagonal(int32_t row) const;
  /* y = A x */
  void multiply(const double *x, double *y) const;
  /* a_ij times left[i] times right[j]. */
  void scale(const std::vector<double> &left, const std::vector<double> &right);
  /* Takes out what is at most `rounding` of the geometric mean of the two numbers on the diagonal. */
  void prune(double rounding);
};

sparse transposed(const sparse &A);
/* A B, row by row (Gustavson 1978). */
sparse product(const sparse &A, const sparse &B);

/* ---- multilevel_levels.cpp ---- */

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

/* Brings such a matrix to the diagonal 1: the scale as in coarse_levels. */
std::vector<double> scale_diagonal(sparse &A);

/* Of such a matrix. Where there are none `why` says what is in the way. Throws std::bad_alloc. */
coarse_levels find_coarse_levels(const mesh &m, const charts &c, const unsigned char *pinned, sparse A,
                                 char why[MESH_MESSAGE]);

#endif
