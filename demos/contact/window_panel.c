/* The controls at the left. */
#include <math.h>
#include <stdio.h>

#include "colours.h"
#include "window_state.h"

/* ---- Scene ---- */

static void bodies_control(window_state *w) {
  static const int counts[] = {0, 30, 100, 300, 1000, 2000};
  const char *names[] = {"scene default", "30", "100", "300", "1000", "2000", NULL};
  char other[24];
  int choice = 6;
  for (int k = 0; k < 6; k++)
    if (counts[k] == w->s->options.bodies) choice = k;
  snprintf(other, sizeof other, "%d", w->s->options.bodies);
  names[6] = other;
  if (ui_combo("bodies", &choice, names, choice < 6 ? 6 : 7) && choice < 6)
    window_set_scene(w, window_scene_index(w), counts[choice]);
  ui_tip("approximate number of moving bodies; a change restarts the scene");
}

static void scene_section(window_state *w) {
  int choice = window_scene_index(w);
  if (!ui_section("Scene")) return;
  app_run_buttons(&w->app);
  if (app_choice("scene", &choice, scene_names)) window_set_scene(w, choice, 0);
  ui_tip(w->s->scene->text);
  bodies_control(w);
  ui_slider_log_unit("speed", &w->speed, 0.05, 2, 0, "x");
  ui_tip("simulated time relative to real time, if the steps are fast enough");
  app_keys_button(&w->app, 1);
}

/* ---- Display ---- */

static void look_section(window_state *w) {
  contact_look *look = &w->look;
  if (!ui_section("Display")) return;
  int changed = ui_check_box("forces", &look->forces);
  ui_tip("contact forces; key: A. Blue: little of the friction is used; red: the contact slides");
  ui_same_line();
  if (ui_check_box("fine shading", &look->fine)) {
    look->coarse = !look->fine && contact_view_is_coarse(w->view, w->options->shading);
    changed = 1;
  }
  ui_tip("softer shadows, and ambient occlusion at every pixel; slow with a software renderer");
  if (changed) w->app.screen.stale = 1;
}

/* ---- Contacts ---- */

static void contact_section(window_state *w) {
  simulation_parameters *p = &w->s->parameters;
  if (!ui_section("Contacts")) return;
  ui_slider_unit("friction", &p->friction, 0, 1.5, "");
  ui_tip("Coulomb's coefficient for all contacts");
  ui_slider_unit("restitution", &p->restitution, 0, 0.95, "");
  ui_tip("fraction of the normal velocity after a bounce");
  double milliseconds = 1e3 * p->step;
  if (ui_slider_log_unit("time step", &milliseconds, 1, 50, 0, "ms")) p->step = milliseconds / 1e3;
  ui_slider_log_unit("ball radius", &w->throw_radius, 0.01, 2, 0, "m");
  ui_tip("radius of the ball that is thrown at the pointer by key B, or by Ctrl and the left button");
  ui_slider_log_unit("ball speed", &w->throw_speed, 0.5, 50, 0, "m/s");
}

/* ---- Solver ---- */

static void scheme_control(window_state *w) {
  simulation_parameters *p = &w->s->parameters;
  const char *name;
  if (!ui_menu_begin("scheme", ts_lcp_scheme_name(p->scheme))) return;
  for (int k = 0; (name = ts_lcp_scheme_name((ts_lcp_scheme)k)); k++) {
    const int there = ts_lcp_has_scheme(w->s->context, (ts_lcp_scheme)k);
    if (ui_menu_item(name, (int)p->scheme == k, there ? NULL : "not available on this backend"))
      p->scheme = (ts_lcp_scheme)k;
  }
  ui_menu_end();
}

static void solver_section(window_state *w) {
  simulation_parameters *p = &w->s->parameters;
  if (!ui_section("Solver")) return;
  scheme_control(w);
  app_choice("acceleration", UI_ENUM(p->acceleration), acceleration_names);
  ui_tip("acceleration of the sweeps; auto: momentum");
  ui_slider_int_log("sweeps", &p->sweeps, 1, 20000);
  ui_tip("maximum number of Gauss-Seidel sweeps per step");
  ui_slider_log_unit("tolerance", &p->tolerance, 1e-8, 0.1, 0, "");
  ui_tip("for the residual, relative to ||q||; steps that do not reach it are counted below");
  ui_check_box("cold start", &p->cold_start);
  ui_tip("start from zero instead of the previous step's forces; key: W");
  const char *chosen = app_backend_choice(w->s->device.backend);
  if (chosen) window_set_backend(w, chosen);
  ui_tip("a change restarts the scene");
}

/* ---- Measured ---- */

static void residual_plot(const simulation_history *h, double tolerance) {
  static float powers[SIMULATION_HISTORY], wanted[SIMULATION_HISTORY];
  char text[100];
  float low = (float)floor(log10(tolerance)), high = low + 1;
  for (int k = 0; k < h->count; k++) {
    wanted[k] = (float)log10(tolerance);
    /* Steps without contacts have no residual. */
    powers[k] = h->residual[k] > 0 ? log10f(h->residual[k]) : NAN;
    if (!isfinite(powers[k])) continue;
    low = fmaxf(fminf(low, floorf(powers[k])), -16);
    high = fmaxf(high, ceilf(powers[k]));
  }
  snprintf(text, sizeof text, "residual, 1e%d to 1e%d", (int)low, (int)high);
  const ui_curve curves[] = {{"tolerance", wanted, h->count, {0.75f, 0.40f, 0.05f}},
                             {"residual", powers, h->count, {0.10f, 0.34f, 0.66f}}};
  ui_curves(text, curves, 2, SIMULATION_HISTORY, low, high);
}

static void time_plot(const window_state *w, const simulation_history *h) {
  static float drawing[SIMULATION_HISTORY];
  char text[100] = "times per step";
  float high = 0;
  /* Only the last step of a frame is drawn. The others have no time. */
  for (int k = 0; k < h->count; k++) drawing[k] = h->draw[k] > 0 ? h->draw[k] : NAN;
  const ui_curve curves[] = {{"collision", h->collision, h->count, {0.80f, 0.50f, 0.05f}},
                             {"assembly", h->assembly, h->count, {0.10f, 0.55f, 0.30f}},
                             {"solve", h->solve, h->count, {0.10f, 0.34f, 0.66f}},
                             {"drawing", drawing, h->count, {0.40f, 0.40f, 0.42f}}};
  for (int c = 0; c < 4; c++) high = fmaxf(high, plot_range(curves[c].values, curves[c].count));
  const simulation_figures *f = &w->s->figures;
  if (h->count)
    snprintf(text, sizeof text, "%s ms per step", app_digits(1e3 * (f->collision + f->assembly + f->solve)));
  ui_curves(text, curves, 4, SIMULATION_HISTORY, 0, high > 0 ? high : 1);
  ui_text("collision %.3g, assembly %.3g, solve %.3g, drawing %.3g ms", 1e3 * f->collision, 1e3 * f->assembly,
          1e3 * f->solve, 1e3 * w->seconds_draw);
}

static void plots_section(window_state *w) {
  const simulation *s = w->s;
  const simulation_figures *f = &s->figures;
  if (!ui_section("Measured")) return;
  ui_text("step %d: %d contacts, %d sweeps to %.1e", s->steps, f->contacts, f->sweeps, f->residual);
  ui_text("%d of %d steps missed the tolerance", s->missed_steps, s->steps);
  residual_plot(&s->history, s->parameters.tolerance);
  time_plot(w, &s->history);
  ui_text("energy %.4g J, %.3g of it kinetic; deepest overlap %.2g mm", f->energy.kinetic + f->energy.potential,
          f->energy.kinetic, 1e3 * f->penetration);
}

void window_panel_draw(window_state *w) {
  char text[SIMULATION_MESSAGE];
  simulation_describe(w->s, text, sizeof text);
  app_heading(text, &w->app, w->s->world.time);
  scene_section(w);
  look_section(w);
  contact_section(w);
  solver_section(w);
  plots_section(w);
  app_files_section(&w->app);
}
