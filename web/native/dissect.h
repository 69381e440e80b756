/* Nested dissection of a graph whose nodes have coordinates. */
#ifndef TEXSOLVE_WEB_DISSECT_H
#define TEXSOLVE_WEB_DISSECT_H

#include <stdint.h>

/* A part of the graph: the nodes order[begin .. end - 1], of which the separator order[pivots .. end - 1] is
 * eliminated last. Without children the whole part is eliminated at once, and pivots is begin. */
typedef struct dissection_part {
  int32_t begin, pivots, end;
  int32_t children[2]; /* earlier parts, or -1 */
} dissection_part;

typedef struct dissection {
  int32_t nodes, part_count, capacity;
  int32_t *order, *place; /* nodes in the order of elimination, and its inverse */
  dissection_part *parts; /* children before their parents; the last one is the whole graph */
} dissection;

/* Orders the nodes. Node i is connected to neighbours[k] / 2 for k from row_offsets[2 i] to row_offsets[2 i +
 * 1] - 1. Returns 0 without memory. Free it with dissection_free, also after a failure. */
int dissection_create(dissection *d, int32_t nodes, const double *positions, const int32_t *row_offsets,
                      const int32_t *columns);
void dissection_free(dissection *d);

#endif
