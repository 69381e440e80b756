/* The pictures of a program without a window: a video, one file per frame, and a picture of the last frame.
 * Functions return 0, or -1 after a message. */
#ifndef PICTURES_H
#define PICTURES_H

#include "png_image.h"
#include "video.h"

typedef struct pictures {
  const char *video, *directory, *last; /* file names; NULL: not wanted */
  video *made;
  int made_directory; /* by pictures_check; removed if the work does not begin */
} pictures;

/* Call before the work. Checks that all files can be written and differ from `input` (may be NULL). */
int pictures_check(pictures *p, const char *input);
/* Call when the work begins. Pictures have width x height pixels. */
int pictures_open(pictures *p, int width, int height, int frames_per_second);
/* Returns 1 if this frame needs a picture. `is_last`: it is the last frame. */
int pictures_are_wanted(const pictures *p, int is_last);
/* Frames are numbered from 0. */
int pictures_add(pictures *p, const image *picture, int frame, int is_last);
/* Completes the video. */
int pictures_finish(pictures *p);
/* Call at the end, also after a failure. */
void pictures_close(pictures *p);

#endif
