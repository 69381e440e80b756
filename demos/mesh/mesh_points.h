/* Points that are drawn over a mesh as discs, for control points. Needs a current OpenGL 3.3 context with
 * functions loaded. Functions return NULL, or why they failed. */
#ifndef MESH_POINTS_H
#define MESH_POINTS_H

#include "camera.h"

typedef struct mesh_point {
  float place[3];
  float rgb[3];
  float marked; /* 1: with a ring around it */
} mesh_point;

typedef struct mesh_points mesh_points;

/* Replaces the points by copies of these; makes the object where it is NULL. */
const char *mesh_points_set(mesh_points **points, const mesh_point *list, int count);
void mesh_points_destroy(mesh_points **points);
/* Into the framebuffer that is bound, whatever lies before them. NULL is fine. */
const char *mesh_points_draw(mesh_points *points, const camera *c, int width, int height);

#endif
