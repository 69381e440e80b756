#include "app_files.h"

#include <stdio.h>

#include "ui.h"

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

/* ---- The files of a simulation ---- */

static void name_file(app_file *file, const char *given, const char *program, const char *scene,
                      const char *ending) {
  if (given)
    snprintf(file->path, sizeof file->path, "%s", given);
  else
    snprintf(file->path, sizeof file->path, "%s-%s%s", program, scene, ending);
}

void app_files_name(app_files *files, const char *program, const char *scene, const char *picture,
                    const char *video) {
  name_file(&files->picture, picture, program, scene, ".png");
  if (!files->video.made) name_file(&files->video.file, video, program, scene, ".mp4");
  name_file(&files->report, NULL, program, scene, ".json");
}

void app_files_section(app *a, app_files *files, void (*save_picture)(window_state *w),
                       void (*switch_video)(window_state *w), void (*save_report)(window_state *w)) {
  if (!ui_section("Files")) return;
  app_file_field(a, "picture", &files->picture, "Picture", "saves the picture in this file, as PNG",
                 save_picture);
  const char *why = video_is_possible() ? NULL : "videos need ffmpeg, which is not installed";
  ui_disabled_begin(why != NULL);
  app_file_field(a, "video", &files->video.file, files->video.made ? "Stop" : "Video",
                 why ? why : "starts or stops a video in this file", switch_video);
  ui_disabled_end();
  app_file_field(a, "report", &files->report, "Report", "saves settings and measurements, as JSON",
                 save_report);
}
