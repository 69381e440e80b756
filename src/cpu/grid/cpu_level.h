/* The levels of multigrid on the CPU, stored by parities: of a field, the points of each parity (i mod 2, j mod
 * 2) are an array of their own, so that a loop over one of them runs over neighbouring floats.
 *
 * Point (i, j) of parity c = (i & 1) + 2 (j & 1) is element (i >> 1, j >> 1) of array c. Each array has a
 * border of one element on every side, 0 or, at a periodic boundary, a copy: fine column -1 is column w - 1,
 * column w is column 0, whatever their parity. Elements that no point has are 0. */
#ifndef CPU_LEVEL_H
#define CPU_LEVEL_H

#include "cpu_grid.h"

/* Four arrays of one geometry. */
typedef struct cpu_parities {
  float *of[4]; /* element (0, 0) of each, NULL if there is none */
  float *block;
} cpu_parities;

/* The directions of a stencil's coefficients as they are stored, di + 1 + 3 (dj + 1). */
enum { CPU_SW, CPU_S, CPU_SE, CPU_W, CPU_C, CPU_E, CPU_NW, CPU_N, CPU_NE, CPU_DIRECTIONS };

/* Interpolation weights of points that are not coarse, by the direction of the coarse point. Horizontal and
 * vertical ones belong to parities 1 and 2, the four diagonal ones to parity 3. */
typedef struct cpu_weights {
  float *to[CPU_DIRECTIONS]; /* element (0, 0); NULL for C */
  float *block;
  size_t bytes;
} cpu_weights;

typedef struct cpu_level {
  int32_t width, height; /* of the grid */
  int32_t columns, rows; /* of an array: (width + 1) / 2, (height + 1) / 2 */
  int32_t stride;        /* floats from row to row */
  size_t size;           /* of an array with its border */
  cpu_parities coefficients[CPU_DIRECTIONS];
  cpu_parities inverse; /* 1 / centre, 0 at points without equation */
  cpu_parities x, b, r; /* r: residual, or the next x */
  cpu_parities d;       /* Chebyshev's, made when it is needed */
  cpu_weights weights;  /* from the coarser level; no block where they are bilinear */
  float *dense;         /* the inverse of the coarsest matrix */
  size_t bytes;
} cpu_level;

static inline cpu_level *cpu_level_of(const tsi_level *level) {
  return level->impl;
}

/* The element of point (i, j), which may lie one outside of the grid. */
static inline float *cpu_level_at(const cpu_level *l, const cpu_parities *p, int32_t i, int32_t j) {
  return p->of[(i & 1) + 2 * (j & 1)] + (ptrdiff_t)(j >> 1) * l->stride + (i >> 1);
}

ts_status cpu_parities_create(ts_context *context, cpu_level *l, cpu_parities *p, const char *what);
/* Copies at periodic boundaries: columns of the rows j of one parity, or columns and rows of all. */
void cpu_sync_columns(const tsi_level *level, const cpu_parities *p, int32_t j);
void cpu_sync(const tsi_level *level, const cpu_parities *p);

/* The bodies of loops run over points [first, last) of grid rows in pieces of this many. */
enum { CPU_PIECE = 256 };

/* Grid points (first, j) to (first + count - 1, j) in their natural order. */
void cpu_level_row(const cpu_level *l, const cpu_parities *p, int32_t j, int32_t first, int32_t count,
                   float *values);

/* The weights from the coarser level, from the stencil of this one. */
ts_status cpu_weights_create(tsi_level *level);
void cpu_weights_drop_if_bilinear(tsi_level *level);

#endif
