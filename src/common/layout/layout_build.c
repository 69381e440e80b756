/* Layouts: the loop length of every rectangle, then a format's placement, then the packing of values.
 *
 * Bolz et al. 2003, section 3.2.2: rows sorted by length fill equal rectangles, and each rectangle takes the
 * cheapest loop that covers its rows. One long row among short ones would make its whole rectangle as long, so
 * such a row is cut: what goes beyond the loop is summed by earlier passes (layout_split.c), and one more entry
 * of the row points to that sum. */
#include <stdlib.h>

#include "common/core/core.h"
#include "layout_build.h"

ts_status tsi_rows_in_order(ts_context *context, const tsi_tiling *t, int32_t **order) {
  const size_t count = t->free_count ? (size_t)t->free_count : 1;
  *order = tsi_malloc(context, count, sizeof **order);
  if (!*order) return tsi_out_of_memory(context, "the order of rows", count * sizeof **order);
  for (int32_t i = 0; i < t->size; i++) {
    const int32_t p = tsi_position(t, i);
    if (p < t->free_count) (*order)[p] = i;
  }
  return TS_OK;
}

int32_t tsi_row_length(const tsi_layout_input *input, int32_t i) {
  const tsi_host_csr *A = input->csr;
  const int32_t first = A->row_offsets[i], last = A->row_offsets[i + 1];
  int32_t length = last - first;
  if (!input->has_diagonal || length == 0) return length;
  /* Columns ascend: look for i by bisection. */
  int32_t low = first, high = last;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (A->column_indices[middle] < i)
      low = middle + 1;
    else
      high = middle;
  }
  return low < last && A->column_indices[low] == i ? length - 1 : length;
}

static int compare_descending(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return x > y ? -1 : x < y;
}

/* The loop of one rectangle from its rows' lengths. A loop as long as the longest row, unless a few rows (fewer
 * than a quarter) stand out so far that padding would dominate, or the longest is beyond what a pass can serve.
 */
static void choose_loop(tsi_rectangle *rectangle, int32_t *lengths, int32_t count, int32_t most) {
  int sorted = 1;
  for (int32_t k = 1; k < count && sorted; k++) sorted = lengths[k] <= lengths[k - 1];
  if (!sorted) qsort(lengths, (size_t)count, sizeof *lengths, compare_descending);
  const int32_t longest = lengths[0], quarter = lengths[count / 4];
  int32_t loop = longest;
  if (longest > 2 * quarter + 16 && longest > 32) loop = quarter;
  if (loop > most) loop = most;
  rectangle->length = loop;
  rectangle->spill = longest > loop;
}

static ts_status choose_loops(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                              const int32_t *order) {
  const tsi_tiling *t = input->rows;
  const int32_t area = 1 << (t->log2_width + t->log2_height);
  /* The entries of a rectangle stand side by side in one texture, that of the spilled sum among them. */
  const int32_t slabs = (input->max_texture_size >> (t->log2_width + input->log2_texels)) - 1;
  const int32_t most = slabs < TSI_MAX_LOOP ? slabs : TSI_MAX_LOOP;
  int32_t *lengths = tsi_malloc(context, (size_t)area, sizeof *lengths);
  if (!lengths) return tsi_out_of_memory(context, "row lengths", (size_t)area * sizeof *lengths);
  for (int32_t r = 0; r < t->free_rectangles; r++) {
    const int32_t first = r * area, count = t->free_count - first < area ? t->free_count - first : area;
    for (int32_t k = 0; k < count; k++) lengths[k] = tsi_row_length(input, order[first + k]);
    choose_loop(&layout->rectangles[r], lengths, count, most);
  }
  tsi_free(context, lengths);
  return TS_OK;
}

/* ---- Creation ---- */

void tsi_layout_destroy(ts_context *context, tsi_layout *layout) {
  if (!layout) return;
  tsi_row_plan_free(context, &layout->plan);
  tsi_slices_free(context, &layout->slices);
  tsi_free(context, layout->rectangles);
  tsi_blocks_free(context, &layout->blocks);
  tsi_free(context, layout);
}

static ts_status build(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                       const int32_t *order, ts_matrix_info *info) {
  const tsi_tiling *t = input->rows;
  TSI_TRY(choose_loops(context, layout, input, order));
  TSI_TRY(tsi_split_build(context, layout, input, order, info));
  TSI_TRY(tsi_layout_place(context, layout, input));
  info->rectangles = t->free_rectangles;
  info->loops = 0;
  for (int32_t r = 0; r < t->free_rectangles; r++)
    info->loops += r == 0 || layout->rectangles[r].length != layout->rectangles[r - 1].length ||
                   layout->rectangles[r].spill != layout->rectangles[r - 1].spill;
  info->stored_entries = (int64_t)layout->width * layout->height;
  if (input->has_diagonal) info->stored_entries += (int64_t)t->width * t->height;
  for (int s = 0; s < layout->stage_count; s++)
    info->stored_entries += ((int64_t)1 << layout->stages[s].log2_width) * layout->stages[s].height;
  return TS_OK;
}

/* The pattern of blocks, and how full they are; the rest is as for a matrix whose entries they are. */
static ts_status create_blocks(ts_context *context, tsi_layout *layout, int log2_block,
                               const tsi_layout_input *input, ts_matrix_info *info) {
  if (input->blocks && input->blocks->offsets) {
    layout->blocks = *input->blocks;
    *input->blocks = (tsi_blocks){0};
  } else {
    TSI_TRY(tsi_blocks_create(context, input->csr, log2_block, &layout->blocks));
  }
  info->blocks = layout->blocks.offsets[layout->blocks.block_rows];
  info->stored_entries = (int64_t)info->blocks << (2 * log2_block);
  if (info->blocks)
    info->fill_ratio = (double)input->csr->row_offsets[input->csr->rows] / (double)info->stored_entries;
  return TS_OK;
}

/* In a linear space: nothing to place, no diagonal apart but in segments. */
static ts_status build_linear(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                              ts_matrix_info *info) {
  info->stored_entries = input->csr->row_offsets[input->csr->rows];
  if (layout->format == TS_FORMAT_JAGGED) {
    TSI_TRY(tsi_slices_create(context, input->csr, &layout->slices));
    info->stored_entries = (int64_t)layout->slices.entries + layout->slices.long_entries;
    for (int32_t w = 0; w < layout->slices.row_block_count; w++)
      info->split_rows += layout->slices.row_blocks[w].piece == 0;
  } else if (layout->format == TS_FORMAT_CSR && context->caps.row_plans) {
    TSI_TRY(tsi_row_plan_create(context, input->csr, &layout->plan));
  }
  return TS_OK;
}

static ts_status create_rectangles(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                                   ts_matrix_info *info) {
  int32_t *order = NULL;
  const size_t rectangles = (size_t)input->rows->free_rectangles;
  layout->rectangles = tsi_calloc(context, rectangles, sizeof *layout->rectangles);
  if (!layout->rectangles)
    return tsi_out_of_memory(context, "a layout", rectangles * sizeof *layout->rectangles);
  ts_status status = tsi_rows_in_order(context, input->rows, &order);
  if (status == TS_OK) status = build(context, layout, input, order, info);
  tsi_free(context, order);
  return status;
}

static ts_status create(ts_context *context, tsi_layout *layout, const tsi_layout_input *input,
                        ts_matrix_info *info) {
  const int log2_block = tsi_format_log2_block(layout->format);
  info->fill_ratio = 1;
  if (log2_block) {
    TSI_TRY(create_blocks(context, layout, log2_block, input, info));
    if (input->rows->linear) return TS_OK;
    tsi_block_view view;
    tsi_block_view_of(&layout->blocks, input, &view);
    TSI_TRY(create_rectangles(context, layout, &view.input, info));
    info->stored_entries <<= 2 * log2_block;
    return TS_OK;
  }
  if (layout->format == TS_FORMAT_CSR || input->rows->linear) return build_linear(context, layout, input, info);
  return create_rectangles(context, layout, input, info);
}

ts_status tsi_layout_create(ts_context *context, ts_format format, const tsi_layout_input *input,
                            tsi_layout **out, ts_matrix_info *info) {
  tsi_layout *layout = tsi_calloc(context, 1, sizeof *layout);
  if (!layout) return tsi_out_of_memory(context, "a layout", sizeof *layout);
  layout->format = format;
  const ts_status status = create(context, layout, input, info);
  if (status < 0) {
    tsi_layout_destroy(context, layout);
    return status;
  }
  *out = layout;
  return TS_OK;
}

/* ---- Packing ---- */

void tsi_packed_free(ts_context *context, tsi_packed *packed) {
  tsi_free(context, packed->diagonal);
  tsi_free(context, packed->entries);
  tsi_free(context, packed->values);
  tsi_free(context, packed->pointers);
  tsi_free(context, packed->starts);
  tsi_free(context, packed->block_values);
  tsi_free(context, packed->words);
  tsi_free(context, packed->bases);
  tsi_free(context, packed->long_columns);
  tsi_free(context, packed->block_diagonal);
  tsi_free(context, packed->stage_blocks);
  for (int s = 0; s < TSI_MAX_STAGES; s++) tsi_free(context, packed->stages[s]);
  *packed = (tsi_packed){0};
}

static ts_status allocate(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                          tsi_packed *packed) {
  const size_t vector_texels = (size_t)input->rows->width * (size_t)input->rows->height;
  const size_t texels = (size_t)layout->width * (size_t)layout->height;
  const uint32_t zero = tsi_pointer(input->columns, input->columns->zero_position);
  int ok = 1;
  if (input->has_diagonal) ok = (packed->diagonal = tsi_calloc(context, vector_texels, sizeof(float))) != NULL;
  if (layout->format == TS_FORMAT_JAGGED) {
    ok = ok && (packed->entries = tsi_malloc(context, texels, sizeof(tsi_entry))) != NULL;
    for (size_t k = 0; ok && k < texels; k++) packed->entries[k] = (tsi_entry){0, zero};
  } else {
    ok = ok && (packed->values = tsi_calloc(context, texels, sizeof(float))) != NULL;
    ok = ok && (packed->pointers = tsi_malloc(context, texels, sizeof(uint32_t))) != NULL;
    ok = ok && (packed->starts = tsi_calloc(context, vector_texels, sizeof(uint32_t))) != NULL;
    for (size_t k = 0; ok && k < texels; k++) packed->pointers[k] = zero;
  }
  return ok ? TS_OK : tsi_out_of_memory(context, "the matrix in texel order", texels * 8 + vector_texels * 8);
}

typedef struct packing {
  const tsi_layout_input *input;
  tsi_packed *packed;
} packing;

static void put_entry(tsi_packed *packed, size_t texel, tsi_entry entry) {
  if (packed->entries) {
    packed->entries[texel] = entry;
  } else {
    if (packed->values) packed->values[texel] = entry.value; /* blocks have none for a pointer to a sum */
    packed->pointers[texel] = entry.pointer;
  }
}

static void pack_entry(void *user, int32_t row, int32_t e, tsi_place place, size_t texel) {
  (void)row;
  const packing *p = user;
  const tsi_host_csr *A = p->input->csr;
  const tsi_tiling *columns = p->input->columns;
  const tsi_entry entry = {A->values ? A->values[e] : 0,
                           tsi_pointer(columns, tsi_position(columns, A->column_indices[e]))};
  if (place == TSI_PLACE_DIAGONAL)
    p->packed->diagonal[texel] = entry.value;
  else if (place == TSI_PLACE_STAGE)
    p->packed->stages[0][texel] = entry;
  else
    put_entry(p->packed, texel, entry);
}

/* Where every row begins, and the pointers to the sums of split rows. */
void tsi_layout_link(const tsi_layout *layout, const tsi_layout_input *input, const int32_t *order,
                     tsi_packed *packed) {
  const tsi_tiling *t = input->rows;
  const int bits = t->log2_width + t->log2_height;
  int32_t split = 0; /* split rows so far */
  for (int32_t p = 0; p < t->free_rectangles << bits; p++) {
    const tsi_rectangle *rectangle = &layout->rectangles[p >> bits];
    const int32_t inside = p & ((1 << bits) - 1);
    if (packed->starts) {
      const tsi_texel start = tsi_entry_texel(layout, t, rectangle, inside, 0);
      packed->starts[tsi_texel_number(t, p)] = (uint32_t)start.x | (uint32_t)start.y << 16;
    }
    if (!rectangle->spill) continue;
    const int has_sum = p < t->free_count && tsi_row_length(input, order[p]) > rectangle->length;
    const int32_t none = layout->stages[layout->stage_count - 1].count - 1;
    const tsi_texel at = tsi_entry_texel(layout, t, rectangle, inside, rectangle->length);
    put_entry(packed, (size_t)at.y * (size_t)layout->width + (size_t)at.x,
              (tsi_entry){1, tsi_split_sum_pointer(layout, has_sum ? split++ : none)});
  }
}

/* Segments in a linear space: the runs of the rows, then the diagonal. */
static ts_status pack_linear_segments(ts_context *context, const tsi_layout_input *input, tsi_packed *packed) {
  const tsi_host_csr *A = input->csr;
  const size_t rows = (size_t)A->rows, entries = (size_t)A->row_offsets[rows] + rows;
  packed->values = tsi_calloc(context, entries, sizeof(float));
  packed->pointers = tsi_malloc(context, entries, sizeof(uint32_t));
  packed->starts = tsi_malloc(context, rows + 1, sizeof(uint32_t));
  if (!packed->values || !packed->pointers || !packed->starts)
    return tsi_out_of_memory(context, "the matrix in segments", entries * 8 + rows * 4);
  uint32_t at = 0;
  for (int32_t i = 0; i < A->rows; i++) {
    packed->starts[i] = at;
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++) {
      if (input->has_diagonal && A->column_indices[e] == i) continue;
      if (A->values) packed->values[at] = A->values[e];
      packed->pointers[at++] = (uint32_t)A->column_indices[e];
    }
  }
  packed->starts[rows] = at;
  for (int32_t i = 0; A->values && input->has_diagonal && i < A->rows; i++)
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++)
      if (A->column_indices[e] == i) packed->values[at + (uint32_t)i] = A->values[e];
  return TS_OK;
}

static void segment_places(const tsi_layout_input *input, int32_t *places) {
  const tsi_host_csr *A = input->csr;
  int32_t runs = 0;
  for (int32_t i = 0; i < A->rows; i++) runs += tsi_row_length(input, i);
  int32_t at = 0;
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t e = A->row_offsets[i]; e < A->row_offsets[i + 1]; e++)
      places[e] = input->has_diagonal && A->column_indices[e] == i ? runs + i : at++;
}

void tsi_layout_places(const tsi_layout *layout, const tsi_layout_input *input, int32_t *places) {
  if (layout->format == TS_FORMAT_JAGGED)
    tsi_slices_places(&layout->slices, input->csr, places);
  else
    segment_places(input, places);
}

ts_status tsi_layout_pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                          tsi_packed *packed) {
  *packed = (tsi_packed){.csr = input->csr};
  if (layout->format == TS_FORMAT_CSR) return TS_OK;
  if (layout->blocks.offsets && input->rows->linear)
    return tsi_blocks_values(context, &layout->blocks, input->csr, &packed->block_values);
  if (layout->blocks.offsets) return tsi_block_texels_pack(context, layout, input, packed);
  if (input->rows->linear) {
    const ts_status packing = layout->format == TS_FORMAT_JAGGED
                                  ? tsi_slices_pack(context, &layout->slices, input->csr, packed)
                                  : pack_linear_segments(context, input, packed);
    if (packing < 0) tsi_packed_free(context, packed);
    return packing;
  }
  int32_t *order = NULL;
  ts_status status = allocate(context, layout, input, packed);
  if (status == TS_OK) status = tsi_rows_in_order(context, input->rows, &order);
  if (status == TS_OK) status = tsi_split_pack(context, layout, input, order, packed);
  if (status == TS_OK) {
    tsi_layout_visit(layout, input, order, pack_entry, &(packing){input, packed});
    tsi_layout_link(layout, input, order, packed);
  }
  tsi_free(context, order);
  if (status < 0) tsi_packed_free(context, packed);
  return status;
}
