/* References in double precision, and the matrices of the tests. This file does not use the library. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdint.h>

#include <texsolve/texsolve.h>

/* ---- Random numbers: the same on every machine ---- */
typedef struct ref_random {
  uint64_t state;
} ref_random;
uint32_t ref_next(ref_random *r);
int32_t ref_below(ref_random *r, int32_t bound); /* 0 to bound - 1 */
float ref_uniform(ref_random *r, float low, float high);
float *ref_values(size_t count, uint64_t seed, float low, float high); /* the caller frees it */
double *ref_doubles(size_t count, uint64_t seed, double low,
                    double high); /* with 53 bits; the caller frees it */

/* ---- Sums of about 100 bits ---- */
typedef struct ref_sum {
  double value, low;
} ref_sum;
void ref_add(ref_sum *sum, double term);
void ref_add_product(ref_sum *sum, double a, double b);

/* ---- Matrices in CSR with ascending columns ---- */
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

/* Symmetric positive definite */
ref_matrix ref_grid(int32_t nx, int32_t ny);  /* triangulated grid, 7 entries in inner rows */
ref_matrix ref_graph(int32_t nx, int32_t ny); /* its Laplacian: integers, singular */
/* Multiplies the entries of a Laplacian: each row has a pseudorandom coefficient of 1 or 1e6, and an entry gets
 * the harmonic mean of two. */
void ref_add_jumps(const ref_matrix *m);
ref_matrix ref_laplacian_3d(int32_t n); /* n^3 rows, 7 entries, Dirichlet */
/* 27 points, with coefficients towards the nodes across a face, an edge and a corner. Each node has `unknowns`,
 * which are not coupled with each other. 26, -1, -1, -1 is HPCG's matrix, and 32, 0, -2, -1 that of trilinear
 * elements. */
ref_matrix ref_cube_27(int32_t n, int32_t unknowns, float diagonal, float face, float edge, float corner);
/* Bilinear elements with conductivity 1 at 30 degrees to the x axis and 1/1000 across, Dirichlet. */
ref_matrix ref_rotated(int32_t nx, int32_t ny);
ref_matrix ref_random_spd(int32_t n, int32_t per_row, uint64_t seed); /* diagonally dominant */
ref_matrix ref_hubs(int32_t n, int32_t longest,
                    uint64_t seed); /* likewise, rows of 1 + longest, longest / 2, ... entries and short ones */
ref_matrix ref_arrow(int32_t n);    /* dense first row and column, other rows are short */
ref_matrix ref_torus_mesh(int32_t nu, int32_t nv, int32_t flips, uint64_t seed); /* below */
ref_matrix ref_diagonal(int32_t n, float first, float last); /* from first to last in geometric progression */
/* Not symmetric positive definite */
ref_matrix ref_indefinite(int32_t nx, int32_t ny); /* symmetric, positive diagonal, eigenvalues of both signs */
ref_matrix ref_skewed_grid(int32_t nx, int32_t ny); /* convection, unsymmetric */
/* Upwind convection-diffusion with Dirichlet boundaries. `peclet` is the cell Peclet number w h / k, and the
 * wind is (1, 1/2). */
ref_matrix ref_convection(int32_t nx, int32_t ny, float peclet);
/* Central differences for the wind (1, 1/2). From a cell Peclet number of 2 they have positive couplings. */
ref_matrix ref_central(int32_t nx, int32_t ny, float peclet);
/* Two unknowns per node: a_ij times a 2 x 2 block, given row by row. */
ref_matrix ref_in_blocks(const ref_matrix *m, const float block[4]);
ref_matrix ref_random_dominant(int32_t n, int32_t per_row, uint64_t seed); /* by rows, values of both signs */
ref_matrix ref_cyclic_shift(int32_t n);                                    /* (A x)_i = x_(i+1) */
ref_matrix ref_skew(int32_t n);                      /* 1 to the right of the diagonal, -1 to the left */
ref_matrix ref_shifted_skew(int32_t n, float shift); /* and `shift` on the diagonal */
ref_matrix ref_uneven_rows(int32_t rows, int32_t columns, int32_t longest, uint64_t seed);
ref_matrix ref_dense_row(int32_t n, int32_t dense_row,
                         uint64_t seed);                           /* one full row, other rows have 3 entries */
ref_matrix ref_gaps(int32_t rows, int32_t columns, uint64_t seed); /* every third row is empty */
ref_matrix ref_dense(int32_t rows, int32_t columns, uint64_t seed);

/* ref_torus_mesh: the Laplacian plus identity of a closed triangle mesh. The mesh is a torus of nu x nv quads
 * cut in two, with `flips` random edges flipped such that all valences stay between 4 and 9. */

/* Small samples of all these matrices. `index` is 0, 1, ... Returns 0 past the end. */
typedef struct ref_sample {
  const char *name;
  ref_matrix matrix;
  int spd;
} ref_sample;
int ref_get_sample(int index, ref_sample *sample);

/* ---- Operations in double precision on interleaved components ---- */

/* y = A x and magnitude = |A| |x| (may be NULL), with rows x components values each. Constrained rows (NULL:
 * none) give 0. */
void ref_spmv(const ref_matrix *m, const unsigned char *constrained, int components, const float *x, double *y,
              double *magnitude);

/* ||b - A x|| / ||b|| of one component over unconstrained rows, or ||b - A x|| if b is 0. */
double ref_relative_residual(const ref_matrix *m, const unsigned char *constrained, int components,
                             int component, const float *x, const float *b);
/* The largest one over all components. */
double ref_worst_residual(const ref_matrix *m, const unsigned char *constrained, int components, const float *x,
                          const float *b);

/* Returns sum x y of one component. `magnitude` receives sum |x y|. */
double ref_dot(size_t size, int components, int component, const float *x, const float *y, double *magnitude);

#endif
