/* The controls at the left. */
#include "window_state.h"

#include <math.h>
#include <stdio.h>

static void cut_box(window_state *w) {
  int cut = w->options.flattening.cut;
  if (ui_check_box("cut closed meshes", &cut)) window_cut(w);
}

static void map_section(window_state *w) {
  const flattening *f = &w->f;
  if (!ui_section("Map")) return;
  if (w->asks_cut) {
    cut_box(w);
    ui_point_at();
    ui_text("This mesh %s: tick this box to cut it open, so that it can be flattened.",
            f->cut.closed ? "is closed" : "has handles");
    return;
  }
  app_button(&w->app, w->state == WORKER_BUSY ? "Stop" : "Solve", 2, 1, window_solve_or_stop);
  ui_same_line();
  app_button(&w->app, "Automatic pins", 2, 1, window_automatic_pins);
  app_undo_buttons(&w->app, 2, w->past.count, w->future.count);
  if (f->pin_count)
    ui_text("%d pins given, not packed", (int)f->pin_count);
  else
    ui_text("automatic pins, packed: %.0f %%", 100 * f->packed.fill);
  ui_text("%d chart%s", (int)f->c.count, f->c.count == 1 ? "" : "s");
  if (f->cut.edges) {
    ui_same_line();
    ui_text("cut along %d edges", (int)f->cut.edges);
  }
  cut_box(w);
  ui_tip("cut meshes that are opened from now on; key: X");
}

/* ---- Solver ---- */

static void solve_again(window_state *w) {
  worker_stop(w->solver);
  w->wanted = 1;
  if (w->app.note_is_error) w->app.note[0] = 0;
  w->app.note_is_error = 0;
}

static void choose_backend(window_state *w) {
  static const ts_format all[] = {TS_FORMAT_BCRS2, TS_FORMAT_BCRS4, TS_FORMAT_JAGGED, TS_FORMAT_SEGMENTS,
                                  TS_FORMAT_CSR};
  enum { most = sizeof all / sizeof *all };
  ts_format formats[most + 1] = {TS_FORMAT_AUTO};
  const char *names[most + 1] = {"auto"};
  int count = 1, format = 0;
  const char *chosen = app_backend_choice(w->progress.backend[0] ? w->progress.backend : w->backend);
  if (chosen) {
    solve_again(w);
    snprintf(w->backend, sizeof w->backend, "%s", chosen);
    w->options.conformal.format = TS_FORMAT_AUTO;
  }
  for (int k = 0; k < most; k++) { /* the formats of the backend */
    if (!(w->progress.formats & 1U << all[k])) continue;
    if (w->options.conformal.format == all[k]) format = count;
    formats[count] = all[k];
    names[count++] = ts_format_name(all[k]);
  }
  if (ui_combo("format", &format, names, count)) {
    solve_again(w);
    w->options.conformal.format = formats[format];
  }
}

static void residual_plot(const window_state *w) {
  const worker_progress *p = &w->progress;
  float low = 0;
  char text[80] = "residual";
  for (int k = 0; k < p->count; k++) low = fminf(low, p->curve[k]);
  low = floorf(low);
  if (p->count) snprintf(text, sizeof text, "residual in a pass, 1e%.0f to 1", (double)low);
  ui_plot(text, p->curve, p->count, low, 0.5f, 0);
  ui_tip("each pass corrects the rounding errors of the previous one");
}

static void solver_section(window_state *w) {
  const conformal_result *r = &w->solved;
  if (!ui_section("Solver")) return;
  choose_backend(w);
  if (ui_slider_log("tolerance", &w->options.conformal.rtol, 1e-9, 1e-2)) solve_again(w);
  if (w->state == WORKER_BUSY && !w->progress.iterations)
    ui_text("setting up ...");
  else if (w->state == WORKER_BUSY)
    ui_text("iteration %d ...", w->progress.iterations);
  else if (w->has_ended)
    ui_text("%d iterations, residual %.1e", r->iterations, r->residual);
  else
    ui_text("not solved yet");
  residual_plot(w);
  if (!w->has_ended || !r->passes) return;
  ui_text("%s, %d unknowns, %.0f ms", ts_format_name(r->format), (int)r->unknowns, 1e3 * r->seconds_solve);
  ui_tip(r->choice);
  if (r->preconditioner != CONFORMAL_JACOBI)
    ui_text("preconditioner %s", conformal_preconditioner_name(r->preconditioner));
}

/* ---- Distortion, display and files ---- */

static void distortion_section(window_state *w) {
  const distortion *d = &w->f.d;
  if (!ui_section("Distortion")) return;
  if (w->asks_cut) {
    ui_dim_text("the mesh is not cut yet");
    return;
  }
  if (!w->has_ended) ui_dim_text("initial guess, not solved yet");
  ui_text("angles   %.4g, at most %.3g", d->angle_mean, d->angle_max);
  ui_tip("s1/s2, the ratio of the singular values: 1 if angles are preserved; the mean weighted by area, and "
         "the maximum");
  ui_text("areas    %.2g to %.3g", d->area_least, d->area_most);
  ui_tip("uv / mesh: a triangle's share of its chart's area in the UV map, relative to its share on the mesh");
  ui_text("flipped  %d of %d%s", (int)d->flipped, (int)w->f.m.triangle_count, d->flipped ? " (red)" : "");
  ui_tip("triangles that are flipped in the UV map, with the precision of files");
  if (d->collapsed) ui_text("no area  %d of %d", (int)d->collapsed, (int)w->f.m.triangle_count);
}

static void look_section(window_state *w) {
  static const char *const colours[] = {"none", "angles", "areas"};
  flat_look *look = &w->options.look;
  if (!ui_section("Display")) return;
  if (ui_combo("colour", UI_ENUM(look->colour), colours, FLAT_COLOURS)) {
    look->range = 0;
    w->app.screen.stale = 1;
  }
  w->app.screen.stale |= ui_slider_int("squares", &look->squares, 0, 200, "none");
  w->app.screen.stale |= ui_check_box("wireframe", &look->wireframe);
}

void window_panel_draw(window_state *w) {
  mesh_window_lines(&w->files, &w->f.m, w->progress.device,
                    w->has_ended && w->view ? flat_view_way(w->view) : VIEW_WAY_NONE);
  map_section(w);
  solver_section(w);
  distortion_section(w);
  look_section(w);
  mesh_window_files(&w->files, &w->app, "saves the mesh with u and v to this file", window_export);
  mesh_window_end(&w->app, window_fit);
}
