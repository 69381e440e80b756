/* Smoothed aggregation of a matrix that is not symmetric. Its transpose is treated in the same way:
 *
 *   P = (I - omega D_F^-1 A_F) T,  R = ((I - omega D_G^-1 G) T)^T,  G the strong part of A^T
 *
 * (Brezina, Manteuffel, McCormick, Ruge, Sanders 2010, "Towards adaptive smoothed aggregation for nonsymmetric
 * problems", section 3). Both have the same aggregates: a connection is strong if it is strong in A or in A^T.
 *
 * Positive entries are weak, and weak entries are added to the diagonal. Central differences have positive
 * entries downstream, so that their A_F is that of upwind differences. P and R are therefore bounded at any
 * cell Peclet number. */
#include "amg.h"

static void negate(const void *arguments, size_t first, size_t last) {
  float *values = ((const tsi_amg_csr *)arguments)->values;
  for (size_t e = first; e < last; e++) values[e] = -values[e];
}

static ts_status transpose(ts_context *context, const tsi_amg_csr *A, tsi_amg_csr *T) {
  TSI_TRY(tsi_amg_transpose(context, A, T));
  tsi_parallel(context, (size_t)T->offsets[T->rows], negate, T);
  return TS_OK;
}

ts_status tsi_amg_transposed_create(ts_context *context, tsi_amg_host_level *level) {
  const size_t entries = (size_t)level->A.offsets[level->A.rows];
  tsi_amg_host_level *t = tsi_calloc(context, 1, sizeof *t);
  if (!t) return tsi_out_of_memory(context, "a level of amg", sizeof *t);
  level->transposed = t;
  t->is_unsymmetric = 1;
  t->unknowns = level->unknowns;
  t->vectors = level->vectors;
  t->nodes = level->nodes;
  t->near_null = level->near_null;
  t->strong = tsi_malloc(context, entries, sizeof *t->strong);
  if (!t->strong) return tsi_out_of_memory(context, "strong connections of amg", entries);
  return transpose(context, &level->A, &t->A);
}

void tsi_amg_transposed_free(ts_context *context, tsi_amg_host_level *level) {
  tsi_amg_host_level *t = level->transposed;
  if (!t) return;
  tsi_amg_smoothing_free(context, t);
  tsi_amg_csr_free(context, &t->A);
  tsi_amg_csr_free(context, &t->P);
  tsi_free(context, t->strong);
  tsi_free(context, t);
  level->transposed = NULL;
}

/* ---- Connections of both matrices ---- */

/* The merged list of a node starts at the sum of its start indices in the two graphs. */
typedef struct merging {
  const tsi_amg_graph *one, *other, *both;
} merging;

static void merge_node(const merging *m, size_t i) {
  const tsi_amg_graph *one = m->one, *other = m->other, *both = m->both;
  int32_t e = one->begins[i], f = other->begins[i], to = e + f;
  both->begins[i] = to;
  while (e < one->ends[i] || f < other->ends[i]) {
    const int32_t j = e < one->ends[i] ? one->indices[e] : INT32_MAX;
    const int32_t k = f < other->ends[i] ? other->indices[f] : INT32_MAX;
    float magnitude = 0;
    if (j <= k) magnitude = one->magnitudes[e++];
    if (k <= j) {
      if (other->magnitudes[f] > magnitude) magnitude = other->magnitudes[f];
      f++;
    }
    both->indices[to] = j < k ? j : k;
    both->magnitudes[to++] = magnitude;
  }
  both->ends[i] = to;
}

static void merge_nodes(const void *arguments, size_t first, size_t last) {
  for (size_t i = first; i < last; i++) merge_node(arguments, i);
}

/* Replaces `one` by the union of both graphs. */
static ts_status merge(ts_context *context, tsi_amg_graph *one, const tsi_amg_graph *other, int64_t entries) {
  const size_t nodes = (size_t)one->nodes, room = 2 * (size_t)entries;
  if (2 * entries > INT32_MAX)
    return tsi_fail(context, TS_ERROR_LIMIT,
                    "a level of amg has %lld entries; the most of one that is not symmetric are %d",
                    (long long)entries, INT32_MAX / 2);
  tsi_amg_graph both = {.nodes = one->nodes,
                        .begins = tsi_malloc(context, nodes, sizeof *both.begins),
                        .ends = tsi_malloc(context, nodes, sizeof *both.ends),
                        .indices = tsi_malloc(context, room, sizeof *both.indices),
                        .magnitudes = tsi_malloc(context, room, sizeof *both.magnitudes)};
  if (!both.begins || !both.ends || !both.indices || !both.magnitudes) {
    tsi_amg_graph_free(context, &both);
    return tsi_out_of_memory(context, "strong connections of amg",
                             room * (sizeof *both.indices + sizeof *both.magnitudes));
  }
  tsi_parallel(context, nodes, merge_nodes, &(merging){one, other, &both});
  tsi_amg_graph_free(context, one);
  *one = both;
  return TS_OK;
}

ts_status tsi_amg_transposed_join(ts_context *context, const tsi_amg_host_level *level, double strength,
                                  int depth, tsi_amg_graph *graph) {
  tsi_amg_graph other;
  TSI_TRY(tsi_amg_strength(context, level->transposed, strength, depth, &other));
  const ts_status status = merge(context, graph, &other, level->A.offsets[level->A.rows]);
  tsi_amg_graph_free(context, &other);
  return status;
}

/* ---- Transfers ---- */

ts_status tsi_amg_transposed_smooth(ts_context *context, tsi_amg_host_level *level) {
  tsi_amg_host_level *t = level->transposed;
  t->aggregates = level->aggregates;
  t->aggregate_count = level->aggregate_count;
  t->tentative = level->tentative;
  t->weights = level->weights;
  TSI_TRY(transpose(context, &level->A, &t->A));
  TSI_TRY(tsi_amg_smooth(context, level));
  TSI_TRY(tsi_amg_smooth(context, t));
  return tsi_amg_transpose(context, &t->P, &level->R);
}
