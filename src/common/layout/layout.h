/* How a matrix is stored: computed on the host from its sparsity pattern, used by a backend as it stands. */
#ifndef TSI_LAYOUT_H
#define TSI_LAYOUT_H

#include "common/core/backend.h"

/* ---- Formats ----
 *
 * ROW(name, format): the format has a layout_NAME.c here with tsi_format_NAME, and in each backend that stores
 * it what turns the packed arrays into a matrix: cpu_format_NAME, cuda_format_NAME; OpenGL's textures come from
 * tsi_format_NAME. Formats are compared in this order where none is asked for. */
#define TSI_FORMATS(ROW)                                                                                       \
  ROW(jagged, TS_FORMAT_JAGGED)                                                                                \
  ROW(csr, TS_FORMAT_CSR)                                                                                      \
  ROW(segments, TS_FORMAT_SEGMENTS)                                                                            \
  ROW(bcrs2, TS_FORMAT_BCRS2)                                                                                  \
  ROW(bcrs4, TS_FORMAT_BCRS4)

/* Those that a backend stores. */
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
typedef struct tsi_estimate tsi_estimate;         /* the same */

typedef void (*tsi_entry_visitor)(void *user, int32_t row, int32_t column, float value);
typedef void (*tsi_range_visitor)(void *user, int32_t first, int32_t end); /* of entries */

typedef struct tsi_format {
  ts_format format;
  int log2_block; /* of n, where entries are stored in n x n blocks */
  int no_meshes;  /* meshes have no matrix in it */
  /* In textures. */
  int runs;           /* entries of a row are neighbours, and a texture tells where each row begins */
  int pairs;          /* value and pointer are one texel, else each is in a texture of its own */
  const char *shader; /* shaders/matrix/spmv_SHADER.frag */
  /* The layout of a matrix; info->stored_entries is its entries before. */
  ts_status (*create)(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                      ts_matrix_info *info);
  /* The arrays of tsi_packed that the format has; on failure the caller frees them. */
  ts_status (*pack)(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                    tsi_packed *packed);
  /* Back from those arrays: calls `visit` for every entry that is stored, always in the same order. Of
   * input->csr rows and columns count. */
  ts_status (*unpack)(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                      const tsi_packed *packed, tsi_entry_visitor visit, void *user);
  /* In linear spaces: where the value of each CSR entry is among packed->values. NULL: in the order of CSR. */
  void (*places)(const tsi_layout *layout, const tsi_layout_input *input, int32_t *places);
  /* Whether the format is compared with others for a matrix, NULL: always; and what a product reads. `estimate`
   * is NULL where the format is taken only if it is asked for. */
  int (*suits)(const ts_context *context, const tsi_host_csr *csr, int blocks);
  void (*estimate)(const ts_context *context, const tsi_host_csr *csr, int blocks, tsi_estimate *estimate);
  /* Calls `visit` for the columns that `estimate` looks at; csr has offsets only. NULL: at none. */
  void (*samples)(const tsi_host_csr *csr, tsi_range_visitor visit, void *user);
} tsi_format;

#define TSI_FORMAT_ROW(name, format) extern const tsi_format tsi_format_##name;
TSI_FORMATS(TSI_FORMAT_ROW)
#undef TSI_FORMAT_ROW

/* NULL for TS_FORMAT_AUTO and stencils. */
const tsi_format *tsi_format_of(ts_format format);

/* log2 of n where the format has n x n blocks, else 0. */
int tsi_format_log2_block(ts_format format);

/* A matrix in canonical CSR: columns ascending in every row, no duplicates, constrained rows empty. Values
 * that were given as doubles are the sums of values, rests[0] and rests[1], each rounded from what is left. */
struct tsi_host_csr {
  int32_t rows, columns;
  int32_t *row_offsets, *column_indices;
  float *values;   /* NULL: all 0 */
  float *rests[2]; /* NULL: all 0; always ours */
  int owned;       /* whether the arrays are ours, */
  int owns_values; /* or at least the values; */
  int outlasts;    /* row_offsets and column_indices are the application's, and outlast the matrix */
};

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

/* ---- Linear spaces ---- */

/* What one block of threads does for a product: entries that follow each other. Its first row may have begun in
 * row blocks before, and one may go on in row blocks behind: each has a piece of the row then. */
typedef struct tsi_row_block {
  int32_t row;           /* the first one with entries here, or an empty one */
  int32_t rows;          /* that end here, from `row` on */
  int32_t first, end;    /* entries */
  int32_t filled;        /* of these rows: not empty */
  int32_t pieces_before; /* of `row`, if it ends here: in as many row blocks before this one */
  int32_t piece, pieces; /* of row + rows, if it goes on: this is number `piece` of `pieces`; else 0 of 1 */
} tsi_row_block;

enum {
  TSI_ROW_BLOCK_ENTRIES =
      1024,                /* at most, with those back to a multiple of TSI_ROW_BLOCK_STEPS before `first` */
  TSI_ROW_BLOCK_STEPS = 8, /* entries of a thread */
  TSI_WARP_ENTRIES = 32 * TSI_ROW_BLOCK_STEPS,
  TSI_ROW_BLOCK_SLACK = 128, /* a row block that so ends with a row may be shorter by this */
  TSI_ROW_BLOCK_ROWS = 512,
  TSI_PIECE_ENTRIES = 1024 /* of a long row of jagged, whose row blocks have no other rows */
};

/* csr: how threads share the rows. */
typedef struct tsi_row_plan {
  int log2_subwarp;        /* without row blocks: 1 << log2_subwarp neighbouring threads a row */
  int32_t row_block_count; /* 0: no row blocks */
  tsi_row_block *row_blocks;
  /* With row blocks, of each TSI_ROW_BLOCK_STEPS entries: bit k says that a row ends with the k-th of them;
   * from bit 8 on, how many rows end before them among the TSI_WARP_ENTRIES that a warp has. Where two row
   * blocks have some of them, it is the first row block's warp. */
  uint16_t *ends;
} tsi_row_plan;

enum {
  TSI_SLICE_ROWS = 32,
  TSI_WINDOW_ROWS = 256, /* in which rows may be sorted */
  TSI_SLICE_LONGEST = 254,
  TSI_NOT_IN_SLICE = 255
};

/* jagged: 32 rows whose k-th entries lie side by side, those of k = 0 first; row by row in the order of the
 * slice. Where few rows have no k-th entry, it is padded with the value 0, and entry k of a row is
 * number 32 k + its place in the slice; else there are none. A column is stored as its difference from the
 * least one of its k, in as few bytes as do for the whole slice. Entries, columns and bases of a slice begin at
 * multiples of 16 bytes. */

typedef struct tsi_slice {
  uint32_t first;       /* entry */
  uint32_t first_word;  /* of columns, 4 bytes each */
  uint32_t first_base;  /* of k = 0; none where column_bytes is 4 */
  uint16_t longest;     /* entries of its longest row */
  uint8_t column_bytes; /* 1, 2 or 4 */
  uint8_t padded;       /* a place for each k of each row */
} tsi_slice;

typedef struct tsi_slices {
  int32_t count;
  tsi_slice *slices;
  uint8_t *lengths; /* of the 32 rows of each slice, TSI_NOT_IN_SLICE: a long row, or beyond the last one */
  uint8_t *order;   /* the rows of each slice, from the beginning of their window; NULL: in natural order */
  uint32_t entries, words, bases; /* of all slices, padding included */
  /* Long rows: their entries lie behind those of the slices, each row's side by side, with plain columns. */
  int32_t long_entries, row_block_count;
  tsi_row_block *row_blocks;
} tsi_slices;

struct tsi_layout {
  ts_format format;
  int runs;                  /* as in tsi_format */
  tsi_row_plan plan;         /* csr, where the backend asks for it */
  tsi_slices slices;         /* jagged in linear spaces */
  int32_t width, height;     /* of the texture of entries */
  tsi_rectangle *rectangles; /* as many as the row tiling has free ones */
  int32_t stage_count;
  tsi_stage stages[TSI_MAX_STAGES];
  tsi_blocks blocks; /* bcrs2, bcrs4: then an entry above is a block, a row one of blocks */
};

/* An entry with its pointer: the texel of x_j as x | y << 16, relative to the vector. A vector may be a region
 * of a larger texture: shaders add its packed origin, which cannot carry from x to y. Padding points to the
 * zero texel with the value 0, so that an infinity in x does not become a NaN through padding. */
typedef struct tsi_entry {
  float value;
  uint32_t pointer;
} tsi_entry;

/* What is uploaded, in texel order. Only the arrays of the format are set.
 *
 * A 2 x 2 block is one texel, row by row; a 4 x 4 block is four texels, a column each, each in a slab
 * of the rectangle's shape, of which four stand side by side; in the first stage of split rows the four texels
 * do. */
struct tsi_packed {
  float *diagonal;    /* in the row space's texture; NULL without has_diagonal */
  tsi_entry *entries; /* jagged */
  float *values;      /* segments; in linear spaces jagged too: of slices, then of long rows */
  uint32_t *pointers; /* segments */
  uint32_t *starts;   /* segments: in the row space's texture, where a row begins, as a pointer */
  uint32_t *words;    /* jagged in linear spaces: columns of slices */
  int32_t *bases;     /* and the least column of each k */
  int32_t *long_columns;
  tsi_entry *stages[TSI_MAX_STAGES];
  const tsi_host_csr *csr; /* csr */
  /* csr instead: arrays that are on the device already, and which of their values (core/array.h). */
  const tsi_given *given;
  int given_part;
  /* bcrs2, bcrs4. In a linear space of layout->blocks, n x n a block, row by row; else in texels, as are the
   * next two, and pointers and stages as above, where the first stage has the values of its entries beside it.
   */
  float *block_values;
  float *block_diagonal;
  float *stage_blocks;
};

#endif
