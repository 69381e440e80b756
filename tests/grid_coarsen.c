/* The coarse stencil P A S in double precision, as src/common/grid.h describes it. */
#include <math.h>
#include <stdlib.h>

#include "grid_samples.h"

/* A row of S. */
typedef struct weights {
  int count;
  int32_t at[4];
  double w[4];
} weights;

typedef struct pair {
  double low, high; /* west and east, or south and north */
} pair;

typedef struct coarsening {
  const grid_sample *fine;
  ts_grid_desc coarse;
  ts_interpolation interpolation;
} coarsening;

static int shrinks(int32_t n) {
  return n > 2;
}
static int32_t coarse_size(int32_t n, int periodic) {
  return !shrinks(n) ? n : periodic ? (n + 1) / 2 : n / 2 + 1;
}
static int is_between(int32_t i, int32_t n) {
  return shrinks(n) && i % 2 == 1;
}
/* The coarse point of a fine one that is coarse, or the one to the west of it. */
static int32_t coarse_of(int32_t i, int32_t n) {
  return shrinks(n) ? i / 2 : i;
}

/* The coefficient in the direction di, dj; mirror images where the coarse point there lies beyond the grid. */
static double coefficient(const coarsening *c, int32_t i, int32_t j, int di, int dj) {
  const ts_grid_desc *g = &c->fine->grid;
  if (!g->periodic_x && is_between(i, g->width) && i == g->width - 1 && di > 0) di = -di;
  if (!g->periodic_y && is_between(j, g->height) && j == g->height - 1 && dj > 0) dj = -dj;
  return (double)c->fine->values[9 * (size_t)(j * g->width + i) + (size_t)(3 * (dj + 1) + di + 1)];
}

static pair in_proportion(double low, double high, double centre) {
  const double sum = low + high;
  if (fabs(sum) <= 1e-6 * fabs(centre)) return (pair){0, 0};
  return (pair){low / sum, high / sum};
}

static pair weights_x(const coarsening *c, int32_t i, int32_t j) {
  if (c->interpolation == TS_INTERPOLATION_BILINEAR) return (pair){0.5, 0.5};
  double sums[2] = {0, 0};
  for (int dj = -1; dj <= 1; dj++) {
    sums[0] += coefficient(c, i, j, -1, dj);
    sums[1] += coefficient(c, i, j, 1, dj);
  }
  return in_proportion(sums[0], sums[1], coefficient(c, i, j, 0, 0));
}

static pair weights_y(const coarsening *c, int32_t i, int32_t j) {
  if (c->interpolation == TS_INTERPOLATION_BILINEAR) return (pair){0.5, 0.5};
  double sums[2] = {0, 0};
  for (int di = -1; di <= 1; di++) {
    sums[0] += coefficient(c, i, j, di, -1);
    sums[1] += coefficient(c, i, j, di, 1);
  }
  return in_proportion(sums[0], sums[1], coefficient(c, i, j, 0, 0));
}

/* The weight of the coarse point in the direction sx, sy of a point between four. */
static double weight_between_four(const coarsening *c, int32_t i, int32_t j, int sx, int sy) {
  if (c->interpolation == TS_INTERPOLATION_BILINEAR) return 0.25;
  const ts_grid_desc *g = &c->fine->grid;
  double d = 0;
  for (int k = 0; k < 9; k++)
    if (k != 4) d -= coefficient(c, i, j, k % 3 - 1, k / 3 - 1);
  if (fabs(d) <= 1e-6 * fabs(coefficient(c, i, j, 0, 0))) return 0;
  int32_t column = grid_neighbour(g, i, j, sx > 0 ? 5 : 3), row = grid_neighbour(g, i, j, sy > 0 ? 7 : 1);
  if (column < 0) column = grid_neighbour(g, i, j, 3);
  if (row < 0) row = grid_neighbour(g, i, j, 1);
  const pair x = weights_x(c, row % g->width, row / g->width),
             y = weights_y(c, column % g->width, column / g->width);
  return -(coefficient(c, i, j, sx, sy) + coefficient(c, i, j, 0, sy) * (sx > 0 ? x.high : x.low) +
           coefficient(c, i, j, sx, 0) * (sy > 0 ? y.high : y.low)) /
         d;
}

static void add_weight(weights *row, const coarsening *c, int32_t I, int32_t J, double w) {
  row->at[row->count] = J % c->coarse.height * c->coarse.width + I % c->coarse.width;
  row->w[row->count++] = w;
}

static weights row_of(const coarsening *c, int32_t i, int32_t j) {
  const ts_grid_desc *g = &c->fine->grid;
  const int32_t I = coarse_of(i, g->width), J = coarse_of(j, g->height);
  const int x = is_between(i, g->width), y = is_between(j, g->height);
  weights row = {0};
  if (!x && !y) {
    add_weight(&row, c, I, J, 1);
  } else if (!grid_has_equation(c->fine, (size_t)(j * g->width + i))) {
    return row;
  } else if (x && y) {
    for (int k = 0; k < 4; k++)
      add_weight(&row, c, I + k % 2, J + k / 2, weight_between_four(c, i, j, k % 2 * 2 - 1, k / 2 * 2 - 1));
  } else {
    const pair w = x ? weights_x(c, i, j) : weights_y(c, i, j);
    add_weight(&row, c, I, J, w.low);
    add_weight(&row, c, I + x, J + y, w.high);
  }
  return row;
}

/* The direction from one coarse point to another one next to it; the first of several. */
static int direction(const ts_grid_desc *g, int32_t from, int32_t to) {
  for (int k = 0; k < 9; k++)
    if (grid_neighbour(g, from % g->width, from / g->width, k) == to) return k;
  return 4;
}

static void add_product(const grid_coarse *coarse, const weights *left, double a, const weights *right) {
  for (int l = 0; l < left->count; l++) {
    for (int r = 0; r < right->count; r++) {
      const size_t k = 9 * (size_t)left->at[l] + (size_t)direction(&coarse->grid, left->at[l], right->at[r]);
      const double term = left->w[l] * a * right->w[r] / 4;
      coarse->values[k] += term;
      coarse->size[k] += fabs(term);
    }
  }
}

/* Whether the coarse point (I, J) has an equation. */
static int remains(const coarsening *c, const grid_coarse *coarse, int32_t I, int32_t J) {
  const ts_grid_desc *g = &c->fine->grid;
  const int32_t i = shrinks(g->width) ? 2 * I : I, j = shrinks(g->height) ? 2 * J : J;
  if (i < g->width && j < g->height && !grid_has_equation(c->fine, (size_t)(j * g->width + i))) return 0;
  double largest = 0;
  for (int k = 0; k < 9; k++) {
    const int32_t near = grid_neighbour(g, i, j, k);
    if (near >= 0) largest = fmax(largest, fabs((double)c->fine->values[9 * (size_t)near + 4]));
  }
  const double centre = coarse->values[9 * (size_t)(J * coarse->grid.width + I) + 4];
  return centre > 1e-6 * largest;
}

grid_coarse grid_coarsen(const grid_sample *fine, ts_interpolation interpolation) {
  const ts_grid_desc *g = &fine->grid;
  grid_coarse coarse = {.grid = {coarse_size(g->width, g->periodic_x), coarse_size(g->height, g->periodic_y),
                                 g->periodic_x, g->periodic_y}};
  const coarsening c = {fine, coarse.grid, interpolation};
  const size_t points = grid_points(fine),
               coarse_points = (size_t)coarse.grid.width * (size_t)coarse.grid.height;
  coarse.values = calloc(9 * coarse_points, sizeof(double));
  coarse.size = calloc(9 * coarse_points, sizeof(double));
  weights *rows = malloc(points * sizeof *rows);
  for (int32_t j = 0; j < g->height; j++)
    for (int32_t i = 0; i < g->width; i++) rows[j * g->width + i] = row_of(&c, i, j);
  for (size_t p = 0; p < points; p++) {
    for (int k = 0; k < 9; k++) {
      const float a = fine->values[9 * p + (size_t)k];
      if (a == 0) continue;
      const int32_t q = grid_neighbour(g, (int32_t)p % g->width, (int32_t)p / g->width, k);
      add_product(&coarse, &rows[p], (double)a, &rows[q]);
    }
  }
  for (int32_t J = 0; J < coarse.grid.height; J++)
    for (int32_t I = 0; I < coarse.grid.width; I++)
      if (!remains(&c, &coarse, I, J))
        for (int k = 0; k < 9; k++) coarse.values[9 * (size_t)(J * coarse.grid.width + I) + (size_t)k] = 0;
  free(rows);
  return coarse;
}

void grid_fold(const ts_grid_desc *grid, float *values) {
  for (int32_t p = 0; p < grid->width * grid->height; p++) {
    float *a = values + 9 * (size_t)p;
    for (int k = 8; k >= 0; k--) {
      const int32_t to = grid_neighbour(grid, p % grid->width, p / grid->width, k);
      if (to < 0) continue;
      const int first = direction(grid, p, to);
      if (first == k) continue;
      a[first] += a[k];
      a[k] = 0;
    }
  }
}
