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

/* A rectangle of texels of the row space's texture whose rows all take the same number of entries: one quad
 * to draw. With i the texel of a row, r = rectangle of i - first_rectangle:
 *   jagged    entry k is at ((r mod per_row) (length + spill) w + k w + i.x mod w, base + (r div per_row) h + i.y mod h)
 *   segments  entry k is at number start(i) + k, start from the indirection texture */
typedef struct tsi_strip {
  int32_t x0, y0, x1, y1; /* texels, exclusive end */
  int32_t first_rectangle;
  int32_t length;         /* off-diagonal entries per row, padding included */
  int32_t spill;          /* 1: the entry after the last points to a partial sum of a split row */
  int32_t per_row, base;  /* jagged */
  int32_t zero;           /* 1: no equations here, the result is 0 */
} tsi_strip;

/* One pass that adds up pieces of split rows. Sum t reads entries t, t + count, t + 2 count, ... , `length` of
 * them, numbered row by row in a texture `width` wide (a power of two), and is written to texel t of a texture
 * as wide. Entries of the first stage point into x, those of later stages into the stage before. */
typedef struct tsi_stage {
  int32_t count;          /* sums, the last of which is the zero that padding points to */
  int32_t length;
  int32_t log2_width;     /* of the entries texture */
  int32_t height;         /* of the entries texture */
  int32_t log2_sum_width; /* of the texture of sums */
  int32_t sum_height;
} tsi_stage;

#define TSI_MAX_STAGES 6

struct tsi_layout {
  ts_format format;
  int32_t width, height;  /* of the texture of entries; segments: width is a power of two */
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
  float *diagonal;          /* in the row space's texture; NULL without has_diagonal */
  tsi_entry *entries;       /* jagged */
  float *values;            /* segments */
  uint32_t *pointers;       /* segments */
  uint32_t *starts;         /* segments: in the row space's texture, the number of a row's first entry */
  tsi_entry *stages[TSI_MAX_STAGES];
  const tsi_host_csr *csr;  /* csr */
};

#endif
