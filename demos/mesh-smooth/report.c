#include "mesh_smooth.h"

#include <math.h>
#include <stdio.h>

#include "message.h"
#include "platform.h"
#include "progress.h"
#include "reports.h"

static void print_change(const char *what, double before, double after) {
  printf("%-11s %.6g", what, before);
  if (isfinite(after)) printf(" -> %.6g", after);
  if (isfinite(after) && before != 0) printf(" (%+.2f %%)", 100 * (after - before) / fabs(before));
  putchar('\n');
}

static void begin_flow(const work_report *w) {
  const smoother_options *o = &w->smoother->options;
  ts_mesh_flow_info flow;
  if (w->options->run.verbosity && ts_mesh_flow_get_info(w->smoother->device.flow, &flow) == TS_OK)
    printf("matrix      %s: %d vertices move, %d do not; %.2f MB on the device\n", ts_format_name(flow.format),
           (int)(flow.vertices - flow.constrained_vertices), (int)flow.constrained_vertices,
           1e-6 * (double)flow.bytes_device);
  printf("flow        steps of %g squares of the diagonal, which is %.6g; boundary %s%s\n", o->time_step,
         w->smoother->measures.diagonal, o->boundary == TS_MESH_BOUNDARY_FLOW ? "free" : "fixed",
         o->preserve_volume ? "; volume preserved" : "");
}

int report_count_fixed(const dsi_controls *controls) {
  int fixed = 0;
  for (int k = 0; k < controls->count; k++) fixed += isinf(controls->points[k].weight);
  return fixed;
}

static void begin_dsi(const work_report *w) {
  const smoother_options *o = &w->smoother->options;
  const dsi_controls *controls = &w->smoother->controls;
  const int fixed = report_count_fixed(controls);
  printf("dsi         weights %s, fit %g; ", o->weights == DSI_UNIFORM ? "uniform" : "cotangent", o->fit);
  report_plural(fixed, "fixed control point, ", "fixed control points, ");
  printf("%d soft; boundary %s\n", controls->count - fixed,
         o->boundary == TS_MESH_BOUNDARY_FLOW ? "free" : "fixed");
  const ts_system_result *r = &w->smoother->dsi_result;
  if (!w->step_count || !w->options->run.verbosity) return;
  printf("matrix      %s: %d vertices move, %d do not; %.2f MB on the device\n", ts_format_name(r->format),
         (int)r->unknowns, (int)(w->smoother->start->m.vertex_count - r->unknowns),
         1e-6 * (double)r->bytes_device);
  printf("choice      normal equations %s; %s\n", r->normal == TS_NORMAL_APPLIED ? "applied" : "formed",
         r->choice);
}

void report_begin(const work_report *w) {
  const mesh *m = &w->smoother->start->m;
  const mesh_measures *measures = &w->smoother->measures;
  const smoother_options *o = &w->smoother->options;
  printf("mesh        %s: %d vertices, %d triangles; ", message_safe(w->loaded->name), (int)m->vertex_count,
         (int)m->triangle_count);
  if (measures->closed)
    printf("closed");
  else
    report_plural(measures->boundary_loops, "boundary loop", "boundary loops");
  printf("; ");
  report_plural(measures->components, "component", "components");
  putchar('\n');
  printf("backend     %s: %s\n", w->smoother->device.info.backend, w->smoother->device.info.device);
  const int is_dsi = o->method == SMOOTHER_DSI;
  if (is_dsi)
    begin_dsi(w);
  else
    begin_flow(w);
  if (!w->options->run.verbosity) return;
  const char *const rule = is_dsi ? "||b - A x|| / ||b||" : "sqrt(delta / delta_0)";
  printf("method      cg, preconditioner %s, ", smoother_preconditioner_name(o->preconditioner));
  if (o->cg_iterations) printf("at most %d iterations%s, or ", o->cg_iterations, is_dsi ? "" : " per step");
  printf("%s to %g\n", rule, o->rtol);
}

void report_step(const work_report *w, const step_report *r) {
  if (w->options->run.json || w->options->run.quiet ||
      (!w->options->run.verbosity && !platform_is_terminal(stdout)))
    return;
  progress_clear();
  if (r->number == 1)
    printf("step  iterations   residual          area   matrix ms   set-up ms   solve ms   draw ms\n");
  printf("%4d  %10d  %9.2e  %12.6g  %10.2f  %10.2f  %9.2f", r->number, r->iterations, r->relative_residual,
         r->area, 1e3 * r->seconds_matrix, 1e3 * r->seconds_setup, 1e3 * r->seconds_solve);
  if (isfinite(r->seconds_draw))
    printf("  %8.2f", 1e3 * r->seconds_draw);
  else
    printf("  %8s", "-");
  if (!r->substeps)
    printf("  FAILED");
  else if (r->substeps > 1)
    printf("  in %d parts", r->substeps);
  putchar('\n');
  fflush(stdout);
}

int report_end(const work_report *w) {
  const mesh_measures *start = &w->smoother->measures;
  const step_report *last = w->step_count ? &w->steps[w->step_count - 1] : NULL;
  int iterations = 0, made = 0;
  for (int k = 0; k < w->step_count; k++) {
    iterations += w->steps[k].iterations;
    made += w->steps[k].substeps > 0;
  }
  printf("result      ");
  report_plural(made, "step", "steps");
  printf(", %d iterations", iterations);
  if (last) printf(", last residual %.2e", last->relative_residual);
  putchar('\n');
  if (last && isfinite(last->roughness)) print_change("roughness", last->roughness_before, last->roughness);
  print_change("area", start->area, last ? last->area : NAN);
  if (start->closed) print_change("volume", start->volume, last ? last->volume : NAN);
  printf("seconds     read %.3f, prepare %.3f, ", w->seconds.read, w->seconds.prepare);
  if (w->options->run.verbosity) printf("matrix %.3f, set-up %.3f, ", w->seconds.matrix, w->seconds.setup);
  printf("solve %.3f",
         w->seconds.solve + (w->options->run.verbosity ? 0 : w->seconds.matrix + w->seconds.setup));
  if (w->options->run.picture || w->options->run.frames_dir) printf(", draw %.3f", w->seconds.draw);
  if (w->options->output) printf(", write %.3f", w->seconds.write);
  putchar('\n');
  if (w->options->output)
    printf("written     %s: %d vertices, %d triangles\n", message_safe(w->options->output),
           (int)w->smoother->start->m.vertex_count, (int)w->smoother->start->m.triangle_count);
  if (w->options->run.picture)
    printf("picture     %s, %d x %d pixels\n", message_safe(w->options->run.picture),
           w->options->run.picture_width, w->options->run.picture_height);
  if (w->options->run.frames_dir)
    printf("video       ffmpeg -framerate 25 -i %s/frame-%%05d.png -pix_fmt yuv420p %s/video.mp4\n",
           message_safe(w->options->run.frames_dir), message_safe(w->options->run.frames_dir));
  return message_flush_stdout();
}

/* ---- JSON ---- */

static json_t *milliseconds(const step_report *r) {
  return json_pack("{s:o, s:o, s:o, s:o}", "matrix", report_milliseconds(r->seconds_matrix), "setup",
                   report_milliseconds(r->seconds_setup), "solve", report_milliseconds(r->seconds_solve),
                   "draw", report_milliseconds(r->seconds_draw));
}

static json_t *step(const step_report *r) {
  return json_pack("{s:i, s:i, s:b, s:o, s:i, s:i, s:o, s:o, s:o, s:s}", "step", r->number, "iterations",
                   r->iterations, "converged", r->converged, "relative_residual",
                   report_number(r->relative_residual), "substeps", r->substeps, "setups", r->setups, "area",
                   report_number(r->area), "volume", report_number(r->volume), "milliseconds", milliseconds(r),
                   "message", r->message);
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

/* Totals over the steps. Area and volume are those of the written mesh. */
static json_t *total(const work_report *w) {
  const mesh_measures *start = &w->smoother->measures;
  int iterations = 0, substeps = 0, setups = 0, made = 0, converged = 1;
  double area = start->area, volume = start->volume;
  for (int k = 0; k < w->step_count; k++) {
    const step_report *r = &w->steps[k];
    iterations += r->iterations;
    substeps += r->substeps;
    setups += r->setups;
    made += r->substeps > 0;
    converged = converged && r->converged;
    area = r->area;
    volume = r->volume;
  }
  const work_seconds *s = &w->seconds;
  return json_pack("{s:i, s:i, s:i, s:i, s:b, s:o, s:o, s:{s:o, s:o, s:o, s:o, s:o, s:o, s:o}}", "steps", made,
                   "iterations", iterations, "substeps", substeps, "setups", setups, "converged", converged,
                   "area", report_number(area), "volume", report_number(volume), "milliseconds", "read",
                   report_milliseconds(s->read), "prepare", report_milliseconds(s->prepare), "matrix",
                   report_milliseconds(s->matrix), "setup", report_milliseconds(s->setup), "solve",
                   report_milliseconds(s->solve), "draw", report_milliseconds(s->draw), "write",
                   report_milliseconds(s->write));
}

int report_json(const work_report *w) {
  const mesh *m = &w->smoother->start->m;
  const mesh_measures *start = &w->smoother->measures;
  const smoother_options *o = &w->smoother->options;
  const ts_context_info *device = &w->smoother->device.info;
  ts_mesh_flow_info flow = {0};
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
  PUT("backend", json_string(device->backend));
  PUT("device", json_string(device->device));
  PUT("method", json_string(is_dsi ? "dsi" : "flow"));
  PUT("format", json_string(ts_format_name(flow.format)));
  PUT("boundary", json_string(o->boundary == TS_MESH_BOUNDARY_FLOW ? "free" : "fixed"));
  PUT("constrained_vertices", json_integer(flow.constrained_vertices));
  PUT("drawn", report_text(w->drawn));
  PUT("bytes_device", json_integer((json_int_t)flow.bytes_device));
  PUT("time_step", is_dsi ? json_null() : report_number(o->time_step));
  PUT("preconditioner", json_string(smoother_preconditioner_name(o->preconditioner)));
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
