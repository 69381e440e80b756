/* Facts about the values of a stencil, found on the host before they are copied to a device. Host code only. */
#ifndef TSI_STENCIL_H
#define TSI_STENCIL_H

#include "grid.h"

enum {
  TSI_CENTRE = 4,    /* coefficient k of a point is 3 (dj + 1) + (di + 1) */
  TSI_MAX_PARTS = 8, /* null-space components with their means removed; others are grounded */
};

/* Consecutive connected points of a row. */
typedef struct tsi_stencil_run {
  int32_t first, count; /* points */
  int32_t parent;       /* an earlier run of the same part; the first run has itself */
  int32_t size;         /* in the part's first run: points of the part, negative if it is not singular */
} tsi_stencil_run;

typedef struct tsi_stencil_facts {
  const float *values; /* as the device gets them: the user's, or own_values if points were grounded */
  float *own_values;
  int five_point;
  int32_t constrained;   /* points without an equation */
  tsi_stencil_run *runs; /* all other points, in order */
  int32_t run_count;
  int part_count;
  int32_t part_first[TSI_MAX_PARTS], part_sizes[TSI_MAX_PARTS]; /* the first run, and points */
  int32_t grounded;
  double norm_infinity;
} tsi_stencil_facts;

/* The index of the neighbour in direction k of point (i, j); -1 beyond a boundary that is not periodic. */
static inline int32_t tsi_grid_neighbour(const tsi_grid *g, int32_t i, int32_t j, int k) {
  i += k % 3 - 1;
  j += k / 3 - 1;
  if (g->periodic_x) i = i < 0 ? g->width - 1 : i == g->width ? 0 : i;
  if (g->periodic_y) j = j < 0 ? g->height - 1 : j == g->height ? 0 : j;
  if (i < 0 || i >= g->width || j < 0 || j >= g->height) return -1;
  return j * g->width + i;
}

/* Fills `facts`, which the caller frees also on failure, and the fields of `info` that depend on values.
 * Rejects coefficients that are not finite, that lead out of the grid, or that belong to a point without an
 * equation. */
ts_status tsi_stencil_inspect(ts_context *context, const tsi_grid *grid, const float *values,
                              tsi_stencil_facts *facts, ts_matrix_info *info);
/* Fills the mask with 1 at points with an equation, or in a null-space component; 0 elsewhere. */
void tsi_stencil_fill_mask(const tsi_stencil_facts *facts, size_t points, float *mask);
void tsi_stencil_fill_part(const tsi_stencil_facts *facts, int part, size_t points, float *mask);
void tsi_stencil_facts_free(ts_context *context, tsi_stencil_facts *facts);

/* ---- Values in doubles (stencil_double.c) ---- */

extern const char *const tsi_stencil_directions[9];

/* Rounds a stencil in doubles to floats, in a new array that the caller frees. */
ts_status tsi_stencil_high_parts(ts_context *context, const tsi_grid *grid, const double *values, float **high);
/* Creates the low-order parts (matrix->low) of A, which has none: the remainders of `values` after the floats
 * `high`. A->stencil must be set. */
ts_status tsi_stencil_create_low_parts(ts_matrix *A, const double *values, const float *high);

/* Destroys the stencil of a matrix that is being released. */
void tsi_stencil_destroy(ts_context *context, tsi_stencil *stencil);

#endif
