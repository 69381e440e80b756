/* Distances along the edges of a chart. */
#ifndef DISTANCES_H
#define DISTANCES_H

#include "charts.h"

typedef struct distances {
  double *distance; /* of every flat vertex of the chart that was asked for; others hold what they did */
  int32_t *from; /* the halfedge, in either direction, that the shortest path came over last; -1: the source */
  /* Internal. */
  int32_t *first, *corners;         /* of each flat vertex */
  int32_t *heap, *place, heap_size; /* vertices that have been seen, the nearest first */
} distances;

/* Returns 0, or 1 with one line in `message`. */
int distances_create(const mesh *m, const charts *c, distances *d, char message[MESH_MESSAGE]);
void distances_free(distances *d);

/* From one flat vertex, in its chart `k`. */
void distances_from(const mesh *m, const charts *c, int32_t k, int32_t source, distances *d);

/* The vertex of chart k where `of` is largest, among those on the boundary or all; the first one of equals. */
int32_t distances_farthest(const charts *c, int32_t k, int on_boundary, const double *of);

/* The flat vertex at the other end of a halfedge. */
int32_t distances_other_end(const charts *c, int32_t halfedge, int32_t vertex);

double distances_length(const mesh *m, const charts *c, int32_t a, int32_t b);

#endif
