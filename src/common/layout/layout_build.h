/* From a sparsity pattern to a layout, and from values to what is uploaded. Host code; needs no device. */
#ifndef TSI_LAYOUT_BUILD_H
#define TSI_LAYOUT_BUILD_H

#include "common/core/clones.h"
#include "layout.h"

/* Entries of a row that one pass adds up; what is beyond goes to the stages of split rows. The loop of a
 * fragment is serial, so this also bounds how long one takes. */
enum { TSI_MAX_LOOP = 512, TSI_STAGE_LENGTH = 128 };

struct tsi_layout_input {
  const tsi_tiling *rows, *columns;
  const tsi_host_csr *csr; /* canonical */
  int has_diagonal;        /* leave the diagonal out of the rows' entries and store it by itself */
  int max_texture_size;
  int log2_texels;    /* of the texels that an entry takes side by side: 2 for 4 x 4 blocks */
  tsi_blocks *blocks; /* the pattern for a format of blocks, which the layout takes over */
};

/* The layout of a matrix in one of the texture formats, or of CSR, for which there is nothing to compute. Also
 * fills stored_entries, rectangles, loops and split_rows of `info`.
 * TS_ERROR_LIMIT if the entries do not fit in a texture. */
ts_status tsi_layout_create(ts_context *context, ts_format format, const tsi_layout_input *input,
                            tsi_layout **layout, ts_matrix_info *info);
void tsi_layout_destroy(ts_context *context, tsi_layout *layout);

/* The values and pointers in texel order. */
ts_status tsi_layout_pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                          tsi_packed *packed);
void tsi_packed_free(ts_context *context, tsi_packed *packed);

/* ---- format_choice.c ---- */

/* Formats of blocks: not considered, nor what meshes have no matrix in; considered in linear spaces, for
 * vectors of one component that nobody has promised; the vectors that the matrix will multiply are known to
 * have one component, and textures have blocks too; or to have several. */
enum { TSI_NO_BLOCKS, TSI_LINEAR_BLOCKS, TSI_ONE_COMPONENT, TSI_SEVERAL_COMPONENTS };

/* The format for a matrix that the descriptor leaves open, with the reason as ts_matrix_info.choice. */
ts_format tsi_format_choose(const ts_context *context, const tsi_host_csr *csr, int blocks, char *text,
                            size_t size);

/* format_samples.c: the same for a matrix on the device, whose columns are read in part. Waits. */
ts_status tsi_format_choose_on_device(ts_context *context, const tsi_given *given, int blocks,
                                      ts_format *format, char *text, size_t size);

/* What a product reads in a format. */
struct tsi_estimate {
  double reads;  /* bytes or fetches an entry */
  double weight; /* how much longer each takes than csr's and jagged's */
  double fill;   /* of blocks; 0: has none */
};

/* Bytes an entry in csr. */
double tsi_csr_bytes(const tsi_host_csr *csr);
/* As many bytes as take as long as these bytes and lines. */
double tsi_with_lines(const tsi_tuning *tuning, double bytes, double lines);

/* ---- layout_bcrs.c ---- */

ts_status tsi_blocks_create(ts_context *context, const tsi_host_csr *csr, int log2_size, tsi_blocks *blocks);
void tsi_blocks_free(ts_context *context, tsi_blocks *blocks);
/* The pattern of the blocks as that of a matrix whose entries they are, without values; its arrays are
 * borrowed. */
tsi_host_csr tsi_blocks_as_csr(const tsi_blocks *blocks, const tsi_host_csr *csr);

/* The values of all blocks, zeros where the matrix has no entry. */
ts_status tsi_blocks_values(ts_context *context, const tsi_blocks *blocks, const tsi_host_csr *csr,
                            float **values);

/* The entries of a block, zeros included, that the matrix has rows and columns for. */
void tsi_visit_block(int log2_size, const tsi_host_csr *csr, int32_t block_row, int32_t block_column,
                     const float *block, tsi_entry_visitor visit, void *user);

/* layout_bcrs_texels.c: the same for texels. A layout of blocks is that of a matrix whose entries are blocks,
 * over spaces whose indices are blocks. */
typedef struct tsi_block_view {
  tsi_tiling rows, columns;
  tsi_host_csr csr;
  tsi_layout_input input; /* points to the others */
} tsi_block_view;
/* A block of a texture as put_block has put it there, row by row. */
void tsi_block_of_texels(int log2_size, const float *texture, size_t texel, int32_t strip, float block[16]);
void tsi_block_view_of(const tsi_blocks *blocks, const tsi_layout_input *input, tsi_block_view *view);
/* What a layout of blocks uploads. */
ts_status tsi_block_texels_pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                                tsi_packed *packed);

/* ---- Linear spaces ---- */

/* layout_csr.c: from the rows' lengths. */
ts_status tsi_row_plan_create(ts_context *context, const tsi_host_csr *csr, tsi_row_plan *plan);
/* Whether threads that have a row, or share one, would wait for those with the longest. */
int tsi_rows_are_uneven(const tsi_tuning *tuning, const tsi_host_csr *csr);
/* What the plan of rows depends on. */
typedef struct tsi_row_lengths {
  int64_t rows, entries;
  int32_t longest;
  int64_t thread_steps; /* 32 times those of all warps when rows are shared as tsi_choose_subwarp says */
} tsi_row_lengths;
int tsi_needs_row_blocks(const tsi_tuning *tuning, const tsi_row_lengths *lengths);
/* log2 of the threads that share a row. */
int tsi_choose_subwarp(const tsi_tuning *tuning, int64_t rows, int64_t entries);
void tsi_row_plan_free(ts_context *context, tsi_row_plan *plan);
/* Cuts all rows into row blocks, of which there are at most so many: each has 889 entries or 512 rows, or is
 * the last. Returns their number. */
size_t tsi_most_row_blocks(int64_t rows, int64_t entries);
int32_t tsi_row_blocks_cut(int32_t rows, const int32_t *row_offsets, tsi_row_block *row_blocks);

/* format_lines.c: what a product reads for each entry of a matrix in linear memory: bytes of the matrix, and
 * lines of the cache that the threads of a warp ask for at a time, of the matrix and of x. */
enum { TSI_LINE_BYTES = 128 };
typedef struct tsi_reads {
  double bytes, lines;
} tsi_reads;
/* How many lines of x these columns are in, 32 at most. */
int32_t tsi_lines(const int32_t *columns, int count);
/* Lines an entry where neighbouring threads have neighbouring entries of csr, eight each, and where each thread
 * has a row of segments. */
double tsi_lines_of_entries(const tsi_host_csr *csr);
double tsi_lines_of_rows(const tsi_tuning *tuning, const tsi_host_csr *csr);
/* What these two look at, as tsi_format.samples. */
void tsi_samples_of_entries(const tsi_host_csr *csr, tsi_range_visitor visit, void *user);
void tsi_samples_of_rows(const tsi_host_csr *csr, tsi_range_visitor visit, void *user);

/* ---- layout_jagged.c: slices in linear spaces ---- */

ts_status tsi_slices_create(ts_context *context, const tsi_host_csr *csr, tsi_slices *slices);
void tsi_slices_free(ts_context *context, tsi_slices *slices);
/* The parts of that which devices leave to the host: where each slice begins, with its entries in `first`
 * before; and rows that are too long for slices, from the rows' offsets. */
void tsi_slices_place(tsi_slices *slices);
ts_status tsi_slices_find_long_rows(ts_context *context, tsi_slices *slices, const tsi_host_csr *csr);
/* layout_jagged_reads.c: about what a product would read of them, from some of the slices, and in `weight` how
 * much longer that takes than elsewhere: unpadded slices take twice as long, rows in another order half as long
 * again. */
tsi_reads tsi_slices_reads(const ts_context *context, const tsi_host_csr *csr, double *weight);
void tsi_slices_samples(const tsi_host_csr *csr, tsi_range_visitor visit, void *user);
/* layout_jagged_pack.c: values, words, bases, long_columns. */
ts_status tsi_slices_pack(ts_context *context, const tsi_slices *slices, const tsi_host_csr *csr,
                          tsi_packed *packed);
void tsi_slices_unpack(const tsi_slices *slices, const tsi_host_csr *csr, const tsi_packed *packed,
                       tsi_entry_visitor visit, void *user);
void tsi_slices_places(const tsi_slices *slices, const tsi_host_csr *csr, int32_t *places);
/* The row of a lane, -1 where there is none; of all lanes. */
int32_t tsi_slice_row(const tsi_slices *slices, const tsi_host_csr *csr, int32_t slice, int lane);
void tsi_slice_rows(const tsi_slices *slices, const tsi_host_csr *csr, int32_t slice,
                    int32_t rows[TSI_SLICE_ROWS]);
/* The longest row that slices take. */
int32_t tsi_slices_longest(int64_t rows, int64_t entries);
/* Of these rows, which are in a slice if they are no longer than `most`; returns the longest of them. */
int tsi_slice_lengths(const tsi_host_csr *csr, const int32_t *rows, int32_t most, uint8_t *lengths);
/* The rows of a window by decreasing length, equal ones in their natural order; long ones count as 0. */
void tsi_sort_window(const tsi_host_csr *csr, int32_t first, int32_t most, uint8_t *order);
/* Whether that saves a quarter of the steps, of which each is of all rows of a slice. */
int tsi_pays_to_sort(double natural_steps, double sorted_steps, double entries);
/* The least and the largest column of the k-th entries of its rows, for each k that is there. */
typedef struct tsi_slice_columns {
  int32_t least[TSI_SLICE_LONGEST], most[TSI_SLICE_LONGEST];
} tsi_slice_columns;
void tsi_slice_bounds(const tsi_host_csr *csr, const int32_t *rows, const uint8_t *lengths, int longest,
                      tsi_slice_columns *columns);
/* Sets all but where the slice begins; returns its entries, padding included. */
uint32_t tsi_slice_measure(const tsi_host_csr *csr, const int32_t *rows, const uint8_t *lengths, tsi_slice *s);
/* What a slice of so many entries takes on the device. */
size_t tsi_slice_bytes(const tsi_slice *s, uint32_t entries);

/* ---- Parts, for layout_*.c ---- */

/* Rectangles of rows in textures, split rows among them, and what is uploaded. */
ts_status tsi_rectangles_create(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                                ts_matrix_info *info);
ts_status tsi_rectangles_pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                              tsi_packed *packed);

ts_status tsi_rectangles_unpack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                                const tsi_packed *packed, tsi_entry_visitor visit, void *user);

/* Position -> index of the free rows, from the tiling. */
ts_status tsi_rows_in_order(ts_context *context, const tsi_tiling *tiling, int32_t **order);

/* Entries of row i that are stored with the row: all, or all but the diagonal. */
int32_t tsi_row_length(const tsi_layout_input *input, int32_t i);

/* The texel of a position as a pointer. */
static inline uint32_t tsi_pointer(const tsi_tiling *t, int32_t position) {
  const tsi_texel texel = tsi_texel_of_position(t, position);
  return (uint32_t)texel.x | (uint32_t)texel.y << 16;
}

/* Puts where every row begins, and the pointers to the sums of split rows. */
void tsi_layout_link(const tsi_layout *layout, const tsi_layout_input *input, const int32_t *order,
                     tsi_packed *packed);

/* The texel of entry k of the row with number `inside` in a rectangle. */
static inline tsi_texel tsi_entry_texel(const tsi_layout *layout, const tsi_tiling *t,
                                        const tsi_rectangle *rectangle, int32_t inside, int32_t k) {
  const int32_t w = 1 << t->log2_width, x = inside & (w - 1);
  const int32_t across = layout->runs ? x * (rectangle->length + rectangle->spill) + k : k * w + x;
  return (tsi_texel){rectangle->x + across, rectangle->y + (inside >> t->log2_width)};
}

/* layout_visit.c: calls `visit` for every entry of the CSR arrays that is stored, with the number of its texel
 * in row-major order of the texture that holds it. For the formats with textures. */
typedef enum tsi_place {
  TSI_PLACE_DIAGONAL, /* the diagonal's texture */
  TSI_PLACE_ROW,      /* the texture of entries */
  TSI_PLACE_STAGE     /* the first stage of split rows */
} tsi_place;
typedef void (*tsi_visitor)(void *user, int32_t row, int32_t entry, tsi_place place, size_t texel);
void tsi_layout_visit(const tsi_layout *layout, const tsi_layout_input *input, const int32_t *order,
                      tsi_visitor visit, void *user);
/* Sums of the first stage that the rows of rectangles first .. last-1 have. */
int64_t tsi_sums_between(const tsi_layout *layout, const tsi_layout_input *input, const int32_t *order,
                         int32_t first, int32_t last);

/* The same for rectangles first .. last-1; `sum`: sums of the first stage before them. */
CPU_INLINE void tsi_visit_rectangles(const tsi_layout *layout, const tsi_layout_input *input,
                                     const int32_t *order, int32_t first, int32_t last, int64_t sum,
                                     tsi_visitor visit, void *user) {
  const tsi_tiling *t = input->rows;
  const tsi_host_csr *A = input->csr;
  const tsi_stage *stage = layout->stages;
  const int bits = t->log2_width + t->log2_height;
  const int32_t end = last << bits < t->free_count ? last << bits : t->free_count;
  for (int32_t p = first << bits; p < end; p++) {
    const tsi_rectangle *rectangle = &layout->rectangles[p >> bits];
    const int32_t i = order[p], inside = p & ((1 << bits) - 1);
    int32_t k = 0;
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) {
      if (input->has_diagonal && A->column_indices[e] == i) {
        visit(user, i, e, TSI_PLACE_DIAGONAL, (size_t)tsi_texel_number(t, p));
        continue;
      }
      const int32_t beyond = k++ - rectangle->length;
      if (beyond < 0) {
        const tsi_texel at = tsi_entry_texel(layout, t, rectangle, inside, k - 1);
        visit(user, i, e, TSI_PLACE_ROW, (size_t)at.y * (size_t)layout->width + (size_t)at.x);
      } else {
        const int64_t number = (int64_t)(beyond % stage->length) * stage->count + sum + beyond / stage->length;
        visit(user, i, e, TSI_PLACE_STAGE, (size_t)number);
      }
    }
    if (k > rectangle->length) sum += (k - rectangle->length + stage->length - 1) / stage->length;
  }
}

/* layout_split.c: stages for rows longer than their rectangle's loop. */
ts_status tsi_split_build(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                          const int32_t *order, ts_matrix_info *info);
/* All stages, the entries of the first one apart, which are padding until a visitor puts them. */
ts_status tsi_split_pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                         const int32_t *order, tsi_packed *packed);
/* The pointer to final sum number `t` of the last stage. */
uint32_t tsi_split_sum_pointer(const tsi_layout *layout, int32_t t);

/* layout_place.c: where the entries of each rectangle are stored. */
ts_status tsi_layout_place(ts_context *context, tsi_layout *layout, const tsi_layout_input *input);

#endif
