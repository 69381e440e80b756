/* What the window writes: pictures, films, reports. */
#include "window_state.h"

#include <stdio.h>

#include "reports.h"

static void name_file(app_file *file, const char *given, const char *scene, const char *ending) {
  if (given)
    snprintf(file->path, sizeof file->path, "%s", given);
  else
    snprintf(file->path, sizeof file->path, "fluid-%s%s", scene, ending);
}

void window_name_files(window_state *w) {
  const char *name = scene_name(simulation_scene(w->s));
  name_file(&w->picture_file, w->options->screenshot, name, ".png");
  if (!w->film) name_file(&w->film_file, w->options->film, name, ".mp4");
  name_file(&w->report_file, NULL, name, ".json");
}

/* ---- Pictures ---- */

static const char *draw_picture(window_state *w, int width, int height, unsigned char *rgb) {
  return fluid_view_picture(w->view, w->s, &w->look, width, height, rgb);
}

/* As large as the fluid in the window. */
void window_save_picture(window_state *w) {
  const fluid_area area = window_area(w);
  app_save_picture(&w->app, &w->picture_file, area.width, area.height, draw_picture);
}

/* ---- Films ---- */

enum { FILM_RATE = 60 };

static void end_film(window_state *w, int failed, const char *message) {
  if (failed)
    app_tell_error(&w->app, message);
  else
    app_tell(&w->app, "%s: a film of %d frames%s", w->film_file.path, w->film_frames,
             overwrite_done(&w->film_file.question, w->film_file.path));
  image_destroy(&w->film_picture);
}

void window_film_end(window_state *w) {
  char message[SIMULATION_MESSAGE];
  if (w->film) end_film(w, film_close(&w->film, message), message);
}

void window_film(window_state *w) {
  char message[SIMULATION_MESSAGE];
  const fluid_area area = window_area(w);
  if (w->film) {
    window_film_end(w);
    return;
  }
  if (!app_may_write(&w->app, &w->film_file)) return;
  const int width = area.width & ~1, height = area.height & ~1;
  if (image_create(&w->film_picture, width, height)) {
    app_tell_error(&w->app, "out of memory");
  } else if (film_open(w->film_file.path, width, height, FILM_RATE, &w->film, message)) {
    image_destroy(&w->film_picture);
    app_tell_error(&w->app, message);
  } else {
    w->film_frames = w->film_steps = 0;
    app_tell(&w->app, "%s: the film runs; F ends it", w->film_file.path);
  }
}

/* So many steps a frame as a window with 60 frames a second makes, whatever this one manages. */
void window_film_frame(window_state *w, int steps) {
  char message[SIMULATION_MESSAGE];
  if (!w->film) return;
  w->film_steps += steps;
  if (w->film_steps < w->steps_per_frame) return;
  w->film_steps = 0;
  image *picture = &w->film_picture;
  const char *why = fluid_view_picture(w->view, w->s, &w->look, picture->width, picture->height, picture->rgb);
  if (!why && film_add(w->film, picture->rgb, message)) why = message;
  w->film_frames += !why;
  if (!why) return;
  film_discard(&w->film);
  end_film(w, 1, why);
}

/* ---- Reports ---- */

static json_t *parameters_json(const ts_fluid_parameters *p) {
  const ts_multigrid_desc *m = &p->multigrid;
  return json_pack("{s:f, s:f, s:f, s:f, s:[f, f], s:f, s:f, s:f, s:s, s:s, s:i, s:f, s:b, s:{s:s, s:s, s:s, "
                   "s:s, s:i, s:i}}",
                   "time_step", p->time_step, "viscosity", p->viscosity, "buoyancy", p->buoyancy,
                   "smoke_weight", p->smoke_weight, "gravity", p->gravity[0], p->gravity[1],
                   "vorticity_confinement", p->vorticity_confinement, "dye_decay", p->dye_decay,
                   "temperature_decay", p->temperature_decay, "advection",
                   p->advection == TS_FLUID_MACCORMACK ? "maccormack" : "semi-lagrangian", "solver",
                   ts_fluid_solver_name(p->solver), "iterations", p->iterations, "tolerance", p->tolerance,
                   "cold_start", p->cold_start, "multigrid", "smoother", ts_smoother_name(m->smoother),
                   "storage", ts_grid_storage_name(m->storage), "cycle", ts_cycle_name(m->cycle),
                   "interpolation", ts_interpolation_name(m->interpolation), "pre", m->pre, "post", m->post);
}

static json_t *report_json(const window_state *w) {
  const ts_fluid_info *info = simulation_info(w->s);
  const ts_fluid_result *r = simulation_result(w->s);
  const unsigned char *solid = simulation_solid(w->s);
  ts_context_info device = {0};
  ts_context_get_info(simulation_context(w->s), &device);
  int walls = 0;
  for (int32_t k = 0; k < info->width * info->height; k++) walls += solid[k] != 0;
  json_t *report =
      json_pack("{s:s, s:[i, i], s:f, s:s, s:s?, s:s, s:s, s:b, s:i, s:f, s:i, s:i, s:i, s:f}", "scene",
                scene_name(simulation_scene(w->s)), "size", (int)info->width, (int)info->height, "cell_size",
                info->cell_size, "backend", device.backend ? device.backend : "", "device", device.device,
                "layout", info->layout == TS_FLUID_COLLOCATED ? "collocated" : "staggered", "view",
                fluid_field_name(w->look.field), "paused", w->paused, "steps", r->steps, "time", r->time,
                "wall_cells", walls, "particles", w->look.particles ? w->particles : 0, "iterations",
                r->iterations, "frames_per_second", 1 / w->frame_seconds);
  if (!report) return NULL;
  json_object_set_new(report, "divergence_before", report_number(r->divergence_before));
  json_object_set_new(report, "divergence_after", report_number(r->divergence_after));
  json_object_set_new(report, "parameters", parameters_json(simulation_parameters(w->s)));
  return report;
}

void window_save_report(window_state *w) {
  w->report_due = 1;
}

void window_write_report(window_state *w) {
  app_file *const file = &w->report_file;
  if (!w->report_due) return;
  w->report_due = 0;
  if (!app_may_write(&w->app, file)) return;
  json_t *report = report_json(w);
  char text[APP_PATH + 40];
  if (!report || json_dump_file(report, file->path, JSON_INDENT(2) | JSON_REAL_PRECISION(9))) {
    snprintf(text, sizeof text, "%s: cannot be written", file->path);
    app_tell_error(&w->app, text);
  } else {
    app_tell(&w->app, "%s: what is set and measured%s", file->path,
             overwrite_done(&file->question, file->path));
  }
  json_decref(report);
}
