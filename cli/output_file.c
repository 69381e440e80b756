#include "output_file.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "gzip.h"
#include "message.h"
#include "platform.h"

/* ---- Removal of unfinished files when a signal ends the program ---- */

/* Names to remove. The program sets a slot last and clears it first, and the handler only reads it. So the
 * handler never sees a freed string. */
enum { max_pending = 8 };
static char *volatile pending[max_pending];

void output_abandon(void) {
  for (int i = 0; i < max_pending; i++) {
    char *const name = pending[i];
    if (name) platform_remove(name);
  }
}

static void remove_pending(int signal_number) {
  output_abandon();
  raise(signal_number);
}

static void watch_signals(void) {
  static int watching;
  if (!watching) platform_before_signals(remove_pending);
  watching = 1;
}

static void set_pending(const char *from, char *to) {
  for (int i = 0; i < max_pending; i++) {
    if (pending[i] != from) continue;
    pending[i] = to;
    return;
  }
}

/* ---- Names ---- */

/* The length of a path's directory part, including the last slash. */
static size_t directory_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/* A template for platform_create next to the target. It contains the target's name, cut at a UTF-8 character so
 * that the result fits the file system with the shortest names. */
static char *temporary_name(const char *target) {
  enum { most = 128 };
  const size_t directory = directory_length(target);
  size_t name = strlen(target) - directory;
  if (name > most)
    for (name = most; name && ((unsigned char)target[directory + name] & 0xc0) == 0x80; name--) continue;
  char *temporary = malloc(directory + name + sizeof ".XXXXXX");
  if (!temporary) return NULL;
  memcpy(temporary, target, directory + name);
  memcpy(temporary + directory + name, ".XXXXXX", sizeof ".XXXXXX");
  return temporary;
}

/* ---- One file ---- */

static int fail_output(output_file *file, int error) {
  output_discard(file);
  return error ? error : EIO;
}

static int is_standard_output(const char *path) {
  return !strcmp(path, "-");
}

int output_create(output_file *file, const char *path) {
  memset(file, 0, sizeof *file);
  platform_kind kind;
  int error = 0;
  file->name = copy_text(is_standard_output(path) ? "standard output" : path);
  if (!file->name) return ENOMEM;
  if (is_standard_output(path)) {
    error = platform_reserve_output(&file->stream);
    return error ? fail_output(file, error) : 0;
  }
  error = platform_kind_of(path, &kind);
  if (error) return fail_output(file, error);
  if (kind == PLATFORM_DIRECTORY) return fail_output(file, EISDIR);

  /* /dev/stdout and similar names may refer to a regular file that is open elsewhere and must remain the same
   * file. */
  if (kind == PLATFORM_OTHER || (kind == PLATFORM_FILE && !strncmp(path, "/dev/", 5))) {
    file->stream = fopen(path, "w");
    return file->stream ? 0 : fail_output(file, errno);
  }
  /* Renaming would also replace a read-only file, or a link instead of its target. */
  if (kind == PLATFORM_FILE && (error = platform_may_write(path))) return fail_output(file, error);
  file->path = platform_follow_links(path);
  if (!file->path) return fail_output(file, errno);
  const size_t directory = directory_length(file->path);
  if (strlen(file->path + directory) > platform_longest_name()) return fail_output(file, ENAMETOOLONG);
  char *const temporary = temporary_name(file->path);
  if (!temporary) return fail_output(file, ENOMEM);
  watch_signals();
  platform_hold_signals(1); /* until the handler can remove the file */
  file->stream = platform_create(temporary, kind == PLATFORM_FILE ? path : NULL);
  error = errno;
  if (file->stream) set_pending(NULL, temporary);
  platform_hold_signals(0);
  if (!file->stream) {
    free(temporary);
    return fail_output(file, error);
  }
  file->temporary = temporary;
  return 0;
}

/* Closes a stream. Nonzero if data was lost; *error is the first error, if known. */
static int close_stream(FILE **stream, int *error) {
  errno = 0;
  int lost = ferror(*stream);
  if (fflush(*stream) != 0) lost = 1;
  *error = errno;
  if (fclose(*stream) != 0) {
    if (!lost) *error = errno;
    lost = 1;
  }
  *stream = NULL;
  return lost;
}

/* The compressing stream ends before its file. */
static int close_both(output_file *file, int *error) {
  int later;
  const int lost = close_stream(&file->stream, error);
  if (!file->packed) return lost;
  const int is_packed_lost = close_stream(&file->packed, lost ? &later : error);
  return lost || is_packed_lost;
}

int output_finish(output_file *file) {
  int error;
  int lost = close_both(file, &error);
  if (!lost && file->temporary) {
    error = platform_rename(file->temporary, file->path);
    lost = error != 0;
    if (!lost) {
      set_pending(file->temporary, NULL);
      free(file->temporary);
      file->temporary = NULL;
    }
  }
  if (lost) return fail_output(file, error);
  output_discard(file);
  return 0;
}

void output_discard(output_file *file) {
  if (file->stream) fclose(file->stream);
  if (file->packed) fclose(file->packed);
  if (file->temporary) {
    platform_remove(file->temporary);
    set_pending(file->temporary, NULL);
  }
  free(file->temporary);
  free(file->path);
  free(file->name);
  memset(file, 0, sizeof *file);
}

/* ---- With messages ---- */

/* Returns 0, an errno, or -1 after a message. */
static int compress(output_file *file) {
  const size_t length = strlen(file->name);
  if (length < 3 || strcmp(file->name + length - 3, ".gz") != 0) return 0;
  FILE *const packing = gzip_open_writer(file->stream);
  if (packing) {
    file->packed = file->stream;
    file->stream = packing;
    return 0;
  }
  const int error = errno;
  if (!gzip_is_built())
    message("%s: this build has no zlib and cannot compress files, expected a name without .gz", file->name);
  return fail_output(file, gzip_is_built() ? error : -1);
}

int output_open(output_file *file, const char *path) {
  int error = output_create(file, path);
  if (!error) error = compress(file);
  if (error > 0)
    message("%s: %s, expected a file that can be written", is_standard_output(path) ? "standard output" : path,
            strerror(error));
  return error ? -1 : 0;
}

int output_commit(output_file *file) {
  char *const name = copy_text(file->name);
  const int error = output_finish(file);
  if (error) message("%s: %s", name ? name : "output", strerror(error));
  free(name);
  return error ? -1 : 0;
}

int output_is_finite(const char *path, const double *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (isfinite(values[i])) continue;
    message("%s: not written: number %zu of the solution is %g", path, i + 1, values[i]);
    return 0;
  }
  return 1;
}

int output_is_input(const char *path, const char *const *inputs, int count) {
  for (int i = 0; i < count; i++) {
    if (!path || !inputs[i] || !platform_is_same_file(path, inputs[i])) continue;
    message("%s: this output is also an input, expected another file", path);
    return 1;
  }
  return 0;
}

int output_check(const char *path, const char *input) {
  output_file file;
  if (!path) return 0;
  if (output_is_input(path, &input, 1)) return -1;
  if (output_open(&file, path)) return -1;
  output_discard(&file);
  return 0;
}

int output_check_directory(const char *path, int *made) {
  *made = 0;
  if (!path) return 0;
  int error = platform_make_directory(path);
  if (!error) {
    *made = 1;
    return 0;
  }
  platform_kind kind = PLATFORM_NOTHING;
  if (error == EEXIST) error = platform_kind_of(path, &kind);
  if (!error && kind != PLATFORM_DIRECTORY) error = kind == PLATFORM_NOTHING ? ENOENT : ENOTDIR;
  if (!error) error = platform_may_write(path);
  if (!error) return 0;
  message("%s: %s, expected a directory that can be written", path, strerror(error));
  return -1;
}
