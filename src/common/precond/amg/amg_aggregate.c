/* Aggregates around the roots of a maximal independent set of distance 2: every node is within two steps of a
 * root, and roots are more than two steps apart.
 *
 * Bell, Dalton and Olson 2012, "Exposing fine-grained parallelism in algebraic multigrid methods", section 3.2;
 * Kelley and Rajamanickam 2022, "Parallel, portable algorithms for distance-2 maximal independent set and graph
 * coarsening". Priorities are hashed again in each round, and lists hold the undecided nodes. A second search
 * finds roots among the nodes without an aggregate. */
#include <string.h>

#include "amg.h"

/* Minimum neighbours without an aggregate for a root of the second search. Smaller aggregates cost more on the
 * next level than they save in iterations (Laplacians in 2-D and 3-D). */
enum { NEIGHBOURS = 4 };

/* The state of a node during the search: a root, excluded, or a candidate with its priority above its number.
 * The smallest candidate within two steps becomes a root. */
static const uint64_t root = 0, out = UINT64_MAX;

static uint64_t candidate(int32_t node, uint32_t round) {
  uint32_t h = (uint32_t)node * 0x9e3779b1u + round * 0x85ebca77u;
  h = (h ^ h >> 16) * 0x7feb352du;
  h = (h ^ h >> 15) * 0x846ca68bu;
  h ^= h >> 16;
  return (uint64_t)h << 32 | ((uint32_t)node + 1u);
}

typedef struct search {
  const tsi_amg_graph *graph;
  int parts;
  uint32_t round;
  uint64_t *states, *nearest; /* of each node: its state, and the smallest among it and its neighbours */
  /* Nodes with changeable states and minima, by parts; and their number in each part. */
  int32_t *candidates, *watchers, *candidate_counts, *watcher_counts;
  int32_t *roots;   /* number in each part, later number before each part */
  int32_t *numbers; /* aggregate of each root; -1: not a root */
  int32_t *aggregates;
  int32_t least; /* minimum neighbours without an aggregate */
} search;

static uint64_t least_near(const tsi_amg_graph *graph, const uint64_t *of, int32_t node) {
  uint64_t least = of[node];
  for (int32_t e = graph->begins[node]; e < graph->ends[node]; e++)
    if (of[graph->indices[e]] < least) least = of[graph->indices[e]];
  return least;
}

static void begin_search(const void *arguments, size_t first, size_t last) {
  const search *s = arguments;
  for (size_t p = first; p < last; p++) {
    const int32_t begin = tsi_amg_begin(s->graph->nodes, p, s->parts);
    int32_t count = 0;
    for (int32_t i = begin; i < tsi_amg_begin(s->graph->nodes, p + 1, s->parts); i++) {
      tsi_poll_rows(i);
      s->states[i] = s->nearest[i] = out;
      if (s->aggregates[i] >= 0 || s->graph->begins[i] == s->graph->ends[i]) continue;
      s->states[i] = candidate(i, 0);
      s->candidates[begin + count] = s->watchers[begin + count] = i;
      count++;
    }
    s->candidate_counts[p] = s->watcher_counts[p] = count;
  }
}

static void look_near(const void *arguments, size_t first, size_t last) {
  const search *s = arguments;
  for (size_t p = first; p < last; p++) {
    int32_t *list = s->watchers + tsi_amg_begin(s->graph->nodes, p, s->parts), left = 0;
    for (int32_t k = 0; k < s->watcher_counts[p]; k++) {
      const int32_t i = list[k];
      tsi_poll_rows(k);
      s->nearest[i] = least_near(s->graph, s->states, i);
      if (s->nearest[i] != root && s->nearest[i] != out) list[left++] = i;
    }
    s->watcher_counts[p] = left;
  }
}

static void decide(const void *arguments, size_t first, size_t last) {
  const search *s = arguments;
  for (size_t p = first; p < last; p++) {
    int32_t *list = s->candidates + tsi_amg_begin(s->graph->nodes, p, s->parts), left = 0;
    for (int32_t k = 0; k < s->candidate_counts[p]; k++) {
      const int32_t i = list[k];
      tsi_poll_rows(k);
      const uint64_t least = least_near(s->graph, s->nearest, i);
      if (least == root)
        s->states[i] = out;
      else if (least == s->states[i])
        s->states[i] = root;
      else {
        s->states[i] = candidate(i, s->round + 1);
        list[left++] = i;
      }
    }
    s->candidate_counts[p] = left;
  }
}

/* ---- Aggregates ---- */

static int is_root(const search *s, int32_t node) {
  if (s->states[node] != root) return 0;
  int32_t count = 0;
  for (int32_t e = s->graph->begins[node]; e < s->graph->ends[node]; e++)
    count += s->aggregates[s->graph->indices[e]] < 0;
  return count >= s->least;
}

static void count_roots(const void *arguments, size_t first, size_t last) {
  const search *s = arguments;
  for (size_t p = first; p < last; p++) {
    s->roots[p] = 0;
    for (int32_t i = tsi_amg_begin(s->graph->nodes, p, s->parts);
         i < tsi_amg_begin(s->graph->nodes, p + 1, s->parts); i++) {
      tsi_poll_rows(i);
      s->roots[p] += is_root(s, i);
    }
  }
}

static void number_roots(const void *arguments, size_t first, size_t last) {
  const search *s = arguments;
  for (size_t p = first; p < last; p++) {
    int32_t number = s->roots[p];
    for (int32_t i = tsi_amg_begin(s->graph->nodes, p, s->parts);
         i < tsi_amg_begin(s->graph->nodes, p + 1, s->parts); i++) {
      tsi_poll_rows(i);
      s->numbers[i] = is_root(s, i) ? number++ : -1;
    }
  }
}

static void join_neighbours(const void *arguments, size_t first, size_t last) {
  const search *s = arguments;
  for (size_t i = first; i < last; i++) {
    if (s->aggregates[i] >= 0) continue;
    int32_t number = s->numbers[i];
    for (int32_t e = s->graph->begins[i]; e < s->graph->ends[i] && number < 0; e++)
      number = s->numbers[s->graph->indices[e]];
    s->aggregates[i] = number;
  }
}

/* The aggregate of the node's strongest connection, the lowest number if equal; -1: none. */
static int32_t strongest(const search *s, size_t node) {
  int32_t best = -1;
  float magnitude = 0;
  for (int32_t e = s->graph->begins[node]; e < s->graph->ends[node]; e++) {
    const int32_t aggregate = s->aggregates[s->graph->indices[e]];
    const float m = s->graph->magnitudes[e];
    if (aggregate < 0 || (best >= 0 && (m < magnitude || (m == magnitude && aggregate > best)))) continue;
    best = aggregate;
    magnitude = m;
  }
  return best;
}

static void join(const void *arguments, size_t first, size_t last) {
  const search *s = arguments;
  for (size_t i = first; i < last; i++)
    s->numbers[i] = s->aggregates[i] < 0 ? strongest(s, i) : s->aggregates[i];
}

/* Finds roots among the nodes without an aggregate, and assigns their neighbours. */
static void search_roots(const ts_context *context, search *s, int32_t *count) {
  const size_t parts = (size_t)s->parts;
  tsi_parallel(context, parts, begin_search, s);
  int32_t left = 1;
  for (s->round = 0; left > 0; s->round++) {
    tsi_parallel(context, parts, look_near, s);
    tsi_parallel(context, parts, decide, s);
    left = 0;
    for (size_t p = 0; p < parts; p++) left += s->candidate_counts[p];
  }
  tsi_parallel(context, parts, count_roots, s);
  for (size_t p = 0; p < parts; p++) {
    const int32_t roots = s->roots[p];
    s->roots[p] = *count;
    *count += roots;
  }
  tsi_parallel(context, parts, number_roots, s);
  tsi_parallel(context, (size_t)s->graph->nodes, join_neighbours, s);
}

ts_status tsi_amg_aggregate(ts_context *context, const tsi_amg_graph *graph, int32_t *aggregates,
                            int32_t *count) {
  const size_t nodes = (size_t)graph->nodes;
  int parts;
  TSI_TRY(tsi_threads(context, &parts));
  uint64_t *states = tsi_malloc(context, 2 * nodes, sizeof *states);
  int32_t *lists = tsi_malloc(context, 3 * nodes + 3 * (size_t)parts, sizeof *lists);
  const int complete = states && lists;
  if (complete) {
    int32_t *counts = lists + 3 * nodes;
    search s = {.graph = graph,
                .parts = parts,
                .states = states,
                .nearest = states + nodes,
                .candidates = lists,
                .watchers = lists + nodes,
                .numbers = lists + 2 * nodes,
                .candidate_counts = counts,
                .watcher_counts = counts + parts,
                .roots = counts + 2 * (size_t)parts,
                .aggregates = aggregates};
    *count = 0;
    memset(aggregates, -1, nodes * sizeof *aggregates);
    search_roots(context, &s, count);
    s.least = NEIGHBOURS;
    search_roots(context, &s, count);
    tsi_parallel(context, nodes, join, &s);
    memcpy(aggregates, s.numbers, nodes * sizeof *aggregates);
  }
  tsi_free(context, states);
  tsi_free(context, lists);
  return complete ? TS_OK : tsi_out_of_memory(context, "aggregates of amg", 2 * nodes * sizeof *states);
}
