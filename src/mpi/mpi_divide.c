/* Partitions a graph over the ranks with PT-Scotch (Chevalier and Pellegrini 2008: multilevel, with diffusion
 * in bands), deterministically. */
#include "mpi_divide.h"

#include <stdio.h>

#ifdef TEXSOLVE_HAVE_PTSCOTCH
#include <stdlib.h>

#include <ptscotch.h>

typedef struct arrays {
  SCOTCH_Num vertices, edges;
  SCOTCH_Num *offsets, *neighbours, *weights, *parts;
} arrays;

static int copy_graph(const ts_ranks_graph *graph, int rank, arrays *a) {
  a->vertices = (SCOTCH_Num)(graph->first[rank + 1] - graph->first[rank]);
  a->edges = graph->offsets[a->vertices];
  const size_t vertices = (size_t)a->vertices, edges = (size_t)a->edges;
  a->offsets = malloc((vertices + 1) * sizeof *a->offsets);
  a->neighbours = malloc((edges + 1) * sizeof *a->neighbours);
  a->weights = malloc((vertices + 1) * sizeof *a->weights);
  a->parts = malloc((vertices + 1) * sizeof *a->parts);
  if (!a->offsets || !a->neighbours || !a->weights || !a->parts) return 1;
  for (size_t i = 0; i <= vertices; i++) a->offsets[i] = graph->offsets[i];
  for (size_t i = 0; i < vertices; i++) a->weights[i] = graph->weights[i];
  for (size_t e = 0; e < edges; e++) a->neighbours[e] = (SCOTCH_Num)graph->neighbours[e];
  return 0;
}

static void free_arrays(arrays *a) {
  free(a->offsets);
  free(a->neighbours);
  free(a->weights);
  free(a->parts);
}

static int map(SCOTCH_Context *context, SCOTCH_Dgraph *graph, int ranks, arrays *a) {
  SCOTCH_Dgraph bound;
  SCOTCH_Strat strategy;
  int code = SCOTCH_dgraphBuild(graph, 0, a->vertices, a->vertices, a->offsets, NULL, a->weights, NULL,
                                a->edges, a->edges, a->neighbours, NULL, NULL);
  if (code) return code;
  code = SCOTCH_contextBindDgraph(context, graph, &bound);
  if (code) return code;
  SCOTCH_stratInit(&strategy);
  code = SCOTCH_dgraphPart(&bound, ranks, &strategy, a->parts);
  SCOTCH_stratExit(&strategy);
  SCOTCH_dgraphExit(&bound);
  return code;
}

static int divide(MPI_Comm communicator, int ranks, arrays *a) {
  SCOTCH_Context context;
  SCOTCH_Dgraph graph;
  int code = SCOTCH_contextInit(&context);
  if (code) return code;
  SCOTCH_contextThreadSpawn(&context, 1, NULL); /* the default uses all cores and calls MPI from any thread */
  SCOTCH_contextOptionSetNum(&context, SCOTCH_OPTIONNUMDETERMINISTIC, 1);
  SCOTCH_contextRandomSeed(&context, 1);
  SCOTCH_contextRandomReset(&context);
  code = SCOTCH_dgraphInit(&graph, communicator);
  if (!code) {
    code = map(&context, &graph, ranks, a);
    SCOTCH_dgraphExit(&graph);
  }
  SCOTCH_contextExit(&context);
  return code;
}

/* The first of two calls with one communicator: whether all ranks have succeeded so far. The waits of PT-Scotch
 * never end, so no rank may continue alone. */
static int all_well(MPI_Comm communicator, int well) {
  int all = 0;
  return MPI_Allreduce(&well, &all, 1, MPI_INT, MPI_MIN, communicator) == MPI_SUCCESS && all;
}

ts_status mpi_divide(MPI_Comm communicator, int rank, int ranks, const ts_ranks_graph *graph, int32_t *rank_of,
                     char *error, size_t size) {
  arrays a = {0};
  const int64_t vertices = graph->first[ranks];
  const int fits = vertices <= SCOTCH_NUMMAX / 2;
  const int is_memory = fits && !copy_graph(graph, rank, &a);
  ts_status status = TS_OK;
  if (!fits) {
    snprintf(error, size, "this PT-Scotch supports %lld rows; there are %lld", (long long)SCOTCH_NUMMAX / 2,
             (long long)vertices);
    status = TS_ERROR_LIMIT;
  } else if (!all_well(communicator, is_memory)) {
    snprintf(error, size, "no host memory for PT-Scotch, for %lld rows", (long long)vertices);
    status = TS_ERROR_OUT_OF_HOST_MEMORY;
  } else if (divide(communicator, ranks, &a)) {
    snprintf(error, size, "PT-Scotch failed for %lld rows in %d parts", (long long)vertices, ranks);
    status = TS_ERROR_UNAVAILABLE;
  }
  for (SCOTCH_Num i = 0; i < a.vertices && status == TS_OK; i++) rank_of[i] = (int32_t)a.parts[i];
  free_arrays(&a);
  return status;
}

const int mpi_divides = 1;

#else

ts_status mpi_divide(MPI_Comm communicator, int rank, int ranks, const ts_ranks_graph *graph, int32_t *rank_of,
                     char *error, size_t size) {
  (void)communicator, (void)rank, (void)ranks, (void)graph, (void)rank_of;
  snprintf(error, size, "this library was built without PT-Scotch");
  return TS_ERROR_UNAVAILABLE;
}

const int mpi_divides = 0;

#endif
