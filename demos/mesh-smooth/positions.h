/* The path of a smoother's positions to the view: from their texture, from a buffer shared by CUDA and OpenGL,
 * or through the host. Functions that return text return NULL on success, or the reason of a failure. */
#ifndef POSITIONS_H
#define POSITIONS_H

#include "mesh_view.h"
#include "smoother.h"
#include "view_shared.h"

typedef struct positions {
  const ts_vector *drawn; /* the vector that the view draws from; NULL: must be set again */
  ts_vector *shared;      /* the vector in a shared buffer; NULL: none */
  float *host;
  view_way way;
} positions;

void positions_free(positions *p);
/* Call after the positions have moved, or are on another device. */
const char *positions_update(positions *p, mesh_view *view, const smoother *s);
/* Call before each drawing: OpenGL can use a shared buffer only until the next call of the library. */
const char *positions_share(const positions *p, mesh_view *view);

/* Sets the control points that a view draws: fixed ones red, soft ones blue. The one of vertex `marked` gets a
 * ring; -1: none. */
const char *positions_mark_controls(mesh_view *view, const smoother *s, int32_t marked);

#endif
