/* What the window writes: pictures, videos, reports. */
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
  const char *name = (w->s->options.scene)->name;
  name_file(&w->picture_file, w->options->screenshot, name, ".png");
  if (!w->video) name_file(&w->video_file, w->options->video, name, ".mp4");
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

/* ---- Videos ---- */

enum { VIDEO_RATE = 60 };

static void end_video(window_state *w, int failed, const char *message) {
  if (failed)
    app_tell_error(&w->app, message);
  else
    app_tell(&w->app, "%s: a video of %d frames%s", w->video_file.path, w->video_frames,
             app_written(&w->video_file));
  image_destroy(&w->video_picture);
}

void window_video_end(window_state *w) {
  char message[SIMULATION_MESSAGE];
  if (w->video) end_video(w, video_close(&w->video, message), message);
}

void window_video(window_state *w) {
  char message[SIMULATION_MESSAGE];
  const fluid_area area = window_area(w);
  if (w->video) {
    window_video_end(w);
    return;
  }
  if (!app_may_write(&w->app, &w->video_file)) return;
  const int width = area.width & ~1, height = area.height & ~1;
  if (image_create(&w->video_picture, width, height)) {
    app_tell_error(&w->app, "out of memory");
  } else if (video_open(w->video_file.path, width, height, VIDEO_RATE, &w->video, message)) {
    image_destroy(&w->video_picture);
    app_tell_error(&w->app, message);
  } else {
    w->video_frames = w->video_steps = 0;
    app_tell(&w->app, "%s: recording; F stops it", w->video_file.path);
  }
}

/* So many steps a frame as a window with 60 frames a second makes, whatever this one manages. */
void window_video_frame(window_state *w, int steps) {
  char message[SIMULATION_MESSAGE];
  if (!w->video) return;
  w->video_steps += steps;
  if (w->video_steps < w->steps_per_frame) return;
  w->video_steps = 0;
  image *picture = &w->video_picture;
  const char *why = fluid_view_picture(w->view, w->s, &w->look, picture->width, picture->height, picture->rgb);
  if (!why && video_add(w->video, picture->rgb, message)) why = message;
  w->video_frames += !why;
  if (!why) return;
  video_discard(&w->video);
  end_video(w, 1, why);
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
  app_file *const file = &w->report_file;
  if (!w->report_due) return;
  w->report_due = 0;
  if (!app_may_write(&w->app, file)) return;
  json_t *report = describe(w);
  char text[APP_PATH + 40];
  if (!report || json_dump_file(report, file->path, JSON_INDENT(2) | JSON_REAL_PRECISION(9))) {
    snprintf(text, sizeof text, "%s: cannot be written", file->path);
    app_tell_error(&w->app, text);
  } else {
    app_tell(&w->app, "%s: settings and measurements%s", file->path, app_written(file));
  }
  json_decref(report);
}
