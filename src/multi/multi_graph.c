/* The graph of a matrix distributed over ranks by rows: the pattern of A + A^T without its diagonal. */
#include <stdlib.h>
#include <string.h>

#include "common/partition/partition.h"
#include "multi_given.h"

/* An entry, sent to the rank that has its column, as an edge from that vertex. */
typedef struct edge {
  int64_t vertex, neighbour;
} edge;

static int64_t own_first(const ts_context *context, const multi_graph *g) {
  return g->first[ts_ranks_get_rank(context)];
}

static int owner(const ts_context *context, const multi_graph *g, int64_t vertex) {
  int low = 0,
      high = ts_ranks_get_count(context) - 1; /* the last rank with a first vertex of at most this one */
  while (low < high) {
    const int middle = low + (high - low + 1) / 2;
    if (g->first[middle] <= vertex)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* ---- Edges of vertices on other ranks ---- */

static ts_status write_edges(ts_context *context, const multi_graph *g, multi_parcels *p, int counts) {
  const tsi_ranks_matrix_desc *desc = g->desc;
  const int64_t first = own_first(context, g), end = first + desc->rows;
  for (int32_t i = 0; i < desc->rows; i++)
    for (int32_t e = desc->row_offsets[i]; e < desc->row_offsets[i + 1]; e++) {
      const int64_t column = desc->column_indices[e];
      if (column >= first && column < end) continue;
      const int rank = owner(context, g, column);
      if (!counts) ((edge *)p->out[rank])[p->out_bytes[rank] / sizeof(edge)] = (edge){column, first + i};
      p->out_bytes[rank] += sizeof(edge);
    }
  return counts ? multi_parcels_allocate(context, p) : TS_OK;
}

static ts_status exchange_edges(ts_context *context, const multi_graph *g, multi_parcels *p) {
  TSI_TRY(write_edges(context, g, p, 1));
  TSI_TRY(write_edges(context, g, p, 0));
  return multi_parcels_exchange(context, p);
}

/* ---- All edges of this rank's vertices ---- */

/* While `neighbours` is NULL, counts in offsets[i + 2]. Afterwards, offsets[i + 1] is the insertion position of
 * list i and finally its end. */
static void visit(multi_graph *g, int32_t vertex, int64_t neighbour) {
  if (!g->neighbours)
    g->offsets[vertex + 2]++;
  else
    g->neighbours[g->offsets[vertex + 1]++] = neighbour;
}

static void visit_all(const ts_context *context, multi_graph *g, const multi_parcels *p) {
  const tsi_ranks_matrix_desc *desc = g->desc;
  const int64_t first = own_first(context, g), end = first + desc->rows;
  for (int32_t i = 0; i < desc->rows; i++)
    for (int32_t e = desc->row_offsets[i]; e < desc->row_offsets[i + 1]; e++) {
      const int64_t column = desc->column_indices[e];
      if (column == first + i) continue;
      visit(g, i, column);
      if (column >= first && column < end) visit(g, (int32_t)(column - first), first + i);
    }
  for (int r = 0; r < ts_ranks_get_count(context); r++) {
    const edge *edges = p->in[r];
    for (size_t k = 0; edges && k < p->in_bytes[r] / sizeof *edges; k++)
      visit(g, (int32_t)(edges[k].vertex - first), edges[k].neighbour);
  }
}

static int compare(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static size_t sort_once(int64_t *list, size_t count) {
  size_t kept = 0;
  qsort(list, count, sizeof *list, compare);
  for (size_t k = 0; k < count; k++)
    if (k == 0 || list[k] != list[k - 1]) list[kept++] = list[k];
  return kept;
}

/* Removing duplicates leaves a gap after each vertex, so the next list moves up. */
static void sort_neighbours(multi_graph *g) {
  int32_t kept = 0, next = 0;
  for (int32_t i = 0; i < g->desc->rows; i++) {
    const int32_t begin = next, count = g->offsets[i + 1] - begin;
    next = g->offsets[i + 1];
    const size_t unique = sort_once(g->neighbours + begin, (size_t)count);
    memmove(g->neighbours + kept, g->neighbours + begin, unique * sizeof *g->neighbours);
    kept += (int32_t)unique;
    g->offsets[i + 1] = kept;
  }
}

static ts_status read_neighbours(ts_context *context, multi_graph *g, const multi_parcels *p) {
  const size_t rows = (size_t)g->desc->rows;
  int64_t edges = 2 * (int64_t)g->desc->row_offsets[rows];
  for (int r = 0; r < ts_ranks_get_count(context); r++) edges += (int64_t)(p->in_bytes[r] / sizeof(edge));
  if (edges > INT32_MAX)
    return tsi_fail(context, TS_ERROR_LIMIT, "this rank has %lld entries, too many for PT-Scotch's graph",
                    (long long)edges / 2);
  g->offsets = tsi_calloc(context, rows + 2, sizeof *g->offsets);
  if (!g->offsets) return tsi_out_of_memory(context, "the graph of a matrix", rows * sizeof *g->offsets);
  visit_all(context, g, p);
  for (size_t i = 0; i < rows; i++) g->offsets[i + 2] += g->offsets[i + 1];
  const size_t size = (size_t)g->offsets[rows + 1];
  g->neighbours = tsi_malloc(context, size, sizeof *g->neighbours);
  if (!g->neighbours) return tsi_out_of_memory(context, "the graph of a matrix", size * sizeof *g->neighbours);
  visit_all(context, g, p);
  sort_neighbours(g);
  return TS_OK;
}

static ts_status list_others(ts_context *context, multi_graph *g) {
  const int64_t first = own_first(context, g), end = first + g->desc->rows;
  const int32_t edges = g->offsets[g->desc->rows];
  size_t count = 0;
  for (int32_t e = 0; e < edges; e++) count += g->neighbours[e] < first || g->neighbours[e] >= end;
  g->others = tsi_malloc(context, count, sizeof *g->others);
  if (!g->others) return tsi_out_of_memory(context, "columns of other ranks", count * sizeof *g->others);
  count = 0;
  for (int32_t e = 0; e < edges; e++)
    if (g->neighbours[e] < first || g->neighbours[e] >= end) g->others[count++] = g->neighbours[e];
  g->other_count = (int32_t)sort_once(g->others, count);
  return TS_OK;
}

static ts_status weigh(ts_context *context, multi_graph *g) {
  const tsi_ranks_matrix_desc *desc = g->desc;
  g->weights = tsi_malloc(context, (size_t)desc->rows, sizeof *g->weights);
  if (!g->weights) return tsi_out_of_memory(context, "the graph of a matrix", (size_t)desc->rows * 4);
  for (int32_t i = 0; i < desc->rows; i++)
    g->weights[i] = desc->row_offsets[i + 1] - desc->row_offsets[i] + tsi_partition_row_cost;
  return TS_OK;
}

/* ---- Creation ---- */

static ts_status count_rows(ts_context *context, multi_graph *g) {
  const size_t ranks = (size_t)ts_ranks_get_count(context);
  const int64_t rows = g->desc->rows;
  g->first = tsi_calloc(context, ranks + 1, sizeof *g->first);
  if (!g->first) return tsi_out_of_memory(context, "the rows of ranks", (ranks + 1) * sizeof *g->first);
  TSI_TRY(multi_collect(context, &rows, sizeof rows, g->first + 1));
  for (size_t r = 0; r < ranks; r++) g->first[r + 1] += g->first[r];
  return multi_check_columns(context, g->desc, g->first[ranks]);
}

static ts_status create_multi_graph(ts_context *context, multi_graph *g) {
  multi_parcels parcels;
  TSI_TRY(count_rows(context, g));
  TSI_TRY(multi_parcels_create(context, &parcels));
  ts_status status = exchange_edges(context, g, &parcels);
  if (status == TS_OK) status = read_neighbours(context, g, &parcels);
  multi_parcels_destroy(context, &parcels);
  if (status == TS_OK) status = list_others(context, g);
  if (status == TS_OK) status = weigh(context, g);
  return status;
}

ts_status multi_graph_create(ts_context *context, const tsi_ranks_matrix_desc *desc, multi_graph *graph) {
  *graph = (multi_graph){.desc = desc};
  const ts_status status = create_multi_graph(context, graph);
  if (status < 0) multi_graph_free(context, graph);
  return status;
}

void multi_graph_free(ts_context *context, multi_graph *graph) {
  tsi_free(context, graph->first);
  tsi_free(context, graph->offsets);
  tsi_free(context, graph->weights);
  tsi_free(context, graph->neighbours);
  tsi_free(context, graph->others);
  *graph = (multi_graph){0};
}

/* ---- Questions ---- */

int32_t multi_graph_other(const multi_graph *graph, int64_t vertex) {
  const int64_t *found = bsearch(&vertex, graph->others, (size_t)graph->other_count, sizeof vertex, compare);
  return found ? (int32_t)(found - graph->others) : -1;
}

static ts_status write_questions(ts_context *context, const multi_graph *g, multi_parcels *p) {
  for (int32_t k = 0; k < g->other_count; k++)
    p->out_bytes[owner(context, g, g->others[k])] += sizeof *g->others;
  TSI_TRY(multi_parcels_allocate(context, p));
  for (int32_t k = 0; k < g->other_count; k++) {
    const int rank = owner(context, g, g->others[k]);
    ((int64_t *)p->out[rank])[p->out_bytes[rank] / sizeof *g->others] = g->others[k];
    p->out_bytes[rank] += sizeof *g->others;
  }
  return multi_parcels_exchange(context, p);
}

static ts_status write_answers(ts_context *context, const multi_graph *g, const multi_parcels *questions,
                               const int64_t *mine, multi_parcels *p) {
  const size_t ranks = (size_t)ts_ranks_get_count(context);
  memcpy(p->out_bytes, questions->in_bytes, ranks * sizeof *p->out_bytes);
  TSI_TRY(multi_parcels_allocate(context, p));
  for (size_t r = 0; r < ranks; r++) {
    p->out_bytes[r] = questions->in_bytes[r];
    for (size_t k = 0; k < p->out_bytes[r] / sizeof *mine; k++)
      ((int64_t *)p->out[r])[k] = mine[((int64_t *)questions->in[r])[k] - own_first(context, g)];
  }
  return multi_parcels_exchange(context, p);
}

ts_status multi_graph_ask(ts_context *context, const multi_graph *graph, const int64_t *mine,
                          int64_t *answers) {
  multi_parcels questions, replies;
  TSI_TRY(multi_parcels_create(context, &questions));
  ts_status status = multi_parcels_create(context, &replies);
  if (status < 0) {
    multi_parcels_destroy(context, &questions);
    return status;
  }
  status = write_questions(context, graph, &questions);
  if (status == TS_OK) status = write_answers(context, graph, &questions, mine, &replies);
  for (int r = 0; r < ts_ranks_get_count(context) && status == TS_OK; r++) {
    if (!replies.in_bytes[r]) continue;
    memcpy(answers, replies.in[r], replies.in_bytes[r]);
    answers += replies.in_bytes[r] / sizeof *answers;
  }
  multi_parcels_destroy(context, &questions);
  multi_parcels_destroy(context, &replies);
  return status;
}
