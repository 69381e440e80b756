/* Pictures, videos and reports that are written from a window. */
#include "app.h"

#include <stdio.h>
#include <string.h>

#include "platform.h"

/* ---- Files ---- */

int app_may_write(app *a, app_file *file) {
  platform_kind kind;
  const int known = !strcmp(file->path, file->written) || !strcmp(file->path, file->asked);
  file->asked[0] = 0;
  platform_kind_of(file->path, &kind);
  if (known || kind == PLATFORM_NOTHING) return 1;
  snprintf(file->asked, sizeof file->asked, "%s", file->path);
  app_tell(a, "%s already exists; repeat this to replace it", file->path);
  return 0;
}

const char *app_written(app_file *file) {
  const int again = !strcmp(file->path, file->written);
  snprintf(file->written, sizeof file->written, "%s", file->path);
  return again ? ", replaced" : "";
}

const char *app_file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* ---- Pictures ---- */

/* The program's own size, or the size of the scene without the controls. */
static void picture_size(const app *a, int *width, int *height) {
  if (a->program->picture_size)
    a->program->picture_size((const window_state *)a, width, height);
  else
    app_scene_size(a, width, height);
}

void app_save_picture(window_state *w) {
  app *a = (app *)w;
  app_file *file = &a->picture;
  char reason[200], text[APP_PATH + 240];
  int width, height;
  image picture;
  if (!app_may_write(a, file)) return;
  picture_size(a, &width, &height);
  if (image_create(&picture, width, height)) {
    app_tell_error(a, "out of memory for a picture");
    return;
  }
  const char *why = a->program->picture(w, 0, width, height, picture.rgb);
  if (!why && png_image_save(file->path, &picture, reason, sizeof reason)) why = reason;
  image_destroy(&picture);
  snprintf(text, sizeof text, "%s: %s", file->path, why ? why : "");
  if (why)
    app_tell_error(a, text);
  else
    app_tell(a, "%s: a picture of %d x %d pixels%s", file->path, width, height, app_written(file));
}

/* ---- Videos ---- */

enum { video_rate = 60 };

static void end_video(app *a, int failed, const char *message) {
  app_video *v = &a->video;
  if (failed)
    app_tell_error(a, message);
  else
    app_tell(a, "%s: a video of %d frames%s", v->file.path, v->frames, app_written(&v->file));
  image_destroy(&v->picture);
}

void app_end_video(app *a) {
  char message[VIDEO_MESSAGE];
  if (a->video.made) end_video(a, video_close(&a->video.made, message), message);
}

void app_switch_video(window_state *w) {
  app *a = (app *)w;
  app_video *v = &a->video;
  char message[VIDEO_MESSAGE];
  int width, height;
  if (v->made) {
    app_end_video(a);
    return;
  }
  if (!app_may_write(a, &v->file)) return;
  picture_size(a, &width, &height);
  width &= ~1; /* video formats need even sizes */
  height &= ~1;
  if (image_create(&v->picture, width, height)) {
    app_tell_error(a, "out of memory");
  } else if (video_open(v->file.path, width, height, video_rate, &v->made, message)) {
    image_destroy(&v->picture);
    app_tell_error(a, message);
  } else {
    v->frames = v->steps = 0;
    app_tell(a, "%s: recording; F stops it", v->file.path);
  }
}

void app_video_steps(app *a, int steps, double steps_per_frame) {
  app_video *v = &a->video;
  char message[VIDEO_MESSAGE];
  v->steps += steps;
  if (!v->made || v->steps < 0.99 * steps_per_frame) return;
  v->steps = 0;
  const image *p = &v->picture;
  const char *why = a->program->picture((window_state *)a, 1, p->width, p->height, p->rgb);
  if (!why && video_add(v->made, p->rgb, message)) why = message;
  v->frames += !why;
  if (!why) return;
  video_discard(&v->made);
  end_video(a, 1, why);
}

/* ---- Reports ---- */

void app_save_report(window_state *w) {
  ((app *)w)->report_due = 1;
}

void app_write_report(app *a) {
  app_file *file = &a->report;
  char text[APP_PATH + 40];
  const int due = a->report_due;
  a->report_due = 0;
  if (!due || !app_may_write(a, file)) return;
  json_t *report = a->program->describe((const window_state *)a);
  if (!report || json_dump_file(report, file->path, JSON_INDENT(2) | JSON_REAL_PRECISION(9))) {
    snprintf(text, sizeof text, "%s: cannot be written", file->path);
    app_tell_error(a, text);
  } else {
    app_tell(a, "%s: settings and measurements%s", file->path, app_written(file));
  }
  json_decref(report);
}

json_t *app_join_reports(json_t *first, json_t *second) {
  const int lost = !first || !second || json_object_update(first, second);
  json_decref(second);
  if (!lost) return first;
  json_decref(first);
  return NULL;
}

/* ---- The files of a simulation ---- */

static void name_file(app_file *file, const char *given, const char *program, const char *scene,
                      const char *ending) {
  if (given)
    snprintf(file->path, sizeof file->path, "%s", given);
  else
    snprintf(file->path, sizeof file->path, "%s-%s%s", program, scene, ending);
}

void app_name_files(app *a, const char *scene) {
  const char *const program = a->program->name;
  name_file(&a->picture, a->run->picture, program, scene, ".png");
  if (!a->video.made) name_file(&a->video.file, a->run->video, program, scene, ".mp4");
  name_file(&a->report, NULL, program, scene, ".json");
}

void app_picture_field(app *a) {
  app_file_field(a, "picture", &a->picture, "Picture", "saves the picture to this file, as PNG",
                 app_save_picture);
}

void app_files_section(app *a) {
  if (!ui_section("Files")) return;
  app_picture_field(a);
  const char *why = video_is_possible() ? NULL : "videos need ffmpeg, which is not installed";
  ui_disabled_begin(why != NULL);
  app_file_field(a, "video", &a->video.file, a->video.made ? "Stop" : "Video",
                 why ? why : "starts or stops recording a video to this file", app_switch_video);
  ui_disabled_end();
  app_file_field(a, "report", &a->report, "Report", "saves settings and measurements, as JSON",
                 app_save_report);
}
