#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "message.h"
#include "report.h"

/* JSON has no NaN and no infinity. */
static json_t *number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

static json_t *milliseconds(double matrix, double solve, double draw) {
  return json_pack("{s:o, s:o, s:o}", "matrix", number(1e3 * matrix), "solve", number(1e3 * solve), "draw",
                   number(1e3 * draw));
}

static json_t *repairs(const load_report *loaded) {
  const mesh_repair_report *r = &loaded->repair;
  return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "polygons_cut", (int)loaded->file.polygons,
                   "faces_left_out", (int)loaded->file.left_out, "merged_vertices", (int)r->merged_vertices,
                   "dropped_triangles", (int)r->dropped_triangles, "turned_triangles", (int)r->turned_triangles,
                   "slivers", (int)r->slivers, "nonmanifold_edges", (int)r->nonmanifold_edges,
                   "unorientable_edges", (int)r->unorientable_edges, "held_vertices", (int)r->held_vertices);
}

static json_t *step(const step_report *r) {
  return json_pack("{s:i, s:i, s:b, s:o, s:i, s:o, s:o, s:o, s:s}", "step", r->number, "iterations",
                   r->iterations, "converged", r->converged, "relative_residual", number(r->relative_residual),
                   "substeps", r->substeps, "area", number(r->area), "volume", number(r->volume),
                   "milliseconds", milliseconds(r->seconds_matrix, r->seconds_solve, r->seconds_draw),
                   "message", r->message);
}

/* null for the flow */
static json_t *interpolation(const work_report *w) {
  const smoother_options *o = smoother_get_options(w->smoother);
  if (o->method != SMOOTHER_DSI) return json_null();
  const dsi_controls *controls = smoother_controls(w->smoother);
  const ts_system_result *r = smoother_dsi_result(w->smoother);
  const step_report *last = w->step_count ? &w->steps[w->step_count - 1] : NULL;
  const int fixed = report_count_fixed(controls);
  return json_pack("{s:s, s:f, s:i, s:i, s:o, s:o, s:i, s:I, s:s, s:s}", "weights",
                   o->weights == DSI_UNIFORM ? "uniform" : "cotangent", "fit", o->fit, "fixed_control_points",
                   fixed, "soft_control_points", controls->count - fixed, "roughness_before",
                   number(last ? last->roughness_before : NAN), "roughness",
                   number(last ? last->roughness : NAN), "conditions", (int)r->rows, "nonzeros",
                   (json_int_t)r->nonzeros, "normal_equations",
                   r->normal == TS_NORMAL_APPLIED ? "applied" : "formed", "choice", r->choice);
}

/* Of all steps; area and volume are those of the mesh that is written. */
static json_t *total(const work_report *w) {
  const mesh_measures *start = smoother_start_measures(w->smoother);
  int iterations = 0, substeps = 0, made = 0, converged = 1;
  double area = start->area, volume = start->volume;
  for (int k = 0; k < w->step_count; k++) {
    const step_report *r = &w->steps[k];
    iterations += r->iterations;
    substeps += r->substeps;
    made += r->substeps > 0;
    converged = converged && r->converged;
    area = r->area;
    volume = r->volume;
  }
  const work_seconds *s = &w->seconds;
  return json_pack("{s:i, s:i, s:i, s:b, s:o, s:o, s:{s:o, s:o, s:o, s:o, s:o, s:o}}", "steps", made,
                   "iterations", iterations, "substeps", substeps, "converged", converged, "area", number(area),
                   "volume", number(volume), "milliseconds", "read", number(1e3 * s->read), "prepare",
                   number(1e3 * s->prepare), "matrix", number(1e3 * s->matrix), "solve", number(1e3 * s->solve),
                   "draw", number(1e3 * s->draw), "write", number(1e3 * s->write));
}

int report_json(const work_report *w) {
  const mesh *m = smoother_mesh(w->smoother);
  const mesh_measures *start = smoother_start_measures(w->smoother);
  const smoother_options *o = smoother_get_options(w->smoother);
  ts_context_info device = {.backend = "", .device = ""};
  ts_mesh_flow_info flow = {0};
  ts_context_get_info(smoother_context(w->smoother), &device);
  ts_mesh_flow_get_info(smoother_flow(w->smoother), &flow);
  const int is_dsi = o->method == SMOOTHER_DSI;
  if (is_dsi) {
    const ts_system_result *r = smoother_dsi_result(w->smoother);
    flow.format = r->format;
    flow.locked_vertices = m->vertex_count - r->unknowns;
    flow.bytes_device = r->bytes_device;
  }
  json_t *const object = json_object();
  json_t *const steps = json_array();
  int lost = 0;
#define PUT(key, value) lost |= json_object_set_new(object, key, value)
  PUT("file", json_string(w->loaded->name));
  PUT("vertices", json_integer(m->vertex_count));
  PUT("triangles", json_integer(m->triangle_count));
  PUT("boundary_edges", json_integer(start->boundary_edges));
  PUT("boundary_loops", json_integer(start->boundary_loops));
  PUT("components", json_integer(start->components));
  PUT("unreferenced", json_integer(start->unreferenced));
  PUT("closed", json_boolean(start->closed));
  PUT("diagonal", number(start->diagonal));
  PUT("repairs", repairs(w->loaded));
  PUT("backend", json_string(device.backend));
  PUT("device", json_string(device.device));
  PUT("method", json_string(is_dsi ? "dsi" : "flow"));
  PUT("format", json_string(ts_format_name(flow.format)));
  PUT("boundary", json_string(o->boundary == TS_MESH_BOUNDARY_FLOW ? "free" : "fixed"));
  PUT("locked_vertices", json_integer(flow.locked_vertices));
  PUT("drawn", w->drawn ? json_string(w->drawn) : json_null());
  PUT("bytes_device", json_integer((json_int_t)flow.bytes_device));
  PUT("time_step", is_dsi ? json_null() : number(o->time_step));
  PUT("rtol", number(o->rtol));
  PUT("cg_iterations", o->cg_iterations ? json_integer(o->cg_iterations) : json_null());
  PUT("dsi", interpolation(w));
  PUT("area", number(start->area));
  PUT("volume", number(start->volume));
  for (int k = 0; k < w->step_count; k++) lost |= json_array_append_new(steps, step(&w->steps[k]));
  PUT("steps", steps);
  PUT("total", total(w));
#undef PUT
  if (!lost) lost = json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
  putchar('\n');
  json_decref(object);
  if (message_flush_stdout()) return -1;
  if (lost) message("out of memory, or a file name that is not UTF-8: no JSON object");
  return lost ? -1 : 0;
}
