/* The singular parts of a stencil: connected points that determine their unknowns up to a constant.
 *
 * Points are joined row by row: a point belongs to the run of its western neighbour where the two are
 * connected, and runs are joined with those of the row below (a union-find structure whose trees point to
 * earlier points). One sweep reads the values once and in order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "stencil.h"

typedef struct union_find {
  const tsi_grid *grid;
  const float *values;
  int32_t *
      parents; /* of a point: the first of its run; of that one: an earlier run's, or itself; -1: no equation */
  int32_t
      *sizes; /* of the first point of a run: how many points, negative where they are not singular; else 0 */
} union_find;

static const float *row_of(const union_find *u, int32_t p) {
  return u->values + 9 * (size_t)p;
}

static int has_equation(const union_find *u, int32_t p) {
  return row_of(u, p)[TSI_CENTRE] != 0;
}

/* Either row has a coefficient for the other, q lying in direction k of p. */
static int connects(const union_find *u, int32_t p, int32_t q, int k) {
  return has_equation(u, q) && (row_of(u, p)[k] != 0 || row_of(u, q)[8 - k] != 0);
}

static int32_t find(const union_find *u, int32_t p) {
  int32_t *parents = u->parents;
  while (parents[p] != p) p = parents[p] = parents[parents[p]];
  return p;
}

static void join(const union_find *u, int32_t p, int32_t q) {
  const int32_t a = find(u, p), b = find(u, q);
  if (a < b)
    u->parents[b] = a;
  else
    u->parents[a] = b;
}

/* Whether a row leaves constants alone: nothing towards points without equation, and the sum is 0 within what
 * rounding nine coefficients leaves. */
static int row_is_singular(const union_find *u, int32_t i, int32_t j, int32_t p) {
  const float *a = row_of(u, p);
  double sum = 0, magnitude = 0;
  for (int k = 0; k < 9; k++) {
    sum += (double)a[k];
    magnitude += fabs((double)a[k]);
  }
  if (!(fabs(sum) <= 3e-7 * magnitude)) return 0;
  const int32_t width = u->grid->width, height = u->grid->height;
  const int inside = i > 0 && i < width - 1 && j > 0 && j < height - 1;
  for (int k = 0; k < 9; k++) {
    if (a[k] == 0) continue;
    const int32_t q = inside ? p + (k / 3 - 1) * width + k % 3 - 1 : tsi_grid_neighbour(u->grid, i, j, k);
    if (!has_equation(u, q)) return 0;
  }
  return 1;
}

/* The neighbours of a point that come before it, beside the one in the west of the same row. */
static void join_below(const union_find *u, int32_t i, int32_t j, int32_t p) {
  const int32_t width = u->grid->width;
  if (i > 0 && i < width - 1) {
    for (int k = 0; k < 3; k++) {
      const int32_t q = p - width + k - 1;
      /* Most often both runs were joined by the points before. */
      if (u->parents[q] >= 0 && u->parents[u->parents[p]] != u->parents[u->parents[q]] && connects(u, p, q, k))
        join(u, p, q);
    }
    return;
  }
  for (int k = 0; k < 9; k++) {
    const int32_t q = tsi_grid_neighbour(u->grid, i, j, k);
    if (q >= 0 && q < p && connects(u, p, q, k)) join(u, p, q);
  }
}

/* The runs of row j, each with its points' number and whether they are singular. */
static void find_runs(const union_find *u, int32_t j) {
  const int32_t width = u->grid->width;
  int32_t p = j * width, first = -1;
  int singular = 1;
  for (int32_t i = 0; i < width; i++, p++) {
    u->sizes[p] = 0;
    if (!has_equation(u, p)) {
      u->parents[p] = -1;
      first = -1;
      continue;
    }
    if (first < 0 || !connects(u, p, p - 1, 3)) {
      first = p;
      singular = 1;
    }
    u->parents[p] = first;
    singular = singular && row_is_singular(u, i, j, p);
    u->sizes[first] = (singular ? 1 : -1) * (p - first + 1);
  }
}

static void join_row(const union_find *u, int32_t j) {
  const tsi_grid *g = u->grid;
  const int32_t width = g->width;
  int32_t p = j * width;
  /* At the seam of a periodic dimension the first row is the neighbour of the last one, and looks back here. */
  const int wraps = g->periodic_y && j == g->height - 1;
  for (int32_t i = 0; i < width; i++, p++) {
    if (u->parents[p] < 0) continue;
    if (j > 0 || i == 0 || i == width - 1) join_below(u, i, j, p);
    for (int k = 6; wraps && k < 9; k++) {
      const int32_t q = tsi_grid_neighbour(g, i, j, k);
      if (q >= 0 && connects(u, p, q, k)) join(u, p, q);
    }
  }
}

/* The sizes of runs go to the first of each part. */
static void add_up_runs(const union_find *u, int32_t points) {
  for (int32_t p = 0; p < points; p++) {
    const int32_t size = u->sizes[p];
    if (size == 0) continue;
    const int32_t root = find(u, p);
    if (root == p) continue;
    const int singular = size > 0 && u->sizes[root] > 0;
    const int32_t sum = abs(size) + abs(u->sizes[root]);
    u->sizes[root] = singular ? sum : -sum;
    u->sizes[p] = 0;
  }
}

/* ---- Which parts are kept ---- */

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

static ts_status keep_parts(ts_context *context, const union_find *u, int32_t points,
                            tsi_stencil_facts *facts) {
  for (int32_t p = 0; p < points; p++)
    if (u->sizes[p] > 0) TSI_TRY(add_part(context, (size_t)points, facts, p, u->sizes[p]));
  if (!facts->part_count) return TS_OK;
  for (int32_t p = 0; p < points; p++)
    if (u->parents[p] >= 0) u->parents[p] = find(u, p);
  facts->labels = u->parents;
  return TS_OK;
}

ts_status tsi_stencil_find_parts(ts_context *context, const tsi_grid *g, tsi_stencil_facts *facts) {
  const int32_t points = g->width * g->height;
  const size_t bytes = (size_t)points * sizeof(int32_t);
  union_find u = {.grid = g, .values = facts->values};
  u.parents = tsi_malloc(context, bytes, 1);
  u.sizes = tsi_malloc(context, bytes, 1);
  ts_status status = TS_OK;
  if (u.parents && u.sizes) {
    for (int32_t j = 0; j < g->height; j++) {
      find_runs(&u, j);
      join_row(&u, j);
    }
    add_up_runs(&u, points);
    status = keep_parts(context, &u, points, facts);
  } else {
    status = tsi_out_of_memory(context, "the parts of a grid", 2 * bytes);
  }
  tsi_free(context, u.sizes);
  if (u.parents != facts->labels) tsi_free(context, u.parents);
  return status;
}
