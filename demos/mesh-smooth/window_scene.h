/* The picture in the window. It is drawn off the screen, and only when something in it has changed, so that the
 * controls stay quick where drawing is slow. Functions return NULL, or why they failed. */
#ifndef WINDOW_SCENE_H
#define WINDOW_SCENE_H

#include "mesh_view.h"
#include "smoother.h"
#include "view_gl.h"
#include "view_shared.h"

typedef struct window_scene {
  mesh_view *view;
  camera camera;
  mesh_look look;
  int keep_range;               /* of the colours; else they follow the mesh */
  double seconds_draw;          /* of the last drawing */
  int stale;                    /* the picture is not that of the mesh, the camera and the look */
  double range_chosen;          /* when: seconds */
  int range_stale;              /* it was chosen before the mesh moved, or for other colours */
  const ts_vector *drawn;       /* whose positions the view draws; NULL: to be taken anew */
  ts_vector *shared;            /* the vector in a buffer that CUDA and OpenGL share, or NULL */
  view_way way;                 /* how the positions come to OpenGL */
  int start_number;             /* see smoother_start_number */
  float *host;                  /* positions, where the vector has no texture */
  view_gl_canvas many, picture; /* the first has several samples a pixel, or is none */
  int width, height;
} window_scene;

/* For another mesh: a new view, and the camera fitted. */
const char *window_scene_open(window_scene *scene, const smoother *s);
void window_scene_close(window_scene *scene);
void window_scene_fit(window_scene *scene, const smoother *s);

/* The mesh has moved; or is on another device, or has another start. */
const char *window_scene_moved(window_scene *scene, const smoother *s);

/* Into the window's framebuffer, `left` pixels from its left edge. */
const char *window_scene_draw(window_scene *scene, int left, int width, int height);
/* Into a PNG file, as large as the picture in the window. Returns 0, or 1 with a message. */
int window_scene_save(window_scene *scene, const char *path, char message[MESH_MESSAGE]);

#endif
