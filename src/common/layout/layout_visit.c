/* The storage place of each entry of a matrix. Only this file knows it; all arrays with a number per entry use
 * it (values, pointers, the corners of a mesh). */
#include "layout_build.h"

int64_t tsi_sums_between(const tsi_layout *layout, const tsi_layout_input *input, const int32_t *order,
                         int32_t first, int32_t last) {
  const tsi_tiling *t = input->rows;
  const int bits = t->log2_width + t->log2_height;
  const int32_t stage_length = layout->stages->length;
  int64_t sums = 0;
  for (int32_t r = first; r < last; r++) {
    const tsi_rectangle *rectangle = &layout->rectangles[r];
    const int32_t end = (r + 1) << bits < t->free_count ? (r + 1) << bits : t->free_count;
    for (int32_t p = r << bits; rectangle->spill && p < end; p++) {
      const int32_t beyond = tsi_row_length(input, order[p]) - rectangle->length;
      if (beyond > 0) sums += (beyond + stage_length - 1) / stage_length;
    }
  }
  return sums;
}

void tsi_layout_visit(const tsi_layout *layout, const tsi_layout_input *input, const int32_t *order,
                      tsi_visitor visit, void *user) {
  tsi_visit_rectangles(layout, input, order, 0, input->rows->free_rectangles, 0, visit, user);
}
