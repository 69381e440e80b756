/* Multigrid levels on the CPU, stored by parity. The points of a field with equal parity (i mod 2, j mod 2)
 * form a separate array, so that a loop over one parity visits contiguous floats.
 *
 * Point (i, j) of parity c = (i & 1) + 2 (j & 1) is element (i >> 1, j >> 1) of array c. Each array has a
 * border of one element on every side. The border is 0, or a copy at a periodic boundary. There, fine column -1
 * is column w - 1 and column w is column 0, for any parity. Elements without a point are 0. */
#ifndef CPU_LEVEL_H
#define CPU_LEVEL_H

#include "cpu_grid.h"

/* Four arrays of the same geometry. */
typedef struct cpu_parities {
  float *of[4]; /* element (0, 0) of each, or NULL */
  float *block;
} cpu_parities;

/* The directions in the storage order of coefficients: di + 1 + 3 (dj + 1). */
enum { CPU_SW, CPU_S, CPU_SE, CPU_W, CPU_C, CPU_E, CPU_NW, CPU_N, CPU_NE, CPU_DIRECTIONS };

/* Interpolation weights of points that are not coarse, by the direction of the coarse point. Horizontal and
 * vertical weights belong to parities 1 and 2, the four diagonal ones to parity 3. */
typedef struct cpu_weights {
  float *to[CPU_DIRECTIONS]; /* element (0, 0); NULL for C */
  float *block;
  size_t bytes;
} cpu_weights;

typedef struct cpu_level {
  int32_t width, height; /* of the grid */
  int32_t columns, rows; /* of an array: (width + 1) / 2, (height + 1) / 2 */
  int32_t stride;        /* floats between rows */
  size_t size;           /* of an array, including its border */
  cpu_parities coefficients[CPU_DIRECTIONS];
  cpu_parities inverse; /* 1 / centre, or 0 at points without an equation */
  cpu_parities x, b, r; /* r: the residual, or the next x */
  cpu_parities d;       /* for Chebyshev, allocated on demand */
  cpu_weights weights;  /* from the coarser level; not allocated if bilinear */
  float *dense;         /* the inverse of the coarsest matrix */
  size_t bytes;
} cpu_level;

static inline cpu_level *cpu_level_of(const tsi_level *level) {
  return level->impl;
}

/* The element of point (i, j), which may be one point outside the grid. */
static inline float *cpu_level_at(const cpu_level *l, const cpu_parities *p, int32_t i, int32_t j) {
  return p->of[(i & 1) + 2 * (j & 1)] + (ptrdiff_t)(j >> 1) * l->stride + (i >> 1);
}

ts_status cpu_parities_create(ts_context *context, cpu_level *l, cpu_parities *p, const char *what);
/* Update the copies at periodic boundaries: columns in rows j of one parity, or all columns and rows. */
void cpu_sync_columns(const tsi_level *level, const cpu_parities *p, int32_t j);
void cpu_sync(const tsi_level *level, const cpu_parities *p);

/* Maximum number of points in a piece. Loop bodies run over points [first, last) of a grid row in pieces. */
enum { CPU_PIECE = 256 };

/* Copies grid points (first, j) to (first + count - 1, j) in natural order. */
void cpu_level_row(const cpu_level *l, const cpu_parities *p, int32_t j, int32_t first, int32_t count,
                   float *values);

/* Computes the weights from the coarser level, based on this level's stencil. */
ts_status cpu_weights_create(tsi_level *level);
void cpu_weights_drop_if_bilinear(tsi_level *level);

#endif
