#include "grid_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

void grid_free(grid_sample *s) {
  free(s->values);
  s->values = NULL;
}

size_t grid_points(const grid_sample *s) {
  return (size_t)s->grid.width * (size_t)s->grid.height;
}

int grid_has_equation(const grid_sample *s, size_t point) {
  return s->values[9 * point + 4] != 0;
}

int32_t grid_neighbour(const ts_grid_desc *grid, int32_t i, int32_t j, int k) {
  i += k % 3 - 1;
  j += k / 3 - 1;
  if (grid->periodic_x) i = (i + grid->width) % grid->width;
  if (grid->periodic_y) j = (j + grid->height) % grid->height;
  return i < 0 || i >= grid->width || j < 0 || j >= grid->height ? -1 : j * grid->width + i;
}

static grid_sample empty(int32_t width, int32_t height, int periodic_x, int periodic_y) {
  return (grid_sample){{.width = width, .height = height, .periodic_x = periodic_x, .periodic_y = periodic_y},
                       calloc(9 * (size_t)width * (size_t)height, sizeof(float))};
}

/* ---- Problems ---- */

/* Points on a side H. */
static int is_given(const grid_problem *p, int32_t i, int32_t j) {
  return (i == 0 && p->boundaries[0] == 'H') || (i == p->width - 1 && p->boundaries[1] == 'H') ||
         (j == 0 && p->boundaries[2] == 'H') || (j == p->height - 1 && p->boundaries[3] == 'H');
}

/* The flow from a point to its neighbour k for a difference of 1. */
static double conductance(const grid_problem *p, const ts_grid_desc *grid, int32_t i, int32_t j, int k) {
  const int32_t at = j * p->width + i, to = grid_neighbour(grid, i, j, k);
  const double own = p->k ? p->k[at] : 1;
  if (to < 0) {
    const char side = p->boundaries[k == 3 ? 0 : k == 5 ? 1 : k == 1 ? 2 : 3];
    return side == 'D' ? 2 * own : 0;
  }
  if (p->solid && p->solid[to]) return 0;
  const double other = p->k ? p->k[to] : 1;
  return 2 * own * other / (own + other);
}

grid_sample grid_poisson(const grid_problem *p) {
  static const int directions[] = {1, 3, 5, 7};
  grid_sample s = empty(p->width, p->height, p->boundaries[0] == 'P', p->boundaries[2] == 'P');
  for (int32_t j = 0; j < p->height; j++) {
    for (int32_t i = 0; i < p->width; i++) {
      const size_t at = (size_t)j * (size_t)p->width + (size_t)i;
      if (is_given(p, i, j) || (p->solid && p->solid[at])) continue;
      double centre = (double)p->sigma;
      for (int d = 0; d < 4; d++) {
        const double flow = conductance(p, &s.grid, i, j, directions[d]);
        centre += flow;
        if (grid_neighbour(&s.grid, i, j, directions[d]) >= 0)
          s.values[9 * at + (size_t)directions[d]] = (float)-flow;
      }
      s.values[9 * at + 4] = (float)centre;
    }
  }
  return s;
}

grid_sample grid_nine_point(int32_t width, int32_t height) {
  grid_sample s = empty(width, height, 0, 0);
  for (int32_t j = 0; j < height; j++)
    for (int32_t i = 0; i < width; i++)
      for (int k = 0; k < 9; k++)
        if (grid_neighbour(&s.grid, i, j, k) >= 0)
          s.values[9 * (size_t)(j * width + i) + (size_t)k] = k == 4 ? 8.0f / 3 : -1.0f / 3;
  return s;
}

grid_sample grid_random(const ts_grid_desc *grid, int corners, int constrained, uint64_t seed) {
  grid_sample s = empty(grid->width, grid->height, grid->periodic_x, grid->periodic_y);
  ref_random random = {seed};
  for (int32_t j = 0; j < grid->height; j++) {
    for (int32_t i = 0; i < grid->width; i++) {
      float *a = s.values + 9 * (size_t)(j * grid->width + i);
      if (constrained && ref_below(&random, constrained) == 0) continue;
      for (int k = 0; k < 9; k++) {
        const float value = ref_uniform(&random, -1, 1);
        if (grid_neighbour(grid, i, j, k) >= 0 && (corners || k % 2 == 1)) a[k] = value;
      }
      a[4] = ref_uniform(&random, 1, 3);
    }
  }
  return s;
}

/* ---- Coefficients and walls ---- */

float *grid_blob(int32_t width, int32_t height) {
  float *k = malloc((size_t)width * (size_t)height * sizeof *k);
  for (int32_t j = 0; j < height; j++)
    for (int32_t i = 0; i < width; i++) {
      const double x = (i + 0.5) / width - 0.45, y = (j + 0.5) / height - 0.55;
      k[(size_t)j * (size_t)width + (size_t)i] = x * x + y * y < 0.06 ? 1000 : 1;
    }
  return k;
}

float *grid_checkerboard(int32_t width, int32_t height) {
  float *k = malloc((size_t)width * (size_t)height * sizeof *k);
  for (int32_t j = 0; j < height; j++)
    for (int32_t i = 0; i < width; i++)
      k[(size_t)j * (size_t)width + (size_t)i] = (4 * i / width + 4 * j / height) % 2 ? 1000 : 1;
  return k;
}

unsigned char *grid_obstacles(int32_t width, int32_t height) {
  unsigned char *solid = calloc((size_t)width * (size_t)height, 1);
  for (int32_t j = 0; j < height; j++) {
    for (int32_t i = 0; i < width; i++) {
      const double x = (i + 0.5) / width, y = (j + 0.5) / height;
      const int wall = i == width / 3 && (y < 0.4 || y > 0.5);
      const int disk = (x - 0.7) * (x - 0.7) + (y - 0.3) * (y - 0.3) < 0.02;
      solid[(size_t)j * (size_t)width + (size_t)i] = wall || disk;
    }
  }
  return solid;
}

unsigned char *grid_rooms(int32_t width, int32_t height) {
  unsigned char *solid = calloc((size_t)width * (size_t)height, 1);
  for (int32_t j = 0; j < height; j++)
    for (int32_t i = 0; i < width; i++) solid[(size_t)j * (size_t)width + (size_t)i] = i % 6 == 5 || j % 5 == 4;
  return solid;
}

/* ---- Products ---- */

void grid_apply(const grid_sample *s, int components, const float *x, const float *low, double *y,
                double *magnitude) {
  const size_t n = (size_t)components;
  for (int32_t j = 0; j < s->grid.height; j++) {
    for (int32_t i = 0; i < s->grid.width; i++) {
      const size_t at = (size_t)j * (size_t)s->grid.width + (size_t)i;
      for (size_t c = 0; c < n; c++) {
        double sum = 0, size = 0;
        for (int k = 0; k < 9; k++) {
          const double a = (double)s->values[9 * at + (size_t)k];
          if (a == 0) continue;
          const size_t to = (size_t)grid_neighbour(&s->grid, i, j, k) * n + c;
          const double value = (double)x[to] + (low ? (double)low[to] : 0);
          sum += a * value;
          size += fabs(a * value);
        }
        y[at * n + c] = sum;
        if (magnitude) magnitude[at * n + c] = size;
      }
    }
  }
}

double grid_relative_residual(const grid_sample *s, const float *x, const float *b) {
  const size_t points = grid_points(s);
  double *y = malloc(points * sizeof *y), residual = 0, right = 0;
  grid_apply(s, 1, x, NULL, y, NULL);
  for (size_t p = 0; p < points; p++) {
    if (!grid_has_equation(s, p)) continue;
    const double value = (double)b[p], difference = value - y[p];
    residual += difference * difference;
    right += value * value;
  }
  free(y);
  return right > 0 ? sqrt(residual / right) : sqrt(residual);
}
