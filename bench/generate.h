/* Generated matrices: sparsity patterns that meshes, volumes and networks lead to. All are symmetric and
 * positive definite: a weighted graph Laplacian plus a small multiple of the identity, but for those of a mesh.
 */
#ifndef BENCH_GENERATE_H
#define BENCH_GENERATE_H

#include <texsolve/texsolve.h>

/* A matrix whose arrays are its own, to be freed with generated_free. */
typedef struct generated_matrix {
  int32_t rows, columns;
  int32_t *row_offsets, *column_indices;
  float *values;
} generated_matrix;

/* "grid"      a triangulated grid: a row has its diagonal and up to 6 neighbours, 7 entries inside
 * "laplace2d" the 5-point Laplacian of a square
 * "laplace3d" the 7-point Laplacian of a cube
 * "random"    random neighbours, rows of 2 to about 110 entries, 11 on average
 * "fem3"      the nodes of laplace3d with 3 unknowns each, as of a displacement: full blocks of 3 x 3
 * "fem4"      the same with 4 unknowns, as of a displacement and a pressure
 * "powerlaw"  8 entries a row on average beside the diagonal, row j in proportion to (rows / j)^1/2
 * "uneven"    columns at most 1000 away: about 7 entries, and up to 80 in every eighth row
 * "banded"    the 16 columns on either side of the diagonal
 * "denserow"  a square grid, 5 entries a row, and a first row and column that are full
 * "delaunay"  a Delaunay triangulation of random points, numbered by chance within strips of 16 lines
 * "rmat"      a recursive matrix: a network whose rows have from 1 to thousands of entries, 30 in the mean
 * "poisson2d", "poisson3d": 4 or 6 on the diagonal and -1 for each neighbour in a square or cube
 * "lscm"      normal equations of a conformal map of a mesh, and
 * "dsi"       of discrete smooth interpolation: generate_mesh.h
 * "anisotropic2d", "anisotropic3d", "jumps2d", "jumps3d", "cantilever": generate_problem.h
 * Each but the last has exactly `rows` rows. Returns 0; 1 for an unknown name; 2 without memory or with more
 * entries than a 32-bit offset counts; 3 for lscm, dsi and cantilever with fewer rows than GENERATED_MESH_ROWS.
 */
enum { GENERATED_MESH_ROWS = 48 };
int generate_matrix(generated_matrix *A, const char *name, int32_t rows);
/* `times` as many rows of a matrix of the points of a square or cube: along its last axis there are so many
 * more. Returns 1 for any other matrix. */
int generate_grown(generated_matrix *A, const char *name, int32_t rows, int times);
int generated_grows(const char *name);
void generated_free(generated_matrix *A);

ts_csr generated_csr(const generated_matrix *A);

/* The names above to "denserow", which make the set that benchmarks take: index 0, 1, ...; NULL past the
 * end. */
const char *generated_name(int index);
int generated_is_name(const char *name);

/* A reproducible number in [0, 1) from two indices. */
float generated_noise(uint32_t i, uint32_t j);

#endif
