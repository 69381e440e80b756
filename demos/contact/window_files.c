/* What the window writes: pictures, videos, reports. */
#include <stdio.h>

#include "reports.h"
#include "window_state.h"

void window_name_files(window_state *w) {
  const program_options *o = w->options;
  app_files_name(&w->files, "contact", w->s->scene->name, o->picture, o->film);
}

/* ---- Pictures and videos ---- */

static const char *draw_frame(window_state *w, int width, int height, unsigned char *rgb) {
  return contact_view_picture(w->view, &w->s->world, &w->camera, &w->look, width, height, rgb);
}

/* A single picture may take its time, unless the user has said otherwise. */
static const char *draw_picture(window_state *w, int width, int height, unsigned char *rgb) {
  contact_look look = w->look;
  look.coarse = w->options->shading == CONTACT_SHADING_COARSE;
  return contact_view_picture(w->view, &w->s->world, &w->camera, &look, width, height, rgb);
}

void window_save_picture(window_state *w) {
  app_save_picture(&w->app, &w->files.picture, w->screen.width, w->screen.height, draw_picture);
}

enum { VIDEO_RATE = 60 };

void window_video(window_state *w) {
  w->video_steps = 0;
  app_video_switch(&w->app, &w->files.video, w->screen.width, w->screen.height, VIDEO_RATE);
}

/* As a window with 60 frames a second would show it, whatever this one manages. */
void window_video_frame(window_state *w, int steps) {
  w->video_steps += steps;
  if (w->video_steps * w->s->parameters.step * VIDEO_RATE < 0.99 * w->speed) return;
  w->video_steps = 0;
  app_video_frame(&w->app, &w->files.video, draw_frame);
}

/* ---- Reports ---- */

static double highest(const world *bodies) {
  double most = 0;
  for (int k = 0; k < bodies->count; k++)
    if (bodies->bodies[k].mass > 0 && bodies->bodies[k].position[2] > most)
      most = bodies->bodies[k].position[2];
  return most;
}

static json_t *describe(const window_state *w) {
  const simulation *s = w->s;
  const simulation_parameters *p = &s->parameters;
  const simulation_figures *f = &s->figures;
  int moving = 0;
  for (int k = 0; k < s->world.count; k++) moving += s->world.bodies[k].mass > 0;
  return json_pack(
      "{s:s, s:s, s:s, s:i, s:b, s:i, s:f, s:i, s:o, s:i, s:i, s:f, s:f, s:f, s:s, s:i, s:f, s:b, s:b, s:i, "
      "s:f, s:{s:f, s:f}, s:{s:f, s:f, s:f, s:f}, s:f}",
      "scene", s->scene->name, "backend", s->device.backend, "device", s->device.device, "bodies", moving,
      "paused", w->paused, "steps", s->steps, "time", s->world.time, "contacts", f->contacts, "residual",
      report_number(f->residual), "sweeps", f->sweeps, "missed_steps", s->missed_steps, "friction", p->friction,
      "restitution", p->restitution, "step", p->step, "scheme", ts_lcp_scheme_name(p->scheme), "most_sweeps",
      p->sweeps, "tolerance", p->tolerance, "warm_start", !p->cold_start, "forces", w->look.forces, "held",
      s->world.held, "highest", highest(&s->world), "energy", "kinetic", f->energy.kinetic, "potential",
      f->energy.potential, "milliseconds", "collision", 1e3 * f->collision, "assembly", 1e3 * f->assembly,
      "solve", 1e3 * f->solve, "draw", 1e3 * w->seconds_draw, "frames_per_second", 1 / w->frame_seconds);
}

void window_save_report(window_state *w) {
  w->report_due = 1;
}

void window_write_report(window_state *w) {
  if (w->report_due) app_save_report(&w->app, &w->files.report, describe);
  w->report_due = 0;
}
