/* Which entry of a matrix is stored where: the one place that knows it, for everything that has a number for
 * each entry (values, pointers, the corners of a mesh). */
#include "layout_build.h"

tsi_texel tsi_entry_texel(const tsi_layout *layout, const tsi_tiling *t, const tsi_rectangle *rectangle,
                          int32_t inside, int32_t k) {
  const int32_t w = 1 << t->log2_width, x = inside & (w - 1);
  const int32_t across = layout->runs ? x * (rectangle->length + rectangle->spill) + k : k * w + x;
  return (tsi_texel){rectangle->x + across, rectangle->y + (inside >> t->log2_width)};
}

void tsi_layout_visit(const tsi_layout *layout, const tsi_layout_input *input, const int32_t *order,
                      tsi_visitor visit, void *user) {
  const tsi_tiling *t = input->rows;
  const tsi_host_csr *A = input->csr;
  const tsi_stage *stage = layout->stages;
  const int bits = t->log2_width + t->log2_height;
  int64_t sum = 0; /* sums of the first stage so far */
  for (int32_t p = 0; p < t->free_count; p++) {
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
