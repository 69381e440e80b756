/* A graph as a list of edges, and its Laplacian. */
#ifndef BENCH_GENERATE_EDGES_H
#define BENCH_GENERATE_EDGES_H

#include "generate.h"

typedef struct edge_list {
  int32_t (*edges)[2];
  int64_t count, room;
} edge_list;

/* Adds an edge to both its ends. Ignores an edge from an index to itself or to a negative one; duplicates count
 * once. Returns 1 if memory is exhausted. */
int edges_add(edge_list *list, int32_t i, int32_t j);
void edges_free(edge_list *list);

/* The weighted graph Laplacian plus a small multiple of the identity, with ascending columns. Returns 0, or 2
 * if memory is exhausted or the entries exceed a 32-bit offset. */
int edges_to_matrix(const edge_list *list, int32_t rows, generated_matrix *A);

/* The weight of the edge between i and j, independent of their order. */
float generated_weight(int64_t i, int64_t j);
/* Added to the diagonal. It is small enough that CG has work to do, and large enough for a definite matrix in
 * single precision. */
#define GENERATED_SHIFT 1e-3f

/* Allocates the arrays of a matrix. Returns 0, or 2 as above. */
int generated_allocate(generated_matrix *A, int32_t rows, int64_t entries);
/* Computes the Laplacian's values for a symmetric pattern with diagonal. */
void generated_fill_values(generated_matrix *A);

#endif
