#include "grid_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gzip.h"
#include "matrix_market.h"
#include "message.h"
#include "npy.h"
#include "platform.h"
#include "text_file.h"

static int say_shape(const char *option, const char *name, int64_t rows, int64_t columns, int32_t width,
                     int32_t height) {
  message("%s %s: %lld rows and %lld columns, expected %d rows and %d columns for a grid of %dx%d", option,
          name, (long long)rows, (long long)columns, height, width, width, height);
  return -1;
}

static int read_npy(FILE *stream, const char *option, const char *name, int32_t width, int32_t height,
                    double **values) {
  npy_header header;
  npy_error error;
  if (npy_read_header(stream, name, &header, &error)) {
    message("%s %s", option, error.text);
    return -1;
  }
  if (header.rows != height || header.columns != width)
    return say_shape(option, name, header.rows, header.columns, width, height);
  if (npy_check_length(stream, name, &header, &error)) {
    message("%s %s", option, error.text);
    return -1;
  }
  *values = malloc((size_t)width * (size_t)height * sizeof **values);
  if (!*values) {
    message("%s %s: out of memory for %d x %d numbers", option, name, height, width);
    return -1;
  }
  if (npy_read_values(stream, name, &header, *values, &error)) {
    message("%s %s", option, error.text);
    return -1;
  }
  return 0;
}

static int say(const char *option, const mm_error *error) {
  message("%s %s", option, error->text);
  return -1;
}

static int read_matrix(mm_file *file, const char *option, int32_t width, int32_t height, double **values) {
  mm_error error;
  int64_t duplicates;
  int failed = 0;
  if (file->header.rows != height || file->header.columns != width)
    failed = say_shape(option, file->name, file->header.rows, file->header.columns, width, height);
  if (!failed && mm_read_dense(file, 0, values, &duplicates, &error)) failed = say(option, &error);
  mm_close(file);
  return failed;
}

static int read_matrix_market(const char *option, const char *path, int32_t width, int32_t height,
                              double **values) {
  mm_file file = {0};
  mm_error error;
  if (mm_open(&file, path, &error)) return say(option, &error);
  return read_matrix(&file, option, width, height, values);
}

/* Reads either format from a gzip file. */
static int read_compressed(const char *option, const char *path, int32_t width, int32_t height,
                           double **values) {
  text_file text;
  mm_file file = {0};
  mm_error error;
  if (text_open(&text, path, "a Matrix Market or NumPy file", &error)) return say(option, &error);
  int failed;
  if (text.length && (unsigned char)*text.text == NPY_FIRST_BYTE) {
    FILE *stream = platform_open_bytes(text.text, text.length);
    failed = stream ? read_npy(stream, option, text.name, width, height, values) : -1;
    if (stream)
      fclose(stream);
    else
      message("%s %s: %s", option, text.name, strerror(errno));
  } else {
    failed = mm_open_text(&file, &text, 0, &error) ? say(option, &error)
                                                   : read_matrix(&file, option, width, height, values);
  }
  text_close(&text);
  return failed;
}

static int check_finite(const char *option, const char *name, int32_t width, int32_t height,
                        const double *values) {
  for (int32_t j = 0; j < height; j++)
    for (int32_t i = 0; i < width; i++) {
      const double value = values[(size_t)j * (size_t)width + (size_t)i];
      if (isfinite(value)) continue;
      message("%s %s: row %d, column %d: %.9g, expected a finite number", option, name, j + 1, i + 1, value);
      return -1;
    }
  return 0;
}

static int ends_in(const char *path, const char *ending) {
  const size_t length = strlen(path), own = strlen(ending);
  return length >= own && !strcmp(path + length - own, ending);
}

/* A file named .npy in another format may be compressed, which the general reader reports. */
static int refuse_npy(const char *option, const char *path) {
  text_file text;
  mm_error error;
  if (text_open(&text, path, "a NumPy file", &error)) {
    message("%s %s", option, error.text);
    return -1;
  }
  text_close(&text);
  message("%s %s: not a NumPy file", option, path);
  return -1;
}

int grid_file_read(const char *option, const char *path, int32_t width, int32_t height, double **values) {
  *values = NULL;
  const int from_input = !strcmp(path, "-");
  const char *name = from_input ? "standard input" : path;
  FILE *stream = from_input ? stdin : fopen(path, "rb");
  if (!stream) {
    message("%s %s: %s, expected a Matrix Market or NumPy file", option, path, strerror(errno));
    return -1;
  }
  const int first = fgetc(stream);
  if (first == EOF && ferror(stream)) {
    message("%s %s: %s, expected a Matrix Market or NumPy file", option, name, strerror(errno));
    if (!from_input) fclose(stream);
    return -1;
  }
  if (first != EOF) ungetc(first, stream);
  const int is_npy = first == NPY_FIRST_BYTE, is_gzip = first == GZIP_FIRST_BYTE && gzip_is_built();
  int failed = is_npy ? read_npy(stream, option, name, width, height, values) : 0;
  if (!from_input) fclose(stream);
  if (!is_npy && !is_gzip && ends_in(name, ".npy")) return refuse_npy(option, path);
  if (is_gzip)
    failed = read_compressed(option, path, width, height, values);
  else if (!is_npy)
    failed = read_matrix_market(option, path, width, height, values);
  if (!failed) failed = check_finite(option, name, width, height, *values);
  if (!failed) return 0;
  free(*values);
  *values = NULL;
  return -1;
}

void grid_file_write(const output_file *file, const char *path, const char *comment, int32_t width,
                     int32_t height, const double *values) {
  if (ends_in(path, ".npy") || ends_in(path, ".npy.gz"))
    npy_write(file->stream, height, width, values);
  else
    mm_write_dense(file->stream, comment, height, width, 0, values);
}
