/* What the host finds in the values of a stencil before they go to a device. Host code only. */
#ifndef TSI_STENCIL_H
#define TSI_STENCIL_H

#include "grid.h"

enum {
  TSI_CENTRE = 4,    /* coefficient 3 (dj + 1) + (di + 1) of a point */
  TSI_MAX_PARTS = 8, /* null-space components whose means are taken out; others are grounded */
};

/* Points of a row that follow each other and are connected. */
typedef struct tsi_stencil_run {
  int32_t first, count; /* points */
  int32_t parent;       /* an earlier run of the same part; of the part's first run itself */
  int32_t size;         /* of the part's first run: the part's points, negative where it is not singular */
} tsi_stencil_run;

typedef struct tsi_stencil_facts {
  const float *values; /* as the device gets them: the user's, or own_values where points were grounded */
  float *own_values;
  int five_point;
  int32_t constrained;   /* points without equation */
  tsi_stencil_run *runs; /* all other points, in order */
  int32_t run_count;
  int part_count;
  int32_t part_first[TSI_MAX_PARTS], part_sizes[TSI_MAX_PARTS]; /* the first run, and points */
  int32_t grounded;
  double norm_infinity;
} tsi_stencil_facts;

/* The index of the neighbour in direction k of point (i, j), -1 beyond a boundary that is not periodic. */
static inline int32_t tsi_grid_neighbour(const tsi_grid *g, int32_t i, int32_t j, int k) {
  i += k % 3 - 1;
  j += k / 3 - 1;
  if (g->periodic_x) i = i < 0 ? g->width - 1 : i == g->width ? 0 : i;
  if (g->periodic_y) j = j < 0 ? g->height - 1 : j == g->height ? 0 : j;
  if (i < 0 || i >= g->width || j < 0 || j >= g->height) return -1;
  return j * g->width + i;
}

/* Fills `facts`, which the caller frees also on failure, and of `info` what depends on values. Refuses what is
 * not finite, points out of the grid, or stands at a point without equation. */
ts_status tsi_stencil_inspect(ts_context *context, const tsi_grid *grid, const float *values,
                              tsi_stencil_facts *facts, ts_matrix_info *info);
/* 1 for each point that has an equation, and for each of a null-space component; 0 for others. */
void tsi_stencil_fill_mask(const tsi_stencil_facts *facts, size_t points, float *mask);
void tsi_stencil_fill_part(const tsi_stencil_facts *facts, int part, size_t points, float *mask);
void tsi_stencil_facts_free(ts_context *context, tsi_stencil_facts *facts);

/* ---- Values in doubles (stencil_double.c) ---- */

extern const char *const tsi_stencil_directions[9];

/* The floats of a stencil in doubles, an array of their own that the caller frees. */
ts_status tsi_stencil_high_parts(ts_context *context, const tsi_grid *grid, const double *values, float **high);
/* Gives A the rests that `values` have beside the floats `high` (matrix->rest), for A->stencil; it has none. */
ts_status tsi_stencil_create_rests(ts_matrix *A, const double *values, const float *high);

/* Of a matrix that is being released. */
void tsi_stencil_destroy(ts_context *context, tsi_stencil *stencil);

#endif
