/* The controls at the left. */
#include "window_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "colours.h"

/* ---- Method ---- */

static void method_choice(window_state *w) {
  static const char *const methods[] = {"flow", "interpolation"};
  smoother_options o = w->s->options;
  if (!ui_combo("method", UI_ENUM(o.method), methods, 2)) return;
  o.rtol = 0; /* use the method's default */
  o.format = TS_FORMAT_AUTO;
  if (o.method == SMOOTHER_DSI) o.preserve_volume = 0;
  window_set_options(w, &o);
}

/* Shows the selected control point, or the defaults of new ones. */
static void control_points(window_state *w) {
  static const char *const kinds[] = {"soft", "fixed"};
  const dsi_control *point = window_selected(w);
  int fixed = point ? isinf(point->weight) : w->new_fixed;
  double weight = point && !fixed ? point->weight : w->new_weight;
  if (point)
    ui_text("control point of vertex %d", (int)point->vertex);
  else
    ui_text("%d control points; new ones:", w->s->controls.count);
  ui_tip("Ctrl and the left button add one on the mesh; drag it with the left button");
  int changed = ui_combo("kind", &fixed, kinds, 2);
  ui_disabled_begin(fixed);
  changed |= ui_slider_log("weight", &weight, 1e-3, 1e3);
  ui_disabled_end();
  if (changed) {
    w->new_fixed = fixed;
    w->new_weight = weight;
    window_set_weight(w, fixed ? DSI_FIXED : weight);
  }
  app_button(&w->app, "Remove", 2, point != NULL, window_remove_control);
  ui_same_line();
  ui_disabled_begin(w->s->controls.count == 0);
  if (ui_button("Remove all", 2)) window_remove_controls(w);
  ui_disabled_end();
}

static void interpolation_options(window_state *w) {
  static const char *const boundaries[] = {"fixed", "free"}, *const weights[] = {"uniform", "cotangent"};
  smoother_options o = w->s->options;
  int boundary = o.boundary == TS_MESH_BOUNDARY_FLOW;
  int changed = ui_slider_log_unit("fit", &o.fit, 1e-6, 10, 1, "");
  ui_tip("weight that holds vertices in place");
  changed |= ui_combo("weights", UI_ENUM(o.weights), weights, 2);
  changed |= ui_combo("boundary", &boundary, boundaries, 2);
  if (changed) {
    o.boundary = boundary ? TS_MESH_BOUNDARY_FLOW : TS_MESH_BOUNDARY_FIXED;
    window_set_options(w, &o);
  }
  control_points(w);
}

static void flow_options(window_state *w) {
  smoother *s = w->s;
  smoother_options o = s->options;
  static const char *const boundaries[] = {"fixed", "free"};
  int boundary = o.boundary == TS_MESH_BOUNDARY_FLOW;
  int changed = ui_slider_log("time step", &o.time_step, 1e-8, 1e-2);
  ui_tip("length of a step, in squares of the bounding box's diagonal");
  changed |= ui_combo("boundary", &boundary, boundaries, 2);
  const int closed = s->measures.closed;
  ui_disabled_begin(!closed);
  changed |= ui_check_box("keep the volume", &o.preserve_volume);
  ui_disabled_end();
  ui_tip(closed ? "the mesh is scaled after each step" : "this mesh is not closed");
  if (changed) {
    o.boundary = boundary ? TS_MESH_BOUNDARY_FLOW : TS_MESH_BOUNDARY_FIXED;
    window_set_options(w, &o);
  }
}

static void smoothing_section(window_state *w) {
  smoother *s = w->s;
  if (!ui_section("Smoothing")) return;
  method_choice(w);
  const int is_dsi = s->options.method == SMOOTHER_DSI;
  if (is_dsi) {
    app_button(&w->app, "Solve", 1, !w->following, window_step);
  } else {
    app_button(&w->app, w->steps_to_make ? "Pause" : "Run", 2, 1, window_run_or_pause);
    ui_same_line();
    app_button(&w->app, "Step", 2, !w->steps_to_make, window_step);
  }
  app_undo_buttons(&w->app, 3, s->past, s->future);
  ui_same_line();
  app_button(&w->app, "Reset", 3, s->steps > 0, window_reset);
  if (is_dsi)
    interpolation_options(w);
  else
    flow_options(w);
  ui_slider_log("noise", &w->noise, 1e-5, 1e-1);
  ui_tip("standard deviation along the normals, relative to the bounding box's diagonal");
  app_button(&w->app, "Add noise", 1, 1, window_add_noise);
}

/* ---- Solver ---- */

static void choose_device(window_state *w) {
  static const char *const gl_names[] = {"jagged", "segments"}, *const other_names[] = {"csr"};
  static const ts_format gl_formats[] = {TS_FORMAT_JAGGED, TS_FORMAT_SEGMENTS};
  smoother_options o = w->s->options;
  const ts_context_info *device = &w->s->device.info;
  ts_mesh_flow_info flow = {0};
  ts_mesh_flow_get_info(w->s->device.flow, &flow);
  int format = flow.format == TS_FORMAT_SEGMENTS;
  o.platform = TS_GL_PLATFORM_CURRENT;
  const char *chosen = app_backend_choice(device->backend);
  if (chosen) {
    o.backend = chosen;
    o.format = TS_FORMAT_AUTO;
    window_set_options(w, &o);
  } else if (o.method == SMOOTHER_DSI) {
    ui_text("format %s", ts_format_name(w->s->dsi_result.format));
    ui_tip(w->s->dsi_result.choice);
  } else if (!strstr(device->backend, "gl")) {
    format = 0;
    ui_combo("format", &format, other_names, 1);
  } else if (ui_combo("format", &format, gl_names, 2)) {
    o.format = gl_formats[format];
    window_set_options(w, &o);
  }
}

/* Plots the residual of the last solve on a logarithmic scale. */
static void residual_plot(const smoother *s) {
  float powers[SMOOTHER_RESIDUALS], low = 0, high = 0;
  char text[80];
  const int count = s->residual_count;
  for (int k = 0; k < count; k++) {
    powers[k] = log10f(fmaxf(s->residuals[k], 1e-12f));
    low = fminf(low, powers[k]);
    high = fmaxf(high, powers[k]);
  }
  snprintf(text, sizeof text, "residual, 1e%.0f to 1e%.0f", (double)floorf(low), (double)ceilf(high));
  if (!count) snprintf(text, sizeof text, "residual of the last solve");
  ui_plot(text, powers, count, floorf(low), ceilf(high), 0);
  ui_tip("after each iteration of the last solve");
}

static void time_plot(const window_state *w) {
  char text[80];
  const char *const what = w->s->options.method == SMOOTHER_DSI ? "frame" : "step";
  snprintf(text, sizeof text, "time per %s", what);
  if (w->times.count)
    snprintf(text, sizeof text, "time per %s, now %s ms", what,
             app_digits((double)w->times.values[w->times.count - 1]));
  ui_plot(text, w->times.values, w->times.count, 0, plot_range(w->times.values, w->times.count), 1);
  ui_tip("matrix, preconditioner and solve, without the drawing");
  ui_text("drawing %s ms", app_digits(1e3 * w->scene.seconds_draw));
}

static void preconditioner_choice(window_state *w) {
  static const char *const names[] = {"jacobi", "amg"};
  smoother_options o = w->s->options;
  if (ui_combo("preconditioner", UI_ENUM(o.preconditioner), names, 2)) window_set_options(w, &o);
  ui_tip("amg: algebraic multigrid, for long steps and smooth interpolations of large meshes");
}

static void solver_section(window_state *w) {
  if (!ui_section("Solver")) return;
  choose_device(w);
  preconditioner_choice(w);
  smoother_options o = w->s->options;
  int changed = ui_slider_log("tolerance", &o.rtol, 1e-6, 1e-1);
  changed |= ui_slider_int("iterations", &o.cg_iterations, 0, 100, "to tolerance");
  ui_tip("maximum per solve; the result is then accepted");
  if (changed) window_set_options(w, &o);

  const step_report *r = &w->last;
  if (r->number && o.method == SMOOTHER_DSI)
    ui_text("%d iterations, residual %.1e", r->iterations, r->relative_residual);
  else if (r->number)
    ui_text("step %d: %d iterations, residual %.1e", r->number, r->iterations, r->relative_residual);
  else
    ui_text("no step yet");
  residual_plot(w->s);
  time_plot(w);
}

/* ---- Display and files ---- */

static void look_section(window_state *w) {
  static const char *const shadings[] = {"smooth", "flat"};
  static const char *const colours[] = {"none", "curvature", "distance moved"};
  window_scene *scene = &w->scene;
  mesh_look *look = &scene->look;
  if (!ui_section("Display")) return;
  int changed = ui_combo("shading", UI_ENUM(look->shading), shadings, MESH_SHADINGS);
  changed |= ui_check_box("wireframe", &look->wireframe);
  ui_same_line();
  changed |= ui_check_box("before and after", &look->before_after);
  ui_disabled_begin(!look->before_after);
  float percent = 100 * look->split;
  if (ui_slider("split", &percent, 0, 100, "%.0f %%")) {
    look->split = percent / 100;
    changed = 1;
  }
  ui_disabled_end();
  if (ui_combo("colour", UI_ENUM(look->colour), colours, MESH_COLOURS)) {
    changed = scene->range_stale = 1;
    scene->range_chosen = 0;
  }
  ui_disabled_begin(look->colour == MESH_COLOUR_NONE);
  if (ui_check_box("fix the colour range", &scene->keep_range)) changed = scene->range_stale = 1;
  ui_disabled_end();
  w->app.screen.stale |= changed;
}

void window_panel_draw(window_state *w) {
  mesh_window_lines(&w->files, &w->s->start->m, w->s->device.info.device, w->scene.positions.way);
  smoothing_section(w);
  solver_section(w);
  look_section(w);
  mesh_window_files(&w->files, &w->app, "saves the mesh to this file", window_export);
  mesh_window_end(&w->app, window_fit);
}
