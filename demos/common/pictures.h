/* The pictures that a program without a window makes of its frames: a video, a file each, and one of the last
 * frame. Functions return 0, or -1 after a message. */
#ifndef PICTURES_H
#define PICTURES_H

#include "png_image.h"
#include "video.h"

typedef struct pictures {
  const char *video, *directory, *last; /* names of files, NULL: not wanted */
  video *made;
  int made_directory; /* which is taken away again if the work does not begin */
} pictures;

/* Before the work: whether all can be written and are not `input` (NULL: none). */
int pictures_check(pictures *p, const char *input);
/* The work begins, with pictures of width x height pixels. */
int pictures_open(pictures *p, int width, int height, int frames_per_second);
/* Whether any is wanted, of one that is not the last frame or of the last. */
int pictures_are_wanted(const pictures *p, int is_last);
/* Frames count from 0. */
int pictures_add(pictures *p, const image *picture, int frame, int is_last);
/* The video is whole. */
int pictures_finish(pictures *p);
/* In any case at the end. */
void pictures_close(pictures *p);

#endif
