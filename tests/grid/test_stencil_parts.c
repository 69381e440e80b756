/* The facts that the host finds in the values of stencils, without a device. The stencils are random, on small
 * grids, with row sums of 0 and others. Singular parts are compared with a search that spreads from the first
 * point of each part until nothing changes. Sums and symmetry are compared with a check of each point. Faults
 * must be named. */
#include <math.h>

#include "helpers.h"

#include "common/core/core.h"
#include "common/grid/stencil.h"

enum { most_points = 24 * 24, trials = 4000 };

static uint32_t random_state;

static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525U + 1013904223U;
  return (random_state >> 8) % n;
}

static tsi_grid make_grid(void) {
  const int32_t width = 1 + (int32_t)random_below(24), height = 1 + (int32_t)random_below(24);
  return (tsi_grid){.width = width,
                    .height = height,
                    .periodic_x = width > 1 && random_below(2),
                    .periodic_y = height > 1 && random_below(2)};
}

/* Points without an equation, with coefficients towards few or many neighbours, on one side or on both. */
static void make_values(const tsi_grid *g, float *values) {
  const int directions = random_below(2) ? 9 : 4;
  const uint32_t density = 1 + random_below(5), constrained = random_below(6), one_sided = random_below(2);
  const int32_t points = g->width * g->height;
  memset(values, 0, sizeof(float) * 9 * (size_t)points);
  for (int32_t p = 0; p < points; p++) values[9 * p + TSI_CENTRE] = random_below(10) < constrained ? 0 : 1;
  for (int32_t p = 0; p < points; p++) {
    float *a = values + 9 * (size_t)p;
    if (a[TSI_CENTRE] == 0) continue;
    float sum = 0;
    for (int k = 0; k < 9; k++) {
      const int32_t q = tsi_grid_neighbour(g, p % g->width, p / g->width, k);
      if (k == TSI_CENTRE || q < 0 || (directions == 4 && !(k & 1))) continue;
      /* Equal for both ends of an edge, unless one-sided. */
      const uint32_t both = (uint32_t)(p < q ? p * 977 + q : q * 977 + p) * 2654435761U >> 20;
      if ((one_sided ? random_below(7) : both % 7) > density) continue;
      if (values[9 * q + TSI_CENTRE] == 0 && random_below(4)) continue; /* few rows use fixed values */
      a[k] = -0.25f;
      sum += 0.25f;
    }
    a[TSI_CENTRE] = random_below(40) && sum > 0 ? sum : sum + 1;
  }
}

static int joined(const float *values, int32_t p, int32_t q, int k) {
  return values[9 * p + TSI_CENTRE] != 0 && values[9 * q + TSI_CENTRE] != 0 &&
         (values[9 * p + k] != 0 || values[9 * q + 8 - k] != 0);
}

static void spread(const tsi_grid *g, const float *values, int32_t *labels) {
  const int32_t points = g->width * g->height;
  for (int32_t p = 0; p < points; p++) labels[p] = values[9 * p + TSI_CENTRE] != 0 ? p : -1;
  for (int changed = 1; changed;) {
    changed = 0;
    for (int32_t p = 0; p < points; p++)
      for (int k = 0; k < 9; k++) {
        const int32_t q = tsi_grid_neighbour(g, p % g->width, p / g->width, k);
        if (q < 0 || q == p || !joined(values, p, q, k) || labels[q] >= labels[p]) continue;
        labels[p] = labels[q];
        changed = 1;
      }
  }
}

static int row_is_singular(const tsi_grid *g, const float *values, int32_t p) {
  double sum = 0;
  for (int k = 0; k < 9; k++) {
    const float a = values[9 * p + k];
    const int32_t q = tsi_grid_neighbour(g, p % g->width, p / g->width, k);
    if (a != 0 && values[9 * q + TSI_CENTRE] == 0) return 0;
    sum += (double)a;
  }
  return fabs(sum) < 1e-6;
}

static void check_grid(ts_context *context, const tsi_grid *g) {
  static float values[9 * most_points], mask[most_points];
  static int32_t labels[most_points], sizes[most_points];
  const int32_t points = g->width * g->height;
  make_values(g, values);
  spread(g, values, labels);
  memset(sizes, 0, sizeof sizes);
  for (int32_t p = 0; p < points; p++)
    if (labels[p] >= 0) sizes[labels[p]]++;
  for (int32_t p = 0; p < points; p++)
    if (labels[p] >= 0 && !row_is_singular(g, values, p)) sizes[labels[p]] = 0;
  tsi_stencil_facts facts;
  ts_matrix_info info = {0};
  if (!CHECK_OK(context, tsi_stencil_inspect(context, g, values, &facts, &info))) return;
  int parts = 0;
  for (int32_t p = 0; p < points; p++) parts += sizes[p] > 0;
  CHECK_INT(facts.part_count + facts.grounded, parts);
  for (int k = 0; k < facts.part_count; k++) {
    const int32_t first = facts.runs[facts.part_first[k]].first;
    CHECK_INT(facts.part_sizes[k], sizes[first]);
    tsi_stencil_fill_part(&facts, k, (size_t)points, mask);
    for (int32_t p = 0; p < points; p++) CHECK_INT(mask[p] != 0, labels[p] == first);
  }
  tsi_stencil_fill_mask(&facts, (size_t)points, mask);
  for (int32_t p = 0; p < points; p++) CHECK_INT(mask[p] != 0, facts.values[9 * p + TSI_CENTRE] != 0);
  for (int32_t p = 0; p < points && facts.grounded; p++) {
    const int grounded = values[9 * p + TSI_CENTRE] != 0 && facts.values[9 * p + TSI_CENTRE] == 0;
    if (grounded) CHECK_INT(labels[p], p);
    if (grounded) CHECK(sizes[p] > 0);
  }
  tsi_stencil_facts_free(context, &facts);
}

/* ---- Sums, symmetry ---- */

/* The first coefficient that differs from its counterpart, as 9 p + k, or -1. */
static int32_t first_unsymmetric(const tsi_grid *g, const float *values) {
  const int32_t points = g->width * g->height;
  for (int32_t p = 0; p < points; p++)
    for (int k = TSI_CENTRE + 1; k < 9; k++) {
      const int32_t q = tsi_grid_neighbour(g, p % g->width, p / g->width, k);
      if (q < 0 || values[9 * p + TSI_CENTRE] == 0 || values[9 * q + TSI_CENTRE] == 0) continue;
      if (values[9 * p + k] != values[9 * q + 8 - k]) return 9 * p + k;
    }
  return -1;
}

static void check_info(const tsi_grid *g, const float *values, const tsi_stencil_facts *facts,
                       const ts_matrix_info *info) {
  const int32_t points = g->width * g->height, unsymmetric = first_unsymmetric(g, values);
  int32_t nonzeros = 0, longest = 0, constrained = 0, corners = 0;
  double norm = 0;
  for (int32_t p = 0; p < points; p++) {
    int32_t length = 0;
    double sum = 0;
    for (int k = 0; k < 9; k++) {
      length += values[9 * p + k] != 0;
      corners += k % 2 == 0 && k != TSI_CENTRE && values[9 * p + k] != 0;
      sum += fabs((double)values[9 * p + k]);
    }
    nonzeros += length;
    longest = length > longest ? length : longest;
    norm = sum > norm ? sum : norm;
    constrained += values[9 * p + TSI_CENTRE] == 0;
  }
  CHECK_INT(info->nonzeros, nonzeros);
  CHECK_INT(info->longest_row, longest);
  CHECK_INT(info->constrained_rows, constrained);
  CHECK_INT(facts->five_point, corners == 0);
  CHECK(facts->norm_infinity == norm);
  CHECK_INT(info->symmetric, unsymmetric < 0);
  CHECK_INT(info->unsymmetric_row, unsymmetric < 0 ? -1 : unsymmetric / 9);
}

static void survey(void) {
  static float values[9 * most_points];
  ts_context context = {0};
  random_state = 2;
  for (int k = 0; k < trials; k++) {
    const tsi_grid g = make_grid();
    tsi_stencil_facts facts;
    ts_matrix_info info = {0};
    make_values(&g, values);
    if (!CHECK_OK(&context, tsi_stencil_inspect(&context, &g, values, &facts, &info))) return;
    /* A grounded point changes the facts, which describe the values on the device. */
    check_info(&g, facts.values, &facts, &info);
    tsi_stencil_facts_free(&context, &facts);
  }
}

/* ---- Faults ---- */

static void check_fault(ts_context *context, const tsi_grid *g, const float *values, int32_t p) {
  char place[32];
  tsi_stencil_facts facts;
  ts_matrix_info info = {0};
  snprintf(place, sizeof place, "(%d, %d)", p % g->width, p / g->width);
  CHECK_INT(tsi_stencil_inspect(context, g, values, &facts, &info), TS_ERROR_INVALID_ARGUMENT);
  CHECK(strstr(ts_last_error(context), place) != NULL);
  tsi_stencil_facts_free(context, &facts);
}

/* A single fault at any place. Of two faults the first is named. */
static void faults(void) {
  static float values[9 * most_points];
  ts_context context = {0};
  random_state = 3;
  for (int trial = 0; trial < trials; trial++) {
    const tsi_grid g = make_grid();
    const uint32_t points = (uint32_t)(g.width * g.height);
    const int32_t p = (int32_t)random_below(points), k = (int32_t)random_below(9);
    make_values(&g, values);
    float *a = values + 9 * (size_t)p;
    if (tsi_grid_neighbour(&g, p % g.width, p / g.width, k) < 0)
      a[k] = 1;
    else if (a[TSI_CENTRE] == 0 && k != TSI_CENTRE)
      a[k] = -1e-30f;
    else
      a[k] = random_below(2) ? NAN : -INFINITY;
    check_fault(&context, &g, values, p);
    const int32_t later = p + (int32_t)random_below(points - (uint32_t)p);
    if (later > p) values[9 * (size_t)later] = NAN;
    check_fault(&context, &g, values, p);
  }
}

/* ---- Singular parts ---- */

static void random_stencils(void) {
  ts_context context = {0};
  random_state = 1;
  for (int k = 0; k < trials; k++) {
    const tsi_grid g = make_grid();
    check_grid(&context, &g);
  }
}

TEST_MAIN_ON_HOST(CASES(random_stencils, survey, faults))
