/* The picture in the window. Functions return NULL, or why they failed. */
#ifndef WINDOW_SCENE_H
#define WINDOW_SCENE_H

#include "app.h"
#include "positions.h"
#include "view_gl.h"

typedef struct window_scene {
  mesh_view *view;
  camera camera;
  mesh_look look;
  int keep_range;      /* of the colours; else they follow the mesh */
  double seconds_draw; /* of the last drawing */
  double range_chosen; /* when: seconds */
  int range_stale;     /* it was chosen before the mesh moved, or for other colours */
  positions positions;
  int start_number; /* see smoother_start_number */
  view_gl_screen screen;
} window_scene;

/* For another mesh: a new view, and the camera fitted. */
const char *window_scene_open(window_scene *scene, const smoother *s);
void window_scene_close(window_scene *scene);
void window_scene_fit(window_scene *scene, const smoother *s);

/* The mesh has moved; or is on another device, or has another start. */
const char *window_scene_moved(window_scene *scene, const smoother *s);

/* Into the window's framebuffer, `left` pixels from its left edge. */
const char *window_scene_draw(window_scene *scene, int left, int width, int height);
/* Into a picture: RGB, top row first. */
const char *window_scene_picture(window_state *w, int width, int height, unsigned char *rgb);

#endif
