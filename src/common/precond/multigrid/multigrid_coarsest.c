/* The exact solution on the coarsest level: a dense inverse, computed in double precision on the host. */
#include <math.h>
#include <string.h>

#include "common/core/core.h"
#include "multigrid.h"
#include "common/grid/stencil.h"

/* The index of an entry in a square matrix of n rows. */
static size_t at(int32_t n, int32_t row, int32_t column) {
  return (size_t)row * (size_t)n + (size_t)column;
}

/* The rounding error in single precision of a pivot that should be 0, relative to its diagonal element. The
 * first limit is for the matrix of one level. The second is for many levels: each rounds its coefficients and
 * accumulates the errors of the finer ones. */
static const double negligible = 3e-6, negligible_singular = 1e-2;

typedef struct inversion {
  double *a;
  int32_t n;
  int32_t null_space_components; /* expected null vectors, if coarsening lost none */
  double *scale;                 /* 1 / sqrt|a_ii|; 0 without an equation */
  signed char *state;
} inversion;

enum { OPEN, SWEPT, DROPPED, ABSENT };

/* Scales to a unit diagonal, so that pivots of weakly and strongly coupled parts are comparable. */
static void equilibrate(inversion *v) {
  for (int32_t i = 0; i < v->n; i++) {
    const double d = fabs(v->a[at(v->n, i, i)]);
    v->scale[i] = d > 0 ? 1 / sqrt(d) : 0;
    v->state[i] = d > 0 ? OPEN : ABSENT;
  }
  for (int32_t i = 0; i < v->n; i++)
    for (int32_t j = 0; j < v->n; j++) v->a[at(v->n, i, j)] *= v->scale[i] * v->scale[j];
}

/* One step of Gauss-Jordan elimination in place. */
static void sweep(inversion *v, int32_t k) {
  const int32_t n = v->n;
  double *row_k = v->a + at(n, k, 0);
  const double inverse = 1 / row_k[k];
  for (int32_t j = 0; j < n; j++) row_k[j] *= inverse;
  row_k[k] = inverse;
  for (int32_t i = 0; i < n; i++) {
    double *row = v->a + at(n, i, 0);
    const double factor = row[k];
    if (i == k || factor == 0) continue;
    row[k] = 0;
    for (int32_t j = 0; j < n; j++) row[j] -= factor * row_k[j];
  }
  v->state[k] = SWEPT;
}

/* Uses diagonal pivots, the largest first. If all remaining ones are negligible, they are dropped. The limit is
 * higher for the last pivots, one per null-space component. Inverting a rounding error there would multiply
 * constants by an arbitrary number, and a W-cycle, with 2^levels visits of this level, by a power of it. */
static int32_t eliminate(inversion *v) {
  int32_t dropped = 0;
  for (;;) {
    int32_t pivot = -1, open = 0;
    double largest = 0;
    for (int32_t i = 0; i < v->n; i++) {
      if (v->state[i] != OPEN) continue;
      open++;
      if (fabs(v->a[at(v->n, i, i)]) <= largest) continue;
      largest = fabs(v->a[at(v->n, i, i)]);
      pivot = i;
    }
    if (!(largest > (open > v->null_space_components ? negligible : negligible_singular))) break;
    sweep(v, pivot);
  }
  for (int32_t i = 0; i < v->n; i++)
    if (v->state[i] == OPEN) {
      v->state[i] = DROPPED;
      dropped++;
    }
  return dropped;
}

/* Computes an orthonormal basis of the null vectors from the dropped columns, in the rows of `basis`. */
static void find_null_vectors(const inversion *v, double *basis) {
  const int32_t n = v->n;
  int32_t count = 0;
  for (int32_t column = 0; column < n; column++) {
    if (v->state[column] != DROPPED) continue;
    double *vector = basis + at(n, count, 0);
    for (int32_t i = 0; i < n; i++)
      vector[i] = v->state[i] == SWEPT ? -v->a[at(n, i, column)] * v->scale[i] : i == column ? v->scale[i] : 0;
    for (int32_t before = 0; before < count; before++) {
      const double *other = basis + at(n, before, 0);
      double dot = 0;
      for (int32_t i = 0; i < n; i++) dot += vector[i] * other[i];
      for (int32_t i = 0; i < n; i++) vector[i] -= dot * other[i];
    }
    double norm = 0;
    for (int32_t i = 0; i < n; i++) norm += vector[i] * vector[i];
    norm = norm > 0 ? 1 / sqrt(norm) : 0;
    for (int32_t i = 0; i < n; i++) vector[i] *= norm;
    count++;
  }
}

/* a = (I - u u^T) a (I - u u^T) */
static void project(double *a, int32_t n, const double *u) {
  for (int32_t i = 0; i < n; i++) {
    double *row = a + at(n, i, 0), dot = 0;
    for (int32_t j = 0; j < n; j++) dot += row[j] * u[j];
    for (int32_t j = 0; j < n; j++) row[j] -= dot * u[j];
  }
  for (int32_t j = 0; j < n; j++) {
    double dot = 0;
    for (int32_t i = 0; i < n; i++) dot += a[at(n, i, j)] * u[i];
    for (int32_t i = 0; i < n; i++) a[at(n, i, j)] -= dot * u[i];
  }
}

static ts_status invert(ts_context *context, inversion *v, int symmetric) {
  const int32_t n = v->n;
  equilibrate(v);
  const int32_t dropped = eliminate(v);
  double *basis = NULL;
  if (dropped && symmetric) {
    basis = tsi_calloc(context, (size_t)dropped * (size_t)n, sizeof *basis);
    if (!basis) return tsi_out_of_memory(context, "the coarsest level", (size_t)dropped * (size_t)n * 8);
    find_null_vectors(v, basis);
  }
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) {
      double *entry = &v->a[at(n, i, j)];
      *entry = v->state[i] == SWEPT && v->state[j] == SWEPT ? *entry * v->scale[i] * v->scale[j] : 0;
    }
  for (int32_t k = 0; basis && k < dropped; k++) project(v->a, n, basis + at(n, k, 0));
  tsi_free(context, basis);
  return TS_OK;
}

/* Replaces the n x n matrix by its inverse; rows and columns of unknowns without an equation are 0. A singular
 * matrix gets an inverse on its nonsingular part; if it is symmetric, the pseudo-inverse.
 * `null_space_components` is the number of its null vectors, as far as it is known. */
static ts_status invert_matrix(ts_context *context, double *matrix, int32_t n, int symmetric,
                               int null_space_components) {
  inversion v = {matrix, n, null_space_components, NULL, NULL};
  v.scale = tsi_malloc(context, (size_t)n, sizeof *v.scale);
  v.state = tsi_malloc(context, (size_t)n, 1);
  const ts_status status = v.scale && v.state
                               ? invert(context, &v, symmetric)
                               : tsi_out_of_memory(context, "the coarsest level", (size_t)n * sizeof *v.scale);
  tsi_free(context, v.scale);
  tsi_free(context, v.state);
  return status;
}

/* The dense matrix of a stencil. Coefficients towards points without an equation are ignored, because x is 0
 * there. */
static void expand(const ts_grid_desc *grid, const float *values, double *matrix) {
  const tsi_grid g = {grid->width, grid->height, grid->periodic_x, grid->periodic_y};
  const size_t n = (size_t)g.width * (size_t)g.height;
  memset(matrix, 0, n * n * sizeof *matrix);
  for (int32_t j = 0; j < g.height; j++)
    for (int32_t i = 0; i < g.width; i++)
      for (int k = 0; k < 9; k++) {
        const size_t p = (size_t)j * (size_t)g.width + (size_t)i;
        const int32_t q = tsi_grid_neighbour(&g, i, j, k);
        if (q < 0 || values[9 * p + TSI_CENTRE] == 0 || values[9 * (size_t)q + TSI_CENTRE] == 0) continue;
        matrix[p * n + (size_t)q] += values[9 * p + (size_t)k];
      }
}

static ts_status invert_level(ts_multigrid *mg, tsi_level *level, size_t n, float *values, double *matrix) {
  ts_context *context = mg->context;
  context->host_synchronisations++;
  TSI_TRY(context->ops->grid->level_read(level, values));
  expand(&level->grid, values, matrix);
  TSI_TRY(
      invert_matrix(context, matrix, (int32_t)n, mg->matrix->info.symmetric, mg->matrix->stencil->part_count));
  float *inverse = values; /* the array is large enough for both */
  for (size_t k = 0; k < n * n; k++) inverse[k] = (float)matrix[k];
  return context->ops->grid->level_set_inverse(level, inverse);
}

ts_status tsi_multigrid_invert_coarsest(ts_multigrid *mg) {
  ts_context *context = mg->context;
  tsi_level *level = &mg->levels[mg->level_count - 1];
  const size_t n = (size_t)level->grid.width * (size_t)level->grid.height;
  /* First the stencil of the level, then its inverse. */
  float *values = tsi_malloc(context, n * (n > 9 ? n : 9), sizeof *values);
  double *matrix = tsi_malloc(context, n * n, sizeof *matrix);
  const ts_status status = values && matrix ? invert_level(mg, level, n, values, matrix)
                                            : tsi_out_of_memory(context, "the coarsest level", n * n * 12);
  tsi_free(context, values);
  tsi_free(context, matrix);
  return status;
}
