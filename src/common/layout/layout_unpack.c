/* From textures back to entries: the inverse of layout_visit.c and layout_split.c. */
#include "common/core/core.h"
#include "layout_build.h"

typedef struct unpacking {
  const tsi_layout *layout;
  const tsi_layout_input *input; /* of blocks, if the layout has them */
  const tsi_host_csr *csr;       /* of entries: their numbers of rows and columns */
  const tsi_packed *packed;
  const int32_t *columns; /* the column of each texel; -1: none, the target of padding */
  tsi_entry_visitor visit;
  void *user;
} unpacking;

static int32_t column_at(const unpacking *u, uint32_t pointer) {
  return u->columns[(size_t)(pointer >> 16) * (size_t)u->input->columns->width + (pointer & 0xffff)];
}

/* Visits an entry, or the block at its texel of a texture of blocks. */
static void visit_entry(const unpacking *u, int32_t row, int32_t column, float value, const float *blocks,
                        size_t texel, int32_t strip) {
  float block[16];
  const int log2_size = u->layout->blocks.log2_size;
  if (!log2_size) {
    u->visit(u->user, row, column, value);
    return;
  }
  tsi_block_of_texels(log2_size, blocks, texel, strip, block);
  tsi_visit_block(log2_size, u->csr, row, column, block, u->visit, u->user);
}

/* Visits the entries that the stages add to sum t of stage s. The last sum of each stage is the 0 of
 * padding. */
static void visit_sum(const unpacking *u, int32_t row, int s, int32_t t) {
  const tsi_stage *stage = &u->layout->stages[s];
  if (t == stage->count - 1) return;
  for (int32_t k = 0; k < stage->length; k++) {
    const size_t number = (size_t)k * (size_t)stage->count + (size_t)t;
    const tsi_entry *entry = &u->packed->stages[s][number];
    if (s > 0) {
      const int bits = stage[-1].log2_sum_width;
      visit_sum(u, row, s - 1, (int32_t)(entry->pointer >> 16 << bits | (entry->pointer & 0xffff)));
      continue;
    }
    const int32_t column = column_at(u, entry->pointer);
    if (column < 0) return;
    visit_entry(u, row, column, entry->value, u->packed->stage_blocks, number, 1);
  }
}

static void visit_row(const unpacking *u, int32_t p, int32_t row) {
  const tsi_layout *layout = u->layout;
  const tsi_packed *packed = u->packed;
  const tsi_tiling *t = u->input->rows;
  const int bits = t->log2_width + t->log2_height;
  const tsi_rectangle *rectangle = &layout->rectangles[p >> bits];
  const int32_t inside = p & ((1 << bits) - 1), strip = 1 << t->log2_width;
  if (u->input->has_diagonal) {
    const size_t texel = (size_t)tsi_texel_number(t, p);
    visit_entry(u, row, row, packed->diagonal ? packed->diagonal[texel] : 0, packed->block_diagonal, texel,
                strip);
  }
  for (int32_t k = 0; k < rectangle->length + rectangle->spill; k++) {
    const tsi_texel at = tsi_entry_texel(layout, t, rectangle, inside, k);
    const size_t texel = (size_t)at.y * (size_t)layout->width + (size_t)at.x;
    const uint32_t pointer = packed->entries ? packed->entries[texel].pointer : packed->pointers[texel];
    if (k == rectangle->length) {
      const int last = layout->stage_count - 1, sum_bits = layout->stages[last].log2_sum_width;
      visit_sum(u, row, last, (int32_t)(pointer >> 16 << sum_bits | (pointer & 0xffff)));
      return;
    }
    const int32_t column = column_at(u, pointer);
    if (column < 0) return; /* shorter than its rectangle, and therefore not split */
    const float value = packed->entries  ? packed->entries[texel].value
                        : packed->values ? packed->values[texel]
                                         : 0;
    visit_entry(u, row, column, value, packed->block_values, texel, strip);
  }
}

ts_status tsi_rectangles_unpack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                                const tsi_packed *packed, tsi_entry_visitor visit, void *user) {
  tsi_block_view view;
  const tsi_host_csr *csr = input->csr;
  if (layout->blocks.log2_size) {
    tsi_block_view_of(&layout->blocks, input, &view);
    input = &view.input;
  }
  const tsi_tiling *t = input->columns;
  const size_t texels = (size_t)t->width * (size_t)t->height;
  int32_t *order = NULL, *columns = tsi_malloc(context, texels, sizeof *columns);
  if (!columns) return tsi_out_of_memory(context, "the columns of texels", texels * sizeof *columns);
  for (size_t k = 0; k < texels; k++) columns[k] = -1;
  for (int32_t j = 0; j < t->size; j++) columns[tsi_texel_number(t, tsi_position(t, j))] = j;
  const ts_status status = tsi_rows_in_order(context, input->rows, &order);
  const unpacking u = {layout, input, csr, packed, columns, visit, user};
  for (int32_t p = 0; status == TS_OK && p < input->rows->free_count; p++) visit_row(&u, p, order[p]);
  tsi_free(context, order);
  tsi_free(context, columns);
  return status;
}
