/* The coarse stencil P A S in double precision, as documented in src/common/grid/grid.h. */
#include <math.h>
#include <stdlib.h>

#include "grid_samples.h"

/* One row of S. */
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

/* `gap`: the last distance of a periodic dimension, in units of the other distances. */
static int32_t coarse_size(int32_t n, int periodic, double *gap) {
  if (!periodic) return n / 2 + 1;
  const int merges = n % 2 == 1 && n > 1 && *gap <= 0.7;
  *gap = merges ? 1 : n % 2 == 1 ? *gap / 2 : (1 + *gap) / 2;
  return merges ? n / 2 : (n + 1) / 2;
}

static double raw(const coarsening *c, int32_t i, int32_t j, int di, int dj) {
  const size_t point = (size_t)j * (size_t)c->fine->grid.width + (size_t)i;
  return (double)c->fine->values[9 * point + (size_t)(3 * (dj + 1) + di + 1)];
}

/* True if the coarse point east (or north) of the fine one is outside the grid. */
static int is_beyond(int32_t i, int32_t n, int periodic) {
  return !periodic && i % 2 == 1 && i == n - 1;
}

/* Sums of three coefficients: towards one side, along the middle, towards the other side. */
typedef struct sums {
  double one, middle, other;
} sums;

/* True if the boundary next to a point fixes the unknown to a given value. */
static int is_held(sums s) {
  return s.one + s.middle > 0.1 * fabs(s.one);
}

static sums add_up(const coarsening *c, int32_t i, int32_t j, int along_x,
                   double (*coefficient)(const coarsening *c, int32_t i, int32_t j, int di, int dj)) {
  sums s = {0, 0, 0};
  for (int k = -1; k <= 1; k++) {
    s.one += along_x ? coefficient(c, i, j, -1, k) : coefficient(c, i, j, k, -1);
    s.middle += along_x ? coefficient(c, i, j, 0, k) : coefficient(c, i, j, k, 0);
    s.other += along_x ? coefficient(c, i, j, 1, k) : coefficient(c, i, j, k, 1);
  }
  return s;
}

/* The coefficient, mirrored if the coarse point is outside the grid and the boundary does not fix the
 * unknown. */
static double mirrored(const coarsening *c, int32_t i, int32_t j, int di, int dj) {
  const ts_grid_desc *g = &c->fine->grid;
  if (di > 0 && is_beyond(i, g->width, g->periodic_x) && !is_held(add_up(c, i, j, 1, raw))) di = -di;
  if (dj > 0 && is_beyond(j, g->height, g->periodic_y) && !is_held(add_up(c, i, j, 0, raw))) dj = -dj;
  return raw(c, i, j, di, dj);
}

static int is_nothing(double a, double beside) {
  return fabs(a) <= 1e-6 * fabs(beside);
}

static int is_one_sided(sums s) {
  return is_nothing(s.one, s.other) || is_nothing(s.other, s.one);
}

/* True if the coarse point at a given fine point has no equation. */
static int is_dead(const coarsening *c, int32_t i, int32_t j) {
  const ts_grid_desc *g = &c->fine->grid;
  if (g->periodic_x) i %= g->width;
  if (g->periodic_y) j %= g->height;
  if (i < g->width && j < g->height)
    return !grid_has_equation(c->fine, (size_t)j * (size_t)g->width + (size_t)i);
  for (int k = 0; k < 9; k++) {
    const int32_t near = grid_neighbour(g, i, j, k);
    if (near >= 0 && grid_has_equation(c->fine, (size_t)near)) return 0;
  }
  return 1;
}

/* A point without an equation interpolates equally from the adjacent coarse points without one. */
static pair given_pair(int low_is_dead, int high_is_dead) {
  const double part = low_is_dead && high_is_dead ? 0.5 : 1;
  return (pair){low_is_dead ? part : 0, high_is_dead ? part : 0};
}

/* If the adjacent coarse point is inside a wall that is not coupled with the point, the coefficients past it
 * are added to the middle. */
static void fold_wall(const coarsening *c, int32_t i, int32_t j, int di, int dj, double *side, double *middle) {
  if (mirrored(c, i, j, di, dj) != 0 || !is_dead(c, i + di, j + dj)) return;
  *middle += *side;
  *side = 0;
}

/* The weights of the two coarse points west and east, or south and north. */
static pair weights_of_pair(const coarsening *c, int32_t i, int32_t j, int along_x) {
  const int32_t di = along_x ? 1 : 0, dj = along_x ? 0 : 1;
  if (raw(c, i, j, 0, 0) == 0) return given_pair(is_dead(c, i - di, j - dj), is_dead(c, i + di, j + dj));
  if (c->interpolation == TS_INTERPOLATION_BILINEAR) return (pair){0.5, 0.5};
  sums s = add_up(c, i, j, along_x, mirrored);
  fold_wall(c, i, j, -di, -dj, &s.one, &s.middle);
  fold_wall(c, i, j, di, dj, &s.other, &s.middle);
  const double divisor = is_one_sided(s) ? -s.middle : s.one + s.other;
  if (divisor == 0 || fabs(divisor) <= 1e-6 * fabs(s.middle)) return (pair){0, 0};
  return (pair){s.one / divisor, s.other / divisor};
}

static double divisor_between_four(const coarsening *c, int32_t i, int32_t j) {
  if (is_one_sided(add_up(c, i, j, 1, mirrored)) || is_one_sided(add_up(c, i, j, 0, mirrored)))
    return raw(c, i, j, 0, 0);
  double around = 0;
  for (int k = 0; k < 9; k++)
    if (k != 4) around -= mirrored(c, i, j, k % 3 - 1, k / 3 - 1);
  return around;
}

/* For a point between four coarse points, the weight of the one in the direction sx, sy. */
static double weight_between_four(const coarsening *c, int32_t i, int32_t j, int sx, int sy) {
  const ts_grid_desc *g = &c->fine->grid;
  if (raw(c, i, j, 0, 0) == 0) {
    int dead = 0;
    for (int k = 0; k < 4; k++) dead += is_dead(c, i + k % 2 * 2 - 1, j + k / 2 * 2 - 1);
    return is_dead(c, i + sx, j + sy) ? 1.0 / dead : 0;
  }
  if (c->interpolation == TS_INTERPOLATION_BILINEAR) return 0.25;
  const double d = divisor_between_four(c, i, j);
  if (fabs(d) <= 1e-6 * fabs(raw(c, i, j, 0, 0))) return 0;
  int32_t column = grid_neighbour(g, i, j, sx > 0 ? 5 : 3), row = grid_neighbour(g, i, j, sy > 0 ? 7 : 1);
  if (column < 0) column = grid_neighbour(g, i, j, 3);
  if (row < 0) row = grid_neighbour(g, i, j, 1);
  const pair x = weights_of_pair(c, row % g->width, row / g->width, 1);
  const pair y = weights_of_pair(c, column % g->width, column / g->width, 0);
  return -(mirrored(c, i, j, sx, sy) + mirrored(c, i, j, 0, sy) * (sx > 0 ? x.high : x.low) +
           mirrored(c, i, j, sx, 0) * (sy > 0 ? y.high : y.low)) /
         d;
}

static void add_weight(weights *row, const coarsening *c, int32_t I, int32_t J, double w) {
  row->at[row->count] = J % c->coarse.height * c->coarse.width + I % c->coarse.width;
  row->w[row->count++] = w;
}

static weights row_of(const coarsening *c, int32_t i, int32_t j) {
  const int32_t I = i / 2, J = j / 2;
  const int x = i % 2, y = j % 2;
  weights row = {0};
  if (!x && !y) {
    add_weight(&row, c, I, J, 1);
  } else if (x && y) {
    for (int k = 0; k < 4; k++)
      add_weight(&row, c, I + k % 2, J + k / 2, weight_between_four(c, i, j, k % 2 * 2 - 1, k / 2 * 2 - 1));
  } else {
    const pair w = weights_of_pair(c, i, j, x);
    add_weight(&row, c, I, J, w.low);
    add_weight(&row, c, I + x, J + y, w.high);
  }
  return row;
}

/* The first direction that leads from one coarse point to itself or to an adjacent one. */
static int direction(const ts_grid_desc *g, int32_t from, int32_t to) {
  if (from == to) return 4;
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

/* True if a coarse point has no equation because of the fine points that use its value. */
static int is_dead_coarse(const coarsening *c, int32_t I, int32_t J) {
  const ts_grid_desc *g = &c->fine->grid;
  int alive = 0;
  for (int32_t j = 2 * J; j < g->height; j += 2 * c->coarse.height)
    for (int32_t i = 2 * I; i < g->width; i += 2 * c->coarse.width) {
      if (raw(c, i, j, 0, 0) == 0) continue;
      alive = 1;
      for (int k = 0; k < 9; k++) {
        const int32_t to = grid_neighbour(g, i, j, k);
        if (to < 0 || grid_has_equation(c->fine, (size_t)to)) continue;
        const int32_t p = to % g->width, q = to / g->width;
        const int same =
            p % 2 == 0 && q % 2 == 0 && p / 2 % c->coarse.width == I && q / 2 % c->coarse.height == J;
        if (same && raw(c, i, j, k % 3 - 1, k / 3 - 1) != 0) return 1;
      }
    }
  return !alive;
}

/* True if the coarse point (I, J) has an equation. */
static int remains(const coarsening *c, const grid_coarse *coarse, int32_t I, int32_t J) {
  const ts_grid_desc *g = &c->fine->grid;
  const int32_t i = 2 * I, j = 2 * J;
  if (i < g->width && j < g->height && is_dead_coarse(c, I, J)) return 0;
  double largest = 0;
  for (int k = 0; k < 9; k++) {
    const int32_t near = grid_neighbour(g, i, j, k);
    if (near >= 0) largest = fmax(largest, fabs((double)c->fine->values[9 * (size_t)near + 4]));
  }
  const double centre = coarse->values[9 * (size_t)(J * coarse->grid.width + I) + 4];
  return fabs(centre) > 1e-6 * largest;
}

grid_coarse grid_coarsen(const grid_sample *fine, double gaps[2], ts_interpolation interpolation) {
  const ts_grid_desc *g = &fine->grid;
  grid_coarse coarse = {.grid = {.width = coarse_size(g->width, g->periodic_x, &gaps[0]),
                                 .height = coarse_size(g->height, g->periodic_y, &gaps[1]),
                                 .periodic_x = g->periodic_x,
                                 .periodic_y = g->periodic_y}};
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
