/* Placement of the entries of each rectangle of rows. They occupy a block of texels as high as the rectangle,
 * and one rectangle wide per entry of a row. Blocks are placed side by side in rows and never split.
 *
 * The formats differ inside a block. segments (Bolz et al. 2003, section 3.1.1): the entries of a row are a run
 * of neighbouring texels. jagged: the k-th entries of all rows are a slab of the rectangle's shape, so
 * neighbouring fragments fetch neighbouring texels. These are the jagged diagonals of Cevahir et al. 2009,
 * section 4, inside the rectangles of Bolz. */
#include <math.h>

#include "common/core/core.h"
#include "layout_build.h"

static int32_t slabs_of(const tsi_rectangle *r) {
  return r->length + r->spill;
}

/* Rows of slabs needed if `slabs_x` slabs are side by side; the slabs of a rectangle are never separated. */
static int64_t rows_needed(const tsi_layout *layout, int32_t rectangles, int32_t slabs_x) {
  int64_t rows = 1;
  int32_t used = 0;
  for (int32_t r = 0; r < rectangles; r++) {
    const int32_t slabs = slabs_of(&layout->rectangles[r]);
    if (used + slabs > slabs_x) {
      rows++;
      used = 0;
    }
    used += slabs;
  }
  return rows;
}

/* A width close to that of a square: the candidate that wastes least, or 0 if nothing fits. */
static int32_t choose_width(const tsi_layout *layout, const tsi_layout_input *input, int64_t *rows) {
  const tsi_tiling *t = input->rows;
  const int32_t max_size = input->max_texture_size;
  const int32_t w = 1 << t->log2_width, h = 1 << t->log2_height;
  int64_t total = 0;
  int32_t longest = 1;
  for (int32_t r = 0; r < t->free_rectangles; r++) {
    total += slabs_of(&layout->rectangles[r]);
    if (slabs_of(&layout->rectangles[r]) > longest) longest = slabs_of(&layout->rectangles[r]);
  }
  const int32_t max_x = (max_size >> input->log2_texels) / w;
  int32_t square = (int32_t)ceil(sqrt((double)total * h / (w << input->log2_texels)));
  if (square < longest) square = longest;
  int32_t best = 0;
  int64_t best_area = INT64_MAX;
  /* Try some widths from the square on; if the texture is too high, continue towards the widest. */
  int tried = 0;
  for (int32_t x = square; x <= max_x; x++) {
    const int64_t needed = rows_needed(layout, t->free_rectangles, x);
    if (needed * h <= max_size) {
      if (needed * x < best_area) {
        best_area = needed * x;
        best = x;
        *rows = needed;
      }
      if (++tried >= 16 || best_area == total) break;
    } else if (x < max_x) {
      x = x + (max_x - x) / 2; /* halve the distance: the loop adds one */
      if (x > max_x - 1) x = max_x - 1;
    }
  }
  return best;
}

ts_status tsi_layout_place(ts_context *context, tsi_layout *layout, const tsi_layout_input *input) {
  const tsi_tiling *t = input->rows;
  const int32_t w = 1 << t->log2_width, h = 1 << t->log2_height;
  int64_t rows = 0;
  const int32_t slabs_x = choose_width(layout, input, &rows);
  if (!slabs_x) {
    int64_t slabs = 0;
    for (int32_t r = 0; r < t->free_rectangles; r++) slabs += slabs_of(&layout->rectangles[r]);
    return tsi_fail(
        context, TS_ERROR_LIMIT,
        "the matrix needs %lld times %d x %d texels for its entries, which do not fit in the device's "
        "largest texture, %d x %d",
        (long long)slabs, w << input->log2_texels, h, input->max_texture_size, input->max_texture_size);
  }
  layout->width = slabs_x * w;
  layout->height = (int32_t)rows * h;

  int32_t used = 0, row = 0;
  for (int32_t r = 0; r < t->free_rectangles; r++) {
    tsi_rectangle *rectangle = &layout->rectangles[r];
    if (used + slabs_of(rectangle) > slabs_x) {
      row++;
      used = 0;
    }
    rectangle->x = used * w;
    rectangle->y = row * h;
    used += slabs_of(rectangle);
  }
  return TS_OK;
}
