#include "positions.h"

#include <math.h>
#include <stdlib.h>

static const char no_memory[] = "out of memory";

static const char *why_not(const smoother *s, ts_status status) {
  const char *text = ts_last_error(s->device.context);
  return *text ? text : ts_status_text(status);
}

void positions_free(positions *p) {
  free(p->host);
  *p = (positions){0};
}

static const char *use_texture(mesh_view *view, const smoother *s, const ts_gl_texture *texture) {
  const size_t count = 2 * (size_t)s->start->m.vertex_count;
  int32_t *texels = malloc(count * sizeof *texels);
  if (!texels) return no_memory;
  const ts_status status = ts_gl_space_get_texels(ts_vector_get_space(smoother_positions(s)), texels, count);
  const char *why = status == TS_OK ? mesh_view_use_texture(view, texture, texels) : why_not(s, status);
  free(texels);
  return why;
}

static const char *use_host(positions *p, mesh_view *view, const smoother *s) {
  const size_t count = 3 * (size_t)s->start->m.vertex_count;
  if (!p->host) p->host = malloc(count * sizeof *p->host);
  if (!p->host) return no_memory;
  const ts_status status = ts_vector_read(smoother_positions(s), ts_host(p->host, count));
  return status == TS_OK ? mesh_view_use_host(view, p->host) : why_not(s, status);
}

const char *positions_update(positions *p, mesh_view *view, const smoother *s) {
  const char *why = NULL;
  ts_vector *const now = smoother_positions(s);
  ts_gl_texture texture;
  ts_status status = ts_gl_vector_get_texture(now, &texture);
  p->shared = NULL;
  mesh_view_changed(view);
  if (status == TS_OK) {
    p->way = VIEW_WAY_TEXTURE;
    if (p->drawn != now) why = use_texture(view, s, &texture);
    p->drawn = why ? NULL : now;
    return why;
  }
  p->drawn = NULL;
  if (status != TS_ERROR_UNSUPPORTED) return why_not(s, status);
  unsigned buffer;
  status = view_shared_buffer(now, &buffer);
  p->way = status == TS_OK ? VIEW_WAY_SHARED : VIEW_WAY_COPIED;
  if (status == TS_ERROR_UNSUPPORTED) return use_host(p, view, s);
  if (status != TS_OK) return why_not(s, status);
  p->shared = now;
  return mesh_view_use_buffer(view, buffer);
}

const char *positions_share(const positions *p, mesh_view *view) {
  unsigned buffer;
  if (!p->shared) return NULL;
  const ts_status status = view_shared_buffer(p->shared, &buffer);
  return status == TS_OK ? mesh_view_use_buffer(view, buffer) : ts_status_text(status);
}

const char *positions_mark_controls(mesh_view *view, const smoother *s, int32_t marked) {
  static const float fixed[3] = {0.86f, 0.24f, 0.14f}, soft[3] = {0.16f, 0.45f, 0.88f};
  const dsi_controls *controls = &s->controls;
  const mesh_measures *m = &s->measures;
  mesh_point *points = calloc((size_t)controls->count + 1, sizeof *points);
  if (!points) return no_memory;
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
