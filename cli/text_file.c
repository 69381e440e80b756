#include "text_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compressed.h"
#include "gzip.h"
#include "platform.h"
#include "progress.h"

/* Reads the stream's bytes and appends a zero byte. Returns 0 or an errno. */
static int read_all(FILE *stream, text_file *file) {
  size_t capacity = 1 << 16;
  size_t bytes;
  if (platform_kind_of_stream(stream, &bytes) == PLATFORM_FILE && bytes > 0) capacity = bytes + 1;
  file->block = malloc(capacity);
  if (!file->block) return ENOMEM;
  for (size_t length = 0;;) {
    const size_t wanted = capacity - length;
    errno = 0;
    const size_t got = fread(file->block + length, 1, wanted, stream);
    length += got;
    if (got < wanted) {
      file->block[length] = 0;
      file->text = file->block;
      file->length = length;
      return ferror(stream) ? (errno ? errno : EIO) : 0;
    }
    char *larger = capacity > SIZE_MAX / 2 ? NULL : realloc(file->block, 2 * capacity);
    if (!larger) return ENOMEM;
    file->block = larger;
    capacity *= 2;
  }
}

/* A mapped file takes no memory besides the system's cache. */
static int read_stream(FILE *stream, int may_map, text_file *file) {
  if (may_map && platform_map(stream, &file->text, &file->length) == 0) {
    file->is_mapped = 1;
    file->mapped = file->text;
    file->mapped_length = file->length;
    return 0;
  }
  return read_all(stream, file);
}

/* Skips the byte order mark that some editors write before UTF-8. */
static void skip_mark(text_file *file) {
  if (file->length < 3 || memcmp(file->text, "\xef\xbb\xbf", 3) != 0) return;
  file->text += 3;
  file->length -= 3;
}

static void free_bytes(text_file *file) {
  if (file->is_mapped) platform_unmap(file->mapped, file->mapped_length);
  free(file->block);
  file->is_mapped = 0;
  file->block = NULL;
}

/* Returns 0, an errno, or -1 and the error in the compressed bytes. */
static int unpack(text_file *file, const char **why) {
  const char *const program = compressed_by(file->text, file->length);
  *why = NULL;
  if (!program || strcmp(program, "gzip") != 0 || !gzip_is_built()) return 0;
  size_t length;
  progress_begin("uncompressing %.50s", file->name);
  char *const text = gzip_unpack(file->text, file->length, &length, why);
  if (!text) return *why ? -1 : ENOMEM;
  free_bytes(file);
  file->block = text;
  file->text = text;
  file->length = length;
  file->was_compressed = 1;
  progress_begin("reading %.50s", file->name);
  return 0;
}

int text_open(text_file *file, const char *path, const char *expected, mm_error *error) {
  const int standard_input = !strcmp(path, "-");
  const char *const name = standard_input ? "standard input" : path;
  const char *why = NULL;
  progress_begin("reading %.50s", name);
  memset(file, 0, sizeof *file);
  FILE *stream = standard_input ? stdin : fopen(path, "rb");
  if (!stream) return mm_fail(error, "%.200s: %s, expected %s", path, strerror(errno), expected);
  int failed = read_stream(stream, !standard_input, file);
  if (!standard_input) fclose(stream);
  file->name = copy_text(name);
  if (!failed && !file->name) failed = ENOMEM;
  if (!failed) failed = unpack(file, &why);
  const char *const program = failed ? NULL : compressed_by(file->text, file->length);
  if (!failed && !program) {
    skip_mark(file);
    return 0;
  }
  text_close(file);
  if (program)
    return mm_fail(error, "%.200s: compressed by %s, expected %s (hint: `%s -d' uncompresses it)", name,
                   program, expected, program);
  if (why) return mm_fail(error, "%.200s: compressed by gzip, but %s, expected %s", name, why, expected);
  return mm_fail(error, "%.200s: %s, expected %s", path, strerror(failed), expected);
}

void text_close(text_file *file) {
  free_bytes(file);
  free(file->name);
  memset(file, 0, sizeof *file);
}
