/* How a smoother's positions get into the view that draws them: from their texture, from a buffer that CUDA and
 * OpenGL share, or through the host. Functions return NULL, or why they failed. */
#ifndef POSITIONS_H
#define POSITIONS_H

#include "mesh_view.h"
#include "smoother.h"
#include "view_shared.h"

typedef struct positions {
  const ts_vector *drawn; /* whose texture the view draws; NULL: to be taken again */
  ts_vector *shared;      /* the vector in a shared buffer; NULL: none */
  float *host;
  view_way way;
} positions;

void positions_free(positions *p);
/* They have moved; or are on another device. */
const char *positions_update(positions *p, mesh_view *view, const smoother *s);
/* Before each drawing: OpenGL has a shared buffer until the next call of the library. */
const char *positions_share(const positions *p, mesh_view *view);

/* Draws the smoother's control points in a view from now on: fixed ones red, soft ones blue, and a ring around
 * that of vertex `marked`; -1: none. */
const char *positions_mark_controls(mesh_view *view, const smoother *s, int32_t marked);

#endif
