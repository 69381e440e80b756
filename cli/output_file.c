#include "output_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

/* Names to remove when a signal ends the program. A slot is set last and cleared first, and the handler only
 * reads it, so that the handler never sees a freed string. */
enum { max_pending = 4 };
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
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  static int watching;
  if (watching) return;
  watching = 1;
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    struct sigaction action = {0}, old;
    if (sigaction(signals[i], NULL, &old) != 0 || old.sa_handler == SIG_IGN) continue;
    action.sa_handler = remove_pending;
    action.sa_flags = SA_RESETHAND;
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

static int fail(output_file *file, const char *path, int error) {
  message("%s: %s, expected a file that can be written", path, strerror(error));
  output_discard(file);
  return -1;
}

/* Permissions as if the file had been made by open(): those of the file it replaces, or what the umask leaves.
 */
static void set_permissions(int descriptor, const struct stat *replaced) {
  const mode_t mask = umask(0);
  umask(mask);
  const mode_t mode = replaced ? replaced->st_mode & 0777 : 0666 & ~mask;
  /* A file system without permissions refuses this, and the file is still good. */
  if (fchmod(descriptor, mode) != 0) return;
}

int output_open(output_file *file, const char *path) {
  memset(file, 0, sizeof *file);
  struct stat target;
  const int exists = stat(path, &target) == 0;
  if (!exists && errno != ENOENT) return fail(file, path, errno);
  if (exists && S_ISDIR(target.st_mode)) return fail(file, path, EISDIR);

  /* /dev/stdout and the like may stand for a regular file, which is open elsewhere and must stay that file. */
  if (exists && (!S_ISREG(target.st_mode) || !strncmp(path, "/dev/", 5))) {
    file->stream = fopen(path, "w");
    return file->stream ? 0 : fail(file, path, errno);
  }
  /* Renaming would replace a file that the user may not write, and a link instead of what it points to. */
  if (exists && access(path, W_OK) != 0) return fail(file, path, errno);
  file->path = exists ? realpath(path, NULL) : strdup(path);
  if (!file->path) return fail(file, path, errno);

  const size_t length = strlen(file->path) + sizeof ".XXXXXX";
  char *temporary = malloc(length);
  if (!temporary) return fail(file, path, ENOMEM);
  snprintf(temporary, length, "%s.XXXXXX", file->path);
  watch_signals();
  const int descriptor = mkstemp(temporary);
  if (descriptor < 0) {
    const int error = errno;
    free(temporary);
    return fail(file, path, error);
  }
  file->temporary = temporary;
  set_pending(NULL, temporary);
  set_permissions(descriptor, exists ? &target : NULL);
  file->stream = fdopen(descriptor, "w");
  if (file->stream) return 0;
  const int error = errno;
  close(descriptor);
  return fail(file, path, error);
}

int output_commit(output_file *file) {
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
    error = rename(file->temporary, file->path) == 0 ? 0 : errno;
    if (!error) {
      set_pending(file->temporary, NULL);
      free(file->temporary);
      file->temporary = NULL;
    }
  }
  const int failed = lost || file->temporary;
  if (failed) message("%s: %s", file->path ? file->path : "output", error ? strerror(error) : "write error");
  output_discard(file);
  return failed ? -1 : 0;
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

int same_file(const char *path, const char *other) {
  struct stat a, b;
  if (stat(path, &a) != 0 || stat(other, &b) != 0) return 0;
  return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int output_check(const char *path, const char *input) {
  output_file file;
  if (!path) return 0;
  if (input && same_file(path, input)) {
    message("%s: this output is also the input, expected another file", path);
    return -1;
  }
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
