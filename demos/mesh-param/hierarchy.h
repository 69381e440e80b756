/* Coarser meshes of the flat vertices, by collapsing edges: what is solved on one is a start on the next finer
 * one, as in N. Ray, B. Levy: Hierarchical least squares conformal map, Pacific Graphics 2003. */
#ifndef HIERARCHY_H
#define HIERARCHY_H

#include "charts.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HIERARCHY_LEVELS = 12, HIERARCHY_RING = 16 };

/* A vertex that a collapse took away, and the places it had between its neighbours: convex weights. */
typedef struct hierarchy_vertex {
  int32_t vertex, neighbours;
  int32_t neighbour[HIERARCHY_RING];
  float weight[HIERARCHY_RING];
} hierarchy_vertex;

typedef struct hierarchy_level {
  int32_t vertex_count, triangle_count;
  int32_t *vertices;  /* flat ones that are left */
  int32_t *triangles; /* 3 each, of flat vertices */
  int32_t removed;    /* so many of hierarchy.removed are gone here */
} hierarchy_level;

typedef struct hierarchy {
  int count; /* levels coarser than the mesh itself; the last one is the coarsest; may be 0 */
  hierarchy_level level[HIERARCHY_LEVELS];
  hierarchy_vertex *removed; /* in the order they were taken away */
} hierarchy;

/* Levels of about a quarter of the vertices each, down to some `least`. Vertices with a flag in `pinned` stay,
 * and boundaries stay boundaries. Where the charts are so that no edge can be collapsed, there are no levels.
 * Returns 0, or 1 with one line in `message`. */
int hierarchy_create(const mesh *m, const charts *c, const unsigned char *pinned, int32_t least, hierarchy *h,
                     char message[MESH_MESSAGE]);
void hierarchy_destroy(hierarchy *h);

#ifdef __cplusplus
}
#endif
#endif
