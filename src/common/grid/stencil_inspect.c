/* Inspects the values of a stencil on the host in one sweep over its rows: validity, symmetry, and singular
 * parts of the grid. */
#include <math.h>

#include "common/core/core.h"
#include "common/matrix/csr.h"
#include "stencil_parts.h"

const char *const tsi_stencil_directions[9] = {"south-western", "southern", "south-eastern",
                                               "western",       "centre",   "eastern",
                                               "north-western", "northern", "north-eastern"};

/* ---- Validation ---- */

static ts_status check_point(ts_context *context, const tsi_grid *g, int32_t i, int32_t j, const float *a) {
  for (int k = 0; k < 9; k++) {
    if (!isfinite(a[k]))
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "the %s coefficient of point (%d, %d) is %g",
                      tsi_stencil_directions[k], i, j, (double)a[k]);
    if (a[k] == 0) continue;
    if (a[TSI_CENTRE] == 0)
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "point (%d, %d) has no equation, as its centre coefficient is 0, and its %s coefficient "
                      "is %g; it must be 0",
                      i, j, tsi_stencil_directions[k], (double)a[k]);
    if (tsi_grid_neighbour(g, i, j, k) < 0)
      return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                      "the %s coefficient of point (%d, %d) is %g and points out of the %d x %d grid; it must "
                      "be 0",
                      tsi_stencil_directions[k], i, j, (double)a[k], g->width, g->height);
  }
  return TS_OK;
}

/* Checks the row that was loaded last. */
static ts_status check_row(ts_context *context, const tsi_stencil_rows *rows) {
  const tsi_grid *g = rows->grid;
  const int32_t j = rows->j + 1;
  if (j >= g->height || !tsi_stencil_rows_suspect(rows)) return TS_OK;
  const float *a = rows->values + 9 * (size_t)j * (size_t)g->width;
  for (int32_t i = 0; i < g->width; i++, a += 9) TSI_TRY(check_point(context, g, i, j, a));
  return TS_OK;
}

/* ---- Symmetry, norm, constrained points ---- */

/* Compares a point with its eastern, north-western, northern and north-eastern neighbours. */
static void check_symmetry(const tsi_grid *g, const float *values, int32_t i, int32_t j, ts_matrix_info *info) {
  const int32_t p = j * g->width + i;
  const float *a = values + 9 * (size_t)p;
  if (a[TSI_CENTRE] == 0) return;
  for (int k = TSI_CENTRE + 1; k < 9 && info->symmetric; k++) {
    const int32_t q = tsi_grid_neighbour(g, i, j, k);
    if (q < 0) continue;
    const float *b = values + 9 * (size_t)q;
    if (a[k] == b[8 - k] || b[TSI_CENTRE] == 0 ||
        tsi_nearly_equal(a[k], b[8 - k], a[TSI_CENTRE], b[TSI_CENTRE]))
      continue;
    info->symmetric = 0;
    info->unsymmetric_row = p;
    info->unsymmetric_column = q;
  }
}

static void survey_row(tsi_stencil_rows *rows, tsi_stencil_facts *facts, ts_matrix_info *info) {
  tsi_row_facts row = {.size = facts->norm_infinity};
  tsi_stencil_rows_survey(rows, &row);
  facts->norm_infinity = row.size;
  facts->constrained += row.constrained;
  if (row.corners) facts->five_point = 0;
  info->nonzeros += row.nonzeros;
  if (row.longest > info->longest_row) info->longest_row = row.longest;
  for (int32_t i = 0; i < rows->grid->width && row.unsymmetric && info->symmetric; i++)
    check_symmetry(rows->grid, rows->values, i, rows->j, info);
}

/* Processes every row once, in order; with `runs` also its connections. */
static ts_status sweep(ts_context *context, tsi_stencil_rows *rows, tsi_stencil_facts *facts,
                       ts_matrix_info *info, tsi_stencil_runs *runs) {
  const tsi_grid *g = rows->grid;
  info->nonzeros = 0;
  info->longest_row = 0;
  info->symmetric = 1;
  info->unsymmetric_row = info->unsymmetric_column = info->zero_diagonal_row = -1;
  facts->five_point = 1;
  facts->norm_infinity = 0;
  facts->constrained = 0;
  TSI_TRY(check_row(context, rows));
  for (int32_t j = 0; j < g->height; j++) {
    tsi_stencil_rows_advance(rows);
    TSI_TRY(check_row(context, rows));
    survey_row(rows, facts, info);
    if (!runs) continue;
    tsi_stencil_rows_mark(rows);
    TSI_TRY(tsi_stencil_runs_add(context, rows, runs));
  }
  if (!runs || !g->periodic_y) return TS_OK;
  tsi_stencil_rows_advance(rows);
  tsi_stencil_runs_close(rows, runs);
  return TS_OK;
}

static ts_status survey(ts_context *context, const tsi_grid *g, const float *values, tsi_stencil_facts *facts,
                        ts_matrix_info *info, tsi_stencil_runs *runs) {
  tsi_stencil_rows rows;
  TSI_TRY(tsi_stencil_rows_create(context, g, values, &rows));
  const ts_status status = sweep(context, &rows, facts, info, runs);
  tsi_stencil_rows_free(context, &rows);
  return status;
}

/* ---- The inspection ---- */

ts_status tsi_stencil_inspect(ts_context *context, const tsi_grid *g, const float *values,
                              tsi_stencil_facts *facts, ts_matrix_info *info) {
  tsi_stencil_runs runs = {0};
  *facts = (tsi_stencil_facts){.values = values};
  ts_status status = survey(context, g, values, facts, info, &runs);
  if (status == TS_OK)
    status = tsi_stencil_find_parts(context, (size_t)g->width * (size_t)g->height, &runs, facts);
  tsi_free(context, runs.list);
  if (status == TS_OK && facts->own_values) {
    facts->values = facts->own_values;
    status = survey(context, g, facts->values, facts, info, NULL);
  }
  info->constrained_rows = facts->constrained;
  return status;
}

void tsi_stencil_facts_free(ts_context *context, tsi_stencil_facts *facts) {
  tsi_free(context, facts->own_values);
  tsi_free(context, facts->runs);
  *facts = (tsi_stencil_facts){0};
}
