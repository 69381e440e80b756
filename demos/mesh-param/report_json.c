#include <math.h>

#include "report.h"
#include "reports.h"

static json_t *chart_list(const flattening *f) {
  json_t *const list = json_array();
  int lost = !list;
  for (int32_t k = 0; k < f->c.count && !lost; k++)
    lost = json_array_append_new(list, json_pack("{s:i, s:i, s:i}", "vertices", (int)f->c.chart[k].vertices,
                                                 "triangles", (int)f->c.chart[k].triangles, "boundary_loops",
                                                 (int)f->c.chart[k].loops));
  return list;
}

static json_t *solution(const work_report *w) {
  const conformal_result *r = w->solved;
  return json_pack(
      "{s:i, s:i, s:I, s:s, s:s, s:s, s:s, s:I, s:b, s:i, s:i, s:i, s:i, s:o, s:s, s:s, s:i, s:o, s:o, s:o, "
      "s:s}",
      "unknowns", (int)r->unknowns, "rows", (int)r->rows, "nonzeros", (json_int_t)r->nonzeros, "format",
      ts_format_name(r->format), "choice", r->choice, "normal_equations", report_normal_name(r->normal),
      "method", ts_method_name(r->method), "bytes_device", (json_int_t)r->bytes_device, "converged",
      r->converged, "iterations", r->iterations, "passes", r->passes, "levels", r->levels.levels,
      "levels_iterations", r->levels.iterations, "levels_milliseconds", report_milliseconds(r->levels.seconds),
      "preconditioner", r->preconditioner == CONFORMAL_MULTILEVEL ? "multilevel" : "jacobi", "fallback",
      r->why_not, "coarser_meshes", r->coarser, "residual", report_number(r->residual), "residual_start",
      report_number(r->residual_start), "energy", report_number(r->energy), "message", r->message);
}

static json_t *distortions(const distortion *d) {
  return json_pack("{s:{s:o, s:o}, s:{s:o, s:o, s:o}, s:i, s:i}", "angle", "mean", report_number(d->angle_mean),
                   "largest", report_number(d->angle_max), "area", "mean", report_number(d->area_mean), "least",
                   report_number(d->area_least), "largest", report_number(d->area_most), "flipped",
                   (int)d->flipped, "collapsed", (int)d->collapsed);
}

static json_t *milliseconds(const work_report *w) {
  const work_seconds *s = &w->seconds;
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "read", report_milliseconds(s->read), "charts",
                   report_milliseconds(s->charts), "build", report_milliseconds(w->solved->seconds_build),
                   "layout", report_milliseconds(w->solved->seconds_layout), "solve",
                   report_milliseconds(w->solved->seconds_solve), "draw", report_milliseconds(s->draw), "write",
                   report_milliseconds(s->write));
}

int report_json(const work_report *w) {
  const flattening *f = w->f;
  json_t *const object = json_object();
  int lost = !object;
#define PUT(key, value) lost |= json_object_set_new(object, key, value)
  PUT("file", json_string(w->loaded->name));
  PUT("vertices", json_integer(f->m.vertex_count));
  PUT("triangles", json_integer(f->m.triangle_count));
  PUT("boundary_loops", json_integer(f->measures.boundary_loops));
  PUT("closed", json_boolean(f->measures.closed));
  PUT("repairs", load_repairs(w->loaded));
  PUT("cut_edges", json_integer(f->cut.edges));
  PUT("handles", json_integer(f->cut.handles));
  PUT("flat_vertices", json_integer(f->c.vertices));
  PUT("charts", chart_list(f));
  PUT("pins", json_integer(f->pin_count));
  PUT("backend", json_string(w->device->backend));
  PUT("device", json_string(w->device->device));
  if (w->device->threads) PUT("threads", json_integer(w->device->threads));
  PUT("rtol", report_number(w->options->conformal.rtol));
  PUT("solution", solution(w));
  PUT("distortion", distortions(&f->d));
  PUT("covered", f->pin_count ? json_null() : report_number(f->packed.fill));
  PUT("drawn", report_text(w->drawn));
  PUT("milliseconds", milliseconds(w));
#undef PUT
  return report_print(object, lost);
}
