/* A row of a stencil as nine arrays. Loops have neither calls nor branches, so that compilers vectorise them.
 * They work on data in the cache. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/core/core.h"
#include "stencil_rows.h"

/* ---- Rows ---- */

static void load(const tsi_stencil_rows *r, int32_t j, float *restrict row) {
  const tsi_grid *g = r->grid;
  const int32_t width = g->width;
  const size_t stride = r->stride;
  if (g->periodic_y) j = j < 0 ? g->height - 1 : j == g->height ? 0 : j;
  if (j < 0 || j >= g->height) {
    memset(row - 1, 0, 9 * stride * sizeof *row);
    return;
  }
  const float *restrict values = r->values + 9 * (size_t)j * (size_t)width;
  for (size_t k = 0; k < 9; k++) {
    float *restrict a = row + k * stride;
    for (int32_t i = 0; i < width; i++) a[i] = values[9 * (size_t)i + k];
    a[-1] = g->periodic_x ? a[width - 1] : 0;
    a[width] = g->periodic_x ? a[0] : 0;
  }
}

ts_status tsi_stencil_rows_create(ts_context *context, const tsi_grid *grid, const float *values,
                                  tsi_stencil_rows *rows) {
  const size_t width = (size_t)grid->width, stride = width + 2;
  *rows = (tsi_stencil_rows){.grid = grid, .values = values, .j = -1, .stride = stride};
  float *block = rows->blocks[0] = tsi_malloc(context, 27 * stride, sizeof *block);
  rows->marks = rows->blocks[1] = tsi_malloc(context, width, sizeof *rows->marks);
  rows->sizes = rows->blocks[2] = tsi_malloc(context, 2 * width, sizeof *rows->sizes);
  if (!block || !rows->marks || !rows->sizes) {
    tsi_stencil_rows_free(context, rows);
    return tsi_out_of_memory(context, "three rows of a stencil", 27 * stride * sizeof *block);
  }
  rows->excess = rows->sizes + width;
  rows->below = block + 1;
  rows->row = rows->below + 9 * stride;
  rows->above = rows->row + 9 * stride;
  load(rows, -1, rows->row);
  load(rows, 0, rows->above);
  return TS_OK;
}

void tsi_stencil_rows_free(ts_context *context, tsi_stencil_rows *rows) {
  for (int k = 0; k < 3; k++) tsi_free(context, rows->blocks[k]);
}

void tsi_stencil_rows_advance(tsi_stencil_rows *rows) {
  float *oldest = rows->below;
  rows->below = rows->row;
  rows->row = rows->above;
  rows->above = oldest;
  rows->j++;
  load(rows, rows->j + 1, rows->above);
}

/* ---- Faults ---- */

static int any_nonzero(const float *restrict a, int32_t width) {
  int found = 0;
  for (int32_t i = 0; i < width; i++) found |= a[i] != 0;
  return found;
}

int tsi_stencil_rows_suspect(const tsi_stencil_rows *r) {
  const tsi_grid *g = r->grid;
  const int32_t width = g->width, j = r->j + 1;
  const float *restrict row = r->above, *restrict centre = row + TSI_CENTRE * r->stride;
  int good = 1;
  for (size_t k = 0; k < 9; k++) {
    const float *restrict a = row + k * r->stride;
    for (int32_t i = 0; i < width; i++) good &= (fabsf(a[i]) <= FLT_MAX) & ((a[i] == 0) | (centre[i] != 0));
    const int out_x = !g->periodic_x && k % 3 != 1, out_y = !g->periodic_y && k / 3 != 1;
    if (out_x) good &= a[k % 3 == 0 ? 0 : width - 1] == 0;
    if (out_y && j == (k / 3 == 0 ? 0 : g->height - 1)) good &= !any_nonzero(a, width);
  }
  return !good;
}

/* ---- A row's sums ---- */

/* sizes: |a_0| + ... + |a_8|. excess: the sum of a row minus the rounding error of nine coefficients that add
 * up to 0. Without corners only every second coefficient is nonzero. */
static inline void add_up(const float *restrict row, size_t stride, int32_t width, int corners,
                          double *restrict sizes, double *restrict excess) {
  for (int32_t i = 0; i < width; i++) {
    double sum = 0, size = 0;
    for (size_t k = 0; k < 9; k++) {
      if (!corners && k != TSI_CENTRE && k % 2 == 0) continue;
      const double a = (double)row[k * stride + (size_t)i];
      sum += a;
      size += fabs(a);
    }
    sizes[i] = size;
    excess[i] = fabs(sum) - 3e-7 * size;
  }
}

/* Uses several lanes, because the steps of a single one depend on each other. */
static double largest(const double *restrict values, int32_t count, double least) {
  double lanes[4] = {least, least, least, least};
  int32_t i = 0;
  for (; i < count - 3; i += 4)
    for (int32_t k = 0; k < 4; k++) lanes[k] = values[i + k] > lanes[k] ? values[i + k] : lanes[k];
  for (; i < count; i++) lanes[0] = values[i] > lanes[0] ? values[i] : lanes[0];
  for (int32_t k = 1; k < 4; k++) lanes[0] = lanes[k] > lanes[0] ? lanes[k] : lanes[0];
  return lanes[0];
}

static void count(const float *restrict row, size_t stride, int32_t width, tsi_row_facts *facts) {
  int32_t nonzeros = 0, longest = 0, constrained = 0, corners = 0;
  for (int32_t i = 0; i < width; i++) {
    const float *restrict a = row + i;
    const int32_t in_corners = (a[0] != 0) + (a[2 * stride] != 0) + (a[6 * stride] != 0) + (a[8 * stride] != 0);
    const int32_t length = in_corners + (a[stride] != 0) + (a[3 * stride] != 0) + (a[4 * stride] != 0) +
                           (a[5 * stride] != 0) + (a[7 * stride] != 0);
    nonzeros += length;
    longest = length > longest ? length : longest;
    constrained += a[4 * stride] == 0;
    corners |= in_corners;
  }
  facts->nonzeros = nonzeros;
  facts->longest = longest;
  facts->constrained = constrained;
  facts->corners = corners != 0;
}

/* Compares with the eastern, north-western, northern and north-eastern neighbours. */
static int differs(const float *restrict row, const float *restrict above, size_t stride, int32_t width) {
  const float *restrict centre = row + TSI_CENTRE * stride;
  int found = 0;
  for (size_t k = TSI_CENTRE + 1; k < 9; k++) {
    const float *restrict a = row + k * stride;
    const ptrdiff_t shift = (ptrdiff_t)(k % 3) - 1;
    const float *restrict other = (k == TSI_CENTRE + 1 ? row : above) + shift;
    const float *restrict b = other + (8 - k) * stride, *restrict at = other + TSI_CENTRE * stride;
    for (int32_t i = 0; i < width; i++) found |= (a[i] != b[i]) & (centre[i] != 0) & (at[i] != 0);
  }
  return found;
}

void tsi_stencil_rows_survey(tsi_stencil_rows *r, tsi_row_facts *facts) {
  const int32_t width = r->grid->width;
  count(r->row, r->stride, width, facts);
  if (facts->corners)
    add_up(r->row, r->stride, width, 1, r->sizes, r->excess);
  else
    add_up(r->row, r->stride, width, 0, r->sizes, r->excess);
  facts->size = largest(r->sizes, width, facts->size);
  facts->unsymmetric = differs(r->row, r->above, r->stride, width);
}

/* ---- A row's marks ---- */

static void mark_connections(const tsi_stencil_rows *r) {
  const size_t stride = r->stride;
  const int32_t width = r->grid->width;
  const float *restrict row = r->row, *restrict below = r->below;
  const float *restrict centre = row + TSI_CENTRE * stride, *restrict south = below + TSI_CENTRE * stride;
  int32_t *restrict marks = r->marks;
  for (int32_t i = 0; i < width; i++) {
    const float *restrict a = row + i, *restrict b = below + i;
    const int32_t west = ((a[3 * stride] != 0) | (a[5 * stride - 1] != 0)) & (centre[i - 1] != 0);
    const int32_t sw = ((a[0] != 0) | (b[8 * stride - 1] != 0)) & (south[i - 1] != 0);
    const int32_t s = ((a[stride] != 0) | (b[7 * stride] != 0)) & (south[i] != 0);
    const int32_t se = ((a[2 * stride] != 0) | (b[6 * stride + 1] != 0)) & (south[i + 1] != 0);
    const int32_t found = TSI_MARK_EQUATION | west * TSI_MARK_WEST | sw * TSI_MARK_SOUTH_WEST |
                          s * TSI_MARK_SOUTH | se * TSI_MARK_SOUTH_EAST;
    marks[i] = centre[i] != 0 ? found : 0;
  }
}

static void mark_singular(const tsi_stencil_rows *r) {
  const double *restrict excess = r->excess;
  int32_t *restrict marks = r->marks;
  for (int32_t i = 0; i < r->grid->width; i++) marks[i] |= excess[i] <= 0 ? TSI_MARK_SINGULAR : 0;
}

/* A coefficient towards a point without an equation refers to a given value, so the row is not singular. */
static void unmark_given(const tsi_stencil_rows *r) {
  const size_t stride = r->stride;
  const int32_t width = r->grid->width;
  int32_t *restrict marks = r->marks;
  for (size_t k = 0; k < 9; k++) {
    const float *restrict a = r->row + k * stride;
    const float *rows[3] = {r->below, r->row, r->above};
    const float *restrict centre = rows[k / 3] + TSI_CENTRE * stride + k % 3 - 1;
    for (int32_t i = 0; i < width; i++) marks[i] &= ((a[i] != 0) & (centre[i] == 0)) ? ~TSI_MARK_SINGULAR : ~0;
  }
}

void tsi_stencil_rows_mark(tsi_stencil_rows *r) {
  mark_connections(r);
  mark_singular(r);
  unmark_given(r);
}
