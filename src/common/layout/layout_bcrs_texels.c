/* Blocks in texels: the layout of a matrix with blocks as entries, and its packing.
 *
 * The four texels of a 4 x 4 block are in separate strips as wide as a rectangle, so neighbouring fragments
 * fetch neighbouring texels. This is the strip mining of Buatois et al. 2008. On an H200 it is 1.4 times as
 * fast as four texels side by side. */
#include <string.h>

#include "common/core/core.h"
#include "layout_build.h"

/* log2 of the texels per block. */
static int log2_texels(const tsi_blocks *blocks) {
  return blocks->log2_size == 2 ? 2 : 0;
}

static tsi_tiling of_blocks(const tsi_tiling *t) {
  tsi_tiling view = *t;
  view.size = tsi_texels_in_use(t);
  view.log2_block = 0;
  return view;
}

void tsi_block_view_of(const tsi_blocks *blocks, const tsi_layout_input *input, tsi_block_view *view) {
  view->rows = of_blocks(input->rows);
  view->columns = of_blocks(input->columns);
  view->csr = tsi_blocks_as_csr(blocks, input->csr);
  view->input = (tsi_layout_input){.rows = &view->rows,
                                   .columns = &view->columns,
                                   .csr = &view->csr,
                                   .has_diagonal = input->has_diagonal,
                                   .is_diagonal_full = input->is_diagonal_full,
                                   .max_texture_size = input->max_texture_size,
                                   .log2_texels = log2_texels(blocks)};
}

/* ---- Packing ---- */

typedef struct packing {
  const tsi_layout *layout;
  const tsi_block_view *view;
  const float *values; /* of all blocks, row-major */
  tsi_packed *packed;
} packing;

/* Writes a block to a texture that has one texel per block, or four. */
static void put_block(const packing *p, float *texture, size_t texel, int32_t strip, const float *block) {
  if (p->layout->blocks.log2_size == 1) {
    memcpy(texture + 4 * texel, block, 4 * sizeof *block);
    return;
  }
  /* Rectangles are one strip wide and begin at multiples of the strip; so do rows of texels. */
  const size_t inside = texel & ((size_t)strip - 1), first = 4 * (texel - inside);
  for (size_t c = 0; c < 4; c++) {
    float *column = texture + 4 * (first + (strip > 1 ? c * (size_t)strip + inside : c));
    for (size_t r = 0; r < 4; r++) column[r] = block[4 * r + c];
  }
}

void tsi_block_of_texels(int log2_size, const float *texture, size_t texel, int32_t strip, float block[16]) {
  if (log2_size == 1) {
    memcpy(block, texture + 4 * texel, 4 * sizeof *block);
    return;
  }
  const size_t inside = texel & ((size_t)strip - 1), first = 4 * (texel - inside);
  for (size_t c = 0; c < 4; c++)
    for (size_t r = 0; r < 4; r++) block[4 * r + c] = texture[4 * (first + c * (size_t)strip + inside) + r];
}

static void pack_block(void *user, int32_t row, int32_t k, tsi_place place, size_t texel) {
  (void)row;
  const packing *p = user;
  const tsi_tiling *columns = p->view->input.columns;
  const float *block = p->values + ((size_t)k << (2 * p->layout->blocks.log2_size));
  const uint32_t pointer = tsi_pointer(columns, tsi_position(columns, p->view->csr.column_indices[k]));
  const int32_t strip = 1 << p->view->rows.log2_width;
  if (place == TSI_PLACE_DIAGONAL) {
    put_block(p, p->packed->block_diagonal, texel, strip, block);
  } else if (place == TSI_PLACE_STAGE) {
    put_block(p, p->packed->stage_blocks, texel, 1, block);
    p->packed->stages[0][texel].pointer = pointer;
  } else {
    put_block(p, p->packed->block_values, texel, strip, block);
    p->packed->pointers[texel] = pointer;
  }
}

static ts_status allocate(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                          tsi_packed *packed) {
  const size_t texels = (size_t)layout->width * (size_t)layout->height;
  const size_t row_texels = (size_t)input->rows->width * (size_t)input->rows->height;
  const size_t block = sizeof(float) << (2 * layout->blocks.log2_size);
  const tsi_stage *stage = &layout->stages[0];
  const size_t stage_texels = layout->stage_count ? (size_t)stage->height << stage->log2_width : 0;
  int ok = (packed->block_values = tsi_calloc(context, texels, block)) != NULL;
  ok = ok && (packed->pointers = tsi_malloc(context, texels, sizeof(uint32_t))) != NULL;
  if (input->has_diagonal) ok = ok && (packed->block_diagonal = tsi_calloc(context, row_texels, block)) != NULL;
  if (stage_texels) ok = ok && (packed->stage_blocks = tsi_calloc(context, stage_texels, block)) != NULL;
  if (!ok) return tsi_out_of_memory(context, "the blocks in texel order", (texels + row_texels) * block);
  const uint32_t zero = tsi_pointer(input->columns, input->columns->zero_position);
  for (size_t k = 0; k < texels; k++) packed->pointers[k] = zero;
  return TS_OK;
}

ts_status tsi_block_texels_pack(ts_context *context, const tsi_layout *layout, const tsi_layout_input *input,
                                tsi_packed *packed) {
  tsi_block_view view;
  tsi_block_view_of(&layout->blocks, input, &view);
  int32_t *order = NULL;
  float *values = NULL;
  ts_status status = allocate(context, layout, &view.input, packed);
  if (status == TS_OK) status = tsi_rows_in_order(context, view.input.rows, &order);
  if (status == TS_OK) status = tsi_split_pack(context, layout, &view.input, order, packed);
  if (status == TS_OK) status = tsi_blocks_values(context, &layout->blocks, input->csr, &values);
  if (status == TS_OK) {
    tsi_layout_visit(layout, &view.input, order, pack_block, &(packing){layout, &view, values, packed});
    tsi_layout_link(layout, &view.input, order, packed);
  }
  tsi_free(context, values);
  tsi_free(context, order);
  if (status < 0) tsi_packed_free(context, packed);
  return status;
}
