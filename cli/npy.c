/* The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. Debian has no C library
 * that reads it. */
#include "npy.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "platform.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC_LENGTH = 6, LONGEST_HEADER = 65536 };

__attribute__((format(printf, 3, 4))) static int fail(npy_error *error, const char *name, const char *format,
                                                      ...) {
  va_list arguments;
  const int used = snprintf(error->text, sizeof error->text, "%.120s: ", name);
  va_start(arguments, format);
  vsnprintf(error->text + used, sizeof error->text - (size_t)used, format, arguments);
  va_end(arguments);
  return -1;
}

/* ---- The dictionary ---- */

typedef struct cursor {
  const char *at;
} cursor;

static void skip_space(cursor *c) {
  while (isspace((unsigned char)*c->at)) c->at++;
}

static int read_char(cursor *c, char wanted) {
  skip_space(c);
  if (*c->at != wanted) return 0;
  c->at++;
  return 1;
}

/* Reads a string in single or double quotes, without escapes. */
static int read_string(cursor *c, char *text, size_t size) {
  skip_space(c);
  const char quote = *c->at;
  if (quote != '\'' && quote != '"') return 0;
  const char *end = strchr(c->at + 1, quote);
  if (!end || (size_t)(end - c->at - 1) >= size) return 0;
  memcpy(text, c->at + 1, (size_t)(end - c->at - 1));
  text[end - c->at - 1] = '\0';
  c->at = end + 1;
  return 1;
}

static int read_word(cursor *c, const char *word) {
  skip_space(c);
  if (strncmp(c->at, word, strlen(word)) != 0) return 0;
  c->at += strlen(word);
  return 1;
}

static int read_number(cursor *c, int64_t *number) {
  skip_space(c);
  if (!isdigit((unsigned char)*c->at)) return 0;
  char *end;
  errno = 0;
  *number = strtoll(c->at, &end, 10);
  if (errno) return 0;
  if (*end == 'L') end++; /* as written by Python 2 */
  c->at = end;
  return 1;
}

/* Reads "(513, 1025)". Also counts dimensions beyond the second. */
static int read_shape(cursor *c, int64_t sizes[2], int *dimensions) {
  int64_t size;
  *dimensions = 0;
  if (!read_char(c, '(')) return 0;
  while (!read_char(c, ')')) {
    if (!read_number(c, &size)) return 0;
    if (*dimensions < 2) sizes[*dimensions] = size;
    ++*dimensions;
    if (!read_char(c, ',')) return read_char(c, ')');
  }
  return 1;
}

static int known_type(const char *descr, npy_header *header) {
  if (strlen(descr) != 3 || !strchr("<>|=", descr[0])) return 0;
  header->big_endian = descr[0] == '>';
  header->kind = descr[1];
  header->item_bytes = descr[2] - '0';
  const int n = header->item_bytes;
  if (descr[0] == '|' && n != 1) return 0;
  switch (header->kind) {
  case 'f':
    return n == 4 || n == 8;
  case 'i':
  case 'u':
    return n == 1 || n == 2 || n == 4 || n == 8;
  case 'b':
    return n == 1;
  default:
    return 0;
  }
}

static int parse(const char *text, const char *name, npy_header *header, npy_error *error) {
  cursor c = {text};
  char key[32], descr[64] = "";
  int64_t sizes[2] = {0, 0};
  int order = -1, dimensions = -1;
  int good = read_char(&c, '{');
  while (good && !read_char(&c, '}')) {
    good = read_string(&c, key, sizeof key) && read_char(&c, ':');
    if (!good) break;
    if (!strcmp(key, "descr")) {
      skip_space(&c);
      if (*c.at == '[') return fail(error, name, "an array of records, expected one of numbers");
      good = read_string(&c, descr, sizeof descr);
    } else if (!strcmp(key, "fortran_order")) {
      order = read_word(&c, "True") ? 1 : read_word(&c, "False") ? 0 : -1;
      good = order >= 0;
    } else {
      good = !strcmp(key, "shape") && read_shape(&c, sizes, &dimensions);
    }
    if (good && !read_char(&c, ',')) {
      good = read_char(&c, '}');
      break;
    }
  }
  skip_space(&c);
  if (!good || *c.at || !*descr || order < 0 || dimensions < 0)
    return fail(error, name, "the header is not a dictionary with descr, fortran_order and shape");
  if (!known_type(descr, header))
    return fail(error, name, "numbers of type '%.20s', expected f4, f8, i1 to i8, u1 to u8 or b1", descr);
  if (dimensions != 2)
    return fail(error, name, "an array of %d dimension%s, expected 2", dimensions, dimensions == 1 ? "" : "s");
  header->fortran_order = order;
  header->rows = sizes[0];
  header->columns = sizes[1];
  return 0;
}

int npy_read_header(FILE *stream, const char *name, npy_header *header, npy_error *error) {
  unsigned char start[MAGIC_LENGTH + 2], length_bytes[4] = {0};
  memset(header, 0, sizeof *header);
  if (fread(start, 1, sizeof start, stream) != sizeof start || memcmp(start, magic, MAGIC_LENGTH) != 0)
    return fail(error, name, "not a NumPy file");
  const int version = start[MAGIC_LENGTH];
  if (version < 1 || version > 3)
    return fail(error, name, "NumPy format version %d.%d, expected 1 to 3", version, start[MAGIC_LENGTH + 1]);
  const size_t length_size = version == 1 ? 2 : 4;
  if (fread(length_bytes, 1, length_size, stream) != length_size)
    return fail(error, name, "the file ends inside its header");
  const uint32_t length = (uint32_t)length_bytes[0] | (uint32_t)length_bytes[1] << 8 |
                          (uint32_t)length_bytes[2] << 16 | (uint32_t)length_bytes[3] << 24;
  if (length > LONGEST_HEADER)
    return fail(error, name, "a header of %lu bytes, expected at most %d", (unsigned long)length,
                LONGEST_HEADER);
  char *text = malloc((size_t)length + 1);
  if (!text) return fail(error, name, "out of memory for its header");
  int failed = 0;
  if (fread(text, 1, length, stream) != length) failed = fail(error, name, "the file ends inside its header");
  text[length] = '\0';
  if (!failed && strlen(text) != length) failed = fail(error, name, "a zero byte inside its header");
  if (!failed) failed = parse(text, name, header, error);
  free(text);
  return failed;
}

/* ---- The numbers ---- */

static double number(const unsigned char *bytes, const npy_header *h) {
  uint64_t bits = 0;
  for (int k = 0; k < h->item_bytes; k++)
    bits |= (uint64_t)bytes[h->big_endian ? h->item_bytes - 1 - k : k] << (8 * k);
  const int shift = 64 - 8 * h->item_bytes;
  switch (h->kind) {
  case 'i': {
    /* Sign extension: shifts the sign bit to the top and back. */
    const int64_t high = (int64_t)(bits << shift);
    return (double)(high >> shift);
  }
  case 'b':
    return bits != 0;
  case 'u':
    return (double)bits;
  default:
    break;
  }
  if (h->item_bytes == 8) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  const uint32_t half = (uint32_t)bits;
  float value;
  memcpy(&value, &half, sizeof value);
  return (double)value;
}

static int fail_short(npy_error *error, const char *name, const npy_header *h, size_t found) {
  return fail(error, name, "the file ends after %zu numbers, expected %lld x %lld", found, (long long)h->rows,
              (long long)h->columns);
}

int npy_check_length(FILE *stream, const char *name, const npy_header *h, npy_error *error) {
  size_t bytes;
  const long start = ftell(stream);
  if (start < 0 || platform_kind_of_stream(stream, &bytes) != PLATFORM_FILE || bytes < (size_t)start) return 0;
  const size_t found = (bytes - (size_t)start) / (size_t)h->item_bytes;
  return found / (size_t)h->columns < (size_t)h->rows ? fail_short(error, name, h, found) : 0;
}

int npy_read_values(FILE *stream, const char *name, const npy_header *h, double *values, npy_error *error) {
  unsigned char buffer[8 * 512];
  const size_t item = (size_t)h->item_bytes;
  const size_t rows = (size_t)h->rows, columns = (size_t)h->columns, count = rows * columns;
  const size_t inner = h->fortran_order ? rows : columns;
  for (size_t done = 0; done < count;) {
    const size_t wanted = count - done < 512 ? count - done : 512;
    errno = 0;
    const size_t got = fread(buffer, item, wanted, stream);
    for (size_t k = 0; k < got; k++) {
      const size_t outer = (done + k) / inner, at = (done + k) % inner;
      values[h->fortran_order ? at * columns + outer : outer * columns + at] = number(buffer + k * item, h);
    }
    done += got;
    if (got == wanted) continue;
    if (ferror(stream)) return fail(error, name, "%s", strerror(errno ? errno : EIO));
    return fail_short(error, name, h, done);
  }
  if (fgetc(stream) != EOF)
    return fail(error, name, "further bytes after %zu x %zu numbers, expected none", rows, columns);
  return 0;
}

/* The header is padded so that data begins at a multiple of 64 bytes. */
void npy_write(FILE *stream, int64_t rows, int64_t columns, const double *values) {
  enum { PREFIX = MAGIC_LENGTH + 4, TOTAL = 128 };
  char text[TOTAL - PREFIX + 1];
  const int used =
      snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': (%lld, %lld), }",
               (long long)rows, (long long)columns);
  memset(text + used, ' ', sizeof text - (size_t)used);
  text[TOTAL - PREFIX - 1] = '\n';
  fwrite(magic, 1, MAGIC_LENGTH, stream);
  const unsigned char version_and_length[4] = {1, 0, TOTAL - PREFIX, 0};
  fwrite(version_and_length, 1, sizeof version_and_length, stream);
  fwrite(text, 1, TOTAL - PREFIX, stream);
  for (int64_t k = 0; k < rows * columns; k++) {
    uint64_t bits;
    unsigned char bytes[8];
    memcpy(&bits, &values[k], sizeof bits);
    for (int i = 0; i < 8; i++) bytes[i] = bits >> 8 * i & 255;
    fwrite(bytes, 1, sizeof bytes, stream);
  }
}
