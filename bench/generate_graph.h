/* Graphs without the regular order of a grid. Their matrices test formats with uneven rows and scattered
 * columns. */
#ifndef BENCH_GENERATE_GRAPH_H
#define BENCH_GENERATE_GRAPH_H

#include "generate.h"

/* Names and meaning: generate.h. Returns 0, 1 if the name is not that of a graph, or 2 if memory is exhausted
 * or the entries exceed a 32-bit offset. */
int generate_graph(generated_matrix *A, const char *name, int32_t rows);
int generated_is_graph(const char *name);

#endif
