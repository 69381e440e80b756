/* What the window writes: pictures, videos, reports. */
#include "window_state.h"

#include <stdio.h>

#include "reports.h"

void window_name_files(window_state *w) {
  const program_options *o = w->options;
  app_files_name(&w->files, "fluid", w->s->options.scene->name, o->screenshot, o->video);
}

/* ---- Pictures ---- */

static const char *draw_picture(window_state *w, int width, int height, unsigned char *rgb) {
  return fluid_view_picture(w->view, w->s, &w->look, width, height, rgb);
}

/* As large as the fluid in the window. */
void window_save_picture(window_state *w) {
  const fluid_area area = window_area(w);
  app_save_picture(&w->app, &w->files.picture, area.width, area.height, draw_picture);
}

/* ---- Videos ---- */

enum { VIDEO_RATE = 60 };

void window_video(window_state *w) {
  const fluid_area area = window_area(w);
  w->video_steps = 0;
  app_video_switch(&w->app, &w->files.video, area.width, area.height, VIDEO_RATE);
}

/* So many steps a frame as a window with 60 frames a second makes, whatever this one manages. */
void window_video_frame(window_state *w, int steps) {
  w->video_steps += steps;
  if (w->video_steps < w->steps_per_frame) return;
  w->video_steps = 0;
  app_video_frame(&w->app, &w->files.video, draw_picture);
}

/* ---- Reports ---- */

static json_t *describe(const window_state *w) {
  const ts_fluid_info *info = &w->s->info;
  const ts_fluid_result *r = &w->s->result;
  const unsigned char *solid = w->s->solid;
  int walls = 0;
  for (int32_t k = 0; k < info->width * info->height; k++) walls += solid[k] != 0;
  json_t *report = report_simulation_json(w->s);
  json_t *state =
      json_pack("{s:s, s:b, s:i, s:f, s:i, s:i, s:i, s:f, s:o, s:o}", "view", fluid_field_name(w->look.field),
                "paused", w->paused, "steps", r->steps, "time", r->time, "wall_cells", walls, "particles",
                w->look.particles ? w->particles : 0, "iterations", r->iterations, "frames_per_second",
                1 / w->frame_seconds, "divergence_before", report_number(r->divergence_before),
                "divergence_after", report_number(r->divergence_after));
  const int lost = !report || !state || json_object_update(report, state);
  json_decref(state);
  if (!lost) return report;
  json_decref(report);
  return NULL;
}

void window_save_report(window_state *w) {
  w->report_due = 1;
}

void window_write_report(window_state *w) {
  if (w->report_due) app_save_report(&w->app, &w->files.report, describe);
  w->report_due = 0;
}
