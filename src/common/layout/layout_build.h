/* From a sparsity pattern to a layout, and from values to the arrays to upload. Host code only. */
#ifndef TSI_LAYOUT_BUILD_H
#define TSI_LAYOUT_BUILD_H

#include "common/core/clones.h"
#include "layout.h"

/* Entries of a row that one pass sums; the others are left to the stages of split rows. The loop of a fragment
 * is serial, so this also bounds the time of one fragment. */
enum { TSI_MAX_LOOP = 512, TSI_STAGE_LENGTH = 128 };

struct tsi_layout_input {
  const tsi_tiling *rows, *columns;
  const tsi_host_csr *csr; /* canonical */
  int has_diagonal;        /* the rows' entries exclude the diagonal, which is stored separately */
  int is_diagonal_full;    /* every row that has entries has one on the diagonal; 0: unknown */
  int max_texture_size;
  int log2_texels;    /* of the texels that an entry occupies side by side: 2 for 4 x 4 blocks */
  tsi_blocks *blocks; /* the pattern for a block format; the layout takes ownership */
};

/* Creates the layout of a matrix in one of the texture formats or in CSR, which requires no computation. Also
 * fills stored_entries, rectangles, loops and split_rows of `info`. Returns TS_ERROR_LIMIT if the entries do
 * not fit in a texture. */
ts_status tsi_layout_create(ts_context *context, ts_format format, const tsi_layout_input *input,
                            tsi_layout **layout, ts_matrix_info *info);
void tsi_layout_destroy(ts_context *context, tsi_layout *layout);

/* Packs values and pointers in texel order. */
ts_status tsi_layout_pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                          tsi_packed *packed);
void tsi_packed_free(ts_context *context, tsi_packed *packed);

/* ---- format_choice.c ---- */

/* How the choice treats block formats:
 *
 * - TSI_NO_BLOCKS: excluded, as are formats that cannot hold the matrix of a mesh.
 * - TSI_LINEAR_BLOCKS: considered in linear spaces; one component is assumed, not guaranteed.
 * - TSI_ONE_COMPONENT: the vectors have one component, so textures may have blocks too.
 * - TSI_SEVERAL_COMPONENTS: the vectors have several components. */
enum { TSI_NO_BLOCKS, TSI_LINEAR_BLOCKS, TSI_ONE_COMPONENT, TSI_SEVERAL_COMPONENTS };

/* Chooses the format if the descriptor leaves it open; writes the reason for ts_matrix_info.choice. */
ts_format tsi_format_choose(const ts_context *context, const tsi_host_csr *csr, int blocks, char *text,
                            size_t size);

/* Whether the matrix has too few entries for its reads to matter. */
int tsi_has_few_entries(const ts_context *context, double entries, int blocks);

/* format_samples.c: chooses for a matrix on the device, and reads part of its pattern. Waits. */
ts_status tsi_format_choose_on_device(ts_context *context, const tsi_given *given, int blocks,
                                      ts_format *format, char *text, size_t size);

/* The reads of a product in a format. */
struct tsi_estimate {
  double reads;  /* bytes or fetches per entry */
  double weight; /* time of one read relative to csr and jagged */
  double fill;   /* of blocks; 0: the format has none */
};

/* Bytes per entry in csr. */
double tsi_csr_bytes(const tsi_host_csr *csr);
/* The number of bytes that alone takes the time of these bytes and lines. */
double tsi_with_lines(const tsi_tuning *tuning, double bytes, double lines);

/* ---- layout_bcrs.c ---- */

ts_status tsi_blocks_create(ts_context *context, const tsi_host_csr *csr, int log2_size, tsi_blocks *blocks);
void tsi_blocks_free(ts_context *context, tsi_blocks *blocks);
/* Describes the pattern of the blocks as a matrix with blocks as entries and without values. Its arrays are
 * borrowed. */
tsi_host_csr tsi_blocks_as_csr(const tsi_blocks *blocks, const tsi_host_csr *csr);

/* Computes the values of all blocks, with zeros for entries that the matrix lacks. */
ts_status tsi_blocks_values(ts_context *context, const tsi_blocks *blocks, const tsi_host_csr *csr,
                            float **values);

/* Visits the entries of a block inside the matrix, zeros included. */
void tsi_visit_block(int log2_size, const tsi_host_csr *csr, int32_t block_row, int32_t block_column,
                     const float *block, tsi_entry_visitor visit, void *user);

/* layout_bcrs_texels.c: blocks in texels. A layout of blocks is that of a matrix with blocks as entries, over
 * spaces with blocks as indices. */
typedef struct tsi_block_view {
  tsi_tiling rows, columns;
  tsi_host_csr csr;
  tsi_layout_input input; /* points to the others */
} tsi_block_view;
/* Reads a block of a texture that put_block wrote, row by row. */
void tsi_block_of_texels(int log2_size, const float *texture, size_t texel, int32_t strip, float block[16]);
void tsi_block_view_of(const tsi_blocks *blocks, const tsi_layout_input *input, tsi_block_view *view);
/* Packs the arrays that a layout of blocks uploads. */
ts_status tsi_block_texels_pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                                tsi_packed *packed);

/* ---- Linear spaces ---- */

/* layout_csr.c: from the lengths of the rows. */
ts_status tsi_row_plan_create(ts_context *context, const tsi_host_csr *csr, tsi_row_plan *plan);
/* Whether threads that process a row, alone or together, would wait for the longest rows. */
int tsi_rows_are_uneven(const tsi_tuning *tuning, const tsi_host_csr *csr);
/* The input of the row plan. */
typedef struct tsi_row_lengths {
  int64_t rows, entries;
  int32_t longest;
  int64_t thread_steps; /* 32 times the steps of all warps if rows are shared as tsi_choose_subwarp returns */
} tsi_row_lengths;
int tsi_needs_row_blocks(const tsi_tuning *tuning, const tsi_row_lengths *lengths);
/* log2 of the number of threads that share a row. */
int tsi_choose_subwarp(const tsi_tuning *tuning, int64_t rows, int64_t entries);
void tsi_row_plan_free(ts_context *context, tsi_row_plan *plan);
/* Cuts all rows into row blocks and returns their number; tsi_most_row_blocks is an upper bound. Each row block
 * has 889 entries or 512 rows, or is the last. */
size_t tsi_most_row_blocks(int64_t rows, int64_t entries);
int32_t tsi_row_blocks_cut(int32_t rows, const int32_t *row_offsets, tsi_row_block *row_blocks);

/* format_lines.c: the reads of a product per entry of a matrix in linear memory. They are the bytes of the
 * matrix, and the cache lines of matrix and x that the threads of a warp request at a time. */
enum { TSI_LINE_BYTES = 128 };
typedef struct tsi_reads {
  double bytes, lines;
} tsi_reads;
/* The number of lines of x that contain these columns; 32 columns at most. */
int32_t tsi_lines(const int32_t *columns, int count);
/* Lines per entry: if neighbouring threads have neighbouring entries of csr, eight each, and if each thread has
 * a row of segments. */
double tsi_lines_of_entries(const ts_context *context, const tsi_host_csr *csr);
double tsi_lines_of_rows(const ts_context *context, const tsi_host_csr *csr);
/* What these two inspect, as in tsi_format. */
void tsi_sampled_entries(const tsi_host_csr *csr, tsi_range_visitor visit, void *user);
void tsi_sampled_rows(const tsi_host_csr *csr, tsi_range_visitor visit, void *user);

/* ---- layout_jagged.c: slices in linear spaces ---- */

ts_status tsi_slices_create(ts_context *context, const tsi_host_csr *csr, tsi_slices *slices);
void tsi_slices_free(ts_context *context, tsi_slices *slices);
/* The steps of tsi_slices_create that devices leave to the host. The first computes the start of each slice; on
 * entry, `first` is the number of its entries. The second finds the rows that are too long for slices from the
 * row offsets. */
void tsi_slices_place(tsi_slices *slices);
ts_status tsi_slices_find_long_rows(ts_context *context, tsi_slices *slices, const tsi_host_csr *csr);
/* layout_jagged_reads.c: estimates the reads of a product from some of the slices. `weight` is the time of one
 * read relative to padded slices in natural order: unpadded slices take twice as long, reordered rows 1.5
 * times. */
tsi_reads tsi_slices_reads(const ts_context *context, const tsi_host_csr *csr, double *weight);
void tsi_slices_sampled_rows(const tsi_host_csr *csr, tsi_range_visitor visit, void *user);
/* layout_jagged_pack.c: values, words, bases and long_columns. */
ts_status tsi_slices_pack(ts_context *context, const tsi_slices *slices, const tsi_host_csr *csr,
                          tsi_packed *packed);
void tsi_slices_unpack(const tsi_slices *slices, const tsi_host_csr *csr, const tsi_packed *packed,
                       tsi_entry_visitor visit, void *user);
void tsi_slices_places(const tsi_slices *slices, const tsi_host_csr *csr, int32_t *places);
/* The row of a lane, or -1 if the lane is empty; the second function returns the rows of all lanes. */
int32_t tsi_slice_row(const tsi_slices *slices, const tsi_host_csr *csr, int32_t slice, int lane);
void tsi_slice_rows(const tsi_slices *slices, const tsi_host_csr *csr, int32_t slice,
                    int32_t rows[TSI_SLICE_ROWS]);
/* The length of the longest row in slices. */
int32_t tsi_slices_longest(int64_t rows, int64_t entries);
/* Sets the lengths of these rows; rows longer than `most` are not in the slice. Returns the longest length. */
int tsi_slice_lengths(const tsi_host_csr *csr, const int32_t *rows, int32_t most, uint8_t *lengths);
/* Sorts the rows of a window by decreasing length, equal ones in natural order; long rows count as 0. */
void tsi_sort_window(const tsi_host_csr *csr, int32_t first, int32_t most, uint8_t *order);
/* Whether sorting saves a quarter of the steps; one step processes all rows of a slice. */
int tsi_pays_to_sort(double natural_steps, double sorted_steps, double entries);
/* The smallest and the largest column among the k-th entries of the rows of a slice, for each existing k. */
typedef struct tsi_slice_columns {
  int32_t least[TSI_SLICE_LONGEST], most[TSI_SLICE_LONGEST];
} tsi_slice_columns;
void tsi_slice_bounds(const tsi_host_csr *csr, const int32_t *rows, const uint8_t *lengths, int longest,
                      tsi_slice_columns *columns);
/* Sets all fields but the start of the slice; returns its entries, padding included. */
uint32_t tsi_slice_measure(const tsi_host_csr *csr, const int32_t *rows, const uint8_t *lengths, tsi_slice *s);
/* Bytes of a slice with `entries` entries on the device. */
size_t tsi_slice_bytes(const tsi_slice *s, uint32_t entries);

/* ---- Parts, for layout_*.c ---- */

/* Rectangles of rows in textures, including split rows, and the arrays to upload. */
ts_status tsi_rectangles_create(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                                ts_matrix_info *info);
ts_status tsi_rectangles_pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                              tsi_packed *packed);

ts_status tsi_rectangles_unpack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                                const tsi_packed *packed, tsi_entry_visitor visit, void *user);

/* Lists the index of the row at each position, for the free rows of the tiling. */
ts_status tsi_rows_in_order(ts_context *context, const tsi_tiling *tiling, int32_t **order);

/* Entries stored with row i: all of them, or all but the diagonal. */
int32_t tsi_row_length(const tsi_layout_input *input, int32_t i);
/* Allocates the lengths of `count` rows: of row order[k], or of row k if `order` is NULL. The caller frees
 * them. */
ts_status tsi_measure_rows(ts_context *context, const tsi_layout_input *input, const int32_t *order,
                           int32_t count, int32_t **lengths);

/* The texel of a position as a pointer. */
static inline uint32_t tsi_pointer(const tsi_tiling *t, int32_t position) {
  const tsi_texel texel = tsi_texel_of_position(t, position);
  return (uint32_t)texel.x | (uint32_t)texel.y << 16;
}

/* Writes the start of every row, and the pointers to the sums of split rows. */
void tsi_layout_link(const tsi_layout *layout, const tsi_layout_input *input, const int32_t *order,
                     tsi_packed *packed);

/* The texel of entry k of row `inside` of a rectangle. */
static inline tsi_texel tsi_entry_texel(const tsi_layout *layout, const tsi_tiling *t,
                                        const tsi_rectangle *rectangle, int32_t inside, int32_t k) {
  const int32_t w = 1 << t->log2_width, x = inside & (w - 1);
  const int32_t across = layout->runs ? x * (rectangle->length + rectangle->spill) + k : k * w + x;
  return (tsi_texel){rectangle->x + across, rectangle->y + (inside >> t->log2_width)};
}

/* layout_visit.c: calls `visit` for every stored entry of the CSR arrays. `texel` is the number of its texel,
 * in row-major order of the texture that holds it. For texture formats only. */
typedef enum tsi_place {
  TSI_PLACE_DIAGONAL, /* the diagonal's texture */
  TSI_PLACE_ROW,      /* the texture of entries */
  TSI_PLACE_STAGE     /* the first stage of split rows */
} tsi_place;
typedef void (*tsi_visitor)(void *user, int32_t row, int32_t entry, tsi_place place, size_t texel);
void tsi_layout_visit(const tsi_layout *layout, const tsi_layout_input *input, const int32_t *order,
                      tsi_visitor visit, void *user);
/* The number of first-stage sums of the rows in rectangles first .. last-1. */
int64_t tsi_sums_between(const tsi_layout *layout, const tsi_layout_input *input, const int32_t *order,
                         int32_t first, int32_t last);

/* Visits rectangles first .. last-1; `sum` is the number of first-stage sums before them. What does not change
 * along a row is in local variables, because the compiler cannot know what a visitor writes. */
CPU_INLINE void tsi_visit_rectangles(const tsi_layout *layout, const tsi_layout_input *input,
                                     const int32_t *order, int32_t first, int32_t last, int64_t sum,
                                     tsi_visitor visit, void *user) {
  const tsi_tiling *t = input->rows;
  const int32_t *offsets = input->csr->row_offsets, *columns = input->csr->column_indices;
  const tsi_stage *stage = layout->stages;
  const int bits = t->log2_width + t->log2_height, has_diagonal = input->has_diagonal;
  const int32_t end = last << bits < t->free_count ? last << bits : t->free_count;
  const size_t step = layout->runs ? 1 : (size_t)1 << t->log2_width;
  for (int32_t p = first << bits; p < end; p++) {
    const tsi_rectangle *rectangle = &layout->rectangles[p >> bits];
    const int32_t i = order[p], length = rectangle->length, row_end = offsets[i + 1];
    const tsi_texel at = tsi_entry_texel(layout, t, rectangle, p & ((1 << bits) - 1), 0);
    const size_t texel = (size_t)at.y * (size_t)layout->width + (size_t)at.x;
    int32_t k = 0;
    for (int32_t e = offsets[i]; e < row_end; e++) {
      if (has_diagonal && columns[e] == i) {
        visit(user, i, e, TSI_PLACE_DIAGONAL, (size_t)tsi_texel_number(t, p));
        continue;
      }
      const int32_t beyond = k++ - length;
      if (beyond < 0) {
        visit(user, i, e, TSI_PLACE_ROW, texel + (size_t)(k - 1) * step);
      } else {
        const int64_t number = (int64_t)(beyond % stage->length) * stage->count + sum + beyond / stage->length;
        visit(user, i, e, TSI_PLACE_STAGE, (size_t)number);
      }
    }
    if (k > length) sum += (k - length + stage->length - 1) / stage->length;
  }
}

/* layout_split.c: stages for rows longer than their rectangle's loop. */
ts_status tsi_split_build(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                          const int32_t *order, ts_matrix_info *info);
/* Packs all stages. The entries of the first stage are padding until a visitor sets them. */
ts_status tsi_split_pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                         const int32_t *order, tsi_packed *packed);
/* The pointer to final sum number `t` of the last stage. */
uint32_t tsi_split_sum_pointer(const tsi_layout *layout, int32_t t);

/* layout_place.c: places the entries of each rectangle. */
ts_status tsi_layout_place(ts_context *context, tsi_layout *layout, const tsi_layout_input *input);

#endif
