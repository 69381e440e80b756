/* Coarser meshes of the flat vertices, by edge collapses. The solution on a mesh is the start on the next finer
 * one, as in N. Ray, B. Levy: Hierarchical least squares conformal map, Pacific Graphics 2003. */
#ifndef HIERARCHY_H
#define HIERARCHY_H

#include "charts.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HIERARCHY_LEVELS = 12, HIERARCHY_RING = 16 };

/* A vertex removed by a collapse, and its position as a convex combination of its neighbours. */
typedef struct hierarchy_vertex {
  int32_t vertex, neighbours;
  int32_t neighbour[HIERARCHY_RING];
  float weight[HIERARCHY_RING];
} hierarchy_vertex;

typedef struct hierarchy_level {
  int32_t vertex_count, triangle_count;
  int32_t *vertices;  /* remaining flat vertices */
  int32_t *triangles; /* three flat vertices each */
  int32_t removed;    /* the first `removed` entries of hierarchy.removed are missing here */
} hierarchy_level;

typedef struct hierarchy {
  int count; /* number of levels coarser than the mesh, from fine to coarse; may be 0 */
  hierarchy_level level[HIERARCHY_LEVELS];
  hierarchy_vertex *removed; /* in the order of removal */
} hierarchy;

/* Builds levels with about a quarter of the vertices each, down to about `least`. Vertices with a flag in
 * `pinned` remain, and boundaries remain boundaries. If the charts allow no collapse, there are no levels.
 * Returns 0, or 1 with one line in `message`. */
int hierarchy_create(const mesh *m, const charts *c, const unsigned char *pinned, int32_t least, hierarchy *h,
                     char message[MESH_MESSAGE]);
void hierarchy_destroy(hierarchy *h);

#ifdef __cplusplus
}
#endif
#endif
