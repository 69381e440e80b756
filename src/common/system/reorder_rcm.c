/* Reverse Cuthill-McKee (Cuthill and McKee 1969; reversed: George 1971). All steps are linear in the entries:
 * one counting sort of the vertices sorts the neighbours of every vertex by degree. */
#include "common/core/core.h"
#include "reorder.h"

/* The graph of A + A^T without loops. Entries in both A and A^T appear twice, which is harmless. */
typedef struct graph {
  int32_t size;
  int32_t *offsets, *neighbours; /* by ascending degree */
} graph;

static int32_t degree(const graph *g, int32_t v) {
  return g->offsets[v + 1] - g->offsets[v];
}

static void count_degrees(const tsi_csr *csr, int32_t *offsets) {
  for (int32_t i = 0; i <= csr->rows; i++) offsets[i] = 0;
  for (int32_t i = 0; i < csr->rows; i++) {
    tsi_poll_rows(i);
    tsi_poll_rows(i);
    for (int32_t k = csr->row_offsets[i]; k < csr->row_offsets[i + 1]; k++) {
      if (csr->column_indices[k] == i) continue;
      offsets[i + 1]++;
      offsets[csr->column_indices[k] + 1]++;
    }
  }
  for (int32_t i = 0; i < csr->rows; i++) offsets[i + 1] += offsets[i];
}

/* Collects both directions of every entry. `next` is the insertion point of each list. */
static void collect(const tsi_csr *csr, const int32_t *offsets, int32_t *next, int32_t *neighbours) {
  for (int32_t i = 0; i < csr->rows; i++) next[i] = offsets[i];
  for (int32_t i = 0; i < csr->rows; i++) {
    tsi_poll_rows(i);
    for (int32_t k = csr->row_offsets[i]; k < csr->row_offsets[i + 1]; k++) {
      const int32_t j = csr->column_indices[k];
      if (j == i) continue;
      neighbours[next[i]++] = j;
      neighbours[next[j]++] = i;
    }
  }
}

/* Sorts all vertices by ascending degree, equal ones by number. `starts` has room for size + 1 numbers. */
static void sort_by_degree(const graph *g, int32_t *starts, int32_t *sorted) {
  for (int32_t d = 0; d <= g->size; d++) starts[d] = 0;
    /* With entries counted twice, degrees may exceed the number of vertices: those form one class. */
#define CLASS(v) (degree(g, v) < g->size ? degree(g, v) : g->size - 1)
  for (int32_t v = 0; v < g->size; v++) starts[CLASS(v) + 1]++;
  for (int32_t d = 0; d < g->size; d++) starts[d + 1] += starts[d];
  for (int32_t v = 0; v < g->size; v++) sorted[starts[CLASS(v)]++] = v;
#undef CLASS
}

/* Appends every vertex, in the order of `sorted`, to the lists of its neighbours. */
static void sort_neighbours(const graph *g, const int32_t *sorted, const int32_t *unsorted, int32_t *next) {
  for (int32_t v = 0; v < g->size; v++) next[v] = g->offsets[v];
  for (int32_t s = 0; s < g->size; s++) {
    const int32_t v = sorted[s];
    tsi_poll_rows(s);
    for (int32_t k = g->offsets[v]; k < g->offsets[v + 1]; k++) g->neighbours[next[unsorted[k]]++] = v;
  }
}

/* Breadth-first search from `root` into `queue`, over vertices with a mark below `mark`. Returns the number of
 * vertices. Sets the number of levels and the start of the last one. */
static int32_t search(const graph *g, int32_t root, int32_t mark, int32_t *marks, int32_t *queue,
                      int32_t *levels, int32_t *last) {
  int32_t end = 1, level_end = 1;
  *levels = 1;
  *last = 0;
  queue[0] = root;
  marks[root] = mark;
  for (int32_t head = 0; head < end; head++) {
    tsi_poll_rows(head);
    if (head == level_end) {
      *last = level_end;
      level_end = end;
      ++*levels;
    }
    for (int32_t k = g->offsets[queue[head]]; k < g->offsets[queue[head] + 1]; k++) {
      const int32_t w = g->neighbours[k];
      if (marks[w] >= mark) continue;
      marks[w] = mark;
      queue[end++] = w;
    }
  }
  return end;
}

/* Orders one component of the graph, from `root` on, into `queue`. It starts from a pseudo-peripheral vertex:
 * the vertex of least degree in the last level, as long as that increases the number of levels. Marks of other
 * components are INT32_MAX. */
static int32_t order_part(ts_context *context, const graph *g, int32_t root, int32_t *marks, int32_t *queue) {
  int32_t mark = 1, levels, last;
  int32_t count = search(g, root, mark, marks, queue, &levels, &last);
  while (!tsi_poll_stops(context)) {
    int32_t candidate = queue[last], more, next_last;
    for (int32_t k = last + 1; k < count; k++)
      if (degree(g, queue[k]) < degree(g, candidate)) candidate = queue[k];
    count = search(g, candidate, ++mark, marks, queue, &more, &next_last);
    if (more <= levels) break;
    levels = more;
    last = next_last;
  }
  for (int32_t k = 0; k < count; k++) marks[queue[k]] = INT32_MAX;
  return count;
}

static ts_status order_all(ts_context *context, const graph *g, int32_t *marks, int32_t *order) {
  int32_t done = 0;
  for (int32_t v = 0; v < g->size; v++) marks[v] = 0;
  for (int32_t v = 0; v < g->size; v++)
    if (marks[v] == 0) done += order_part(context, g, v, marks, order + done);
  TSI_TRY(tsi_poll(context));
  for (int32_t i = 0, j = g->size - 1; i < j; i++, j--) {
    const int32_t k = order[i];
    order[i] = order[j];
    order[j] = k;
  }
  return TS_OK;
}

ts_status tsi_reorder_rcm(ts_context *context, const tsi_csr *csr, int32_t *order) {
  TSI_TRY(tsi_reorder_check(context, csr, 1));
  const int32_t n = csr->rows, entries = csr->row_offsets[n];
  if (entries >= 1 << 30)
    return tsi_fail(context, TS_ERROR_LIMIT, "the matrix has %d entries; an order is for less than 2^30",
                    entries);
  const size_t ends = 2 * (size_t)entries, size = 2 * ((size_t)n + 1) + 2 * ends;
  int32_t *memory = tsi_malloc(context, size, sizeof *memory);
  if (!memory) return tsi_out_of_memory(context, "an order", size * sizeof *memory);
  int32_t *work = memory + n + 1, *unsorted = work + n + 1;
  const graph g = {n, memory, unsorted + ends};
  count_degrees(csr, g.offsets);
  ts_status status = tsi_poll(context);
  if (status == TS_OK) {
    collect(csr, g.offsets, work, unsorted);
    sort_by_degree(&g, work, order);
    status = tsi_poll(context);
  }
  if (status == TS_OK) {
    sort_neighbours(&g, order, unsorted, work);
    status = tsi_poll(context);
  }
  if (status == TS_OK) status = order_all(context, &g, work, order);
  tsi_free(context, memory);
  return status;
}
