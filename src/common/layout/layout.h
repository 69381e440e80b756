/* Storage of a matrix: computed on the host from its sparsity pattern and used unchanged by a backend. */
#ifndef TSI_LAYOUT_H
#define TSI_LAYOUT_H

#include "common/core/backend.h"

/* ---- Formats ----
 *
 * ROW(name, format): layout_NAME.c defines tsi_format_NAME. Each backend that stores the format defines
 * cpu_format_NAME or cuda_format_NAME, which builds the matrix from the packed arrays; OpenGL builds its
 * textures from tsi_format_NAME. If no format is requested, formats are compared in this order. */
#define TSI_FORMATS(ROW)                                                                                       \
  ROW(jagged, TS_FORMAT_JAGGED)                                                                                \
  ROW(csr, TS_FORMAT_CSR)                                                                                      \
  ROW(segments, TS_FORMAT_SEGMENTS)                                                                            \
  ROW(bcrs2, TS_FORMAT_BCRS2)                                                                                  \
  ROW(bcrs4, TS_FORMAT_BCRS4)

/* The formats that each backend stores. */
#define TSI_CPU_FORMATS(ROW)                                                                                   \
  ROW(csr, TS_FORMAT_CSR)                                                                                      \
  ROW(bcrs2, TS_FORMAT_BCRS2)                                                                                  \
  ROW(bcrs4, TS_FORMAT_BCRS4)
#define TSI_GL_FORMATS(ROW)                                                                                    \
  ROW(jagged, TS_FORMAT_JAGGED)                                                                                \
  ROW(segments, TS_FORMAT_SEGMENTS)                                                                            \
  ROW(bcrs2, TS_FORMAT_BCRS2)                                                                                  \
  ROW(bcrs4, TS_FORMAT_BCRS4)
#define TSI_CUDA_FORMATS(ROW)                                                                                  \
  ROW(jagged, TS_FORMAT_JAGGED)                                                                                \
  ROW(csr, TS_FORMAT_CSR)                                                                                      \
  ROW(segments, TS_FORMAT_SEGMENTS)                                                                            \
  ROW(bcrs2, TS_FORMAT_BCRS2)                                                                                  \
  ROW(bcrs4, TS_FORMAT_BCRS4)

#define TSI_FORMAT_BIT(name, format) | 1u << format

typedef struct tsi_layout_input tsi_layout_input; /* layout_build.h */
typedef struct tsi_estimate tsi_estimate;         /* layout_build.h */

typedef void (*tsi_entry_visitor)(void *user, int32_t row, int32_t column, float value);
typedef void (*tsi_range_visitor)(void *user, int32_t first, int32_t end); /* of entries */

typedef struct tsi_format {
  ts_format format;
  int log2_block; /* of n, if entries are stored in n x n blocks; otherwise 0 */
  int no_meshes;  /* the format cannot hold the matrix of a mesh */
  /* In textures: */
  int runs;           /* the entries of a row are neighbours, and a texture holds the start of each row */
  int pairs;          /* value and pointer share a texel; otherwise each has its own texture */
  const char *shader; /* shaders/matrix/spmv_SHADER.frag */
  /* Computes the layout of a matrix. On entry, info->stored_entries is the number of its entries. */
  ts_status (*create)(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                      ts_matrix_info *info);
  /* Fills the arrays of tsi_packed that the format uses; on failure the caller frees them. */
  ts_status (*pack)(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                    tsi_packed *packed);
  /* The inverse of `pack`: calls `visit` for every stored entry, always in the same order. Uses only the row
   * and column counts of input->csr. */
  ts_status (*unpack)(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                      const tsi_packed *packed, tsi_entry_visitor visit, void *user);
  /* In linear spaces: the index in packed->values of each CSR entry. NULL: CSR order. */
  void (*places)(const tsi_layout *layout, const tsi_layout_input *input, int32_t *places);
  /* `suits` returns whether the format is a candidate for a matrix; NULL: always. `estimate` computes the reads
   * of a product; NULL: the format is used only on request. */
  int (*suits)(const ts_context *context, const tsi_host_csr *csr, int blocks);
  void (*estimate)(const ts_context *context, const tsi_host_csr *csr, int blocks, tsi_estimate *estimate);
  /* Call `visit` for the rows that `estimate` inspects, and for the entries whose columns it inspects without
   * their rows. csr has sizes and row_offsets[rows]. NULL: none. */
  void (*sampled_rows)(const tsi_host_csr *csr, tsi_range_visitor visit, void *user);
  void (*sampled_entries)(const tsi_host_csr *csr, tsi_range_visitor visit, void *user);
} tsi_format;

#define TSI_FORMAT_ROW(name, format) extern const tsi_format tsi_format_##name;
TSI_FORMATS(TSI_FORMAT_ROW)
#undef TSI_FORMAT_ROW

/* NULL for TS_FORMAT_AUTO and stencils. */
const tsi_format *tsi_format_of(ts_format format);

/* log2 of n for formats of n x n blocks, otherwise 0. */
int tsi_format_log2_block(ts_format format);

/* A matrix in canonical CSR: columns ascend in every row, entries are unique, and constrained rows are empty.
 * If the values were given as doubles, each is the sum of values, low[0] and low[1]. Each term is the
 * rounded remainder of the terms before it. */
struct tsi_host_csr {
  int32_t rows, columns;
  int32_t *row_offsets, *column_indices;
  float *values;   /* NULL: all 0 */
  float *low[2];   /* NULL: all 0; always owned by the library */
  int owned;       /* the library owns all arrays, */
  int owns_values; /* or at least the values */
  int outlasts;    /* row_offsets and column_indices belong to the application and outlast the matrix */
  int32_t longest; /* entries of the longest row; 0: not counted */
};

/* One rectangle of the row space. All its rows have the same number of entries, stored in a block of texels
 * (length + spill) times as wide as the rectangle and as high. If i is the texel of a row inside the rectangle,
 * entry k of the row is at
 *
 * - jagged: (x + k w + i.x, y + i.y)
 * - segments: (x + i.x (length + spill) + k, y + i.y) */
typedef struct tsi_rectangle {
  int32_t length; /* off-diagonal entries per row, padding included */
  int32_t spill;  /* 1: one additional entry points to the partial sum of a split row */
  int32_t x, y;
} tsi_rectangle;

/* One pass that sums pieces of split rows. Sum t reads the `length` entries t, t + count, t + 2 count, ... The
 * entries are numbered row by row in a texture of `width` (a power of two). The sum is written to texel t of a
 * texture of the same width. Entries of the first stage point into x, those of a later stage into the previous
 * stage. */
typedef struct tsi_stage {
  int32_t count; /* sums; the last one is the zero that padding points to */
  int32_t length;
  int32_t log2_width;     /* of the entries texture */
  int32_t height;         /* of the entries texture */
  int32_t log2_sum_width; /* of the texture of sums */
  int32_t sum_height;
} tsi_stage;

#define TSI_MAX_STAGES 5

/* The pattern of a matrix in compressed rows of n x n blocks. Block row I holds blocks offsets[I] ..
 * offsets[I+1]-1 in ascending order of their block columns. If n does not divide the rows or columns of the
 * matrix, the last blocks extend past them with zeros. */
typedef struct tsi_blocks {
  int32_t log2_size;  /* of n: 1 or 2; 0: no blocks */
  int32_t block_rows; /* ceil(rows / n) */
  int32_t *offsets;   /* block_rows + 1 */
  int32_t *columns;   /* of each block */
} tsi_blocks;

/* ---- Linear spaces ---- */

/* The share of one block of threads in a product: consecutive entries. Its first row may begin in an earlier
 * row block, and its last may continue in a later one. Each of these row blocks then has one piece of the
 * row. */
typedef struct tsi_row_block {
  int32_t row;           /* the first row with entries here, or an empty row */
  int32_t rows;          /* rows that end here, from `row` on */
  int32_t first, end;    /* entries */
  int32_t filled;        /* nonempty rows among these */
  int32_t pieces_before; /* pieces of `row` in preceding row blocks, if it ends here */
  int32_t piece, pieces; /* of row + rows, if it continues: piece `piece` of `pieces`; otherwise 0 of 1 */
} tsi_row_block;

enum {
  TSI_ROW_BLOCK_ENTRIES =
      1024,                /* maximum, counted from the multiple of TSI_ROW_BLOCK_STEPS at or before `first` */
  TSI_ROW_BLOCK_STEPS = 8, /* entries per thread */
  TSI_WARP_ENTRIES = 32 * TSI_ROW_BLOCK_STEPS,
  TSI_ROW_BLOCK_SLACK = 128, /* a row block may be shorter by this if it then ends with a row */
  TSI_ROW_BLOCK_ROWS = 512,
  TSI_PIECE_ENTRIES = 1024 /* of a long row of jagged; its row blocks have no other rows */
};

/* csr: how threads share the rows. */
typedef struct tsi_row_plan {
  int log2_subwarp;        /* without row blocks: 1 << log2_subwarp neighbouring threads per row */
  int32_t row_block_count; /* 0: no row blocks */
  tsi_row_block *row_blocks;
  /* With row blocks: one number per TSI_ROW_BLOCK_STEPS entries. Bit k is set if a row ends with the k-th of
   * these entries. Bits 8 and above count the rows that end earlier in the same warp's TSI_WARP_ENTRIES. If the
   * entries belong to two row blocks, the warp of the first one counts. */
  uint16_t *ends;
} tsi_row_plan;

enum {
  TSI_SLICE_ROWS = 32,
  TSI_WINDOW_ROWS = 256, /* rows are sorted inside windows of this size */
  TSI_SLICE_LONGEST = 254,
  TSI_NOT_IN_SLICE = 255
};

/* jagged: 32 rows with their k-th entries side by side, those of k = 0 first. Within one k, entries follow the
 * row order of the slice. If only a few rows lack some k-th entry, the slice is padded with the value 0. Entry
 * k of a row is then number 32 k + its place in the slice. Otherwise the slice is not padded. A column is
 * stored as its difference from the smallest column of its k, in the fewest bytes that suffice for the whole
 * slice. The entries, columns and bases of a slice begin at multiples of 16 bytes. */

typedef struct tsi_slice {
  uint32_t first;       /* index of the first entry */
  uint32_t first_word;  /* index of the first column word, 4 bytes each */
  uint32_t first_base;  /* index of the base of k = 0; unused if column_bytes is 4 */
  uint16_t longest;     /* entries of its longest row */
  uint8_t column_bytes; /* 1, 2 or 4 */
  uint8_t padded;       /* each k of each row has a place */
} tsi_slice;

typedef struct tsi_slices {
  int32_t count;
  tsi_slice *slices;
  uint8_t *lengths; /* of the 32 rows of each slice; TSI_NOT_IN_SLICE: a long row, or past the last row */
  uint8_t *order;   /* the rows of each slice, relative to the first row of their window; NULL: natural order */
  uint32_t entries, words, bases; /* of all slices, padding included */
  /* Long rows: their entries follow those of the slices, row by row, with plain columns. */
  int32_t long_entries, row_block_count;
  tsi_row_block *row_blocks;
} tsi_slices;

struct tsi_layout {
  ts_format format;
  int runs;                  /* as in tsi_format */
  tsi_row_plan plan;         /* csr, if the backend requests it */
  tsi_slices slices;         /* jagged in linear spaces */
  int32_t width, height;     /* of the texture of entries */
  tsi_rectangle *rectangles; /* one per free rectangle of the row tiling */
  int32_t stage_count;
  tsi_stage stages[TSI_MAX_STAGES];
  tsi_blocks blocks; /* bcrs2, bcrs4: an entry above is then a block, and a row is a block row */
};

/* An entry with its pointer: the texel of x_j as x | y << 16, relative to the vector. A vector may be a region
 * of a larger texture: shaders add its packed origin, and the sum cannot carry from x to y. Padding has the
 * value 0 and points to the zero texel, so an infinity in x does not cause a NaN through padding. */
typedef struct tsi_entry {
  float value;
  uint32_t pointer;
} tsi_entry;

/* The arrays to upload, in texel order. Only the arrays of the format are set.
 *
 * A 2 x 2 block is one texel, in row-major order. A 4 x 4 block is four texels, one per column. Each of the
 * four is in its own slab of the rectangle's shape, and the four slabs are side by side. In the first stage of
 * split rows the four texels themselves are side by side. */
struct tsi_packed {
  float *diagonal;    /* in the row space's texture; NULL without has_diagonal */
  tsi_entry *entries; /* jagged */
  float *values;      /* segments; also jagged in linear spaces: of slices, then of long rows */
  uint32_t *pointers; /* segments */
  uint32_t *starts;   /* segments: the start of each row as a pointer, in the texture of the row space */
  uint32_t *words;    /* jagged in linear spaces: columns of slices */
  int32_t *bases;     /* the smallest column of each k */
  int32_t *long_columns;
  tsi_entry *stages[TSI_MAX_STAGES];
  const tsi_host_csr *csr; /* csr */
  /* csr instead: arrays that are already on the device, and the part of their values to use (core/array.h). */
  const tsi_given *given;
  int given_part;
  /* bcrs2, bcrs4. In a linear space: the blocks of layout->blocks, n x n numbers each, in row-major order.
   * Otherwise these arrays are in texels, with pointers and stages as above. The values of the first stage are
   * then in stage_blocks. */
  float *block_values;
  float *block_diagonal;
  float *stage_blocks;
};

#endif
