/* Parts by METIS (Karypis and Kumar 1998: multilevel k-way partitioning). The graph is the pattern of A + A^T
 * without its diagonal. The weight of a vertex is the cost of its row. */
#define _GNU_SOURCE 1 /* sched_getcpu in thread.h */
#include "common/core/core.h"
#include "partition.h"

#ifdef TEXSOLVE_HAVE_METIS
#include <metis.h>
#include <stdlib.h>

#include "common/core/thread.h"

const int tsi_partition_has_metis = 1;

/* With fewer rows METIS runs out of vertices, and prints a message on stdout. */
static const int64_t least_rows_a_part = 32;

typedef struct graph {
  idx_t vertices;
  idx_t *offsets, *neighbours, *weights;
} graph;

const char *tsi_partition_metis_unsuited(const tsi_host_csr *csr, int parts) {
  if (csr->rows != csr->columns) return "METIS supports square matrices only";
  if (parts == 1) return "one part"; /* METIS would divide by the logarithm of 1 */
  if (csr->rows < least_rows_a_part * parts) return "too few rows for METIS";
  /* Both directions of every entry, and the sum of weights. */
  const int64_t entries = csr->row_offsets[csr->rows];
  if (2 * entries + (int64_t)tsi_partition_row_cost * csr->rows > IDX_MAX) return "too many entries for METIS";
  return NULL;
}

/* Collects both directions of every off-diagonal entry. offsets[i + 2] first counts. Then offsets[i + 1] is the
 * insertion point of list i, and finally its end. */
static void collect(const tsi_host_csr *csr, idx_t *offsets, idx_t *neighbours) {
  const int32_t rows = csr->rows;
  for (int32_t i = 0; i < rows + 2; i++) offsets[i] = 0;
  for (int32_t i = 0; i < rows; i++)
    for (int32_t e = csr->row_offsets[i]; e < csr->row_offsets[i + 1]; e++)
      if (csr->column_indices[e] != i) offsets[i + 2]++, offsets[csr->column_indices[e] + 2]++;
  for (int32_t i = 0; i < rows; i++) offsets[i + 2] += offsets[i + 1];
  for (int32_t i = 0; i < rows; i++)
    for (int32_t e = csr->row_offsets[i]; e < csr->row_offsets[i + 1]; e++) {
      const int32_t j = csr->column_indices[e];
      if (j != i) neighbours[offsets[i + 1]++] = j, neighbours[offsets[j + 1]++] = i;
    }
}

/* Keeps each neighbour once. */
static void remove_duplicates(graph *g, idx_t *seen_by) {
  idx_t kept = 0, next = 0;
  for (idx_t i = 0; i < g->vertices; i++) seen_by[i] = -1;
  for (idx_t i = 0; i < g->vertices; i++) {
    const idx_t end = g->offsets[i + 1];
    for (idx_t k = next; k < end; k++) {
      const idx_t j = g->neighbours[k];
      if (seen_by[j] == i) continue;
      seen_by[j] = i;
      g->neighbours[kept++] = j;
    }
    next = end;
    g->offsets[i + 1] = kept;
  }
}

/* Limits the weight of a row to the mean of the parts. METIS cannot divide a heavier row, and would print that
 * it has too few vertices for the parts around it. */
static void weigh(const tsi_host_csr *csr, int parts, idx_t *weights) {
  const int64_t entries = csr->row_offsets[csr->rows];
  const int64_t mean = (entries + (int64_t)tsi_partition_row_cost * csr->rows) / parts;
  for (int32_t i = 0; i < csr->rows; i++) {
    const int64_t weight = csr->row_offsets[i + 1] - csr->row_offsets[i] + (int64_t)tsi_partition_row_cost;
    weights[i] = (idx_t)(weight < mean ? weight : mean);
  }
}

/* While it runs, METIS catches SIGABRT and SIGTERM for the whole process, and it seeds rand(). Therefore only
 * one call runs at a time, and the application's random state is restored afterwards. METIS minimises cut edges
 * here. Its other objective, the halo itself, gives a halo 10 % smaller on grids, but takes minutes if every
 * order is bad. */
static int partition_metis_run(graph *g, int parts, idx_t *part) {
  static tsi_lock lock = TSI_LOCK_INITIAL;
  idx_t options[METIS_NOPTIONS], constraints = 1, count = parts, cut;
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  tsi_lock_acquire(&lock);
#ifdef __GLIBC__
  char numbers[128], *before = initstate(1, numbers, sizeof numbers);
#endif
  const int status = METIS_PartGraphKway(&g->vertices, &constraints, g->offsets, g->neighbours, g->weights,
                                         NULL, NULL, &count, NULL, NULL, options, &cut, part);
#ifdef __GLIBC__
  setstate(before);
#endif
  tsi_lock_release(&lock);
  return status;
}

/* METIS reports missing memory on stderr. Therefore its minimum is allocated as a test: on grids 4 numbers per
 * neighbour and 8 per vertex. */
static int is_memory_left(ts_context *context, const graph *g) {
  const size_t vertices = (size_t)g->vertices, neighbours = (size_t)g->offsets[vertices];
  void *block = tsi_malloc(context, 4 * neighbours + 8 * vertices, sizeof(idx_t));
  tsi_free(context, block);
  return block != NULL;
}

static ts_status divide(ts_context *context, graph *g, int parts, idx_t *part) {
  const long long rows = g->vertices;
  const int status = is_memory_left(context, g) ? partition_metis_run(g, parts, part) : METIS_ERROR_MEMORY;
  if (status == METIS_OK) return TS_OK;
  if (status == METIS_ERROR_MEMORY)
    return tsi_fail(context, TS_ERROR_OUT_OF_HOST_MEMORY, "no host memory for METIS, for %lld rows in %d parts",
                    rows, parts);
  return tsi_fail(context, TS_ERROR_UNAVAILABLE, "METIS failed with error %d for %lld rows in %d parts", status,
                  rows, parts);
}

ts_status tsi_partition_metis(ts_context *context, const tsi_host_csr *csr, int parts, int32_t *part_of) {
  const size_t rows = (size_t)csr->rows, ends = 2 * (size_t)csr->row_offsets[rows];
  const size_t size = rows + 2 + 2 * rows + ends;
  idx_t *memory = tsi_malloc(context, size, sizeof *memory);
  if (!memory) return tsi_out_of_memory(context, "the graph of a matrix", size * sizeof *memory);
  graph g = {csr->rows, memory, memory + rows + 2 + 2 * rows, memory + rows + 2};
  idx_t *part = g.weights + rows;
  collect(csr, g.offsets, g.neighbours);
  remove_duplicates(&g, part);
  weigh(csr, parts, g.weights);
  const ts_status status = divide(context, &g, parts, part);
  for (size_t i = 0; i < rows && status == TS_OK; i++) part_of[i] = (int32_t)part[i];
  tsi_free(context, memory);
  return status;
}

#else

const int tsi_partition_has_metis = 0;

const char *tsi_partition_metis_unsuited(const tsi_host_csr *csr, int parts) {
  (void)csr, (void)parts;
  return "METIS is not built in";
}

ts_status tsi_partition_metis(ts_context *context, const tsi_host_csr *csr, int parts, int32_t *part_of) {
  (void)csr, (void)parts, (void)part_of;
  return tsi_fail(context, TS_ERROR_UNAVAILABLE, "this library was built without METIS, which finds the parts");
}

#endif
