/* The controls at the left. */
#include "window_state.h"

#include <math.h>
#include <stdio.h>

#include "names.h"

/* ---- Scene ---- */

static void size_controls(window_state *w) {
  static const char *const names[] = {"1/4", "1/2", "1", "2", "4", "other"};
  const int index = scene_index(w->s->options.scene);
  const int32_t width = w->s->options.scene->width, height = w->s->options.scene->height;
  const ts_fluid_info *info = &w->s->info;
  int choice = 5; /* sizes are 2^k + 1 or 2^k: what is over a multiple of 4 stays */
  int32_t widths[5], heights[5];
  for (int k = 0; k < 5; k++) {
    widths[k] = (int32_t)ldexp(width - width % 4, k - 2) + width % 4;
    heights[k] = (int32_t)ldexp(height - height % 4, k - 2) + height % 4;
    if (widths[k] == info->width && heights[k] == info->height) choice = k;
  }
  const int shown = choice < 5 ? 5 : 6;
  if (ui_combo("resolution", &choice, names, shown) && choice < 5)
    window_set_scene(w, index, widths[choice], heights[choice]);
  ui_tip("times the scene's own; the fluid starts again");
  if (ui_text_field("size", w->size_text, sizeof w->size_text, "Resize")) {
    int given_width, given_height, end = 0;
    if (sscanf(w->size_text, "%dx%d%n", &given_width, &given_height, &end) == 2 && !w->size_text[end])
      window_set_scene(w, index, given_width, given_height);
    else
      app_tell_error(&w->app, "a size is two numbers of cells, such as 257x129");
  }
  ui_tip("cells, such as 257x129; the fluid starts again");
}

static void scene_section(window_state *w) {
  int choice = scene_index(w->s->options.scene);
  if (!ui_section("Scene")) return;
  app_button(&w->app, w->paused ? "Run" : "Pause", 3, 1, window_run_or_pause);
  ui_same_line();
  app_button(&w->app, "Step", 3, 1, window_step);
  ui_same_line();
  app_button(&w->app, "Reset", 3, 1, window_reset);
  if (app_choice("scene", &choice, scene_names)) window_set_scene(w, choice, 0, 0);
  ui_tip((w->s->options.scene)->text);
  size_controls(w);
  ui_slider_int("steps per frame", &w->steps_per_frame, 1, 16, "1");
  ui_tip("at 60 frames a second, and at most in one frame");
  app_button(&w->app, "Clear walls", 2, 1, window_clear_walls);
  ui_same_line();
  app_keys_button(&w->app, 2);
}

/* ---- Pointer ---- */

static void pointer_section(window_state *w) {
  static const char *const colours[] = {"changes", "chosen"};
  window_pointer *p = &w->pointer;
  if (!ui_section("Pointer")) return;
  double percent = 100 * p->brush;
  if (ui_slider_log_unit("brush", &percent, 100 * POINTER_SMALLEST, 100 * POINTER_LARGEST, 0, "% of height"))
    p->brush = percent / 100;
  ui_tip("radius; also the wheel");
  ui_slider_unit("push", &p->push, 0, 4, "x");
  ui_tip("how much of the pointer's velocity the fluid takes");
  ui_slider_unit("dye", &p->dye, 0, 2, "");
  ui_tip("brightness of a stroke");
  ui_slider_unit("heat", &p->heat, -1, 1, "");
  ui_tip("temperature that comes with the dye; see buoyancy");
  ui_combo("colour", &p->colour_fixed, colours, 2);
  if (p->colour_fixed) ui_colour("dye's colour", p->colour);
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
  ui_tip("else it follows the data, which takes a host synchronisation");
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
  changed |= ui_slider_log_unit("smoke's weight", &p->smoke_weight, 1e-3, 100, 1, "m/s^2");
  ui_tip("downward acceleration at dye of brightness 1");
  changed |= ui_slider_unit("gravity x", &p->gravity[0], -10, 10, "m/s^2");
  changed |= ui_slider_unit("gravity y", &p->gravity[1], -10, 10, "m/s^2");
  changed |= ui_slider_log_unit("confinement", &p->vorticity_confinement, 1e-2, 100, 1, "");
  ui_tip("of vorticity: restores small vortices that numerical diffusion damps");
  changed |= ui_slider_log_unit("dye's decay", &p->dye_decay, 1e-3, 10, 1, "1/s");
  changed |= ui_slider_log_unit("heat's decay", &p->temperature_decay, 1e-3, 10, 1, "1/s");
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
  changed |= ui_combo("advection", UI_ENUM(p.advection), advections, 2);
  changed |= forces(&p);
  if (changed) window_set_parameters(w, &p);
  int layout = (int)w->s->info.layout;
  if (ui_combo("layout", &layout, layouts, 2)) window_set_layout(w, (ts_fluid_layout)layout);
  ui_tip("collocated is the paper's: divergence does not vanish there; the fluid starts again");
  if (ui_button("The scene's own", 1)) window_default_parameters(w);
}

/* ---- Files ---- */

static void file_section(window_state *w) {
  if (!ui_section("Files")) return;
  app_file_field(&w->app, "picture", &w->picture_file, "Picture", "saves the picture in this file, as PNG",
                 window_save_picture);
  const char *why = video_is_possible() ? NULL : "videos need ffmpeg, which is not installed";
  ui_disabled_begin(why != NULL);
  app_file_field(&w->app, "video", &w->video_file, w->video ? "Stop" : "Video",
                 why ? why : "starts or stops a video in this file", window_video);
  ui_disabled_end();
  app_file_field(&w->app, "report", &w->report_file, "Report", "saves settings and measurements, as JSON",
                 window_save_report);
}

void window_panel_draw(window_state *w) {
  char text[SIMULATION_MESSAGE];
  simulation_describe(w->s, text, sizeof text);
  ui_dim_text(text);
  snprintf(text, sizeof text, "%.0f frames per second, time %.4g s", 1 / w->frame_seconds, w->s->result.time);
  ui_dim_text(text);
  const char *const way = view_way_line(fluid_view_way(w->view));
  if (way) ui_dim_text(way);
  scene_section(w);
  look_section(w);
  window_solver_section(w);
  window_plots_section(w);
  fluid_section(w);
  pointer_section(w);
  file_section(w);
}
