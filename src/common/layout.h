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

/* One rectangle of the row space: all its rows take the same number of entries, which lie in a block of texels
 * (length + spill) times as wide as the rectangle and as high. With i the texel of a row inside the rectangle,
 * entry k of the row is at jagged    (x + k w + i.x, y + i.y) segments  (x + i.x (length + spill) + k, y + i.y)
 */
typedef struct tsi_rectangle {
  int32_t length; /* off-diagonal entries a row, padding included */
  int32_t spill;  /* 1: one more entry points to the partial sum of a split row */
  int32_t x, y;
} tsi_rectangle;

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

/* The pattern of a matrix in compressed rows of n x n blocks: block row I holds blocks offsets[I] ..
 * offsets[I+1]-1, their block columns ascending. Where n does not divide the matrix's rows or columns, the last
 * blocks reach beyond them with zeros. */
typedef struct tsi_blocks {
  int32_t log2_size;  /* of n: 1 or 2; 0: no blocks */
  int32_t block_rows; /* ceil(rows / n) */
  int32_t *offsets;   /* block_rows + 1 */
  int32_t *columns;   /* of each block */
} tsi_blocks;

struct tsi_layout {
  ts_format format;
  int32_t width, height;     /* of the texture of entries */
  tsi_rectangle *rectangles; /* as many as the row tiling has free ones */
  int32_t stage_count;
  tsi_stage stages[TSI_MAX_STAGES];
  tsi_blocks blocks; /* bcrs2, bcrs4 */
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
  uint32_t *starts;   /* segments: in the row space's texture, where a row begins, as a pointer */
  tsi_entry *stages[TSI_MAX_STAGES];
  const tsi_host_csr *csr; /* csr */
  float *block_values;     /* bcrs2, bcrs4 in a linear space: of layout->blocks, n x n a block, row by row */
};

#endif
