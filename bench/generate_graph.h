/* Graphs without the order of a grid: their matrices show what a format does where rows and columns are uneven
 * and lie anywhere. */
#ifndef BENCH_GENERATE_GRAPH_H
#define BENCH_GENERATE_GRAPH_H

#include "generate.h"

/* Names and meaning: generate.h. Returns 0; 1 for a name that is none of a graph; 2 without memory or with more
 * entries than a 32-bit offset counts. */
int generate_graph(generated_matrix *A, const char *name, int32_t rows);
int generated_is_graph(const char *name);

#endif
