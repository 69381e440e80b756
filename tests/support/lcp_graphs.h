/* Contacts between bodies in a long row: sparse problems in all forms that a descriptor accepts. */
#ifndef LCP_GRAPHS_H
#define LCP_GRAPHS_H

#include <texsolve/lcp.h>

typedef enum lcp_graph_form {
  LCP_GRAPH_FACTORS,
  LCP_GRAPH_BLOCKS,
  LCP_GRAPH_DENSE,
  LCP_GRAPH_FORMS
} lcp_graph_form;

typedef struct lcp_graph {
  int dimension;
  int32_t n, batch; /* unknowns per problem, and problems */
  int32_t bodies, mass_block;
  double *H, *mass; /* all rows, and all blocks */
  double *matrix;   /* the dense problems in sequence */
  double *q, *friction;
  ts_csr jacobian, sparse; /* `sparse` is M */
} lcp_graph;

/* Each of the `pairs` bodies after the first touches the next one or the next but one. Every seventh touches
 * the first one, which is fixed. A pair has 1 to 3 consecutive contacts. The problems of a batch share the
 * bodies. The blocks of H are random. */
lcp_graph lcp_graph_make(int dimension, int32_t pairs, int32_t batch, unsigned seed);
void lcp_graph_free(lcp_graph *g);

ts_lcp_desc lcp_graph_desc(const lcp_graph *g, lcp_graph_form form, ts_lcp_storage storage,
                           ts_precision precision);
/* A matrix as rows of its nonzero entries. Free with lcp_csr_free. */
ts_csr lcp_csr_of(const double *matrix, int32_t rows, int32_t columns);
void lcp_csr_free(ts_csr *csr);

#endif
