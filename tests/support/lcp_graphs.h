/* Contacts between bodies of a long row for tests: sparse problems in all the forms that a descriptor takes. */
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
  int32_t n, batch; /* unknowns of a problem */
  int32_t bodies, mass_block;
  double *H, *mass; /* all of the rows, and the blocks */
  double *matrix;   /* the dense problems one after the other */
  double *q, *friction;
  ts_csr jacobian, sparse; /* `sparse` is M */
} lcp_graph;

/* `pairs` bodies after the first touch the next one or the next but one, every seventh the first, which is
 * fixed, in 1 to 3 contacts that follow each other. The problems of a batch have the bodies in common. Blocks
 * of H are random numbers. */
lcp_graph lcp_graph_make(int dimension, int32_t pairs, int32_t batch, unsigned seed);
void lcp_graph_free(lcp_graph *g);

ts_lcp_desc lcp_graph_desc(const lcp_graph *g, lcp_graph_form form, ts_lcp_storage storage,
                           ts_precision precision);
/* A matrix as rows of what is not 0; free with lcp_csr_free. */
ts_csr lcp_csr_of(const double *matrix, int32_t rows, int32_t columns);
void lcp_csr_free(ts_csr *csr);

#endif
