/* The controls of the pressure's solver, and what it comes to. */
#include "window_state.h"

#include <math.h>
#include <stdio.h>

#include "names.h"
#include "colours.h"

/* ---- Solver ---- */

static int multigrid_controls(ts_multigrid_desc *d) {
  int by_default = !d->pre && !d->post;
  int changed = app_choice("smoother", UI_ENUM(d->smoother), smoother_names);
  /* Gauss-Seidel has one storage: what does not fit is left to the library. */
  if (changed)
    d->storage = TS_GRID_STORAGE_AUTO;
  else
    changed = app_choice("storage", UI_ENUM(d->storage), storage_names);
  changed |= app_choice("cycle", UI_ENUM(d->cycle), cycle_names);
  changed |= app_choice("interpolation", UI_ENUM(d->interpolation), interpolation_names);
  if (ui_check_box("the smoother's own steps", &by_default)) {
    d->pre = d->post = !by_default;
    changed = 1;
  }
  ui_disabled_begin(by_default);
  int pre = d->pre, post = d->post;
  if (ui_slider_int("before", &pre, 0, 16, "0") && pre + post > 0 && !by_default) {
    d->pre = pre;
    changed = 1;
  }
  if (ui_slider_int("after", &post, 0, 16, "0") && pre + post > 0 && !by_default) {
    d->post = post;
    changed = 1;
  }
  ui_tip("smoothing steps after the coarse-grid correction");
  ui_disabled_end();
  return changed;
}

static int multigrid_rare(ts_multigrid_desc *d) {
  double damping = d->damping > 0 ? d->damping : 2.0 / 3;
  int changed = 0;
  if (ui_slider_unit("damping", &damping, 0.05, 1, "")) {
    d->damping = damping;
    changed = 1;
  }
  ui_tip("of Jacobi as the smoother");
  changed |= ui_check_box("full", &d->full);
  ui_tip("starts with one pass of full multigrid");
  ui_same_line();
  changed |= ui_check_box("symmetric", &d->symmetric);
  changed |= ui_slider_int("levels", &d->max_levels, 0, 14, "all");
  changed |= ui_slider_int("coarsest", &d->coarsest_sweeps, 0, 200, "exact");
  ui_tip("smoothing steps on the coarsest level");
  return changed;
}

static void choose_backend(window_state *w) {
  ts_context_info device;
  if (ts_context_get_info(w->s->context, &device) != TS_OK) return;
  const char *chosen = app_backend_choice(device.backend);
  if (chosen) window_set_backend(w, chosen);
  ui_tip("walls are kept, the fluid starts again");
}

void window_solver_section(window_state *w) {
  if (!ui_section("Pressure")) return;
  ts_fluid_parameters p = w->s->parameters;
  int solver = (int)p.solver;
  if (app_choice("solver", &solver, solver_names)) {
    window_set_solver(w, (ts_fluid_solver)solver);
    return;
  }
  const int cycles = p.solver == TS_FLUID_MULTIGRID || p.solver == TS_FLUID_MULTIGRID_CG;
  const int conjugate = p.solver == TS_FLUID_CG || p.solver == TS_FLUID_MULTIGRID_CG;
  int changed = ui_slider_int(cycles ? "cycles" : "iterations", &p.iterations, 1, cycles ? 20 : 500, "1");
  ui_disabled_begin(!conjugate);
  changed |= ui_slider_log_unit("tolerance", &p.tolerance, 1e-7, 0.5, 1, "");
  ui_tip("of CG; 0: always all iterations");
  ui_disabled_end();
  changed |= ui_check_box("cold start", &p.cold_start);
  ui_tip("start from zero instead of the previous pressure");
  choose_backend(w);
  if (ui_section_closed("Multigrid")) {
    ui_disabled_begin(!cycles);
    changed |= multigrid_controls(&p.multigrid);
    changed |= multigrid_rare(&p.multigrid);
    ui_disabled_end();
  }
  if (changed) window_set_parameters(w, &p);
}

/* ---- Plots ---- */

static void power_of_ten(const float *values, int count, float *powers, float *low, float *high) {
  for (int k = 0; k < count; k++) {
    /* What was not measured is 0 in the history. */
    powers[k] = values[k] > 0 ? log10f(values[k]) : NAN;
    if (!isfinite(powers[k])) continue;
    *low = fminf(*low, floorf(powers[k]));
    *high = fmaxf(*high, ceilf(powers[k]));
  }
}

static void divergence_plot(const simulation_history *h, const ts_fluid_result *last) {
  static float before[SIMULATION_HISTORY], after[SIMULATION_HISTORY];
  char text[100] = "divergence, not measured yet";
  float low = 99, high = -99;
  power_of_ten(h->divergence_before, h->count, before, &low, &high);
  power_of_ten(h->divergence_after, h->count, after, &low, &high);
  if (low <= high) snprintf(text, sizeof text, "divergence, 1e%d to 1e%d 1/s", (int)low, (int)high);
  const ui_curve curves[] = {{"before", before, h->count, {0.75f, 0.40f, 0.05f}},
                             {"after the projection", after, h->count, {0.10f, 0.34f, 0.66f}}};
  ui_curves(text, curves, 2, SIMULATION_HISTORY, low, high > low ? high : low + 1);
  if (last->divergence_before > 0 && isfinite(last->divergence_after))
    ui_text("%.2g, then %.2g: %.1e of it", last->divergence_before, last->divergence_after,
            last->divergence_after / last->divergence_before);
}

static ui_curve stage_curve(const char *name, const float *values, int count, int colour) {
  static const float colours[][3] = {{0.10f, 0.34f, 0.66f}, {0.80f, 0.50f, 0.05f}, {0.45f, 0.25f, 0.60f},
                                     {0.75f, 0.12f, 0.14f}, {0.10f, 0.55f, 0.30f}, {0.40f, 0.40f, 0.42f},
                                     {0.85f, 0.30f, 0.60f}};
  return (ui_curve){name, values, count, {colours[colour][0], colours[colour][1], colours[colour][2]}};
}

static void time_plot(const window_state *w, const simulation_history *h) {
  static float drawing[SIMULATION_HISTORY];
  ui_curve curves[TS_FLUID_STAGES + 2];
  char text[100] = "time of each step";
  int count = 0;
  float most = 0, high = 0;
  if (w->measure_times) {
    for (; count < TS_FLUID_STAGES; count++)
      curves[count] =
          stage_curve(ts_fluid_stage_name((ts_fluid_stage)count), h->milliseconds[count], h->count, count);
    /* Only the last step of a frame is drawn. */
    for (int k = 0; k < h->count; k++) drawing[k] = h->draw[k] > 0 ? h->draw[k] : NAN;
    curves[count++] = stage_curve("drawing", drawing, h->count, TS_FLUID_STAGES);
  }
  curves[count++] = (ui_curve){"step", w->times.values, w->times.count, {0, 0, 0}};
  for (int c = 0; c < count; c++) high = fmaxf(high, plot_range(curves[c].values, curves[c].count));
  for (int k = 0; k < w->times.count; k++) most = fmaxf(most, w->times.values[k]);
  if (w->times.count) {
    const int used =
        snprintf(text, sizeof text, "a step %s ms", app_digits((double)w->times.values[w->times.count - 1]));
    snprintf(text + used, sizeof text - (size_t)used, ", at most %s%s", app_digits((double)most),
             w->measure_divergence || w->measure_times ? "" : ", on the host");
  }
  ui_curves(text, curves, count, SIMULATION_HISTORY, 0, high > 0 ? high : 1);
  ui_tip(w->measure_divergence || w->measure_times ? "on average over those of a frame"
                                                   : "without a measurement the host does not synchronise");
}

void window_plots_section(window_state *w) {
  const simulation_history *h = &w->s->history;
  if (!ui_section("Measured")) return;
  ui_check_box("divergence", &w->measure_divergence);
  ui_tip("synchronises with the device once a frame");
  ui_same_line();
  ui_check_box("time of each stage", &w->measure_times);
  ui_tip("synchronises with the device after each stage, which takes time itself");
  divergence_plot(h, &w->s->result);
  time_plot(w, h);
}
