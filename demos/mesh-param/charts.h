/* A mesh taken apart for flattening: charts are parts whose triangles hang together by edges, and every chart
 * has vertices of its own, the flat ones. A vertex of the mesh where charts or the two sides of a cut meet has
 * several. Functions return 0, or 1 with one line in `message`. */
#ifndef CHARTS_H
#define CHARTS_H

#include "mesh_edges.h"

typedef struct chart {
  int32_t first_vertex, vertices;    /* flat ones, numbered one after the other */
  int32_t first_triangle, triangles; /* in charts.order */
  int32_t boundary_edges, loops;
  int32_t genus; /* handles; 0: a disk with holes, or a sphere where there are no loops */
} chart;

typedef struct charts {
  int32_t count, vertices; /* charts, and flat vertices of all of them */
  struct chart *chart;
  int32_t *corner;         /* 3 a triangle: the flat vertex there */
  int32_t *vertex;         /* the mesh's vertex of a flat vertex */
  int32_t *order;          /* triangles, those of a chart together, else as in the mesh */
  int32_t *chart_of;       /* of a triangle */
  unsigned char *boundary; /* of a flat vertex: whether it lies on the boundary */
} charts;

/* Whether the surface goes on across an edge: it has two triangles, which agree in orientation. */
int charts_edge_joins(const mesh *m, const mesh_edges *edges, int32_t e);

/* `cut`: a flag for each edge that is open even so; may be NULL. Vertices that no triangle uses are in no
 * chart. */
int charts_find(const mesh *m, const mesh_edges *edges, const unsigned char *cut, charts *c,
                char message[MESH_MESSAGE]);
void charts_free(charts *c);

#endif
