/* Control points in the window: they are added, picked, dragged and removed, and the solution follows them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "window_state.h"

/* Iterations per frame while the pointer drags. After that the solve continues for settling_frames frames
 * and doubles the iterations in each: conjugate gradients that restart in every frame converge slowly at the
 * end. */
enum { frame_iterations = 8, settling_frames = 8 };

/* ---- Places ---- */

static void to_unit(const window_state *w, const double place[3], float unit[3]) {
  const mesh_measures *m = &w->s->measures;
  for (int c = 0; c < 3; c++) unit[c] = (float)((place[c] - 0.5 * (m->low[c] + m->high[c])) / m->diagonal);
}

static void from_unit(const window_state *w, const float unit[3], double place[3]) {
  const mesh_measures *m = &w->s->measures;
  for (int c = 0; c < 3; c++) place[c] = 0.5 * (m->low[c] + m->high[c]) + m->diagonal * (double)unit[c];
}

/* ---- The list ---- */

void window_mark_controls(window_state *w) {
  const char *why = !w->scene.view ? NULL : positions_mark_controls(w->scene.view, w->s, w->selected);
  if (why) app_tell_error(&w->app, why);
  w->app.screen.stale = 1;
}

void window_follow_on(window_state *w) {
  w->following = settling_frames;
}

/* Sets a changed list, or reports why it is refused. */
static int set_controls(window_state *w, const dsi_controls *list) {
  char message[MESH_MESSAGE];
  dsi_controls before = {0};
  int failed = dsi_controls_copy(&w->s->controls, &before, message);
  if (!failed && smoother_set_controls(w->s, list, message)) {
    char ignored[MESH_MESSAGE];
    failed = 1;
    smoother_set_controls(w->s, &before, ignored);
  }
  dsi_controls_free(&before);
  if (failed) app_tell_error(&w->app, message);
  window_follow_on(w);
  window_mark_controls(w);
  return failed;
}

const dsi_control *window_selected(const window_state *w) {
  const dsi_controls *list = &w->s->controls;
  const int k = dsi_controls_find(list, w->selected);
  return k < 0 ? NULL : &list->points[k];
}

/* Replaces the selected control point by `point`; NULL: removes it. */
static void change_selected(window_state *w, const dsi_control *point) {
  char message[MESH_MESSAGE];
  dsi_controls list = {0};
  const int k = dsi_controls_find(&w->s->controls, w->selected);
  if (k < 0) return;
  if (dsi_controls_copy(&w->s->controls, &list, message)) {
    app_tell_error(&w->app, message);
    return;
  }
  if (point)
    list.points[k] = *point;
  else
    dsi_controls_remove(&list, k);
  if (!point) w->selected = -1;
  set_controls(w, &list);
  dsi_controls_free(&list);
}

void window_set_weight(window_state *w, double weight) {
  const dsi_control *now = window_selected(w);
  if (!now) return;
  dsi_control point = *now;
  point.weight = weight;
  change_selected(w, &point);
}

void window_remove_control(window_state *w) {
  if (window_selected(w)) change_selected(w, NULL);
}

void window_remove_controls(window_state *w) {
  const dsi_controls none = {0};
  w->selected = -1;
  set_controls(w, &none);
}

/* ---- Picking ---- */

/* Intersects a ray with a triangle. Returns t of origin + t direction, or INFINITY (Moeller and Trumbore
 * 1997). */
static float meet(const float o[3], const float d[3], const float *a, const float *b, const float *c) {
  float u[3], v[3], s[3];
  for (int k = 0; k < 3; k++) {
    u[k] = b[k] - a[k];
    v[k] = c[k] - a[k];
    s[k] = o[k] - a[k];
  }
  const float p[3] = {d[1] * v[2] - d[2] * v[1], d[2] * v[0] - d[0] * v[2], d[0] * v[1] - d[1] * v[0]};
  const float q[3] = {s[1] * u[2] - s[2] * u[1], s[2] * u[0] - s[0] * u[2], s[0] * u[1] - s[1] * u[0]};
  const float det = u[0] * p[0] + u[1] * p[1] + u[2] * p[2];
  const float x = (s[0] * p[0] + s[1] * p[1] + s[2] * p[2]) / det;
  const float y = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / det;
  const float t = (v[0] * q[0] + v[1] * q[1] + v[2] * q[2]) / det;
  return x >= 0 && y >= 0 && x + y <= 1 && t > 0 ? t : INFINITY;
}

static float squared_distance(const float *a, const float b[3]) {
  return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]);
}

/* The vertex nearest to the point of the mesh under the pointer, and its position; -1: the pointer is not on
 * the mesh. */
static int32_t pick_vertex(const window_state *w, int width, int height, float place[3]) {
  const mesh *m = &w->s->start->m;
  const size_t count = 3 * (size_t)m->vertex_count;
  float origin[3], direction[3], nearest = INFINITY, least = INFINITY;
  int32_t triangle = -1, vertex = -1;
  float *p = malloc(count * sizeof *p);
  if (!p || ts_vector_read(smoother_positions(w->s), ts_host(p, count)) != TS_OK) {
    free(p);
    return -1;
  }
  camera_ray(&w->app.camera, (float)w->app.x, (float)w->app.y, width, height, origin, direction);
  for (int32_t t = 0; t < m->triangle_count; t++) {
    const int32_t *v = m->triangles + 3 * (size_t)t;
    const float at = meet(origin, direction, p + 3 * (size_t)v[0], p + 3 * (size_t)v[1], p + 3 * (size_t)v[2]);
    if (at >= nearest) continue;
    nearest = at;
    triangle = t;
  }
  for (int k = 0; k < 3; k++) origin[k] += nearest * direction[k];
  for (int k = 0; k < 3 && triangle >= 0; k++) {
    const int32_t v = m->triangles[3 * (size_t)triangle + (size_t)k];
    const float far = squared_distance(p + 3 * (size_t)v, origin);
    if (far >= least) continue;
    least = far;
    vertex = v;
    memcpy(place, p + 3 * (size_t)v, 3 * sizeof *place);
  }
  free(p);
  return vertex;
}

/* The index of the control point under the pointer; -1: none. */
static int pick_control(const window_state *w, int width, int height) {
  const dsi_controls *list = &w->s->controls;
  const float size = fmaxf(12, (float)(width < height ? width : height) / 55);
  float least = 0.7f * size;
  int picked = -1;
  for (int k = 0; k < list->count; k++) {
    float unit[3], x, y;
    to_unit(w, list->points[k].place, unit);
    if (!camera_project(&w->app.camera, unit, width, height, &x, &y)) continue;
    const float far = hypotf(x - (float)w->app.x, y - (float)w->app.y);
    if (far >= least) continue;
    least = far;
    picked = k;
  }
  return picked;
}

static int put_control(window_state *w, int width, int height) {
  char message[MESH_MESSAGE];
  float place[3];
  dsi_control point = {.vertex = pick_vertex(w, width, height, place),
                       .weight = w->new_fixed ? DSI_FIXED : w->new_weight};
  dsi_controls list = {0};
  if (point.vertex < 0) return 0;
  if (dsi_controls_find(&w->s->controls, point.vertex) >= 0) {
    w->selected = point.vertex;
    window_mark_controls(w);
    return 1;
  }
  from_unit(w, place, point.place);
  int failed = dsi_controls_copy(&w->s->controls, &list, message) ||
               dsi_controls_add(&list, &w->s->start->m, &point, message);
  if (failed)
    app_tell_error(&w->app, message);
  else {
    w->selected = point.vertex;
    failed = set_controls(w, &list);
    if (!failed) app_tell(&w->app, "added a control point for vertex %d", (int)point.vertex);
  }
  dsi_controls_free(&list);
  return !failed;
}

int window_grab_control(window_state *w, int puts) {
  int width, height;
  if (w->s->options.method != SMOOTHER_DSI) return 0;
  app_scene_size(&w->app, &width, &height);
  const int k = pick_control(w, width, height);
  if (k < 0) return puts && put_control(w, width, height);
  w->selected = w->s->controls.points[k].vertex;
  window_mark_controls(w);
  return 1;
}

void window_drag_control(window_state *w, float x0, float y0, float x1, float y1, int width, int height) {
  const dsi_control *now = window_selected(w);
  float unit[3];
  if (!now) return;
  dsi_control point = *now;
  to_unit(w, point.place, unit);
  camera_drag(&w->app.camera, x0, y0, x1, y1, width, height, unit);
  from_unit(w, unit, point.place);
  change_selected(w, &point);
}

/* ---- The solution follows ---- */

static void moved(window_state *w) {
  /* After a new layout of the matrix, a vector at the same address may be a different one. */
  if (w->s->dsi_result.seconds_layout > 0) w->scene.positions.drawn = NULL;
  window_moved(w);
}

void window_commit(window_state *w) {
  char message[MESH_MESSAGE];
  w->following = 0;
  if (!w->s->live) return;
  if (smoother_commit(w->s, message)) app_tell_error(&w->app, message);
  w->scene.positions.drawn = NULL;
  moved(w);
}

void window_follow(window_state *w) {
  char message[MESH_MESSAGE];
  int converged;
  const int asked = w->s->options.cg_iterations, longer = settling_frames - w->following;
  const int iterations = (asked ? asked : frame_iterations) << (w->app.drag == DRAG_CONTROL ? 0 : longer);
  if (window_compiles(w)) return;
  const double begin = glfwGetTime();
  if (smoother_follow(w->s, iterations, &converged, message)) {
    app_tell_error(&w->app, message);
    w->following = 0;
    return;
  }
  app_times_add(&w->times, WINDOW_TIMES, 1e3 * (glfwGetTime() - begin));
  moved(w);
  if (w->app.drag == DRAG_CONTROL) return;
  w->following--;
  if (converged || w->following == 0) window_commit(w);
}
