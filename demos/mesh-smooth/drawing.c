#include "drawing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "png_image.h"

static int fail(char message[MESH_MESSAGE], const char *what, const char *why) {
  snprintf(message, MESH_MESSAGE, "%s: %s", what, why);
  return 1;
}

#ifdef TEXSOLVE_HAVE_GL

#include "view_shared.h"

struct drawing {
  const smoother *s;
  ts_context *own; /* where the smoother's context is not OpenGL's */
  mesh_view *view;
  camera camera;
  mesh_look look;
  image picture;
  float *host;     /* positions, for an own context that shares nothing */
  int32_t *texels; /* of every vertex, in the smoother's context */
  view_way way;
};

static const char *const cannot = "cannot draw a picture";

static int fail_status(const ts_context *context, ts_status status, char message[MESH_MESSAGE]) {
  const char *text = ts_last_error(context);
  return fail(message, cannot, *text ? text : ts_status_text(status));
}

/* The smoother's context where that is OpenGL's, else one of its own. */
static int open_context(drawing *d, char message[MESH_MESSAGE]) {
  ts_context *const context = smoother_context(d->s);
  ts_status status = ts_gl_make_current(context);
  if (status != TS_ERROR_UNSUPPORTED) return status == TS_OK ? 0 : fail_status(context, status, message);
  const ts_context_desc desc = {.backend = "gl", .gl_platform = smoother_get_options(d->s)->platform};
  status = ts_context_create(&desc, &d->own);
  if (status != TS_OK) return fail_status(NULL, status, message);
  status = ts_gl_make_current(d->own);
  return status == TS_OK ? 0 : fail_status(d->own, status, message);
}

/* The view takes the positions from their texture from now on. */
static int take_texture(drawing *d, char message[MESH_MESSAGE]) {
  const size_t count = 2 * (size_t)smoother_mesh(d->s)->vertex_count;
  ts_gl_texture texture;
  d->texels = malloc(count * sizeof *d->texels);
  if (!d->texels) return fail(message, cannot, "out of memory");
  ts_status status = ts_gl_space_texels(ts_mesh_flow_space(smoother_flow(d->s)), d->texels, count);
  if (status == TS_OK) status = ts_gl_vector_texture(smoother_positions(d->s), &texture);
  if (status != TS_OK) return fail_status(smoother_context(d->s), status, message);
  d->way = VIEW_WAY_TEXTURE;
  const char *why = mesh_view_use_texture(d->view, &texture, d->texels);
  return why ? fail(message, cannot, why) : 0;
}

static int take_host(drawing *d, char message[MESH_MESSAGE]) {
  const size_t count = 3 * (size_t)smoother_mesh(d->s)->vertex_count;
  d->way = VIEW_WAY_COPIED;
  if (!d->host) d->host = malloc(count * sizeof *d->host);
  if (!d->host) return fail(message, cannot, "out of memory");
  const ts_status status = ts_vector_read(smoother_positions(d->s), d->host, count);
  if (status != TS_OK) return fail_status(smoother_context(d->s), status, message);
  const char *why = mesh_view_use_host(d->view, d->host);
  return why ? fail(message, cannot, why) : 0;
}

/* For an own context: from a buffer that it shares with CUDA, else from a copy. */
static int take_positions(drawing *d, char message[MESH_MESSAGE]) {
  unsigned texture;
  ts_status status = ts_gl_make_current(d->own);
  if (status != TS_OK) return fail_status(d->own, status, message);
  status = view_shared_buffer(smoother_positions(d->s), &texture);
  if (status == TS_ERROR_UNSUPPORTED) return take_host(d, message);
  if (status != TS_OK) return fail_status(smoother_context(d->s), status, message);
  d->way = VIEW_WAY_SHARED;
  const char *why = mesh_view_use_buffer(d->view, texture);
  return why ? fail(message, cannot, why) : 0;
}

const char *drawing_mark_controls(mesh_view *view, const smoother *s, int32_t marked) {
  static const float fixed[3] = {0.86f, 0.24f, 0.14f}, soft[3] = {0.16f, 0.45f, 0.88f};
  const dsi_controls *controls = smoother_controls(s);
  const mesh_measures *m = smoother_start_measures(s);
  mesh_point *points = calloc((size_t)controls->count + 1, sizeof *points);
  if (!points) return "out of memory";
  for (int k = 0; k < controls->count; k++) {
    const dsi_control *control = &controls->points[k];
    points[k].marked = control->vertex == marked ? 1 : 0;
    for (int c = 0; c < 3; c++) {
      points[k].place[c] = (float)((control->place[c] - 0.5 * (m->low[c] + m->high[c])) / m->diagonal);
      points[k].rgb[c] = isinf(control->weight) ? fixed[c] : soft[c];
    }
  }
  const char *why = mesh_view_set_points(view, points, controls->count);
  free(points);
  return why;
}

int drawing_open(const smoother *s, const mesh_look *look, int width, int height, drawing **out,
                 char message[MESH_MESSAGE]) {
  const mesh_measures *measures = smoother_start_measures(s);
  float low[3], high[3];
  *out = NULL;
  drawing *d = calloc(1, sizeof *d);
  if (!d) return fail(message, cannot, "out of memory");
  *d = (drawing){.s = s, .look = *look};
  int failed = image_create(&d->picture, width, height) ? fail(message, cannot, "out of memory") : 0;
  if (!failed) failed = open_context(d, message);
  if (!failed) {
    const char *why = mesh_view_load();
    if (!why) why = mesh_view_create(smoother_mesh(s), smoother_start_positions(s), &d->view);
    if (!why) why = drawing_mark_controls(d->view, s, -1);
    if (why) failed = fail(message, cannot, why);
  }
  if (!failed && !d->own) failed = take_texture(d, message);
  if (failed) {
    drawing_close(&d);
    return 1;
  }
  for (int c = 0; c < 3; c++) {
    high[c] = (float)(0.5 * (measures->high[c] - measures->low[c]) / measures->diagonal);
    low[c] = -high[c];
  }
  camera_fit(&d->camera, low, high);
  *out = d;
  return 0;
}

void drawing_close(drawing **out) {
  if (!out || !*out) return;
  drawing *d = *out;
  ts_gl_make_current(d->own ? d->own : smoother_context(d->s));
  if (d->own) view_shared_release(smoother_context(d->s));
  mesh_view_destroy(&d->view);
  ts_context_destroy(&d->own);
  image_destroy(&d->picture);
  free(d->host);
  free(d->texels);
  free(d);
  *out = NULL;
}

int drawing_make(drawing *d, const char *path, char message[MESH_MESSAGE]) {
  char why_not[200];
  if (d->own) {
    if (take_positions(d, message)) return 1;
  } else {
    const ts_status status = ts_gl_make_current(smoother_context(d->s));
    if (status != TS_OK) return fail_status(smoother_context(d->s), status, message);
  }
  mesh_view_changed(d->view);
  const char *why =
      mesh_view_picture(d->view, &d->camera, &d->look, d->picture.width, d->picture.height, d->picture.rgb);
  if (why) return fail(message, cannot, why);
  /* The colours of a film keep the range of its first picture, but nothing is displaced there yet. */
  if (d->look.colour == MESH_COLOUR_DISPLACEMENT) d->look.range = 0;
  if (path && png_image_save(path, &d->picture, why_not, sizeof why_not)) return fail(message, path, why_not);
  return 0;
}

const char *drawing_way(const drawing *d) {
  return view_way_name(d->way);
}

#else

int drawing_open(const smoother *s, const mesh_look *look, int width, int height, drawing **out,
                 char message[MESH_MESSAGE]) {
  (void)s, (void)look, (void)width, (void)height;
  *out = NULL;
  return fail(message, "cannot draw a picture", "this build has no OpenGL");
}
void drawing_close(drawing **out) {
  *out = NULL;
}
int drawing_make(drawing *d, const char *path, char message[MESH_MESSAGE]) {
  (void)d;
  return fail(message, path, "this build has no OpenGL");
}
const char *drawing_way(const drawing *d) {
  (void)d;
  return NULL;
}

#endif
