/* What the host finds in the values of a stencil before they go to a device. Host code only. */
#ifndef TSI_STENCIL_H
#define TSI_STENCIL_H

#include "grid.h"

enum {
  TSI_CENTRE = 4,    /* coefficient 3 (dj + 1) + (di + 1) of a point */
  TSI_MAX_PARTS = 8, /* singular parts whose means are taken out; others are pinned */
};

typedef struct tsi_stencil_facts {
  const float *values; /* as the device gets them: the user's, or own_values where points were pinned */
  float *own_values;
  int five_point;
  float *mask;     /* NULL: every point has an equation */
  int32_t holes;   /* points without one */
  int32_t *labels; /* NULL without singular parts; else the first point of the part that a point belongs to */
  int part_count;
  int32_t part_first[TSI_MAX_PARTS], part_sizes[TSI_MAX_PARTS];
  int32_t pinned;
  double norm_infinity;
} tsi_stencil_facts;

/* The index of the neighbour in direction k of point (i, j), -1 beyond a side that is not periodic. */
static inline int32_t tsi_grid_neighbour(const tsi_grid *g, int32_t i, int32_t j, int k) {
  i += k % 3 - 1;
  j += k / 3 - 1;
  if (g->periodic_x) i = i < 0 ? g->width - 1 : i == g->width ? 0 : i;
  if (g->periodic_y) j = j < 0 ? g->height - 1 : j == g->height ? 0 : j;
  if (i < 0 || i >= g->width || j < 0 || j >= g->height) return -1;
  return j * g->width + i;
}

/* Finite, nothing points out of the grid, nothing is left at points without equation. */
ts_status tsi_stencil_validate(ts_context *context, const tsi_grid *grid, const float *values);
/* Fills `facts`, which the caller frees also on failure, and of `info` what depends on values. */
ts_status tsi_stencil_inspect(ts_context *context, const tsi_grid *grid, const float *values,
                              tsi_stencil_facts *facts, ts_matrix_info *info);
/* stencil_parts.c: the singular parts, their labels, and values without the equations that were dropped. */
ts_status tsi_stencil_find_parts(ts_context *context, const tsi_grid *grid, tsi_stencil_facts *facts);
void tsi_stencil_facts_free(ts_context *context, tsi_stencil_facts *facts);

/* Of a matrix that is being released. */
void tsi_stencil_destroy(ts_context *context, tsi_stencil *stencil);

#endif
