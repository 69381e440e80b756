/* A graph as a list of edges, and its Laplacian. */
#ifndef BENCH_GENERATE_EDGES_H
#define BENCH_GENERATE_EDGES_H

#include "generate.h"

typedef struct edge_list {
  int32_t (*edges)[2];
  int64_t count, room;
} edge_list;

/* An edge belongs to both its ends; one from an index to itself, or to a negative one, is none, and one that
 * was added before counts once. Returns 1 without memory. */
int edges_add(edge_list *list, int32_t i, int32_t j);
void edges_free(edge_list *list);

/* The weighted graph Laplacian plus a small multiple of the identity; the rows' columns ascend. Returns 0; 2
 * without memory or with more entries than a 32-bit offset counts. */
int edges_to_matrix(const edge_list *list, int32_t rows, generated_matrix *A);

/* The weight of the edge between i and j, the same seen from both ends. */
float generated_weight(int64_t i, int64_t j);
/* Added to the diagonal: small enough that CG has work to do, large enough to be definite in single precision.
 */
#define GENERATED_SHIFT 1e-3f

/* Arrays for a matrix. Returns 0; 2 as above. */
int generated_allocate(generated_matrix *A, int32_t rows, int64_t entries);
/* Values of the Laplacian for a symmetric pattern that includes the diagonal. */
void generated_fill_values(generated_matrix *A);

#endif
