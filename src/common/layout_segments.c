/* The segments format of Bolz et al. 2003, section 3.1.1: the off-diagonal entries of a row are one run of
 * texels; an indirection texture tells where each run begins and a pointer texture, laid out like the entries,
 * where x_j is. Runs are padded to the loop of their rectangle. */
#include "common.h"
#include "layout_build.h"

ts_status tsi_segments_place(ts_context *context, tsi_layout *layout, const tsi_layout_input *input) {
  const tsi_tiling *t = input->rows;
  const int32_t area = 1 << (t->log2_width + t->log2_height);
  int64_t total = 0;
  for (int32_t r = 0; r < t->free_rectangles; r++) {
    tsi_rectangle *rectangle = &layout->rectangles[r];
    rectangle->start = (uint32_t)total;
    total += (int64_t)area * (rectangle->length + rectangle->spill);
  }
  /* A width that is a power of two, so that the shader needs no division; the smallest that is no less than the
   * height. */
  int32_t width = 1;
  while ((int64_t)width * width < total && width * 2 <= input->max_texture_size) width *= 2;
  const int64_t height = total ? (total + width - 1) / width : 1;
  if (height > input->max_texture_size || total > UINT32_MAX)
    return tsi_fail(
        context, TS_ERROR_LIMIT,
        "the matrix needs %lld texels for its entries, which do not fit in the device's largest texture, "
        "%d x %d",
        (long long)total, input->max_texture_size, input->max_texture_size);
  layout->width = width;
  layout->height = (int32_t)height;

  for (int32_t r = 0; r < t->free_rectangles;) {
    const tsi_rectangle first = layout->rectangles[r];
    int32_t count = 1;
    while (r + count < t->free_rectangles && layout->rectangles[r + count].length == first.length &&
           layout->rectangles[r + count].spill == first.spill)
      count++;
    const tsi_strip like = {.first_rectangle = r, .length = first.length, .spill = first.spill, .per_row = 1};
    TSI_TRY(tsi_strips_add(context, layout, t, r, count, &like));
    r += count;
  }
  return TS_OK;
}
