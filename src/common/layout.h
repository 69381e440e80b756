/* How a matrix is stored: computed on the host from its sparsity pattern, used by a backend as it stands. */
#ifndef TSI_LAYOUT_H
#define TSI_LAYOUT_H

#include "ops.h"

/* A matrix in canonical CSR: columns ascending in every row, no duplicates, locked rows empty. `owned` tells
 * whether the arrays are ours. */
typedef struct tsi_host_csr {
  int32_t rows, columns;
  int32_t *row_offsets, *column_indices;
  float *values; /* NULL: all 0 */
  int owned;
} tsi_host_csr;

/* One rectangle of the row space: all its rows take the same number of entries. With i the texel of a row
 * inside the rectangle and n its number there, entry k of the row is
 *   jagged    at texel (x + k w + i.x, y + i.y)
 *   segments  at number start + n (length + spill) + k, counted row by row */
typedef struct tsi_rectangle {
  int32_t length; /* off-diagonal entries a row, padding included */
  int32_t spill;  /* 1: one more entry points to the partial sum of a split row */
  int32_t x, y;   /* jagged */
  uint32_t start; /* segments */
} tsi_rectangle;

/* A run of rectangles of one length that makes one quad to draw, so that few vertices are needed and little is
 * shaded twice along diagonals. With r the rectangle's number less first_rectangle, its slabs begin at
 *   (base_x + (r mod per_row) (length + spill) w, base_y + (r div per_row) h) */
typedef struct tsi_strip {
  int32_t x0, y0, x1, y1; /* texels, exclusive end */
  int32_t first_rectangle;
  int32_t length, spill;
  int32_t per_row, base_x, base_y; /* jagged */
  int32_t zero;                    /* 1: no equations here, the result is 0 */
} tsi_strip;

/* One pass that adds up pieces of split rows. Sum t reads entries t, t + count, t + 2 count, ... , `length` of
 * them, numbered row by row in a texture `width` wide (a power of two), and is written to texel t of a texture
 * as wide. Entries of the first stage point into x, those of later stages into the stage before. */
typedef struct tsi_stage {
  int32_t count; /* sums, the last of which is the zero that padding points to */
  int32_t length;
  int32_t log2_width;     /* of the entries texture */
  int32_t height;         /* of the entries texture */
  int32_t log2_sum_width; /* of the texture of sums */
  int32_t sum_height;
} tsi_stage;

#define TSI_MAX_STAGES 5

struct tsi_layout {
  ts_format format;
  int32_t width, height;     /* of the texture of entries; segments: width is a power of two */
  tsi_rectangle *rectangles; /* as many as the row tiling has free ones */
  int32_t strip_count;
  tsi_strip *strips;
  int32_t stage_count;
  tsi_stage stages[TSI_MAX_STAGES];
};

/* An entry with its pointer: the texel of x_j as x | y << 16. */
typedef struct tsi_entry {
  float value;
  uint32_t pointer;
} tsi_entry;

/* What is uploaded, in texel order. Only the arrays of the format are set. */
struct tsi_packed {
  float *diagonal;    /* in the row space's texture; NULL without has_diagonal */
  tsi_entry *entries; /* jagged */
  float *values;      /* segments */
  uint32_t *pointers; /* segments */
  uint32_t *starts;   /* segments: in the row space's texture, the number of a row's first entry */
  tsi_entry *stages[TSI_MAX_STAGES];
  const tsi_host_csr *csr; /* csr */
};

#endif
