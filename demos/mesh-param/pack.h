/* Charts side by side in the unit square: each scaled to its area on the mesh, turned to its smallest box, and
 * the boxes put on shelves, the highest first, each on the first shelf with room. */
#ifndef PACK_H
#define PACK_H

#include "charts.h"

typedef struct pack_box {
  double low[2], high[2]; /* of a chart in the unit square */
} pack_box;

typedef struct pack_report {
  double fill;  /* the share of the square that triangles cover */
  double scale; /* lengths in the square over lengths on the mesh */
} pack_report;

/* `uv`: of every flat vertex, as they were solved for; replaced. Between boxes, and around them, `gap` of the
 * side stays free. `boxes`: of each chart; may be NULL. Returns 0, or 1 with one line in `message`. */
int pack_charts(const mesh *m, const charts *c, double gap, double *uv, pack_box *boxes, pack_report *report,
                char message[MESH_MESSAGE]);

#endif
