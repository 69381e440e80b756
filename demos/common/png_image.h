/* Pictures in memory, three bytes a pixel from the top row down, and PNG files made of them. */
#ifndef PNG_IMAGE_H
#define PNG_IMAGE_H

#include <stddef.h>

typedef struct image {
  int width, height;
  unsigned char *rgb; /* width * height * 3 */
} image;

/* Returns 0, or -1 without memory. */
int image_create(image *out, int width, int height);
void image_destroy(image *picture);

/* Returns 0, or -1 with the reason in `why`; an older file of that name is then as it was. */
int png_image_save(const char *path, const image *picture, char *why, size_t why_size);
/* Transparent parts become white. */
int png_image_load(const char *path, image *out, char *why, size_t why_size);

#endif
