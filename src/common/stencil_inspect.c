/* The values of a stencil, looked at on the host: valid, symmetric, and which parts of the grid are singular.
 */
#include <math.h>
#include <string.h>

#include "common.h"
#include "stencil.h"

static const char *const directions[9] = {"south-western", "southern", "south-eastern",
                                          "western",       "centre",   "eastern",
                                          "north-western", "northern", "north-eastern"};

/* ---- Validation ---- */

static ts_status check_point(ts_context *context, const tsi_grid *g, int32_t i, int32_t j, const float *a) {
  for (int k = 0; k < 9; k++) {
    if (!isfinite(a[k]))
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "the %s coefficient of point (%d, %d) is %g",
                      directions[k], i, j, (double)a[k]);
    if (a[k] == 0) continue;
    if (a[TSI_CENTRE] == 0)
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "point (%d, %d) has no equation, as its centre coefficient is 0, and its %s coefficient "
                      "is %g; it must be 0",
                      i, j, directions[k], (double)a[k]);
    if (tsi_grid_neighbour(g, i, j, k) < 0)
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "the %s coefficient of point (%d, %d) is %g and points out of the %d x %d grid; it must "
                      "be 0",
                      directions[k], i, j, (double)a[k], g->width, g->height);
  }
  return TS_OK;
}

ts_status tsi_stencil_validate(ts_context *context, const tsi_grid *g, const float *values) {
  for (int32_t j = 0; j < g->height; j++)
    for (int32_t i = 0; i < g->width; i++, values += 9) TSI_TRY(check_point(context, g, i, j, values));
  return TS_OK;
}

/* ---- Symmetry, norm, holes ---- */

/* Equal within what assembly in single precision leaves, as for matrices in CSR. */
static int nearly_equal(float a, float b, float diagonal_a, float diagonal_b) {
  const double larger = fmax(fabs((double)a), fabs((double)b));
  const double scale = sqrt(fabs((double)diagonal_a) * fabs((double)diagonal_b));
  return fabs((double)a - (double)b) <= 1e-5 * larger + 1e-7 * scale;
}

/* A point against its eastern, north-western, northern and north-eastern neighbours. */
static void check_symmetry(const tsi_grid *g, const float *values, int32_t i, int32_t j, ts_matrix_info *info) {
  const int32_t p = j * g->width + i;
  const float *a = values + 9 * (size_t)p;
  for (int k = TSI_CENTRE + 1; k < 9 && info->symmetric; k++) {
    const int32_t q = tsi_grid_neighbour(g, i, j, k);
    if (q < 0) continue;
    const float *b = values + 9 * (size_t)q;
    if (b[TSI_CENTRE] == 0 || nearly_equal(a[k], b[8 - k], a[TSI_CENTRE], b[TSI_CENTRE])) continue;
    info->symmetric = 0;
    info->unsymmetric_row = p;
    info->unsymmetric_column = q;
  }
}

static void survey(const tsi_grid *g, const float *values, tsi_stencil_facts *facts, ts_matrix_info *info) {
  info->nonzeros = 0;
  info->longest_row = 0;
  info->symmetric = 1;
  info->unsymmetric_row = info->unsymmetric_column = info->zero_diagonal_row = -1;
  facts->five_point = 1;
  facts->norm_infinity = 0;
  facts->holes = 0;
  const float *a = values;
  for (int32_t j = 0; j < g->height; j++) {
    for (int32_t i = 0; i < g->width; i++, a += 9) {
      if (a[TSI_CENTRE] == 0) {
        facts->holes++;
        continue;
      }
      double sum = 0;
      int32_t length = 0;
      for (int k = 0; k < 9; k++) {
        sum += fabs((double)a[k]);
        length += a[k] != 0;
      }
      if (a[0] != 0 || a[2] != 0 || a[6] != 0 || a[8] != 0) facts->five_point = 0;
      info->nonzeros += length;
      if (length > info->longest_row) info->longest_row = length;
      if (sum > facts->norm_infinity) facts->norm_infinity = sum;
      if (info->symmetric) check_symmetry(g, values, i, j, info);
    }
  }
}

/* ---- Singular parts ---- */

typedef struct flood {
  const tsi_grid *grid;
  const float *values;
  int32_t *labels; /* -1: not seen */
  int32_t *stack;
} flood;

/* Whether a row leaves constants alone: nothing towards points without equation, and the sum is 0 within what
 * rounding nine coefficients leaves. */
static int row_is_singular(const flood *f, int32_t i, int32_t j, const float *a) {
  double sum = 0, magnitude = 0;
  for (int k = 0; k < 9; k++) {
    if (a[k] == 0) continue;
    const int32_t q = tsi_grid_neighbour(f->grid, i, j, k);
    if (f->values[9 * (size_t)q + TSI_CENTRE] == 0) return 0;
    sum += a[k];
    magnitude += fabs((double)a[k]);
  }
  return fabs(sum) <= 3e-7 * magnitude;
}

/* Labels everything that is connected with `first`. Returns the number of points, negative where they are not
 * singular. */
static int32_t fill(const flood *f, int32_t first) {
  const int32_t width = f->grid->width;
  int32_t count = 0, top = 0;
  int singular = 1;
  f->labels[first] = first;
  f->stack[top++] = first;
  while (top > 0) {
    const int32_t p = f->stack[--top], i = p % width, j = p / width;
    const float *a = f->values + 9 * (size_t)p;
    count++;
    if (singular && !row_is_singular(f, i, j, a)) singular = 0;
    for (int k = 0; k < 9; k++) {
      const int32_t q = k == TSI_CENTRE ? -1 : tsi_grid_neighbour(f->grid, i, j, k);
      if (q < 0 || f->labels[q] >= 0) continue;
      const float *b = f->values + 9 * (size_t)q;
      if (b[TSI_CENTRE] == 0 || (a[k] == 0 && b[8 - k] == 0)) continue;
      f->labels[q] = first;
      f->stack[top++] = q;
    }
  }
  return singular ? count : -count;
}

/* The point's equation is dropped. */
static ts_status pin(ts_context *context, size_t points, tsi_stencil_facts *facts, int32_t point) {
  if (!facts->own_values) {
    facts->own_values = tsi_malloc(context, 9 * points, sizeof(float));
    if (!facts->own_values) return tsi_out_of_memory(context, "a stencil", 9 * points * sizeof(float));
    memcpy(facts->own_values, facts->values, 9 * points * sizeof(float));
  }
  memset(facts->own_values + 9 * (size_t)point, 0, 9 * sizeof(float));
  facts->pinned++;
  facts->holes++;
  return TS_OK;
}

/* Keeps the largest parts; what does not fit is pinned. */
static ts_status add_part(ts_context *context, size_t points, tsi_stencil_facts *facts, int32_t first,
                          int32_t size) {
  if (facts->part_count < TSI_MAX_PARTS) {
    facts->part_first[facts->part_count] = first;
    facts->part_sizes[facts->part_count++] = size;
    return TS_OK;
  }
  int smallest = 0;
  for (int k = 1; k < TSI_MAX_PARTS; k++)
    if (facts->part_sizes[k] <= facts->part_sizes[smallest]) smallest = k;
  if (facts->part_sizes[smallest] >= size) return pin(context, points, facts, first);
  const int32_t smaller = facts->part_first[smallest];
  facts->part_first[smallest] = first;
  facts->part_sizes[smallest] = size;
  return pin(context, points, facts, smaller);
}

static ts_status find_parts(ts_context *context, const tsi_grid *g, tsi_stencil_facts *facts) {
  const size_t points = (size_t)g->width * (size_t)g->height;
  flood f = {.grid = g, .values = facts->values};
  f.labels = facts->labels = tsi_malloc(context, points, sizeof *f.labels);
  f.stack = tsi_malloc(context, points, sizeof *f.stack);
  if (!f.labels || !f.stack) {
    tsi_free(context, f.stack);
    return tsi_out_of_memory(context, "the parts of a grid", 2 * points * sizeof *f.labels);
  }
  memset(f.labels, -1, points * sizeof *f.labels);
  ts_status status = TS_OK;
  for (int32_t p = 0; p < (int32_t)points && status == TS_OK; p++) {
    if (f.labels[p] >= 0 || f.values[9 * (size_t)p + TSI_CENTRE] == 0) continue;
    const int32_t size = fill(&f, p);
    if (size > 0) status = add_part(context, points, facts, p, size);
  }
  tsi_free(context, f.stack);
  return status;
}

ts_status tsi_stencil_inspect(ts_context *context, const tsi_grid *g, const float *values,
                              tsi_stencil_facts *facts, ts_matrix_info *info) {
  const size_t points = (size_t)g->width * (size_t)g->height;
  *facts = (tsi_stencil_facts){.values = values};
  survey(g, values, facts, info);
  TSI_TRY(find_parts(context, g, facts));
  if (facts->own_values) {
    facts->values = facts->own_values;
    const int32_t holes = facts->holes;
    survey(g, facts->values, facts, info);
    facts->holes = holes;
  }
  info->locked_rows = facts->holes;
  if (!facts->holes) return TS_OK;
  facts->mask = tsi_malloc(context, points, sizeof *facts->mask);
  if (!facts->mask) return tsi_out_of_memory(context, "a stencil", points * sizeof *facts->mask);
  for (size_t p = 0; p < points; p++) facts->mask[p] = facts->values[9 * p + TSI_CENTRE] != 0 ? 1.0f : 0.0f;
  return TS_OK;
}

void tsi_stencil_facts_free(ts_context *context, tsi_stencil_facts *facts) {
  tsi_free(context, facts->own_values);
  tsi_free(context, facts->mask);
  tsi_free(context, facts->labels);
  *facts = (tsi_stencil_facts){0};
}
