/* Where the solver starts from, and which vertices are pinned where nobody has said so. */
#ifndef START_H
#define START_H

#include "charts.h"

typedef enum start_method {
  START_LEVELS,    /* coarser meshes first (levels_solve), the coarsest of which starts as the next one does */
  START_DISTANCES, /* places in the plane whose distances are those along the mesh, of a few landmarks (de Silva
                      and Tenenbaum: Sparse multidimensional scaling using landmark points, 2004) */
  START_PLANE,     /* the projection to the plane that fits best */
  START_METHODS
} start_method;

/* u, v of every flat vertex, and two vertices of each chart's boundary that are far apart along the mesh. Every
 * chart is about the origin, the right way round, and scaled to the area 1. Returns 0, or 1 with one line in
 * `message`. */
int start_find(const mesh *m, const charts *c, start_method method, double *uv, int32_t *pins,
               char message[MESH_MESSAGE]);

#endif
