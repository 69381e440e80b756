/* The window of mesh-smooth: look at a mesh, smooth it, compare, export. */
#ifndef WINDOW_H
#define WINDOW_H

#include "mesh_view.h"
#include "smoother.h"

typedef struct window_options {
  const char *name;       /* of the mesh, for the title */
  const char *output;     /* where an export goes; NULL: a name made from `name` */
  const char *screenshot; /* where a picture goes; NULL: the same */
  mesh_look look;         /* at first */
  int keep_duplicates;    /* in meshes that are dropped on the window */
  int steps;              /* to make at first, one a frame */
} window_options;

/* Opens the window, whose OpenGL context is the current one from then on: create the smoother with
 * TS_GL_PLATFORM_CURRENT. Functions return 0, or 1 with one line in `message`. */
int smooth_window_open(int width, int height, char message[MESH_MESSAGE]); /* 0 x 0: 1280 x 800 */
/* Until the user closes it. A mesh that is dropped on the window replaces the smoother. */
int smooth_window_run(smoother **s, const window_options *options, char message[MESH_MESSAGE]);
void smooth_window_close(void); /* after the smoother is destroyed */

#endif
