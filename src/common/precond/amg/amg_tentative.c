/* The tentative prolongator, which represents the near-null space on the next level (Vanek, Mandel, Brezina
 * 1996, section 3). */
#include <math.h>
#include <string.h>

#include "amg.h"

/* If earlier columns reduce a column to less than this share of its length, it depends on them. */
static const double dependent = 1e-8;

/* Lists the nodes of each aggregate in ascending order. */
static void list_members(const tsi_amg_host_level *level, int32_t *offsets, int32_t *members) {
  const int32_t count = level->aggregate_count;
  memset(offsets, 0, ((size_t)count + 2) * sizeof *offsets);
  for (int32_t i = 0; i < level->nodes; i++)
    if (level->aggregates[i] >= 0) offsets[level->aggregates[i] + 2]++;
  for (int32_t a = 0; a < count; a++) offsets[a + 2] += offsets[a + 1];
  for (int32_t i = 0; i < level->nodes; i++)
    if (level->aggregates[i] >= 0) members[offsets[level->aggregates[i] + 1]++] = i;
}

/* The rows of the near-null space that belong to an aggregate. */
typedef struct rows {
  const int32_t *members;
  int32_t count, unknowns, vectors;
  double *values;
} rows;

static double dot(const rows *r, int v, int w) {
  double sum = 0, run = 0;
  int32_t left = TSI_AMG_RUN;
  for (int32_t m = 0; m < r->count; m++) {
    const double *row = r->values + (size_t)r->members[m] * (size_t)(r->unknowns * r->vectors);
    for (int32_t u = 0; u < r->unknowns; u++, row += r->vectors) {
      run += row[v] * row[w];
      if (--left > 0) continue;
      sum += run;
      run = 0;
      left = TSI_AMG_RUN;
    }
  }
  return sum + run;
}

/* Column v = scale times itself - factor times column w */
static void combine(const rows *r, int v, double scale, double factor, int w) {
  for (int32_t m = 0; m < r->count; m++) {
    double *row = r->values + (size_t)r->members[m] * (size_t)(r->unknowns * r->vectors);
    for (int32_t u = 0; u < r->unknowns; u++, row += r->vectors) row[v] = scale * row[v] - factor * row[w];
  }
}

/* Q R by modified Gram-Schmidt, performed twice; Q is in place. */
static void orthonormalise(const rows *r, double *upper) {
  for (int v = 0; v < r->vectors; v++) {
    const double before = dot(r, v, v);
    for (int pass = 0; pass < 2; pass++)
      for (int w = 0; w < v; w++) {
        const double factor = dot(r, w, v);
        combine(r, v, 1, factor, w);
        upper[w * r->vectors + v] += factor;
      }
    const double after = v > 0 ? dot(r, v, v) : before;
    const int none = !(after > dependent * dependent * before);
    upper[v * r->vectors + v] = none ? 0 : sqrt(after);
    combine(r, v, none ? 0 : 1 / sqrt(after), 0, v);
  }
}

typedef struct tentative {
  const tsi_amg_host_level *level;
  const int32_t *offsets, *members;
  double *coarse;
} tentative;

static void orthonormalise_all(const void *arguments, size_t first, size_t last) {
  const tentative *t = arguments;
  const size_t vectors = (size_t)t->level->vectors;
  for (size_t a = first; a < last; a++) {
    const rows r = {t->members + t->offsets[a], t->offsets[a + 1] - t->offsets[a], t->level->unknowns,
                    t->level->vectors, t->level->near_null};
    double *upper = t->coarse + a * vectors * vectors;
    for (size_t k = 0; k < vectors * vectors; k++) upper[k] = 0;
    orthonormalise(&r, upper);
  }
}

/* Weights have signs if a node has one unknown. */
static void find_weights(const void *arguments, size_t first, size_t last) {
  const tentative *t = arguments;
  const size_t unknowns = (size_t)t->level->unknowns, vectors = (size_t)t->level->vectors;
  for (size_t node = first; node < last; node++) {
    const double *values = t->level->near_null + node * unknowns * vectors;
    double sum = 0;
    for (size_t u = 0; u < unknowns; u++) sum += values[u * vectors] * values[u * vectors];
    t->level->weights[node] = (float)(unknowns == 1 ? values[0] : sqrt(sum));
  }
}

static void round_all(const void *arguments, size_t first, size_t last) {
  const tentative *t = arguments;
  const size_t each = (size_t)t->level->unknowns * (size_t)t->level->vectors;
  for (size_t node = first; node < last; node++)
    for (size_t k = node * each; k < (node + 1) * each; k++)
      t->level->tentative[k] = t->level->aggregates[node] < 0 ? 0 : (float)t->level->near_null[k];
}

ts_status tsi_amg_tentative(ts_context *context, const tsi_amg_host_level *level, double *coarse) {
  const size_t count = (size_t)level->aggregate_count, nodes = (size_t)level->nodes;
  int threads;
  TSI_TRY(tsi_threads(context, &threads));
  int32_t *offsets = tsi_malloc(context, count + 2 + nodes, sizeof *offsets);
  if (!offsets) return tsi_out_of_memory(context, "aggregates of amg", (count + nodes) * sizeof *offsets);
  const tentative t = {level, offsets, offsets + count + 2, coarse};
  list_members(level, offsets, offsets + count + 2);
  tsi_parallel(context, nodes, find_weights, &t);
  tsi_parallel(context, count, orthonormalise_all, &t);
  tsi_parallel(context, nodes, round_all, &t);
  tsi_free(context, offsets);
  return TS_OK;
}
