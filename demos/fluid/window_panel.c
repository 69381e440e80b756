/* The controls at the left. */
#include "window_state.h"

#include <math.h>
#include <stdio.h>

#include "colours.h"

/* ---- Scene ---- */

/* Scales sizes of the form 2^k or 2^k + 1: the remainder modulo 4 is kept. */
static int32_t scaled(int32_t cells, int power) {
  return (int32_t)ldexp(cells - cells % 4, power) + cells % 4;
}

static void resolution_control(window_state *w) {
  static const char *const names[] = {"1/4", "1/2", "1", "2", "4", "other"};
  const scene *now = w->s->options.scene;
  const ts_fluid_info *info = &w->s->info;
  int choice = 5;
  for (int k = 0; k < 5; k++)
    if (scaled(now->height, k - 2) == info->height &&
        (window_fitting_width(w, now, info->height) || scaled(now->width, k - 2) == info->width))
      choice = k;
  if (ui_combo("resolution", &choice, names, choice < 5 ? 5 : 6) && choice < 5) {
    const int32_t height = scaled(now->height, choice - 2);
    w->own_size = 0;
    const int32_t fitting = window_fitting_width(w, now, height);
    window_set_scene(w, scene_index(now), fitting ? fitting : scaled(now->width, choice - 2), height);
  }
  ui_tip("relative to the scene's default; a change restarts the fluid");
}

static void size_controls(window_state *w) {
  resolution_control(w);
  if (ui_text_field("size", w->size_text, sizeof w->size_text, "Resize")) {
    int given_width, given_height, end = 0;
    if (sscanf(w->size_text, "%dx%d%n", &given_width, &given_height, &end) == 2 && !w->size_text[end]) {
      w->own_size = 1;
      window_set_scene(w, scene_index(w->s->options.scene), given_width, given_height);
    } else {
      app_tell_error(&w->app, "the size must be two numbers of cells, such as 257x129");
    }
  }
  ui_tip("in cells, such as 257x129, regardless of the window's size; a change restarts the fluid");
}

static void scene_section(window_state *w) {
  int choice = scene_index(w->s->options.scene);
  if (!ui_section("Scene")) return;
  app_run_buttons(&w->app);
  if (app_choice("scene", &choice, scene_names)) window_set_scene(w, choice, 0, 0);
  ui_tip((w->s->options.scene)->text);
  size_controls(w);
  ui_slider_int("steps per frame", &w->steps_per_frame, 1, 16, "1");
  ui_tip("steps per frame at 60 frames per second; also the maximum in one frame");
  app_open_button(&w->app, "Open walls ...", 2);
  ui_same_line();
  app_button(&w->app, "Clear walls", 2, 1, window_clear_walls);
  app_keys_button(&w->app, 1);
}

/* ---- Pointer ---- */

static void pointer_section(window_state *w) {
  static const char *const colours[] = {"changing", "fixed"};
  window_pointer *p = &w->pointer;
  if (!ui_section("Pointer")) return;
  double percent = 100 * p->brush;
  if (ui_slider_log_unit("brush", &percent, 100 * POINTER_SMALLEST, 100 * POINTER_LARGEST, 0, "% of height"))
    p->brush = percent / 100;
  ui_tip("radius; also the wheel");
  ui_slider_unit("push", &p->push, 0, 4, "x");
  ui_tip("velocity of the fluid relative to the pointer's");
  ui_slider_unit("dye", &p->dye, 0, 2, "");
  ui_tip("brightness of a stroke");
  ui_slider_unit("heat", &p->heat, -1, 1, "");
  ui_tip("temperature of the added dye; see buoyancy");
  ui_combo("colour", &p->colour_fixed, colours, 2);
  if (p->colour_fixed) ui_colour("dye colour", p->colour);
}

/* ---- Look ---- */

static void particle_control(window_state *w) {
  static const int counts[] = {0, 1024, 4096, 16384, 65536, 262144};
  const char *names[] = {"none", "1024", "4096", "16384", "65536", "262144", NULL};
  char own[24];
  int choice = 6;
  for (int k = 0; k < 6; k++)
    if (counts[k] == w->particles) choice = k;
  snprintf(own, sizeof own, "%d", w->particles);
  names[6] = own;
  if (ui_combo("particles", &choice, names, choice < 6 ? 6 : 7) && choice < 6)
    window_set_particles(w, counts[choice]);
}

static const char *unit_of(fluid_field field) {
  switch (field) {
  case FLUID_FIELD_SPEED:
    return "m/s";
  case FLUID_FIELD_PRESSURE:
    return "m^2/s^2";
  case FLUID_FIELD_DIVERGENCE:
  case FLUID_FIELD_VORTICITY:
    return "1/s";
  default:
    return "";
  }
}

static void look_section(window_state *w) {
  fluid_look *look = &w->look;
  if (!ui_section("Display")) return;
  if (app_choice("field", UI_ENUM(look->field), field_names)) {
    look->legend = look->field != FLUID_FIELD_DYE;
    if (!w->own_range) look->range = 0;
  }
  const int has_scale = look->field != FLUID_FIELD_DYE;
  ui_disabled_begin(!has_scale);
  if (ui_check_box("fix the colour range", &w->own_range))
    look->range = w->own_range ? fluid_view_range(w->view) : 0;
  ui_tip("otherwise the range follows the data, which needs a host synchronisation");
  double range = look->range > 0 ? look->range : fluid_view_range(w->view);
  ui_disabled_begin(!w->own_range);
  if (ui_slider_log_unit("range", &range, 1e-4, 1e4, 0, unit_of(look->field))) look->range = range;
  ui_disabled_end();
  ui_check_box("scale", &look->legend);
  ui_disabled_end();
  ui_same_line();
  ui_check_box("arrows", &look->arrows);
  particle_control(w);
}

/* ---- Fluid ---- */

static int forces(ts_fluid_parameters *p) {
  int changed = ui_slider_log_unit("buoyancy", &p->buoyancy, 1e-3, 100, 1, "m/s^2");
  ui_tip("upward acceleration at temperature 1");
  changed |= ui_slider_log_unit("smoke weight", &p->smoke_weight, 1e-3, 100, 1, "m/s^2");
  ui_tip("downward acceleration by dye of brightness 1");
  changed |= ui_slider_unit("gravity x", &p->gravity[0], -10, 10, "m/s^2");
  changed |= ui_slider_unit("gravity y", &p->gravity[1], -10, 10, "m/s^2");
  changed |= ui_slider_log_unit("confinement", &p->vorticity_confinement, 1e-2, 100, 1, "");
  ui_tip("vorticity confinement: restores small vortices that numerical diffusion damps");
  changed |= ui_slider_log_unit("dye decay", &p->dye_decay, 1e-3, 10, 1, "1/s");
  changed |= ui_slider_log_unit("heat decay", &p->temperature_decay, 1e-3, 10, 1, "1/s");
  return changed;
}

static void fluid_section(window_state *w) {
  static const char *const advections[] = {"semi-Lagrangian", "MacCormack"};
  static const char *const layouts[] = {"staggered", "collocated"};
  if (!ui_section("Fluid")) return;
  ts_fluid_parameters p = w->s->parameters;
  int changed = ui_slider_log_unit("time step", &p.time_step, 1e-4, 1, 0, "s");
  changed |= ui_slider_log_unit("viscosity", &p.viscosity, 1e-7, 1, 1, "m^2/s");
  const double reynolds = simulation_reynolds(w->s);
  if (isfinite(reynolds)) ui_text("Reynolds number %.4g", reynolds);
  int advection = (int)p.advection - TS_FLUID_ADVECTION_SEMI_LAGRANGIAN;
  changed |= ui_combo("advection", &advection, advections, 2);
  p.advection = (ts_fluid_advection)(TS_FLUID_ADVECTION_SEMI_LAGRANGIAN + advection);
  changed |= forces(&p);
  if (changed) window_set_parameters(w, &p);
  int layout = (int)w->s->info.layout - TS_FLUID_LAYOUT_STAGGERED;
  if (ui_combo("layout", &layout, layouts, 2))
    window_set_layout(w, (ts_fluid_layout)(TS_FLUID_LAYOUT_STAGGERED + layout));
  ui_tip("collocated as in Bolz et al. 2003, with some divergence left; a change restarts the fluid");
  if (ui_button("Scene defaults", 1)) window_default_parameters(w);
}

/* ---- The pressure's solver ---- */

static int multigrid_controls(ts_multigrid_desc *d) {
  int by_default = !d->pre && !d->post;
  int changed = app_choice("smoother", UI_ENUM(d->smoother), smoother_names);
  /* Gauss-Seidel supports only one storage, so let the library choose. */
  if (changed)
    d->storage = TS_GRID_STORAGE_AUTO;
  else
    changed = app_choice("storage", UI_ENUM(d->storage), storage_names);
  changed |= app_choice("cycle", UI_ENUM(d->cycle), cycle_names);
  changed |= app_choice("interpolation", UI_ENUM(d->interpolation), interpolation_names);
  if (ui_check_box("default number of steps", &by_default)) {
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
  ui_tip("damping of the Jacobi smoother");
  changed |= ui_check_box("full", &d->full);
  ui_tip("start with one pass of full multigrid");
  ui_same_line();
  changed |= ui_check_box("symmetric", &d->symmetric);
  changed |= ui_slider_int("levels", &d->max_levels, 0, 14, "all");
  changed |= ui_slider_int("coarsest", &d->coarsest_sweeps, 0, 200, "exact");
  ui_tip("smoothing steps on the coarsest level");
  return changed;
}

static void choose_backend(window_state *w) {
  const char *chosen = app_backend_choice(w->s->device.backend);
  if (chosen) window_set_backend(w, chosen);
  ui_tip("a change keeps the walls and restarts the fluid");
}

static void solver_section(window_state *w) {
  if (!ui_section("Pressure")) return;
  ts_fluid_parameters p = w->s->parameters;
  pressure_choice pressure = pressure_of(&p.pressure);
  int solver = pressure.solver;
  if (app_choice("solver", &solver, pressure_name)) {
    window_set_solver(w, solver);
    return;
  }
  const int cycles = pressure_has_cycles(solver);
  int changed =
      ui_slider_int(cycles ? "cycles" : "iterations", &pressure.iterations, 1, cycles ? 20 : 500, "1");
  changed |= ui_slider_log_unit("tolerance", &pressure.tolerance, 1e-7, 0.5, 1, "");
  ui_tip("relative residual that ends the iterations; 0: always all iterations");
  pressure_set(&p.pressure, &pressure);
  changed |= ui_check_box("cold start", &p.pressure.zero_start);
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
    /* The history has 0 for values that were not measured. */
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
    ui_text("%.2g before, %.2g after: a factor of %.1e", last->divergence_before, last->divergence_after,
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
  ui_curve curves[TS_FLUID_STAGE_COUNT + 2];
  char text[100] = "time per step";
  int count = 0;
  float most = 0, high = 0;
  if (w->measure_times) {
    for (; count < TS_FLUID_STAGE_COUNT; count++)
      curves[count] =
          stage_curve(ts_fluid_stage_name((ts_fluid_stage)count), h->milliseconds[count], h->count, count);
    /* Only the last step of a frame is drawn. The others have no time. */
    for (int k = 0; k < h->count; k++) drawing[k] = h->draw[k] > 0 ? h->draw[k] : NAN;
    curves[count++] = stage_curve("drawing", drawing, h->count, TS_FLUID_STAGE_COUNT);
  }
  curves[count++] = (ui_curve){"step", w->times.values, w->times.count, {0, 0, 0}};
  for (int c = 0; c < count; c++) high = fmaxf(high, plot_range(curves[c].values, curves[c].count));
  for (int k = 0; k < w->times.count; k++) most = fmaxf(most, w->times.values[k]);
  if (w->times.count) {
    const int used =
        snprintf(text, sizeof text, "%s ms per step", app_digits((double)w->times.values[w->times.count - 1]));
    snprintf(text + used, sizeof text - (size_t)used, ", at most %s%s", app_digits((double)most),
             w->measure_divergence || w->measure_times ? "" : ", on the host");
  }
  ui_curves(text, curves, count, SIMULATION_HISTORY, 0, high > 0 ? high : 1);
  ui_tip(w->measure_divergence || w->measure_times ? "averaged over the steps of a frame"
                                                   : "without a measurement the host does not synchronise");
}

static void plots_section(window_state *w) {
  const simulation_history *h = &w->s->history;
  if (!ui_section("Measured")) return;
  ui_check_box("divergence", &w->measure_divergence);
  ui_tip("synchronises with the device once per frame");
  ui_same_line();
  ui_check_box("time of each stage", &w->measure_times);
  ui_tip("synchronises with the device after each stage, which makes steps slower");
  divergence_plot(h, &w->s->result);
  time_plot(w, h);
}

void window_panel_draw(window_state *w) {
  char text[SIMULATION_MESSAGE];
  simulation_describe(w->s, text, sizeof text);
  app_heading(text, &w->app, w->s->result.time);
  const char *const way = view_way_line(fluid_view_way(w->view));
  if (way) ui_dim_text(way);
  scene_section(w);
  look_section(w);
  solver_section(w);
  plots_section(w);
  fluid_section(w);
  pointer_section(w);
  app_files_section(&w->app);
}
