/* Finds the entries of a matrix that connect their unknowns strongly.
 *
 * At a jump from small to large coefficients, only the row with the small diagonal depends on the other row. It
 * does so as strongly as on rows of its own kind. Measured by sqrt(a_ii a_jj), the entry would be weak in both.
 * Unknowns between large coefficients would have no aggregate, and their neighbours there would not interpolate
 * to them. A connection may therefore be strong in only one direction.
 *
 * The size of a weak coupling depends on the row: couplings are 1/26 of the diagonal in the 27-point stencil,
 * 1/2 along the lines of an anisotropic one. The limit is therefore proportional to the row's largest coupling,
 * on every level. A positive coupling is weak: smooth errors have opposite signs at its ends, or are not
 * affected by it. In the limit of infinitely stretched bilinear elements, neighbours along lines have -1/2 of
 * the diagonal, those across +1/4, and diagonal ones -1/8. If the latter two were strong, 1:1000 would take 840
 * iterations instead of 20 (63504 rows).
 *
 * A row with negative couplings that add up to at most half of its diagonal keeps its limit, for couplings of
 * either sign. Smoothing alone reduces its error. A large diagonal fixes its unknown, and must not fix an
 * aggregate with it. Mass matrices have such rows.
 *
 * Strengths are those of W A W, with the near-null vector on the diagonal of W. Constants are then the
 * near-null space, and signs and sizes mean the same as in a Laplacian, even if A = D L D. */
#include <math.h>
#include <string.h>

#include "amg.h"

void tsi_amg_graph_free(ts_context *context, tsi_amg_graph *graph) {
  tsi_free(context, graph->begins);
  tsi_free(context, graph->ends);
  tsi_free(context, graph->indices);
  tsi_free(context, graph->magnitudes);
  *graph = (tsi_amg_graph){0};
}

typedef struct connections {
  const tsi_amg_host_level *level;
  const tsi_amg_graph *graph;
  double strength; /* on all levels */
  double limit;    /* the strength of this level, squared */
  int parts;
  float *diagonal; /* if positive, otherwise 0 */
  double *weights; /* the near-null vector; NULL: constants */
  double *norms;   /* Frobenius norms of the nodes' diagonal blocks */
  int32_t *places; /* per part: the index of each node in the current list; -1: none */
  double *sums;
} connections;

static void find_diagonal(const void *arguments, size_t first, size_t last) {
  const connections *s = arguments;
  const tsi_amg_csr *A = &s->level->A;
  for (size_t i = first; i < last; i++) {
    s->diagonal[i] = 0;
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
      if (A->indices[e] == (int32_t)i && A->values[e] > 0) s->diagonal[i] = A->values[e];
  }
}

/* ---- One unknown per node ---- */

/* A coupling of row i, in its units: a_ij w_j / w_i, a_jj (w_j / w_i)^2. */
typedef struct coupling {
  double value, other;
} coupling;

static coupling get_coupling(const connections *s, double inverse, int32_t e) {
  const int32_t j = s->level->A.indices[e];
  const double ratio = s->weights ? tsi_amg_ratio(inverse, s->weights[j]) : 1;
  return (coupling){(double)s->level->A.values[e] * ratio, (double)s->diagonal[j] * ratio * ratio};
}

static double inverse_weight(const connections *s, size_t i) {
  return s->weights && s->weights[i] != 0 ? 1 / s->weights[i] : 0;
}

/* The requirement for strong couplings of row i, squared; `signs`: positive ones are weak. */
typedef struct limit {
  double square;
  int signs;
} limit;

static limit find_limit(const connections *s, size_t i) {
  const tsi_amg_csr *A = &s->level->A;
  const double own = (double)s->diagonal[i], inverse = inverse_weight(s, i);
  double largest = 0, most = 0, sum = 0; /* most: before the division */
  const int32_t begin = A->offsets[i], length = own > 0 && s->limit > 0 ? A->offsets[i + 1] - begin : 0;
  for (int32_t k = 0; k < length;) {
    const int32_t run_end = length - k > TSI_AMG_LANES_RUN ? k + TSI_AMG_LANES_RUN : length;
    double sums[TSI_AMG_LANES] = {0};
    for (; k < run_end; k++) {
      const coupling c = get_coupling(s, inverse, begin + k);
      if (!(c.value < 0) || c.other == 0) continue;
      const double square = c.value * c.value;
      if (c.other >= own)
        most = square > most ? square : most;
      else
        largest = fmax(largest, square / (own * c.other));
      sums[k % TSI_AMG_LANES] -= c.value;
    }
    sum += tsi_amg_add_lanes(sums);
  }
  if (sum <= TSI_AMG_HELD * own) return (limit){s->limit, 0};
  return (limit){tsi_amg_limit(s->strength, fmax(largest, most / (own * own))), 1};
}

static void classify_row(const connections *s, size_t i) {
  const tsi_amg_csr *A = &s->level->A;
  unsigned char *strong = s->level->strong;
  const double own = (double)s->diagonal[i], inverse = inverse_weight(s, i);
  const limit least = find_limit(s, i);
  int32_t to = A->offsets[i];
  s->graph->begins[i] = to;
  for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
    const int32_t j = A->indices[e];
    const coupling c = get_coupling(s, inverse, e);
    strong[e] = TSI_AMG_DROPPED;
    if (own == 0 || c.other == 0) continue;
    strong[e] = TSI_AMG_STRONG;
    if (j == (int32_t)i) continue;
    strong[e] = TSI_AMG_WEAK;
    if (c.value == 0 || (least.signs && c.value > 0)) continue;
    if (c.value * c.value < least.square * (own * fmin(own, c.other))) continue;
    strong[e] = TSI_AMG_STRONG;
    if (j >= A->rows) continue;
    s->graph->indices[to] = j;
    s->graph->magnitudes[to++] = (float)fabs(c.value);
  }
  s->graph->ends[i] = to;
}

static void classify_entries(const void *arguments, size_t first, size_t last) {
  for (size_t i = first; i < last; i++) classify_row(arguments, i);
}

/* ---- Blocks ---- */

static void find_norms(const void *arguments, size_t first, size_t last) {
  const connections *s = arguments;
  const tsi_amg_csr *A = &s->level->A;
  const int32_t unknowns = s->level->unknowns;
  for (int32_t node = (int32_t)first; node < (int32_t)last; node++) {
    double sum = 0;
    for (int32_t i = node * unknowns; i < (node + 1) * unknowns; i++)
      for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++)
        if (A->indices[e] / unknowns == node && s->diagonal[i] > 0 && s->diagonal[A->indices[e]] > 0)
          sum += (double)A->values[e] * (double)A->values[e];
    s->norms[node] = sqrt(sum);
  }
}

/* Lists the other nodes in the rows of `node`, with the squared norms of their blocks. */
static int32_t list_blocks(const connections *s, int32_t node, int32_t *places, double *sums, int32_t *list) {
  const tsi_amg_csr *A = &s->level->A;
  const int32_t unknowns = s->level->unknowns;
  int32_t count = 0;
  for (int32_t i = node * unknowns; i < (node + 1) * unknowns; i++)
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
      const int32_t other = A->indices[e] / unknowns;
      if (other == node || s->diagonal[i] == 0 || s->diagonal[A->indices[e]] == 0) continue;
      if (places[other] < 0) {
        places[other] = 0;
        sums[other] = 0;
        list[count++] = other;
      }
      sums[other] += (double)A->values[e] * (double)A->values[e];
    }
  tsi_amg_sort(list, count);
  return count;
}

static double find_block_limit(const connections *s, int32_t node, const double *sums, const int32_t *list,
                               int32_t count) {
  const double norm = s->norms[node];
  double largest = 0, sum = 0;
  for (int32_t c = 0; c < count; c++) {
    const double square = sums[list[c]], scale = norm * fmin(norm, s->norms[list[c]]);
    if (square >= TSI_AMG_USUAL * TSI_AMG_USUAL * scale) return s->limit;
    largest = fmax(largest, square / scale);
    sum += sqrt(square);
  }
  return tsi_amg_block_limit(s->limit, largest, sum, norm);
}

static void classify_node(const connections *s, int32_t node, int32_t *places, double *sums) {
  const tsi_amg_host_level *level = s->level;
  const tsi_amg_csr *A = &level->A;
  const int32_t unknowns = level->unknowns, first = node * unknowns, begin = A->offsets[first];
  int32_t *list = s->graph->indices + begin, strong = 0;
  const int32_t count = list_blocks(s, node, places, sums, list);
  const double norm = s->norms[node], limit = find_block_limit(s, node, sums, list, count);
  for (int32_t c = 0; c < count; c++) {
    const int32_t other = list[c];
    if (sums[other] == 0 || sums[other] < limit * (norm * fmin(norm, s->norms[other]))) continue;
    places[other] = 1;
    if (other >= level->nodes) continue;
    s->graph->magnitudes[begin + strong] = (float)sqrt(sums[other]);
    list[strong++] = other;
  }
  s->graph->begins[node] = begin;
  s->graph->ends[node] = begin + strong;
  for (int32_t i = first; i < first + unknowns; i++)
    for (int32_t e = A->offsets[i]; e < A->offsets[i + 1]; e++) {
      const int32_t other = A->indices[e] / unknowns;
      const int dropped = s->diagonal[i] == 0 || s->diagonal[A->indices[e]] == 0;
      const int kept = other == node || places[other] > 0;
      level->strong[e] = dropped ? TSI_AMG_DROPPED : kept ? TSI_AMG_STRONG : TSI_AMG_WEAK;
    }
  for (int32_t e = begin; e < A->offsets[first + unknowns]; e++) places[A->indices[e] / unknowns] = -1;
}

static void classify_blocks(const void *arguments, size_t first, size_t last) {
  const connections *s = arguments;
  const int32_t nodes = s->level->nodes;
  const size_t all = (size_t)nodes + (size_t)tsi_amg_ghosts(s->level);
  for (size_t p = first; p < last; p++) {
    int32_t *places = s->places + p * all;
    memset(places, -1, all * sizeof *places);
    for (int32_t i = tsi_amg_begin(nodes, p, s->parts); i < tsi_amg_begin(nodes, p + 1, s->parts); i++) {
      tsi_poll_rows(i);
      classify_node(s, i, places, s->sums + p * all);
    }
  }
}

/* ---- The graph ---- */

static ts_status classify(ts_context *context, connections *s) {
  const size_t nodes = (size_t)s->level->nodes, rows = (size_t)s->level->A.rows;
  const size_t unknowns = (size_t)s->level->unknowns;
  tsi_parallel(context, rows, find_diagonal, s);
  TSI_TRY(tsi_amg_exchange(context, s->level, s->diagonal, unknowns * sizeof *s->diagonal));
  if (s->weights) {
    memcpy(s->weights, s->level->near_null, rows * sizeof *s->weights);
    TSI_TRY(tsi_amg_exchange(context, s->level, s->weights, sizeof *s->weights));
  }
  if (unknowns == 1) {
    tsi_parallel(context, rows, classify_entries, s);
    return TS_OK;
  }
  tsi_parallel(context, nodes, find_norms, s);
  TSI_TRY(tsi_amg_exchange(context, s->level, s->norms, sizeof *s->norms));
  tsi_parallel(context, (size_t)s->parts, classify_blocks, s);
  return TS_OK;
}

/* Whether all weights are 1, or 0 in inactive rows; they have no effect then. */
static int is_plain(const tsi_amg_host_level *level) {
  for (int32_t i = 0; i < level->A.rows; i++)
    if (level->near_null[i] != 0 && level->near_null[i] != 1) return 0;
  return !level->halo;
}

static ts_status classify_all(ts_context *context, connections *s) {
  const size_t nodes = (size_t)s->level->nodes + (size_t)tsi_amg_ghosts(s->level);
  const size_t unknowns = (size_t)s->level->unknowns, parts = unknowns > 1 ? (size_t)s->parts : 0;
  const int has_vector = unknowns == 1 && s->level->vectors == 1 && s->level->near_null;
  const int is_weighted = has_vector && !is_plain(s->level);
  s->diagonal = tsi_malloc(context, nodes * unknowns, sizeof *s->diagonal);
  s->weights = is_weighted ? tsi_malloc(context, nodes, sizeof *s->weights) : NULL;
  s->norms = tsi_malloc(context, parts ? nodes : 0, sizeof *s->norms);
  s->places = tsi_malloc(context, parts * nodes, sizeof *s->places);
  s->sums = tsi_malloc(context, parts * nodes, sizeof *s->sums);
  const ts_status status =
      s->diagonal && (s->weights || !is_weighted) && s->norms && s->places && s->sums
          ? classify(context, s)
          : tsi_out_of_memory(context, "strong connections of amg", parts * nodes * sizeof *s->sums);
  tsi_free(context, s->diagonal);
  tsi_free(context, s->weights);
  tsi_free(context, s->norms);
  tsi_free(context, s->places);
  tsi_free(context, s->sums);
  return status;
}

ts_status tsi_amg_strength(ts_context *context, const tsi_amg_host_level *level, double strength, int depth,
                           tsi_amg_graph *graph) {
  const size_t nodes = (size_t)level->nodes, entries = (size_t)level->A.offsets[level->A.rows];
  connections s = {
      .level = level, .graph = graph, .strength = strength, .limit = ldexp(strength * strength, -2 * depth)};
  TSI_TRY(tsi_threads(context, &s.parts));
  *graph = (tsi_amg_graph){.nodes = level->nodes,
                           .begins = tsi_malloc(context, nodes, sizeof *graph->begins),
                           .ends = tsi_malloc(context, nodes, sizeof *graph->ends),
                           .indices = tsi_malloc(context, entries, sizeof *graph->indices),
                           .magnitudes = tsi_malloc(context, entries, sizeof *graph->magnitudes)};
  ts_status status;
  if (graph->begins && graph->ends && graph->indices && graph->magnitudes)
    status = classify_all(context, &s);
  else
    status = tsi_out_of_memory(context, "strong connections of amg",
                               entries * (sizeof *graph->indices + sizeof *graph->magnitudes));
  if (status < 0) tsi_amg_graph_free(context, graph);
  return status;
}
