/* RGB pictures in memory, three bytes per pixel, top row first, and PNG files. */
#ifndef PNG_IMAGE_H
#define PNG_IMAGE_H

#include <stddef.h>

typedef struct image {
  int width, height;
  unsigned char *rgb; /* width * height * 3 */
} image;

/* Returns 0, or -1 if memory runs out. */
int image_create(image *out, int width, int height);
void image_destroy(image *picture);

/* Returns 0, or -1 with the reason in `why`. On failure an existing file of that name is unchanged. */
int png_image_save(const char *path, const image *picture, char *why, size_t why_size);
/* Transparent pixels are blended with white. */
int png_image_load(const char *path, image *out, char *why, size_t why_size);

#endif
