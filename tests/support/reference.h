/* References in double precision, and the matrices that the tests run on. Nothing here uses the library. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdint.h>

#include <texsolve/texsolve.h>

/* ---- Random numbers: the same on every machine ---- */
typedef struct ref_random {
  uint64_t state;
} ref_random;
uint32_t ref_next(ref_random *r);
int32_t ref_below(ref_random *r, int32_t bound); /* 0 .. bound-1 */
float ref_uniform(ref_random *r, float low, float high);
float *ref_values(size_t count, uint64_t seed, float low, float high);     /* malloc */
double *ref_doubles(size_t count, uint64_t seed, double low, double high); /* with 53 bits; malloc */

/* ---- Sums of about 100 bits ---- */
typedef struct ref_sum {
  double value, low;
} ref_sum;
void ref_add(ref_sum *sum, double term);
void ref_add_product(ref_sum *sum, double a, double b);

/* ---- Matrices in CSR; columns ascend ---- */
typedef struct ref_matrix {
  int32_t rows, columns;
  int32_t *offsets, *indices;
  float *values;
} ref_matrix;

void ref_free(ref_matrix *m);
ts_csr ref_csr(const ref_matrix *m);
int64_t ref_nonzeros(const ref_matrix *m);
int32_t ref_row_length(const ref_matrix *m, int32_t row);
int32_t ref_longest_row(const ref_matrix *m);
ref_matrix ref_transpose(const ref_matrix *m);

/* Symmetric and positive definite */
ref_matrix ref_grid(int32_t nx, int32_t ny);  /* triangulated grid, 7 entries in inner rows */
ref_matrix ref_graph(int32_t nx, int32_t ny); /* its Laplacian: whole numbers, singular */
/* Of a Laplacian: each row gets the coefficient 1 or 1e6, as if by chance, and an entry is scaled by the
 * harmonic mean of two. */
void ref_add_jumps(const ref_matrix *m);
ref_matrix ref_laplacian_3d(int32_t n); /* n^3 rows, 7 entries, Dirichlet */
/* 27 points: coefficients towards the nodes across a face, an edge and a corner; each node has `unknowns` that
 * are not coupled with each other. 26, -1, -1, -1 is HPCG's matrix, 32, 0, -2, -1 trilinear elements'. */
ref_matrix ref_cube_27(int32_t n, int32_t unknowns, float diagonal, float face, float edge, float corner);
/* Bilinear elements, conductivity 1 at 30 degrees to the x axis and 1/1000 across, Dirichlet. */
ref_matrix ref_rotated(int32_t nx, int32_t ny);
ref_matrix ref_random_spd(int32_t n, int32_t per_row, uint64_t seed); /* diagonally dominant */
ref_matrix ref_hubs(int32_t n, int32_t longest,
                    uint64_t seed); /* likewise: rows of 1 + longest, longest / 2, ... entries and short ones */
ref_matrix ref_arrow(int32_t n);    /* dense first row and column, short others */
ref_matrix ref_torus_mesh(int32_t nu, int32_t nv, int32_t flips, uint64_t seed); /* below */
ref_matrix ref_diagonal(int32_t n, float first, float last); /* from first to last geometrically */
/* Not so */
ref_matrix ref_indefinite(int32_t nx, int32_t ny); /* symmetric, positive diagonal, eigenvalues of both signs */
ref_matrix ref_skewed_grid(int32_t nx, int32_t ny); /* convection: not symmetric */
/* Upwind convection-diffusion with Dirichlet boundaries; `peclet` is that of a cell, w h / k, the wind (1,
 * 1/2). */
ref_matrix ref_convection(int32_t nx, int32_t ny, float peclet);
/* Central differences for the wind (1, 1/2): positive couplings from a cell Peclet number of 2 on. */
ref_matrix ref_central(int32_t nx, int32_t ny, float peclet);
/* Two unknowns at each node: a_ij times a 2 x 2 block, row by row. */
ref_matrix ref_in_blocks(const ref_matrix *m, const float block[4]);
ref_matrix ref_random_dominant(int32_t n, int32_t per_row, uint64_t seed); /* by rows, values of both signs */
ref_matrix ref_cyclic_shift(int32_t n);                                    /* (A x)_i = x_(i+1) */
ref_matrix ref_skew(int32_t n);                      /* 1 right of the diagonal, -1 left */
ref_matrix ref_shifted_skew(int32_t n, float shift); /* and `shift` on it */
ref_matrix ref_uneven_rows(int32_t rows, int32_t columns, int32_t longest, uint64_t seed);
ref_matrix ref_dense_row(int32_t n, int32_t dense_row,
                         uint64_t seed);                           /* one full row among rows of 3 entries */
ref_matrix ref_gaps(int32_t rows, int32_t columns, uint64_t seed); /* every third row empty */
ref_matrix ref_dense(int32_t rows, int32_t columns, uint64_t seed);

/* ref_torus_mesh: the mesh Laplacian plus identity of a closed triangle mesh, a torus of nu x nv quads cut in
 * two, in which `flips` random edges were flipped as long as all valences stay within 4 to 9. */

/* All of them at a small size. `index` 0, 1, ...; returns 0 past the end. */
typedef struct ref_sample {
  const char *name;
  ref_matrix matrix;
  int spd;
} ref_sample;
int ref_get_sample(int index, ref_sample *sample);

/* ---- Operations in double precision on interleaved components ---- */

/* y = A x and magnitude = |A| |x| (may be NULL), rows x components values each; constrained rows (NULL: none)
 * 0. */
void ref_spmv(const ref_matrix *m, const unsigned char *constrained, int components, const float *x, double *y,
              double *magnitude);

/* ||b - A x|| / ||b|| of one component over the rows that are not constrained; ||b - A x|| where b is 0. */
double ref_relative_residual(const ref_matrix *m, const unsigned char *constrained, int components,
                             int component, const float *x, const float *b);
/* The largest one of all components. */
double ref_worst_residual(const ref_matrix *m, const unsigned char *constrained, int components, const float *x,
                          const float *b);

/* sum x y of one component, and sum |x y| into magnitude. */
double ref_dot(size_t size, int components, int component, const float *x, const float *y, double *magnitude);

#endif
