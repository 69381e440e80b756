/* Pictures, videos and reports that a window writes. */
#ifndef APP_FILES_H
#define APP_FILES_H

#include <jansson.h>

#include "app.h"
#include "png_image.h"
#include "video.h"

typedef struct app_video {
  app_file file;
  video *made; /* NULL: none is being made */
  image picture;
  int frames;
} app_video;

/* Begins one of width x height pixels, cut to even numbers, or ends it. */
void app_video_switch(app *a, app_video *v, int width, int height, int rate);
/* Where there is one: another frame, which `draw` makes: it returns NULL, or why it failed. */
void app_video_frame(app *a, app_video *v,
                     const char *(*draw)(window_state *w, int width, int height, unsigned char *rgb));
void app_video_end(app *a, app_video *v);

/* What the window of a simulation writes. */
typedef struct app_files {
  app_file picture, report;
  app_video video;
} app_files;

/* As given on the command line (NULL: not), else PROGRAM-SCENE.png and so on; not a video's that is being made.
 */
void app_files_name(app_files *files, const char *program, const char *scene, const char *picture,
                    const char *video);
/* Their part of the panel, with what the buttons do. */
void app_files_section(app *a, app_files *files, void (*save_picture)(window_state *w),
                       void (*switch_video)(window_state *w), void (*save_report)(window_state *w));

/* Settings and measurements, as JSON; `describe` returns a new reference, or NULL without memory. */
void app_save_report(app *a, app_file *file, json_t *(*describe)(const window_state *w));

#endif
