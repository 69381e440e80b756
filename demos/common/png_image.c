#include "png_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "output_file.h"

int image_create(image *out, int width, int height) {
  *out = (image){width, height, calloc((size_t)width * (size_t)height, 3)};
  return out->rgb ? 0 : -1;
}

void image_destroy(image *picture) {
  free(picture->rgb);
  *picture = (image){0};
}

static int fail(png_image *png, char *why, size_t why_size) {
  snprintf(why, why_size, "%s", png->message);
  png_image_free(png);
  return -1;
}

int png_image_save(const char *path, const image *picture, char *why, size_t why_size) {
  png_image png = {.version = PNG_IMAGE_VERSION,
                   .width = (png_uint_32)picture->width,
                   .height = (png_uint_32)picture->height,
                   .format = PNG_FORMAT_RGB};
  output_file file;
  int error = output_create(&file, path);
  if (error) {
    snprintf(why, why_size, "%s, expected a file that can be written", strerror(error));
    return -1;
  }
  errno = 0;
  if (!png_image_write_to_stdio(&png, file.stream, 0, picture->rgb, 0, NULL)) {
    if (errno) snprintf(png.message, sizeof png.message, "%s", strerror(errno));
    output_discard(&file);
    return fail(&png, why, why_size);
  }
  error = output_finish(&file);
  if (!error) return 0;
  snprintf(why, why_size, "%s", strerror(error));
  return -1;
}

int png_image_load(const char *path, image *out, char *why, size_t why_size) {
  png_image png = {.version = PNG_IMAGE_VERSION};
  *out = (image){0};
  if (!png_image_begin_read_from_file(&png, path)) return fail(&png, why, why_size);
  png.format = PNG_FORMAT_RGB;
  if (image_create(out, (int)png.width, (int)png.height)) {
    snprintf(why, why_size, "out of memory for %d x %d pixels", (int)png.width, (int)png.height);
    png_image_free(&png);
    return -1;
  }
  /* Blend transparent pixels with white. Without a background libpng blends them with the buffer's contents:
   * black. */
  const png_color white = {255, 255, 255};
  if (png_image_finish_read(&png, &white, out->rgb, 0, NULL)) return 0;
  image_destroy(out);
  return fail(&png, why, why_size);
}
