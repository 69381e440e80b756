/* The edges of a mesh, found by sorting, for measuring and repairing. Internal. */
#ifndef MESH_EDGES_H
#define MESH_EDGES_H

#include "mesh.h"

/* Halfedge h = 3 t + k goes from corner k of triangle t to the next corner. Halfedges between the same two
 * vertices, in either direction, form an edge. Equal corners of a triangle form none. */
typedef struct mesh_edges {
  int32_t count;
  int32_t *halfedges; /* of edge e: first[e] .. first[e + 1] - 1, in the order of triangles */
  int32_t *first;     /* edges are sorted by their lower vertex, then by the higher one */
} mesh_edges;

int mesh_edges_find(const mesh *m, mesh_edges *edges, char message[MESH_MESSAGE]);
void mesh_edges_free(mesh_edges *edges);

static inline int32_t mesh_halfedge_from(const mesh *m, int32_t h) {
  return m->triangles[h];
}
static inline int32_t mesh_halfedge_next(int32_t h) {
  return h % 3 == 2 ? h - 2 : h + 1;
}
static inline int32_t mesh_halfedge_to(const mesh *m, int32_t h) {
  return m->triangles[mesh_halfedge_next(h)];
}

/* Disjoint sets of 0 .. n-1. `parent` starts as the identity. */
int32_t mesh_set_find(int32_t *parent, int32_t i);
/* Joins two sets under the lower root. Returns 0 if they are already one set. */
int mesh_set_join(int32_t *parent, int32_t i, int32_t j);

#endif
