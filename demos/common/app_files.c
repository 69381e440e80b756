#include "app_files.h"

#include <stdio.h>

/* ---- Videos ---- */

static void end_video(app *a, app_video *v, int failed, const char *message) {
  if (failed)
    app_tell_error(a, message);
  else
    app_tell(a, "%s: a video of %d frames%s", v->file.path, v->frames, app_written(&v->file));
  image_destroy(&v->picture);
}

void app_video_end(app *a, app_video *v) {
  char message[VIDEO_MESSAGE];
  if (v->made) end_video(a, v, video_close(&v->made, message), message);
}

void app_video_switch(app *a, app_video *v, int width, int height, int rate) {
  char message[VIDEO_MESSAGE];
  if (v->made) {
    app_video_end(a, v);
    return;
  }
  if (!app_may_write(a, &v->file)) return;
  width &= ~1;
  height &= ~1;
  if (image_create(&v->picture, width, height)) {
    app_tell_error(a, "out of memory");
  } else if (video_open(v->file.path, width, height, rate, &v->made, message)) {
    image_destroy(&v->picture);
    app_tell_error(a, message);
  } else {
    v->frames = 0;
    app_tell(a, "%s: recording; F stops it", v->file.path);
  }
}

void app_video_frame(app *a, app_video *v,
                     const char *(*draw)(window_state *w, int width, int height, unsigned char *rgb)) {
  char message[VIDEO_MESSAGE];
  if (!v->made) return;
  const char *why = draw(a->state, v->picture.width, v->picture.height, v->picture.rgb);
  if (!why && video_add(v->made, v->picture.rgb, message)) why = message;
  v->frames += !why;
  if (!why) return;
  video_discard(&v->made);
  end_video(a, v, 1, why);
}

/* ---- Reports ---- */

void app_save_report(app *a, app_file *file, json_t *(*describe)(const window_state *w)) {
  if (!app_may_write(a, file)) return;
  json_t *report = describe(a->state);
  char text[APP_PATH + 40];
  if (!report || json_dump_file(report, file->path, JSON_INDENT(2) | JSON_REAL_PRECISION(9))) {
    snprintf(text, sizeof text, "%s: cannot be written", file->path);
    app_tell_error(a, text);
  } else {
    app_tell(a, "%s: settings and measurements%s", file->path, app_written(file));
  }
  json_decref(report);
}
