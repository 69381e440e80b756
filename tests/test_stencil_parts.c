/* The singular parts of stencils on the host: no device. Random stencils on small grids, with rows that add up
 * to 0 and others, against a search that spreads the first point of each part until nothing changes. */
#include <math.h>

#include "helpers.h"

#include "common.h"
#include "stencil.h"

enum { most_points = 24 * 24, trials = 4000 };

static uint32_t random_state;

static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525U + 1013904223U;
  return (random_state >> 8) % n;
}

/* Points without equation, coefficients towards few or many neighbours and from one side or both. */
static void make_values(const tsi_grid *g, float *values) {
  const int directions = random_below(2) ? 9 : 4;
  const uint32_t density = 1 + random_below(5), holes = random_below(6), one_sided = random_below(2);
  const int32_t points = g->width * g->height;
  memset(values, 0, sizeof(float) * 9 * (size_t)points);
  for (int32_t p = 0; p < points; p++) values[9 * p + TSI_CENTRE] = random_below(10) < holes ? 0 : 1;
  for (int32_t p = 0; p < points; p++) {
    float *a = values + 9 * (size_t)p;
    if (a[TSI_CENTRE] == 0) continue;
    float sum = 0;
    for (int k = 0; k < 9; k++) {
      const int32_t q = tsi_grid_neighbour(g, p % g->width, p / g->width, k);
      if (k == TSI_CENTRE || q < 0 || (directions == 4 && !(k & 1))) continue;
      /* The same for both ends of an edge, unless one-sided. */
      const uint32_t both = (uint32_t)(p < q ? p * 977 + q : q * 977 + p) * 2654435761U >> 20;
      if ((one_sided ? random_below(7) : both % 7) > density) continue;
      if (values[9 * q + TSI_CENTRE] == 0 && random_below(4)) continue; /* few rows lead to what is given */
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
  static float values[9 * most_points];
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
  CHECK_INT(facts.part_count + facts.pinned, parts);
  for (int k = 0; k < facts.part_count; k++) {
    const int32_t first = facts.part_first[k];
    CHECK_INT(facts.part_sizes[k], sizes[first]);
    for (int32_t p = 0; p < points; p++) CHECK_INT(facts.labels[p] == first, labels[p] == first);
  }
  for (int32_t p = 0; p < points && facts.pinned; p++) {
    const int pinned = values[9 * p + TSI_CENTRE] != 0 && facts.values[9 * p + TSI_CENTRE] == 0;
    if (pinned) CHECK_INT(labels[p], p);
    if (pinned) CHECK(sizes[p] > 0);
  }
  tsi_stencil_facts_free(context, &facts);
}

static void random_stencils(void) {
  ts_context context = {0};
  random_state = 1;
  for (int k = 0; k < trials; k++) {
    const tsi_grid g = {.width = 2 + (int32_t)random_below(23),
                        .height = 2 + (int32_t)random_below(23),
                        .periodic_x = (int)random_below(2),
                        .periodic_y = (int)random_below(2)};
    check_grid(&context, &g);
  }
}

static const test_case cases[] = {{"random_stencils", random_stencils}};
TEST_MAIN(cases, TEST_HOST_ONLY)
