/* Control points of discrete smooth interpolation: vertices that are to be somewhere. Functions return 0, or 1
 * with one line in `message`. */
#ifndef DSI_CONTROLS_H
#define DSI_CONTROLS_H

#include "mesh.h"

typedef struct dsi_control {
  int32_t vertex;  /* from 0, in the order of the mesh */
  double place[3]; /* in the file's units */
  double weight;   /* of its distance's square; DSI_FIXED: it stands there exactly */
} dsi_control;

#define DSI_FIXED ((double)INFINITY)

typedef struct dsi_controls {
  dsi_control *points;
  int count, room;
} dsi_controls;

void dsi_controls_free(dsi_controls *list);                      /* leaves an empty one */
int dsi_controls_find(const dsi_controls *list, int32_t vertex); /* its index, -1: none */
/* Refuses a vertex that the mesh lacks or that has a control point already, and numbers that are none. */
int dsi_controls_add(dsi_controls *list, const mesh *m, const dsi_control *point, char message[MESH_MESSAGE]);
void dsi_controls_remove(dsi_controls *list, int index);
int dsi_controls_copy(const dsi_controls *from, dsi_controls *to, char message[MESH_MESSAGE]);

/* Adds what a file says, a control point a line: "vertex x y z", which is fixed, "vertex x y z fixed", or
 * "vertex x y z weight". Empty lines, and what follows a #, do not count. */
int dsi_controls_read(dsi_controls *list, const char *path, const mesh *m, char message[MESH_MESSAGE]);
/* Adds vertices that stay where the mesh has them: "3,17,20". */
int dsi_controls_fix(dsi_controls *list, const char *vertices, const mesh *m, char message[MESH_MESSAGE]);

#endif
