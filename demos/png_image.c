#include "png_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <png.h>

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

/* A file under another name beside its target, which it becomes when it is whole. */
typedef struct new_file {
  FILE *stream;
  char *target; /* links followed; NULL: it is no regular file, or nothing can be made beside it: it is written
                   itself */
  char *beside;
} new_file;

static void new_file_free(new_file *file) {
  if (file->beside) unlink(file->beside);
  free(file->beside);
  free(file->target);
}

static void new_file_open(new_file *file, const char *path) {
  struct stat found;
  const int exists = stat(path, &found) == 0;
  *file = (new_file){0};
  if (!exists || (S_ISREG(found.st_mode) && access(path, W_OK) == 0))
    file->target = exists ? realpath(path, NULL) : strdup(path);
  const size_t size = file->target ? strlen(file->target) + sizeof ".XXXXXX" : 0;
  file->beside = size ? malloc(size) : NULL;
  if (file->beside) {
    snprintf(file->beside, size, "%s.XXXXXX", file->target);
    const int descriptor = mkstemp(file->beside);
    if (descriptor >= 0) {
      const mode_t mask = umask(0);
      umask(mask);
      /* A file system without permissions refuses this, and the file is still good. */
      if (fchmod(descriptor, exists ? found.st_mode & 0777 : 0666 & ~mask) == 0) errno = 0;
      file->stream = fdopen(descriptor, "wb");
      if (!file->stream) close(descriptor);
      return;
    }
    free(file->beside);
    file->beside = NULL;
  }
  file->stream = fopen(path, "wb");
}

/* Returns 0, or errno; 0 too where only libpng knows what was wrong. */
static int write_png(png_image *png, new_file *file, const image *picture, int *written) {
  errno = 0;
  *written = png_image_write_to_stdio(png, file->stream, 0, picture->rgb, 0, NULL);
  int error = errno;
  if (fclose(file->stream) != 0 && *written) {
    error = errno;
    *written = 0;
  }
  if (!*written || !file->beside) return error;
  *written = rename(file->beside, file->target) == 0;
  return *written ? 0 : errno;
}

int png_image_save(const char *path, const image *picture, char *why, size_t why_size) {
  png_image png = {.version = PNG_IMAGE_VERSION,
                   .width = (png_uint_32)picture->width,
                   .height = (png_uint_32)picture->height,
                   .format = PNG_FORMAT_RGB};
  new_file file;
  int written = 0;
  new_file_open(&file, path);
  if (!file.stream) {
    snprintf(why, why_size, "%s, expected a file that can be written", strerror(errno));
    new_file_free(&file);
    return -1;
  }
  const int error = write_png(&png, &file, picture, &written);
  if (written) { /* the other name is gone */
    free(file.beside);
    file.beside = NULL;
  }
  new_file_free(&file);
  if (written) return 0;
  if (error) snprintf(png.message, sizeof png.message, "%s", strerror(error));
  return fail(&png, why, why_size);
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
  if (png_image_finish_read(&png, NULL, out->rgb, 0, NULL)) return 0;
  image_destroy(out);
  return fail(&png, why, why_size);
}
