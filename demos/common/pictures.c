#include "pictures.h"

#include <stdio.h>

#include "output_file.h"
#include "platform.h"
#include "progress.h"

int pictures_check(pictures *p, const char *input) {
  char why[VIDEO_MESSAGE];
  p->made_directory = 0;
  if (p->video && video_can_open(p->video, why)) return progress_fail(why);
  if (output_check(p->last, input)) return -1;
  return output_check_directory(p->directory, &p->made_directory);
}

int pictures_open(pictures *p, int width, int height, int frames_per_second) {
  char why[VIDEO_MESSAGE];
  if (p->video && video_open(p->video, width, height, frames_per_second, &p->made, why))
    return progress_fail(why);
  p->made_directory = 0;
  return 0;
}

int pictures_are_wanted(const pictures *p, int is_last) {
  return p->video || p->directory || (is_last && p->last);
}

static int save(const char *path, const image *picture) {
  char reason[200], why[400];
  if (!png_image_save(path, picture, reason, sizeof reason)) return 0;
  snprintf(why, sizeof why, "%.180s: %s", path, reason);
  return progress_fail(why);
}

int pictures_add(pictures *p, const image *picture, int frame, int is_last) {
  char why[VIDEO_MESSAGE], path[4096];
  if (p->made && video_add(p->made, picture->rgb, why)) return progress_fail(why);
  if (p->directory) {
    if (snprintf(path, sizeof path, "%s/frame-%05d.png", p->directory, frame) >= (int)sizeof path)
      return progress_fail("--frames-dir: the name is too long");
    if (save(path, picture)) return -1;
  }
  return is_last && p->last ? save(p->last, picture) : 0;
}

int pictures_finish(pictures *p) {
  char why[VIDEO_MESSAGE];
  return p->made && video_close(&p->made, why) ? progress_fail(why) : 0;
}

void pictures_close(pictures *p) {
  video_discard(&p->made);
  if (p->made_directory) platform_remove_directory(p->directory);
  p->made_directory = 0;
}
