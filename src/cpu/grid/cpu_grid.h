/* Stencils and multigrid levels on the CPU. */
#ifndef CPU_GRID_H
#define CPU_GRID_H

#include "common/grid/grid.h"
#include "cpu/core/cpu.h"

/* ---- Stencils (cpu_stencil.c) ---- */

/* The directions in the storage order of coefficients: centre, west, east, south, north, then south-west,
 * south-east, north-west, north-east. */
extern const int cpu_direction_x[9], cpu_direction_y[9];

/* The index of a direction among the nine values of a point in the public order. */
static inline int cpu_value_index(int direction) {
  return 3 * (cpu_direction_y[direction] + 1) + cpu_direction_x[direction] + 1;
}

/* The index of point (i, j), which is at most one point beyond the grid. Returns -1 beyond a boundary that is
 * not periodic. */
static inline int32_t cpu_grid_point(const tsi_grid *g, int32_t i, int32_t j) {
  if (g->periodic_x) i = i < 0 ? g->width - 1 : i == g->width ? 0 : i;
  if (g->periodic_y) j = j < 0 ? g->height - 1 : j == g->height ? 0 : j;
  return i < 0 || i >= g->width || j < 0 || j >= g->height ? -1 : j * g->width + i;
}

typedef struct cpu_stencil {
  float *planes;  /* coefficient k of point p is planes[k * points + p] */
  int directions; /* 9, or the first 5 without corner coefficients */
  size_t bytes;
} cpu_stencil;

extern const tsi_matrix_kind cpu_stencil_kind;
TSI_GRID_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, TSI_PROTOTYPE, cpu_)

#endif
