#include <math.h>

#include "report.h"
#include "reports.h"

static json_t *milliseconds(double matrix, double solve, double draw) {
  return json_pack("{s:o, s:o, s:o}", "matrix", report_milliseconds(matrix), "solve",
                   report_milliseconds(solve), "draw", report_milliseconds(draw));
}

static json_t *step(const step_report *r) {
  return json_pack("{s:i, s:i, s:b, s:o, s:i, s:o, s:o, s:o, s:s}", "step", r->number, "iterations",
                   r->iterations, "converged", r->converged, "relative_residual",
                   report_number(r->relative_residual), "substeps", r->substeps, "area", report_number(r->area),
                   "volume", report_number(r->volume), "milliseconds",
                   milliseconds(r->seconds_matrix, r->seconds_solve, r->seconds_draw), "message", r->message);
}

/* null for the flow */
static json_t *interpolation(const work_report *w) {
  const smoother_options *o = &w->smoother->options;
  if (o->method != SMOOTHER_DSI) return json_null();
  const dsi_controls *controls = &w->smoother->controls;
  const ts_system_result *r = &w->smoother->dsi_result;
  const step_report *last = w->step_count ? &w->steps[w->step_count - 1] : NULL;
  const int fixed = report_count_fixed(controls);
  return json_pack("{s:s, s:f, s:i, s:i, s:o, s:o, s:i, s:I, s:s, s:s}", "weights",
                   o->weights == DSI_UNIFORM ? "uniform" : "cotangent", "fit", o->fit, "fixed_control_points",
                   fixed, "soft_control_points", controls->count - fixed, "roughness_before",
                   report_number(last ? last->roughness_before : NAN), "roughness",
                   report_number(last ? last->roughness : NAN), "rows", (int)r->rows, "nonzeros",
                   (json_int_t)r->nonzeros, "normal_equations",
                   r->normal == TS_NORMAL_APPLIED ? "applied" : "formed", "choice", r->choice);
}

/* Of all steps; area and volume are those of the mesh that is written. */
static json_t *total(const work_report *w) {
  const mesh_measures *start = &w->smoother->measures;
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
                   "iterations", iterations, "substeps", substeps, "converged", converged, "area",
                   report_number(area), "volume", report_number(volume), "milliseconds", "read",
                   report_milliseconds(s->read), "prepare", report_milliseconds(s->prepare), "matrix",
                   report_milliseconds(s->matrix), "solve", report_milliseconds(s->solve), "draw",
                   report_milliseconds(s->draw), "write", report_milliseconds(s->write));
}

int report_json(const work_report *w) {
  const mesh *m = &w->smoother->start->m;
  const mesh_measures *start = &w->smoother->measures;
  const smoother_options *o = &w->smoother->options;
  ts_context_info device = {.backend = "", .device = ""};
  ts_mesh_flow_info flow = {0};
  ts_context_get_info(w->smoother->device.context, &device);
  ts_mesh_flow_get_info(w->smoother->device.flow, &flow);
  const int is_dsi = o->method == SMOOTHER_DSI;
  if (is_dsi) {
    const ts_system_result *r = &w->smoother->dsi_result;
    flow.format = r->format;
    flow.constrained_vertices = m->vertex_count - r->unknowns;
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
  PUT("diagonal", report_number(start->diagonal));
  PUT("repairs", load_repairs(w->loaded));
  PUT("backend", json_string(device.backend));
  PUT("device", json_string(device.device));
  PUT("method", json_string(is_dsi ? "dsi" : "flow"));
  PUT("format", json_string(ts_format_name(flow.format)));
  PUT("boundary", json_string(o->boundary == TS_MESH_BOUNDARY_FLOW ? "free" : "fixed"));
  PUT("constrained_vertices", json_integer(flow.constrained_vertices));
  PUT("drawn", report_text(w->drawn));
  PUT("bytes_device", json_integer((json_int_t)flow.bytes_device));
  PUT("time_step", is_dsi ? json_null() : report_number(o->time_step));
  PUT("rtol", report_number(o->rtol));
  PUT("cg_iterations", o->cg_iterations ? json_integer(o->cg_iterations) : json_null());
  PUT("dsi", interpolation(w));
  PUT("area", report_number(start->area));
  PUT("volume", report_number(start->volume));
  for (int k = 0; k < w->step_count; k++) lost |= json_array_append_new(steps, step(&w->steps[k]));
  PUT("steps", steps);
  PUT("total", total(w));
#undef PUT
  return report_print(object, lost);
}
