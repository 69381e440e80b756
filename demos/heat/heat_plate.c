#include "heat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int neighbour_x[4] = {0, -1, 1, 0}, neighbour_y[4] = {-1, 0, 0, 1};

/* The hole that contains a cell's centre if holes are enlarged by `margin` cells, or NULL. */
static const plate_hole *hole_at(const plate *p, int i, int j, float margin) {
  for (int k = 0; k < plate_holes; k++) {
    const plate_hole *hole = &p->holes[k];
    if (hypotf((float)i - hole->x, (float)j - hole->y) < hole->radius + margin) return hole;
  }
  return NULL;
}

/* The unknown of a cell; -1 in a hole and outside the plate. */
static int32_t unknown_at(const plate *p, int i, int j) {
  return i < 0 || j < 0 || i >= p->width || j >= p->height ? -1 : p->index[j * p->width + i];
}

static void hold(plate *p, int32_t unknown, float temperature) {
  p->held += !p->constrained[unknown];
  p->constrained[unknown] = 1;
  p->start[unknown] = temperature;
}

/* The top edge is hot and the other three are cold. The rim of a heated hole is hot. */
static void hold_boundaries(plate *p) {
  for (int j = 0; j < p->height; j++)
    for (int i = 0; i < p->width; i++) {
      const int32_t unknown = unknown_at(p, i, j);
      if (unknown < 0) continue;
      const plate_hole *rim = hole_at(p, i, j, 1);
      if (rim && rim->heated) hold(p, unknown, hottest);
      if (i == 0 || i == p->width - 1 || j == 0) hold(p, unknown, 0);
      if (j == p->height - 1) hold(p, unknown, hottest);
    }
}

static void fill_row(plate *p, int i, int j, int32_t *entries) {
  const int32_t unknown = unknown_at(p, i, j);
  int neighbours = 0;
  for (int k = 0; k < 4 && !p->constrained[unknown]; k++) {
    const int32_t other = unknown_at(p, i + neighbour_x[k], j + neighbour_y[k]);
    if (other < 0) continue;
    p->columns[*entries] = other;
    p->values[(*entries)++] = -1;
    neighbours++;
  }
  if (neighbours) {
    p->columns[*entries] = unknown;
    p->values[(*entries)++] = (float)neighbours;
  }
  p->row_offsets[unknown + 1] = *entries;
}

int plate_create(plate *p, int size) {
  const float scale = (float)size;
  memset(p, 0, sizeof *p);
  p->height = size;
  p->width = size * 3 / 2;
  p->holes[0] = (plate_hole){0.43f * scale, 0.40f * scale, 0.13f * scale, 1};
  p->holes[1] = (plate_hole){1.02f * scale, 0.56f * scale, 0.20f * scale, 0};
  const size_t cells = (size_t)p->width * (size_t)p->height;
  p->index = malloc(cells * sizeof *p->index);
  p->constrained = calloc(cells, sizeof *p->constrained);
  p->start = calloc(cells, sizeof *p->start);
  p->row_offsets = calloc(cells + 1, sizeof *p->row_offsets);
  p->columns = malloc(5 * cells * sizeof *p->columns);
  p->values = malloc(5 * cells * sizeof *p->values);
  if (!p->index || !p->constrained || !p->start || !p->row_offsets || !p->columns || !p->values) {
    plate_destroy(p);
    return -1;
  }
  for (int j = 0; j < p->height; j++)
    for (int i = 0; i < p->width; i++) p->index[j * p->width + i] = hole_at(p, i, j, 0) ? -1 : p->unknowns++;
  hold_boundaries(p);
  int32_t entries = 0;
  for (int j = 0; j < p->height; j++)
    for (int i = 0; i < p->width; i++)
      if (unknown_at(p, i, j) >= 0) fill_row(p, i, j, &entries);
  return 0;
}

void plate_destroy(plate *p) {
  free(p->index);
  free(p->constrained);
  free(p->start);
  free(p->row_offsets);
  free(p->columns);
  free(p->values);
  memset(p, 0, sizeof *p);
}

double plate_residual(const plate *p, const float *x) {
  double squares = 0;
  for (int32_t i = 0; i < p->unknowns; i++) {
    double r = 0;
    for (int32_t k = p->row_offsets[i]; k < p->row_offsets[i + 1]; k++)
      r -= (double)p->values[k] * (double)x[p->columns[k]];
    squares += r * r;
  }
  return sqrt(squares);
}
