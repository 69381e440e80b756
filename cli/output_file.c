#include "output_file.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

/* ---- A signal that ends the program takes unfinished files with it ---- */

/* Names to remove. A slot is set last and cleared first, and the handler only reads it, so that the handler
 * never sees a freed string. */
enum { max_pending = 8 };
static char *volatile pending[max_pending];

static void remove_pending(int signal_number) {
  for (int i = 0; i < max_pending; i++) {
    char *const name = pending[i];
    if (name) unlink(name);
  }
  /* SA_RESETHAND has put the default action back. */
  raise(signal_number);
}

static void watch_signals(void) {
  static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ};
  static int watching;
  if (watching) return;
  watching = 1;
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    struct sigaction action = {0}, old;
    if (sigaction(signals[i], NULL, &old) != 0 || old.sa_handler == SIG_IGN) continue;
    action.sa_handler = remove_pending;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(signals[i], &action, NULL);
  }
}

static void set_pending(const char *from, char *to) {
  for (int i = 0; i < max_pending; i++) {
    if (pending[i] != from) continue;
    pending[i] = to;
    return;
  }
}

/* ---- Names ---- */

/* The length of the part of a path up to its last slash, which it includes. */
static size_t directory_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/* What a path stands for when its last part is a link, whether there is a file at the end or not; NULL with
 * errno. */
static char *follow_links(const char *path) {
  char *now = strdup(path), link[PATH_MAX];
  for (int links = 0; now; links++) {
    const ssize_t length = readlink(now, link, sizeof link - 1);
    if (length < 0) return now; /* no link, or not there */
    link[length] = 0;
    const size_t before = *link == '/' ? 0 : directory_length(now);
    char *next = links < 40 ? malloc(before + (size_t)length + 1) : NULL;
    if (next) {
      memcpy(next, now, before);
      memcpy(next + before, link, (size_t)length + 1);
    } else {
      errno = links < 40 ? ENOMEM : ELOOP;
    }
    free(now);
    now = next;
  }
  return NULL;
}

/* For mkstemp, beside the target: its name, cut to what leaves room for the rest where file systems take the
 * fewest bytes in a name, and at the end of a character of UTF-8. */
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

/* Permissions as if the file had been made by open(): those of the file it replaces, or what the umask leaves.
 */
static void set_permissions(int descriptor, const struct stat *replaced) {
  const mode_t mask = umask(0);
  umask(mask);
  const mode_t mode = replaced ? replaced->st_mode & 0777 : 0666 & ~mask;
  /* A file system without permissions refuses this, and the file is still good. */
  if (fchmod(descriptor, mode) != 0) return;
}

static int give_up(output_file *file, int error) {
  output_discard(file);
  return error ? error : EIO;
}

int output_create(output_file *file, const char *path) {
  memset(file, 0, sizeof *file);
  struct stat target;
  const int exists = stat(path, &target) == 0;
  if (!exists && errno != ENOENT) return errno;
  if (exists && S_ISDIR(target.st_mode)) return EISDIR;

  /* /dev/stdout and the like may stand for a regular file, which is open elsewhere and must stay that file. */
  if (exists && (!S_ISREG(target.st_mode) || !strncmp(path, "/dev/", 5))) {
    file->stream = fopen(path, "w");
    return file->stream ? 0 : errno;
  }
  /* Renaming would replace a file that the user may not write, and a link instead of what it points to. */
  if (exists && access(path, W_OK) != 0) return errno;
  file->path = follow_links(path);
  if (!file->path) return errno;
  const size_t directory = directory_length(file->path);
  if (strlen(file->path + directory) > NAME_MAX) return give_up(file, ENAMETOOLONG);
  char *const temporary = temporary_name(file->path);
  if (!temporary) return give_up(file, ENOMEM);
  watch_signals();
  const int descriptor = mkstemp(temporary);
  if (descriptor < 0) {
    const int error = errno;
    free(temporary);
    return give_up(file, error);
  }
  file->temporary = temporary;
  set_pending(NULL, temporary);
  set_permissions(descriptor, exists ? &target : NULL);
  file->stream = fdopen(descriptor, "w");
  if (file->stream) return 0;
  const int error = errno;
  close(descriptor);
  return give_up(file, error);
}

int output_finish(output_file *file) {
  errno = 0;
  int lost = ferror(file->stream);
  if (fflush(file->stream) != 0) lost = 1;
  int error = errno;
  if (fclose(file->stream) != 0) {
    if (!lost) error = errno;
    lost = 1;
  }
  file->stream = NULL;
  if (!lost && file->temporary) {
    lost = rename(file->temporary, file->path) != 0;
    error = errno;
    if (!lost) {
      set_pending(file->temporary, NULL);
      free(file->temporary);
      file->temporary = NULL;
    }
  }
  if (lost) return give_up(file, error);
  output_discard(file);
  return 0;
}

void output_discard(output_file *file) {
  if (file->stream) fclose(file->stream);
  if (file->temporary) {
    unlink(file->temporary);
    set_pending(file->temporary, NULL);
  }
  free(file->temporary);
  free(file->path);
  memset(file, 0, sizeof *file);
}

/* ---- With messages ---- */

int output_open(output_file *file, const char *path) {
  const int error = output_create(file, path);
  if (error) message("%s: %s, expected a file that can be written", path, strerror(error));
  return error ? -1 : 0;
}

int output_commit(output_file *file) {
  char *const path = file->path ? strdup(file->path) : NULL;
  const int error = output_finish(file);
  if (error) message("%s: %s", path ? path : "output", strerror(error));
  free(path);
  return error ? -1 : 0;
}

int output_is_finite(const char *path, const float *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (isfinite(values[i])) continue;
    message("%s: not written: number %zu of the solution is %g", path, i + 1, (double)values[i]);
    return 0;
  }
  return 1;
}

static int same_file(const char *path, const char *other) {
  struct stat a, b;
  if (stat(path, &a) != 0 || stat(other, &b) != 0) return 0;
  return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int output_is_input(const char *path, const char *const *inputs, int count) {
  for (int i = 0; i < count; i++) {
    if (!path || !inputs[i] || !same_file(path, inputs[i])) continue;
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
  if (mkdir(path, 0777) == 0) {
    *made = 1;
    return 0;
  }
  struct stat info;
  int error = errno;
  if (error == EEXIST) error = stat(path, &info) ? errno : S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
  if (!error && access(path, W_OK | X_OK)) error = errno;
  if (!error) return 0;
  message("%s: %s, expected a directory that can be written", path, strerror(error));
  return -1;
}
