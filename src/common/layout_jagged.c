/* The jagged format: the k-th entries of all rows of a rectangle are one slab of the rectangle's own shape, and
 * the slabs of a rectangle stand side by side, so that neighbouring fragments fetch neighbouring texels.
 * Jagged diagonals (Cevahir et al. 2009, section 4) inside the rectangles of Bolz et al. 2003. */
#include <math.h>

#include "common.h"
#include "layout_build.h"

static int32_t slabs_of(const tsi_rectangle *r) {
  return r->length + r->spill;
}

/* Rows of slabs that `slabs_x` slabs side by side need; a rectangle's slabs are never torn apart. */
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

/* A width near that of a square, among the candidates the one that wastes least. 0 if nothing fits. */
static int32_t choose_width(const tsi_layout *layout, const tsi_tiling *t, int32_t max_size, int64_t *rows) {
  const int32_t w = 1 << t->log2_width, h = 1 << t->log2_height;
  int64_t total = 0;
  int32_t longest = 1;
  for (int32_t r = 0; r < t->free_rectangles; r++) {
    total += slabs_of(&layout->rectangles[r]);
    if (slabs_of(&layout->rectangles[r]) > longest) longest = slabs_of(&layout->rectangles[r]);
  }
  const int32_t max_x = max_size / w;
  int32_t square = (int32_t)ceil(sqrt((double)total * h / w));
  if (square < longest) square = longest;
  int32_t best = 0;
  int64_t best_area = INT64_MAX;
  /* Try some widths from the square on; if the texture gets too high, go on towards the widest. */
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
      x = x + (max_x - x) / 2; /* halve the way: the loop adds one */
      if (x > max_x - 1) x = max_x - 1;
    }
  }
  return best;
}

ts_status tsi_jagged_place(ts_context *context, tsi_layout *layout, const tsi_layout_input *input) {
  const tsi_tiling *t = input->rows;
  const int32_t w = 1 << t->log2_width, h = 1 << t->log2_height;
  int64_t rows = 0;
  const int32_t slabs_x = choose_width(layout, t, input->max_texture_size, &rows);
  if (!slabs_x) {
    int64_t slabs = 0;
    for (int32_t r = 0; r < t->free_rectangles; r++) slabs += slabs_of(&layout->rectangles[r]);
    return tsi_fail(
        context, TS_ERROR_LIMIT,
        "the matrix needs %lld slabs of %d x %d texels for its entries, which do not fit in the device's "
        "largest texture, %d x %d",
        (long long)slabs, w, h, input->max_texture_size, input->max_texture_size);
  }
  layout->width = slabs_x * w;
  layout->height = (int32_t)rows * h;

  /* Place rectangles one after the other, and cut them into strips where the loop changes or where the
   * arithmetic of a strip breaks: at the first row of slabs, which may begin in the middle, and after it. */
  int32_t used = 0, row = 0;
  for (int32_t r = 0; r < t->free_rectangles;) {
    const tsi_rectangle first = layout->rectangles[r];
    const int32_t slabs = slabs_of(&first);
    if (used + slabs > slabs_x) {
      row++;
      used = 0;
    }
    const int32_t room = slabs ? (slabs_x - used) / slabs : t->free_rectangles;
    const int32_t per_row =
        used == 0 ? room : t->free_rectangles; /* a piece that begins inside a row ends with it */
    const int32_t most = used == 0 ? t->free_rectangles : room;
    const tsi_strip like = {.first_rectangle = r,
                            .length = first.length,
                            .spill = first.spill,
                            .per_row = per_row,
                            .base_x = used * w,
                            .base_y = row * h};
    int32_t count = 0;
    while (r + count < t->free_rectangles && count < most &&
           layout->rectangles[r + count].length == first.length &&
           layout->rectangles[r + count].spill == first.spill) {
      if (count && slabs && count % per_row == 0) {
        row++;
        used = 0;
      }
      layout->rectangles[r + count].x = used * w;
      layout->rectangles[r + count].y = row * h;
      used += slabs;
      count++;
    }
    TSI_TRY(tsi_strips_add(context, layout, t, r, count, &like));
    r += count;
  }
  return TS_OK;
}
