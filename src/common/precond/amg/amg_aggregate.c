/* Strong connections, and aggregates around a maximal independent set of distance 2: every node is within two
 * steps of a root, and roots are more than two steps apart.
 *
 * Bell, Dalton and Olson 2012, "Exposing fine-grained parallelism in algebraic multigrid methods", section 3.2;
 * Kelley and Rajamanickam 2022, "Parallel, portable algorithms for distance-2 maximal independent set and graph
 * coarsening": priorities are hashed again in each round. */
#include <math.h>
#include <string.h>

#include "amg.h"

/* ---- Strength ---- */

void tsi_amg_graph_free(ts_context *context, tsi_amg_graph *graph) {
  tsi_free(context, graph->begins);
  tsi_free(context, graph->ends);
  tsi_free(context, graph->indices);
  tsi_free(context, graph->magnitudes);
  *graph = (tsi_amg_graph){0};
}

/* The diagonal where it is positive, else 0; and the Frobenius norms of the nodes' own blocks. */
static void find_diagonals(const tsi_amg_host_level *level, float *diagonal, double *norms) {
  const tsi_amg_csr *A = &level->A;
  for (int32_t i = 0; i < A->rows; i++) {
    diagonal[i] = 0;
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
      if (A->indices[e] == i && A->values[e] > 0) diagonal[i] = A->values[e];
  }
  const int32_t unknowns = level->unknowns;
  for (int32_t node = 0; node < level->nodes; node++) {
    double sum = 0;
    for (int32_t i = node * unknowns; i < (node + 1) * unknowns; i++)
      for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
        if (A->indices[e] / unknowns == node && diagonal[i] > 0 && diagonal[A->indices[e]] > 0)
          sum += (double)A->values[e] * (double)A->values[e];
    norms[node] = sqrt(sum);
  }
}

typedef struct strength {
  const tsi_amg_host_level *level;
  const float *diagonal;
  const double *norms;
  double limit;   /* the strength, squared */
  int32_t *place; /* of each node in the list at hand; -1: none */
  double *sums;
  tsi_amg_graph *graph;
} strength;

/* The other nodes that rows of `node` have entries to, with the squares of the blocks' norms. */
static int32_t list_blocks(const strength *s, int32_t node, int32_t *list) {
  const tsi_amg_csr *A = &s->level->A;
  const int32_t unknowns = s->level->unknowns;
  int32_t count = 0;
  for (int32_t i = node * unknowns; i < (node + 1) * unknowns; i++)
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
      const int32_t other = A->indices[e] / unknowns;
      if (other == node || s->diagonal[i] == 0 || s->diagonal[A->indices[e]] == 0) continue;
      if (s->place[other] < 0) {
        s->place[other] = 0;
        s->sums[other] = 0;
        list[count++] = other;
      }
      s->sums[other] += (double)A->values[e] * (double)A->values[e];
    }
  tsi_amg_sort(list, count);
  return count;
}

static void classify(const strength *s, int32_t node) {
  const tsi_amg_host_level *level = s->level;
  const tsi_amg_csr *A = &level->A;
  const int32_t unknowns = level->unknowns, begin = A->offsets[node * unknowns];
  int32_t *list = s->graph->indices + begin;
  const int32_t count = list_blocks(s, node, list);
  int32_t strong = 0;
  for (int32_t c = 0; c < count; c++) {
    const int32_t other = list[c];
    if (s->sums[other] == 0 || s->sums[other] < s->limit * (s->norms[node] * s->norms[other])) continue;
    s->place[other] = 1;
    s->graph->magnitudes[begin + strong] = (float)sqrt(s->sums[other]);
    list[strong++] = other;
  }
  s->graph->begins[node] = begin;
  s->graph->ends[node] = begin + strong;
  for (int32_t i = node * unknowns; i < (node + 1) * unknowns; i++)
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
      const int32_t other = A->indices[e] / unknowns;
      level->strong[e] = s->diagonal[i] == 0 || s->diagonal[A->indices[e]] == 0 ? TSI_AMG_DROPPED
                         : other == node || s->place[other] > 0                 ? TSI_AMG_STRONG
                                                                                : TSI_AMG_WEAK;
    }
  for (int32_t i = node * unknowns; i < (node + 1) * unknowns; i++)
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) s->place[A->indices[e] / unknowns] = -1;
}

ts_status tsi_amg_strength(ts_context *context, const tsi_amg_host_level *level, double threshold,
                           tsi_amg_graph *graph) {
  const size_t nodes = (size_t)level->nodes, entries = (size_t)level->A.offsets[level->A.rows];
  *graph = (tsi_amg_graph){.nodes = level->nodes,
                           .begins = tsi_malloc(context, nodes, sizeof *graph->begins),
                           .ends = tsi_malloc(context, nodes, sizeof *graph->ends),
                           .indices = tsi_malloc(context, entries, sizeof *graph->indices),
                           .magnitudes = tsi_malloc(context, entries, sizeof *graph->magnitudes)};
  float *diagonal = tsi_malloc(context, (size_t)level->A.rows, sizeof *diagonal);
  double *norms = tsi_malloc(context, 2 * nodes, sizeof *norms);
  int32_t *place = tsi_malloc(context, nodes, sizeof *place);
  const int complete =
      graph->begins && graph->ends && graph->indices && graph->magnitudes && diagonal && norms && place;
  if (complete) {
    find_diagonals(level, diagonal, norms);
    memset(place, -1, nodes * sizeof *place);
    const strength s = {level, diagonal, norms, threshold * threshold, place, norms + nodes, graph};
    for (int32_t node = 0; node < level->nodes; node++) classify(&s, node);
  }
  tsi_free(context, diagonal);
  tsi_free(context, norms);
  tsi_free(context, place);
  if (complete) return TS_OK;
  tsi_amg_graph_free(context, graph);
  return tsi_out_of_memory(context, "strong connections of amg",
                           entries * (sizeof *graph->indices + sizeof *graph->magnitudes));
}

/* ---- Roots ---- */

/* What a node is while roots are looked for: a root, out of the question, or a candidate with its priority
 * above its number. The smallest candidate within two steps becomes a root. */
static const uint64_t root = 0, out = UINT64_MAX;

static uint64_t candidate(int32_t node, uint32_t round) {
  uint32_t h = (uint32_t)node * 0x9e3779b1u + round * 0x85ebca77u;
  h = (h ^ h >> 16) * 0x7feb352du;
  h = (h ^ h >> 15) * 0x846ca68bu;
  h ^= h >> 16;
  return (uint64_t)h << 32 | ((uint32_t)node + 1u);
}

static uint64_t smallest_near(const tsi_amg_graph *graph, const uint64_t *of, int32_t node) {
  uint64_t least = of[node];
  for (int32_t e = graph->begins[node]; e < graph->ends[node]; e++)
    if (of[graph->indices[e]] < least) least = of[graph->indices[e]];
  return least;
}

static void find_roots(const tsi_amg_graph *graph, uint64_t *state, uint64_t *near) {
  int32_t left = 0;
  for (int32_t i = 0; i < graph->nodes; i++) {
    state[i] = out;
    if (graph->begins[i] < graph->ends[i]) state[i] = candidate(i, 0), left++;
  }
  for (uint32_t round = 0; left > 0; round++) {
    for (int32_t i = 0; i < graph->nodes; i++)
      if (state[i] != root && state[i] != out) state[i] = candidate(i, round);
    for (int32_t i = 0; i < graph->nodes; i++) near[i] = smallest_near(graph, state, i);
    left = 0;
    for (int32_t i = 0; i < graph->nodes; i++) {
      if (state[i] == root || state[i] == out) continue;
      const uint64_t least = smallest_near(graph, near, i);
      if (least == root)
        state[i] = out;
      else if (least == state[i])
        state[i] = root;
      else
        left++;
    }
  }
}

/* ---- Aggregates ---- */

/* The aggregate that a node without one is connected to most strongly, of several the first; -1: none. */
static int32_t choose(const tsi_amg_graph *graph, const int32_t *aggregates, int32_t node) {
  int32_t best = -1;
  float strongest = 0;
  for (int32_t e = graph->begins[node]; e < graph->ends[node]; e++) {
    const int32_t aggregate = aggregates[graph->indices[e]];
    if (aggregate < 0) continue;
    if (best >= 0 && graph->magnitudes[e] < strongest) continue;
    if (best >= 0 && graph->magnitudes[e] == strongest && aggregate > best) continue;
    best = aggregate;
    strongest = graph->magnitudes[e];
  }
  return best;
}

static void gather(const tsi_amg_graph *graph, const uint64_t *state, int32_t *joined, int32_t *aggregates,
                   int32_t *count) {
  *count = 0;
  for (int32_t i = 0; i < graph->nodes; i++) joined[i] = state[i] == root ? (*count)++ : -1;
  for (int32_t i = 0; i < graph->nodes; i++) {
    aggregates[i] = joined[i];
    for (int32_t e = graph->begins[i]; e < graph->ends[i] && aggregates[i] < 0; e++)
      aggregates[i] = joined[graph->indices[e]];
  }
  for (int32_t i = 0; i < graph->nodes; i++)
    joined[i] = aggregates[i] < 0 ? choose(graph, aggregates, i) : aggregates[i];
  memcpy(aggregates, joined, (size_t)graph->nodes * sizeof *joined);
}

ts_status tsi_amg_aggregate(ts_context *context, const tsi_amg_graph *graph, int32_t *aggregates,
                            int32_t *count) {
  const size_t nodes = (size_t)graph->nodes;
  uint64_t *state = tsi_malloc(context, 2 * nodes, sizeof *state);
  int32_t *joined = tsi_malloc(context, nodes, sizeof *joined);
  if (state && joined) {
    find_roots(graph, state, state + nodes);
    gather(graph, state, joined, aggregates, count);
  }
  const int complete = state && joined;
  tsi_free(context, state);
  tsi_free(context, joined);
  return complete ? TS_OK : tsi_out_of_memory(context, "aggregates of amg", 2 * nodes * sizeof *state);
}
