/* Jagged diagonals (Cevahir et al. 2009, section 4) in linear spaces, cut into slices of 32 rows (layout.h).
 * This file computes the order of the rows, the storage of each slice, and the long rows. layout_jagged_pack.c
 * fills the slices; layout_jagged_reads.c estimates the reads of a product.
 *
 * Each thread has one row, and neighbouring threads read neighbouring numbers. Rows usually keep their natural
 * order, in which the columns of neighbouring rows are close together. If threads would wait too often for
 * longer rows, the rows are sorted by length inside windows. A very long row is excluded from its slice;
 * several threads share it. */
#include "common/core/clones.h"
#include "common/core/core.h"
#include "common/core/pool.h"
#include "layout_build.h"

static int32_t length_of(const tsi_host_csr *csr, int32_t row) {
  return csr->row_offsets[row + 1] - csr->row_offsets[row];
}

int32_t tsi_slices_longest(int64_t rows, int64_t entries) {
  const int64_t mean = entries / rows, most = 8 * mean > 64 ? 8 * mean : 64;
  return most < TSI_SLICE_LONGEST ? (int32_t)most : TSI_SLICE_LONGEST;
}

int32_t tsi_slice_row(const tsi_slices *slices, const tsi_host_csr *csr, int32_t slice, int lane) {
  const int32_t place = slice * TSI_SLICE_ROWS + lane;
  if (!slices->order) return place < csr->rows ? place : -1;
  const int32_t window = place / TSI_WINDOW_ROWS * TSI_WINDOW_ROWS;
  const int32_t count = csr->rows - window < TSI_WINDOW_ROWS ? csr->rows - window : TSI_WINDOW_ROWS;
  return place - window < count ? window + slices->order[place] : -1;
}

void tsi_slice_rows(const tsi_slices *slices, const tsi_host_csr *csr, int32_t slice,
                    int32_t rows[TSI_SLICE_ROWS]) {
  for (int lane = 0; lane < TSI_SLICE_ROWS; lane++) rows[lane] = tsi_slice_row(slices, csr, slice, lane);
}

int tsi_slice_lengths(const tsi_host_csr *csr, const int32_t *rows, int32_t most, uint8_t *lengths) {
  int longest = 0;
  for (int lane = 0; lane < TSI_SLICE_ROWS; lane++) {
    const int32_t length = rows[lane] >= 0 ? length_of(csr, rows[lane]) : INT32_MAX;
    lengths[lane] = (uint8_t)(length <= most ? length : TSI_NOT_IN_SLICE);
    if (length <= most && length > longest) longest = length;
  }
  return longest;
}

/* ---- Order ---- */

void tsi_sort_window(const tsi_host_csr *csr, int32_t first, int32_t most, uint8_t *order) {
  int32_t next[TSI_SLICE_LONGEST + 1] = {0};
  const int32_t count = csr->rows - first < TSI_WINDOW_ROWS ? csr->rows - first : TSI_WINDOW_ROWS;
  uint8_t lengths[TSI_WINDOW_ROWS];
  for (int32_t i = 0; i < count; i++) {
    const int32_t length = length_of(csr, first + i);
    lengths[i] = (uint8_t)(length > most ? 0 : length);
    next[lengths[i]]++;
  }
  for (int32_t k = TSI_SLICE_LONGEST, before = 0; k >= 0; k--) {
    const int32_t here = next[k];
    next[k] = before;
    before += here;
  }
  for (int32_t i = 0; i < count; i++) order[next[lengths[i]]++] = (uint8_t)i;
}

/* Input and output of the threads that create slices. */
typedef struct slice_work {
  tsi_slices *slices;
  const tsi_host_csr *csr;
  int32_t most;
  int64_t *steps; /* per block */
} slice_work;

/* Block b has slices block_first .. block_end - 1. */
static int32_t block_end(const slice_work *w, size_t b) {
  return tsi_block_begin(w->slices->count, b + 1);
}
static int32_t block_first(const slice_work *w, size_t b) {
  return tsi_block_begin(w->slices->count, b);
}

/* Sets the lengths of the rows of slices, and the steps of a block: each slice takes the length of its longest
 * row. */
static void fill_lengths(const void *arguments, size_t first, size_t last) {
  const slice_work *w = arguments;
  for (size_t b = first; b < last; b++) {
    w->steps[b] = 0;
    for (int32_t s = block_first(w, b); s < block_end(w, b); s++) {
      int32_t rows[TSI_SLICE_ROWS];
      tsi_slice_rows(w->slices, w->csr, s, rows);
      w->steps[b] += tsi_slice_lengths(w->csr, rows, w->most, w->slices->lengths + (size_t)s * TSI_SLICE_ROWS);
    }
  }
}

/* Returns the steps of all slices. */
static int64_t find_lengths(const ts_context *context, tsi_slices *slices, const tsi_host_csr *csr,
                            int32_t most) {
  int64_t steps[TSI_BLOCKS], all = 0;
  const slice_work w = {.slices = slices, .csr = csr, .most = most, .steps = steps};
  tsi_in_blocks(context, csr->rows, fill_lengths, &w);
  for (int b = 0; b < TSI_BLOCKS; b++) all += steps[b];
  return all;
}

int tsi_pays_to_sort(double natural_steps, double sorted_steps, double entries) {
  return natural_steps * TSI_SLICE_ROWS * 3 >= entries * 4 && 4 * sorted_steps < 3 * natural_steps;
}

static ts_status choose_order(ts_context *context, tsi_slices *slices, const tsi_host_csr *csr) {
  const int32_t most = tsi_slices_longest(csr->rows, csr->row_offsets[csr->rows]);
  const size_t places = (size_t)slices->count * TSI_SLICE_ROWS;
  const int64_t natural = find_lengths(context, slices, csr, most);
  const double entries = csr->row_offsets[csr->rows];
  if (!tsi_pays_to_sort((double)natural, 0, entries)) return TS_OK;
  slices->order = tsi_calloc(context, places, 1);
  if (!slices->order) return tsi_out_of_memory(context, "the order of rows", places);
  for (int32_t first = 0; first < csr->rows; first += TSI_WINDOW_ROWS)
    tsi_sort_window(csr, first, most, slices->order + first);
  const int64_t sorted = find_lengths(context, slices, csr, most);
  if (tsi_pays_to_sort((double)natural, (double)sorted, entries)) return TS_OK;
  tsi_free(context, slices->order);
  slices->order = NULL;
  find_lengths(context, slices, csr, most);
  return TS_OK;
}

/* ---- Slices ---- */

/* Row by row, because the entries of a row are contiguous. */
CPU_CLONES void tsi_slice_bounds(const tsi_host_csr *csr, const int32_t *rows, const uint8_t *lengths,
                                 int longest, tsi_slice_columns *c) {
  for (int k = 0; k < longest; k++) {
    c->least[k] = INT32_MAX;
    c->most[k] = 0;
  }
  for (int lane = 0; lane < TSI_SLICE_ROWS; lane++) {
    if (lengths[lane] == TSI_NOT_IN_SLICE) continue;
    const int32_t *columns = csr->column_indices + csr->row_offsets[rows[lane]];
    for (int k = 0; k < lengths[lane]; k++) {
      c->least[k] = columns[k] < c->least[k] ? columns[k] : c->least[k];
      c->most[k] = columns[k] > c->most[k] ? columns[k] : c->most[k];
    }
  }
}

uint32_t tsi_slice_measure(const tsi_host_csr *csr, const int32_t *rows, const uint8_t *lengths, tsi_slice *s) {
  tsi_slice_columns c;
  uint32_t entries = 0;
  s->longest = 0;
  for (int lane = 0; lane < TSI_SLICE_ROWS; lane++) {
    if (lengths[lane] == TSI_NOT_IN_SLICE) continue;
    entries += lengths[lane];
    if (lengths[lane] > s->longest) s->longest = lengths[lane];
  }
  int32_t spread = 0;
  tsi_slice_bounds(csr, rows, lengths, s->longest, &c);
  for (int k = 0; k < s->longest; k++)
    if (c.most[k] - c.least[k] > spread) spread = c.most[k] - c.least[k];
  s->column_bytes = spread <= UINT8_MAX ? 1 : spread <= UINT16_MAX ? 2 : 4;
  /* One padding entry in eight costs less than counting entries. */
  const uint32_t padded = TSI_SLICE_ROWS * (uint32_t)s->longest;
  s->padded = 8 * entries >= 7 * padded;
  return s->padded ? padded : entries;
}

/* Rounds up to a multiple of 16 bytes. */
static uint32_t aligned(uint32_t words) {
  return (words + 3) / 4 * 4;
}

/* Multiples of four, so that four are read at a time. */
static uint32_t bases_of(const tsi_slice *s) {
  return s->column_bytes < 4 ? (s->longest + 3u) / 4 * 4 : 0;
}

static uint32_t words_of(const tsi_slice *s, uint32_t entries) {
  return aligned((entries * s->column_bytes + 3) / 4);
}

size_t tsi_slice_bytes(const tsi_slice *s, uint32_t entries) {
  return 4 * ((size_t)aligned(entries) + words_of(s, entries) + bases_of(s)) + TSI_SLICE_ROWS + sizeof *s;
}

/* Sets all fields of a slice but its start; until then `first` is the number of its entries. */
static void measure_slices(const void *arguments, size_t first, size_t last) {
  const slice_work *w = arguments;
  for (size_t b = first; b < last; b++)
    for (int32_t number = block_first(w, b); number < block_end(w, b); number++) {
      tsi_slice *s = &w->slices->slices[number];
      int32_t rows[TSI_SLICE_ROWS];
      tsi_slice_rows(w->slices, w->csr, number, rows);
      *s = (tsi_slice){0};
      s->first = tsi_slice_measure(w->csr, rows, w->slices->lengths + (size_t)number * TSI_SLICE_ROWS, s);
    }
}

void tsi_slices_place(tsi_slices *slices) {
  for (int32_t number = 0; number < slices->count; number++) {
    tsi_slice *s = &slices->slices[number];
    const uint32_t entries = s->first;
    s->first = slices->entries, s->first_word = slices->words, s->first_base = slices->bases;
    slices->bases += bases_of(s);
    slices->entries += aligned(entries);
    slices->words += words_of(s, entries);
  }
}

/* Appends the pieces of a long row; `first` is its first entry. If row_blocks is NULL, only counts them. */
static int32_t cut_long_row(tsi_row_block *row_blocks, int32_t row, int32_t first, int32_t length) {
  const int32_t pieces = (length - 1) / TSI_PIECE_ENTRIES + 1;
  for (int32_t p = 0; row_blocks && p < pieces; p++) {
    const int32_t begin = p * TSI_PIECE_ENTRIES;
    const int32_t count = length - begin < TSI_PIECE_ENTRIES ? length - begin : TSI_PIECE_ENTRIES;
    row_blocks[p] = (tsi_row_block){row, 0, first + begin, first + begin + count, 0, 0, p, pieces};
  }
  return pieces;
}

ts_status tsi_slices_find_long_rows(ts_context *context, tsi_slices *slices, const tsi_host_csr *csr) {
  const int32_t most = tsi_slices_longest(csr->rows, csr->row_offsets[csr->rows]);
  for (int pass = 0; pass < 2; pass++) {
    int32_t count = 0, entries = 0;
    for (int32_t i = 0; i < csr->rows; i++) {
      const int32_t length = length_of(csr, i);
      if (length <= most) continue;
      count += cut_long_row(pass ? slices->row_blocks + count : NULL, i, entries, length);
      entries += length;
    }
    slices->long_entries = entries;
    slices->row_block_count = count;
    if (count == 0) return TS_OK;
    if (pass) break;
    slices->row_blocks = tsi_malloc(context, (size_t)count, sizeof *slices->row_blocks);
    if (!slices->row_blocks)
      return tsi_out_of_memory(context, "long rows", (size_t)count * sizeof *slices->row_blocks);
  }
  return TS_OK;
}

ts_status tsi_slices_create(ts_context *context, const tsi_host_csr *csr, tsi_slices *slices) {
  *slices = (tsi_slices){.count = (csr->rows - 1) / TSI_SLICE_ROWS + 1};
  const size_t count = (size_t)slices->count;
  slices->slices = tsi_malloc(context, count, sizeof *slices->slices);
  slices->lengths = tsi_malloc(context, count, TSI_SLICE_ROWS);
  if (!slices->slices || !slices->lengths)
    return tsi_out_of_memory(context, "slices of rows", count * (sizeof *slices->slices + TSI_SLICE_ROWS));
  TSI_TRY(choose_order(context, slices, csr));
  TSI_TRY(tsi_slices_find_long_rows(context, slices, csr));
  const slice_work w = {.slices = slices, .csr = csr};
  tsi_in_blocks(context, csr->rows, measure_slices, &w);
  tsi_slices_place(slices);
  return TS_OK;
}

void tsi_slices_free(ts_context *context, tsi_slices *slices) {
  tsi_free(context, slices->slices);
  tsi_free(context, slices->lengths);
  tsi_free(context, slices->order);
  tsi_free(context, slices->row_blocks);
  *slices = (tsi_slices){0};
}

/* ---- The format ---- */

static ts_status layout_jagged_create(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                                      ts_matrix_info *info) {
  if (!input->rows->linear) return tsi_rectangles_create(context, layout, input, info);
  const tsi_slices *slices = &layout->slices;
  TSI_TRY(tsi_slices_create(context, input->csr, &layout->slices));
  info->stored_entries = (int64_t)slices->entries + slices->long_entries;
  for (int32_t w = 0; w < slices->row_block_count; w++) info->split_rows += slices->row_blocks[w].piece == 0;
  return TS_OK;
}

static ts_status pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                      tsi_packed *packed) {
  return input->rows->linear ? tsi_slices_pack(context, &layout->slices, input->csr, packed)
                             : tsi_rectangles_pack(context, layout, input, packed);
}

static ts_status unpack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                        const tsi_packed *packed, tsi_entry_visitor visit, void *user) {
  if (!input->rows->linear) return tsi_rectangles_unpack(context, layout, input, packed, visit, user);
  tsi_slices_unpack(&layout->slices, input->csr, packed, visit, user);
  return TS_OK;
}

static void places_of(const tsi_layout *layout, const tsi_layout_input *input, int32_t *places) {
  tsi_slices_places(&layout->slices, input->csr, places);
}

static void estimate(const ts_context *context, const tsi_host_csr *csr, int blocks, tsi_estimate *e) {
  (void)blocks;
  e->reads = 2; /* in textures: value and pointer, x */
  if (!context->caps.linear_spaces) return;
  const tsi_reads reads = tsi_slices_reads(context, csr, &e->weight);
  e->reads = tsi_with_lines(&context->tuning, reads.bytes, reads.lines);
}

const tsi_format tsi_format_jagged = {
    .format = TS_FORMAT_JAGGED,
    .pairs = 1,
    .shader = "jagged",
    .create = layout_jagged_create,
    .pack = pack,
    .unpack = unpack,
    .places = places_of,
    .estimate = estimate,
    .sampled_rows = tsi_slices_sampled_rows,
};
