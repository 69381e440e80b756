/* Pins are picked on the mesh or in its UV map, and moved in the UV map. */
#include "window_state.h"

#include <math.h>
#include <stdlib.h>

static const double pin_reach = 10, vertex_reach = 20; /* in pixels */

/* Returns 1 in the right half of the scene, the UV map. */
static int in_image(const window_state *w, double x) {
  int width, height;
  app_scene_size(&w->app, &width, &height);
  const int left = width / 2;
  return x >= left;
}

/* The position of flat vertex v in the scene, in pixels. Returns its depth, or NaN if it is behind the eye. */
static double place_in_scene(const window_state *w, int image, int32_t v, const float to_eye[16],
                             const float projection[16], double pixel[2]) {
  int width, height;
  app_scene_size(&w->app, &width, &height);
  const int left = width / 2;
  const flattening *f = &w->f;
  if (image) {
    flat_view_to_pixels(&w->window, width - left, height, f->uv + 2 * (size_t)v, pixel);
    pixel[0] += left;
    return 0;
  }
  const double *p = f->m.positions + 3 * (size_t)f->c.vertex[v];
  double unit[3], eye[3];
  for (int k = 0; k < 3; k++)
    unit[k] = (p[k] - 0.5 * (f->measures.low[k] + f->measures.high[k])) / f->measures.diagonal;
  for (int k = 0; k < 3; k++)
    eye[k] = (double)to_eye[k] * unit[0] + (double)to_eye[4 + k] * unit[1] + (double)to_eye[8 + k] * unit[2] +
             (double)to_eye[12 + k];
  if (!(eye[2] < 0)) return NAN;
  pixel[0] = 0.5 * left * (1 + (double)projection[0] * eye[0] / -eye[2]);
  pixel[1] = 0.5 * height * (1 - (double)projection[5] * eye[1] / -eye[2]);
  return -eye[2];
}

/* The nearest flat vertex, among those with a flag or all (flags NULL). On the mesh, vertices in front are
 * preferred. */
static int32_t find_near(const window_state *w, double x, double y, const unsigned char *flags) {
  const int image = in_image(w, x);
  int width, height;
  int32_t found = -1;
  double best = INFINITY;
  float to_eye[16], projection[16];
  app_scene_size(&w->app, &width, &height);
  camera_view_matrix(&w->app.camera, to_eye);
  camera_projection_matrix(&w->app.camera, width / 2, height, projection);
  for (int32_t v = 0; v < w->f.c.vertices; v++) {
    double pixel[2] = {0};
    if (flags && !flags[v]) continue;
    const double depth = place_in_scene(w, image, v, to_eye, projection, pixel);
    const double away = hypot(pixel[0] - x, pixel[1] - y);
    if (isnan(depth) || !(away < (flags ? pin_reach : vertex_reach) * (double)w->app.scale)) continue;
    /* A distance of one pixel counts as much as a depth of a thousandth of the mesh's size. */
    const double far = image ? away : depth + 0.001 * away;
    if (far >= best) continue;
    best = far;
    found = v;
  }
  return found;
}

int32_t window_find_pin(const window_state *w, double x, double y) {
  return find_near(w, x, y, w->f.pinned);
}

int32_t window_find_vertex(const window_state *w, double x, double y) {
  return find_near(w, x, y, NULL);
}

/* ---- Changes ---- */

int window_use_pins(window_state *w) {
  char message[MESH_MESSAGE];
  worker_stop(w->solver);
  /* For automatic pins use the original start, so that the UV map is reproducible. */
  if (!w->pin_count && flattening_restart(&w->f, message)) app_tell_error(&w->app, message);
  const int failed =
      flattening_set_pins(&w->f, w->pins, w->pin_count, message) || flattening_update(&w->f, message);
  if (failed) app_tell_error(&w->app, message);
  window_image_changed(w, NULL);
  if (!w->pin_count) flat_view_fit_image(&w->f, &w->window);
  w->wanted = 1;
  return failed;
}

static int find_own(const window_state *w, int32_t flat) {
  for (int32_t i = 0; i < w->pin_count; i++)
    if (w->pins[i].place == flat + 1) return i;
  return -1;
}

static int append(window_state *w, int32_t flat) {
  flattening_pin *more = realloc(w->pins, ((size_t)w->pin_count + 1) * sizeof *more);
  if (!more) {
    app_tell_error(&w->app, "out of memory for another pin");
    return 1;
  }
  w->pins = more;
  w->pins[w->pin_count++] = (flattening_pin){.vertex = w->f.c.vertex[flat],
                                             .u = w->f.uv[2 * (size_t)flat],
                                             .v = w->f.uv[2 * (size_t)flat + 1],
                                             .place = flat + 1};
  return 0;
}

/* Turns automatic pins into given ones at their present positions in the UV map, so that nothing jumps. They
 * keep the packed map in its place. */
static int keep_automatic_pins(window_state *w) {
  for (int32_t v = 0; v < w->f.c.vertices; v++)
    if (w->f.pinned[v] && find_own(w, v) < 0 && append(w, v)) return 1;
  return 0;
}

void window_add_pin(window_state *w, int32_t flat) {
  window_remember(w);
  if (keep_automatic_pins(w) || (find_own(w, flat) < 0 && append(w, flat))) return;
  if (!window_use_pins(w))
    app_tell(&w->app, "vertex %d is pinned; drag it in the UV map", (int)w->f.c.vertex[flat]);
}

void window_remove_pin(window_state *w, int32_t flat) {
  window_remember(w);
  if (keep_automatic_pins(w)) return;
  const int own = find_own(w, flat);
  if (own < 0) return;
  const int32_t vertex = w->pins[own].vertex;
  w->pins[own] = w->pins[--w->pin_count];
  if (!window_use_pins(w)) app_tell(&w->app, "vertex %d is no longer pinned", (int)vertex);
}

void window_grab_pin(window_state *w, int32_t flat) {
  w->grabbed = flat;
}

void window_move_pin(window_state *w, double x, double y) {
  int width, height;
  double uv[2];
  if (w->grabbed >= 0) {
    const int32_t flat = w->grabbed;
    w->grabbed = -1;
    window_remember(w);
    if (keep_automatic_pins(w)) return;
    w->dragged = find_own(w, flat);
  }
  if (w->dragged < 0 || w->dragged >= w->pin_count) return;
  app_scene_size(&w->app, &width, &height);
  const int left = width / 2;
  const double pixel[2] = {x - left, y};
  flat_view_from_pixels(&w->window, width - left, height, pixel, uv);
  flattening_pin *pin = &w->pins[w->dragged];
  const flattening_pin before = *pin;
  pin->u = uv[0];
  pin->v = uv[1];
  if (window_use_pins(w)) *pin = before;
}

void window_automatic_pins(window_state *w) {
  if (window_asks(w)) return;
  window_remember(w);
  w->pin_count = 0;
  w->dragged = w->grabbed = -1;
  if (!window_use_pins(w)) app_tell(&w->app, "two automatic pins per chart, far apart; charts are packed");
}
