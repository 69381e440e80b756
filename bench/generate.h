/* Generated matrices with the sparsity patterns of meshes, volumes and networks. All are symmetric positive
 * definite. Except for those of a mesh, they are a weighted graph Laplacian plus a small multiple of the
 * identity.
 */
#ifndef BENCH_GENERATE_H
#define BENCH_GENERATE_H

#include <texsolve/texsolve.h>

/* A matrix that owns its arrays. Free it with generated_free. */
typedef struct generated_matrix {
  int32_t rows, columns;
  int32_t *row_offsets, *column_indices;
  float *values;
} generated_matrix;

/* Generates a matrix by name:
 *
 *   "grid"      a triangulated grid: the diagonal and up to 6 neighbours per row, 7 entries inside
 *   "laplace2d" the 5-point Laplacian of a square
 *   "laplace3d" the 7-point Laplacian of a cube
 *   "random"    random neighbours, rows of 2 to about 110 entries, 11 on average
 *   "fem3"      the nodes of laplace3d with 3 unknowns each, like a displacement: full blocks of 3 x 3
 *   "fem4"      the nodes of laplace3d with 4 unknowns each, like a displacement and a pressure
 *   "powerlaw"  8 off-diagonal entries per row on average, row j in proportion to (rows / j)^1/2
 *   "uneven"    columns at most 1000 away: about 7 entries, and up to 80 in every eighth row
 *   "banded"    the 16 columns on either side of the diagonal
 *   "denserow"  a square grid, 5 entries per row, with a full first row and column
 *   "delaunay"  a Delaunay triangulation of random points, numbered randomly within strips of 16 lines
 *   "rmat"      a recursive matrix: a network with rows of one to thousands of entries, 30 on average
 *   "poisson2d", "poisson3d": 4 or 6 on the diagonal and -1 per neighbour in a square or cube
 *   "lscm"      normal equations of a conformal map of a mesh (generate_mesh.h)
 *   "dsi"       normal equations of discrete smooth interpolation (generate_mesh.h)
 *   "anisotropic2d", "anisotropic3d", "jumps2d", "jumps3d", "cantilever": generate_problem.h
 *
 * All except cantilever have exactly `rows` rows. Returns 0. Returns 1 for an unknown name, and 2 if memory is
 * exhausted or the entries exceed a 32-bit offset. Returns 3 for lscm, dsi and cantilever with fewer rows than
 * GENERATED_MESH_ROWS. */
enum { GENERATED_MESH_ROWS = 48 };
int generate_matrix(generated_matrix *A, const char *name, int32_t rows);
/* Multiplies the rows of a matrix on the points of a square or cube by `times`, by extending its last axis.
 * Returns 1 for any other matrix. */
int generate_grown(generated_matrix *A, const char *name, int32_t rows, int times);
int generated_grows(const char *name);
void generated_free(generated_matrix *A);

ts_csr generated_csr(const generated_matrix *A);

/* The names above up to "denserow", the default set of benchmarks: index 0, 1, ...; NULL past the end. */
const char *generated_name(int index);
int generated_is_name(const char *name);

/* A reproducible number in [0, 1) from two indices. */
float generated_noise(uint32_t i, uint32_t j);

#endif
