/* The values of a stencil, looked at on the host: valid, symmetric, and which parts of the grid are singular.
 */
#include <float.h>
#include <math.h>

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

/* Nothing to find fault with; 0 does not say what. */
static int row_is_finite(const float *values, size_t count) {
  int bad = 0;
  for (size_t k = 0; k < count; k++) bad |= !(fabsf(values[k]) <= FLT_MAX);
  return !bad;
}

static int points_nowhere(const float *a) {
  for (int k = 0; k < 9; k++)
    if (a[k] != 0) return 0;
  return 1;
}

ts_status tsi_stencil_validate(ts_context *context, const tsi_grid *g, const float *values) {
  for (int32_t j = 0; j < g->height; j++) {
    const int finite = row_is_finite(values, 9 * (size_t)g->width), inside = j > 0 && j < g->height - 1;
    for (int32_t i = 0; i < g->width; i++, values += 9) {
      if (finite && inside && i > 0 && i < g->width - 1 && (values[TSI_CENTRE] != 0 || points_nowhere(values)))
        continue;
      TSI_TRY(check_point(context, g, i, j, values));
    }
  }
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
  const int inside = i > 0 && i < g->width - 1 && j < g->height - 1;
  const float *a = values + 9 * (size_t)p;
  for (int k = TSI_CENTRE + 1; k < 9 && info->symmetric; k++) {
    const int32_t q = inside ? p + (k / 3 - 1) * g->width + k % 3 - 1 : tsi_grid_neighbour(g, i, j, k);
    if (q < 0) continue;
    const float *b = values + 9 * (size_t)q;
    if (a[k] == b[8 - k] || b[TSI_CENTRE] == 0 || nearly_equal(a[k], b[8 - k], a[TSI_CENTRE], b[TSI_CENTRE]))
      continue;
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

/* ---- All of it ---- */

ts_status tsi_stencil_inspect(ts_context *context, const tsi_grid *g, const float *values,
                              tsi_stencil_facts *facts, ts_matrix_info *info) {
  const size_t points = (size_t)g->width * (size_t)g->height;
  *facts = (tsi_stencil_facts){.values = values};
  survey(g, values, facts, info);
  TSI_TRY(tsi_stencil_find_parts(context, g, facts));
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
