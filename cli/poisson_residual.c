/* The residual of a solution on the host, in doubles, for devices with floats that cannot represent the
 * problem. */
#include <math.h>
#include <stdlib.h>

#include "message.h"
#include "poisson.h"

/* The element of x that coefficient k of point (i, j) multiplies. */
static double neighbour(const ts_grid_desc *g, const double *x, int32_t i, int32_t j, int k) {
  i += k % 3 - 1;
  j += k / 3 - 1;
  if (g->periodic_x) i = (i + g->width) % g->width;
  if (g->periodic_y) j = (j + g->height) % g->height;
  return i < 0 || i >= g->width || j < 0 || j >= g->height ? 0 : x[(size_t)j * (size_t)g->width + (size_t)i];
}

/* Replaces b by r = b - A x at points with an equation; returns their number. */
static size_t subtract_product(const ts_grid_desc *g, const double *A, const double *x, double *b,
                               double *squares_of_b) {
  size_t equations = 0;
  for (int32_t j = 0; j < g->height; j++)
    for (int32_t i = 0; i < g->width; i++, A += 9, b++) {
      if (A[4] == 0) continue;
      *squares_of_b += *b * *b;
      for (int k = 0; k < 9; k++)
        if (A[k] != 0) *b -= A[k] * neighbour(g, x, i, j, k);
      equations++;
    }
  return equations;
}

static double relative_residual(const ts_grid_desc *g, const double *A, const double *x, double *b,
                                int is_singular) {
  const size_t n = (size_t)g->width * (size_t)g->height;
  double of_b = 0, sum = 0, squares = 0;
  const size_t equations = subtract_product(g, A, x, b, &of_b);
  for (size_t p = 0; p < n && is_singular; p++) sum += A[9 * p + 4] != 0 ? b[p] / (double)equations : 0;
  for (size_t p = 0; p < n; p++)
    if (A[9 * p + 4] != 0) squares += (b[p] - sum) * (b[p] - sum);
  return sqrt(of_b > 0 ? squares / of_b : squares);
}

int poisson_residual(const poisson_problem *problem, const double *x, int null_space_components,
                     double *residual) {
  const ts_poisson_desc *d = &problem->desc;
  const size_t n = (size_t)d->width * (size_t)d->height;
  const ts_boundary_values boundaries = poisson_boundaries(problem);
  ts_grid_desc grid;
  double *A = malloc(11 * n * sizeof *A), *b = A + 9 * n;
  if (!A) {
    message("out of memory for a stencil of %dx%d points", d->width, d->height);
    return -1;
  }
  ts_status status = ts_poisson_grid(d, &grid);
  if (status >= 0) status = ts_poisson_stencil(NULL, d, ts_host(A, 9 * (size_t)d->width * (size_t)d->height));
  if (status >= 0)
    status = ts_poisson_right_hand_side(NULL, d, ts_host(problem->g, (size_t)d->width * (size_t)d->height),
                                        &boundaries, ts_host(b, (size_t)d->width * (size_t)d->height),
                                        ts_host(b + n, (size_t)d->width * (size_t)d->height));
  if (status >= 0) *residual = relative_residual(&grid, A, x, b, null_space_components == 1);
  if (status < 0) message("the residual: %s", ts_last_error(NULL));
  free(A);
  return status < 0 ? -1 : 0;
}
