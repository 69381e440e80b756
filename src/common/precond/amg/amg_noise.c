/* Smoothers for matrices that are not symmetric: a polynomial per level.
 *
 * Eigenvalues of D^-1 A are complex. Those of central differences are up to half the cell Peclet number away
 * from the real axis, so no interval bounds them. GMRES does not need bounds. Its residual polynomial r(z)
 * after m steps from noise has r(0) = 1 and reduces noise the most (Nachtigal, Reichel, Trefethen 1992, "A
 * hybrid GMRES algorithm for nonsymmetric linear systems"; Loe and Morgan 2022, "Toward efficient polynomial
 * preconditioning for GMRES"). Noise contains all frequencies equally, and the next level represents few of
 * them. A polynomial that reduces noise is therefore a smoother.
 *
 *   q_0 = noise, of length 1, 0 in rows without a diagonal
 *   w = D^-1 A q_j;  h_ij = q_i^T w;  w = w - sum of h_ij q_i;  h_j+1,j = |w|;  q_j+1 = w / h_j+1,j
 *
 * amg_roots.c computes the roots of r. Steps end when noise is reduced to the share below, so easy matrices get
 * short polynomials.
 *
 * Vectors are floats; sums are in double and in a fixed order. */
#include <math.h>
#include <string.h>

#include "amg.h"

static const double enough = 0.2;     /* of the noise */
static const double breakdown = 1e-6; /* h_j+1,j over |w|; below, w is rounding error */
enum { LEAST = 4, RADIX = 64, COLUMNS = TSI_AMG_DEGREE + 1 };

typedef struct arnoldi {
  const tsi_amg_csr *A;
  size_t rows, blocks;
  float *inverse, *basis; /* of the diagonal, 0 if it is missing; COLUMNS vectors */
  double *sums;           /* of blocks, for COLUMNS + 1 sums */
  int j;                  /* current step */
  double scale;
  double h[COLUMNS * TSI_AMG_DEGREE];
} arnoldi;

static float *vector(const arnoldi *a, int i) {
  return a->basis + (size_t)i * a->rows;
}
static double *sums_of(const arnoldi *a, int i) {
  return a->sums + (size_t)i * a->blocks;
}
static size_t end_of(const arnoldi *a, size_t block) {
  return (block + 1) * RADIX < a->rows ? (block + 1) * RADIX : a->rows;
}

/* In place: a sum overwrites a term that was already read. */
static double add_up(double *sums, size_t count) {
  for (; count > 1; count = (count + RADIX - 1) / RADIX)
    for (size_t block = 0; block * RADIX < count; block++) {
      double sum = 0;
      for (size_t k = block * RADIX; k < count && k < (block + 1) * RADIX; k++) sum += sums[k];
      sums[block] = sum;
    }
  return count > 0 ? sums[0] : 0;
}

/* ---- Steps ---- */

static void begin(const void *arguments, size_t first, size_t last) {
  const arnoldi *a = arguments;
  const tsi_amg_csr *A = a->A;
  float *q = vector(a, 0);
  for (size_t block = first; block < last; block++) {
    double sum = 0;
    for (size_t i = block * RADIX; i < end_of(a, block); i++) {
      float diagonal = 0;
      for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
        if (A->indices[e] == (int32_t)i) diagonal = A->values[e];
      a->inverse[i] = diagonal != 0 ? 1 / diagonal : 0;
      q[i] = diagonal != 0 ? tsi_amg_noise((uint32_t)i) : 0;
      sum += (double)q[i] * (double)q[i];
    }
    sums_of(a, 0)[block] = sum;
  }
}

/* Computes w = D^-1 A q_j, and its products with q_0 .. q_j and itself. */
static void multiply(const void *arguments, size_t first, size_t last) {
  const arnoldi *a = arguments;
  const tsi_amg_csr *A = a->A;
  const float *q = vector(a, a->j);
  float *w = vector(a, a->j + 1);
  for (size_t block = first; block < last; block++) {
    const size_t start = block * RADIX, end = end_of(a, block);
    for (size_t i = start; i < end; i++) {
      double sum = 0;
      for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
        sum += (double)A->values[e] * (double)q[A->indices[e]];
      w[i] = (float)(sum * (double)a->inverse[i]);
    }
    for (int k = 0; k <= a->j + 1; k++) {
      const float *other = vector(a, k);
      double sum = 0;
      for (size_t i = start; i < end; i++) sum += (double)w[i] * (double)other[i];
      sums_of(a, k)[block] = sum;
    }
  }
}

static void orthogonalise(const void *arguments, size_t first, size_t last) {
  const arnoldi *a = arguments;
  float *w = vector(a, a->j + 1);
  for (size_t block = first; block < last; block++) {
    const size_t start = block * RADIX, end = end_of(a, block);
    double numbers[RADIX], sum = 0;
    for (size_t i = start; i < end; i++) numbers[i - start] = (double)w[i];
    for (int k = 0; k <= a->j; k++) {
      const float *q = vector(a, k);
      const double h = a->h[k * TSI_AMG_DEGREE + a->j];
      for (size_t i = start; i < end; i++) numbers[i - start] -= h * (double)q[i];
    }
    for (size_t i = start; i < end; i++) {
      w[i] = (float)numbers[i - start];
      sum += (double)w[i] * (double)w[i];
    }
    sums_of(a, 0)[block] = sum;
  }
}

static void scale(const void *arguments, size_t first, size_t last) {
  const arnoldi *a = arguments;
  float *w = vector(a, a->j);
  for (size_t i = first; i < last; i++) w[i] = (float)((double)w[i] * a->scale);
}

static void normalise(const ts_context *context, arnoldi *a, int j, double norm) {
  a->j = j;
  a->scale = norm > 0 ? 1 / norm : 0;
  tsi_parallel(context, a->rows, scale, a);
}

/* Computes column j of H; returns 0 at a breakdown. */
static int arnoldi_step(const ts_context *context, arnoldi *a, int j) {
  a->j = j;
  tsi_parallel(context, a->blocks, multiply, a);
  const double before = sqrt(add_up(sums_of(a, j + 1), a->blocks));
  for (int i = 0; i <= j; i++) a->h[i * TSI_AMG_DEGREE + j] = add_up(sums_of(a, i), a->blocks);
  tsi_parallel(context, a->blocks, orthogonalise, a);
  const double norm = sqrt(add_up(sums_of(a, 0), a->blocks));
  a->h[(j + 1) * TSI_AMG_DEGREE + j] = norm;
  if (!(norm > breakdown * before)) return 0;
  normalise(context, a, j + 1, norm);
  return 1;
}

/* ---- The least squares problem ---- */

/* Minimises |e_0 - H y| by rotations: R y = g. */
typedef struct least_squares {
  double r[COLUMNS * TSI_AMG_DEGREE], cosine[TSI_AMG_DEGREE], sine[TSI_AMG_DEGREE], g[COLUMNS];
} least_squares;

static void rotate(double c, double s, double *a, double *b) {
  const double x = *a, y = *b;
  *a = c * x + s * y;
  *b = c * y - s * x;
}

/* Adds column j; the residual norm is then |g_j+1|. */
static void add_column(least_squares *l, const double *h, int j) {
  double column[COLUMNS];
  for (int i = 0; i <= j + 1; i++) column[i] = h[i * TSI_AMG_DEGREE + j];
  for (int i = 0; i < j; i++) rotate(l->cosine[i], l->sine[i], &column[i], &column[i + 1]);
  const double length = sqrt(column[j] * column[j] + column[j + 1] * column[j + 1]);
  l->cosine[j] = length > 0 ? column[j] / length : 1;
  l->sine[j] = length > 0 ? column[j + 1] / length : 0;
  rotate(l->cosine[j], l->sine[j], &column[j], &column[j + 1]);
  rotate(l->cosine[j], l->sine[j], &l->g[j], &l->g[j + 1]);
  for (int i = 0; i <= j; i++) l->r[i * TSI_AMG_DEGREE + j] = column[i];
}

static void solve(const least_squares *l, int m, double *y) {
  for (int i = m - 1; i >= 0; i--) {
    double sum = l->g[i];
    for (int k = i + 1; k < m; k++) sum -= l->r[i * TSI_AMG_DEGREE + k] * y[k];
    const double pivot = l->r[i * TSI_AMG_DEGREE + i];
    y[i] = pivot != 0 ? sum / pivot : 0;
  }
}

/* One step of GMRES(1), which never amplifies noise. */
static void make_step(const double *h, tsi_amg_polynomial *polynomial) {
  const double a = h[0], b = h[TSI_AMG_DEGREE], square = a * a + b * b;
  *polynomial = (tsi_amg_polynomial){.degree = 1, .steps = {{square > 0 ? a / square : 1, 0}}};
}

/* Degree 0: until noise is reduced enough. */
static void make(const ts_context *context, arnoldi *a, int degree, tsi_amg_polynomial *polynomial) {
  const int most = degree ? degree : TSI_AMG_DEGREE;
  least_squares l = {.g = {1}};
  double y[TSI_AMG_DEGREE];
  tsi_parallel(context, a->blocks, begin, a);
  normalise(context, a, 0, sqrt(add_up(sums_of(a, 0), a->blocks)));
  int m = 0, more = 1;
  while (more && m < most) {
    more = arnoldi_step(context, a, m);
    add_column(&l, a->h, m++);
    if (!degree && m >= LEAST && fabs(l.g[m]) <= enough) more = 0;
  }
  solve(&l, m, y);
  if (!tsi_amg_find_roots(a->h, y, m, polynomial)) make_step(a->h, polynomial);
}

ts_status tsi_amg_make_polynomial(ts_context *context, const tsi_amg_csr *A, int degree,
                                  tsi_amg_polynomial *polynomial) {
  const size_t rows = (size_t)A->rows, columns = (size_t)(degree ? degree : TSI_AMG_DEGREE) + 2;
  arnoldi a = {.A = A, .rows = rows, .blocks = (rows + RADIX - 1) / RADIX};
  a.inverse = tsi_malloc(context, rows * columns, sizeof *a.inverse);
  a.sums = tsi_malloc(context, a.blocks * columns, sizeof *a.sums);
  ts_status status = TS_OK;
  if (a.inverse && a.sums) {
    a.basis = a.inverse + rows;
    make(context, &a, degree, polynomial);
  } else
    status = tsi_out_of_memory(context, "a smoother of amg", rows * columns * sizeof *a.inverse);
  tsi_free(context, a.inverse);
  tsi_free(context, a.sums);
  return status;
}
