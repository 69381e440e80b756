/* platform.h on POSIX systems. */
#if !defined(_WIN32)
#define _GNU_SOURCE 1 /* fopencookie */
#include "platform.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct ticker {
  double seconds;
  void (*tick)(void);
} ticker;

static void *run_ticker(void *argument) {
  const ticker *t = argument;
  while (t->tick) {
    const struct timespec rest = {(time_t)t->seconds, (long)(1e9 * (t->seconds - (double)(time_t)t->seconds))};
    nanosleep(&rest, NULL);
    t->tick();
  }
  return NULL;
}

/* Signals are delivered to the thread that called this. */
void platform_every(double seconds, void (*tick)(void)) {
  static ticker t;
  pthread_t thread;
  sigset_t all, before;
  t = (ticker){seconds, tick};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_create(&thread, NULL, run_ticker, &t) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void platform_lock(void) {
  pthread_mutex_lock(&lock);
}

void platform_unlock(void) {
  pthread_mutex_unlock(&lock);
}

/* ---- Streams ---- */

int platform_is_terminal(FILE *stream) {
  return isatty(fileno(stream));
}

int platform_columns(FILE *stream) {
  struct winsize size;
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col < 40 ? 40 : size.ws_col;
}

int platform_reserve_output(FILE **stream) {
  static int saved = -1;
  fflush(stdout);
  if (saved < 0 && (saved = dup(STDOUT_FILENO)) >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return errno;
  const int copy = saved < 0 ? -1 : dup(saved);
  *stream = copy < 0 ? NULL : fdopen(copy, "w");
  if (*stream) return 0;
  const int error = errno;
  if (copy >= 0) close(copy);
  return error;
}

/* Opened in the wrong direction, so that using a descriptor that was closed stays an error. */
int platform_reserve_descriptors(void) {
  for (int descriptor = 0; descriptor <= 2; descriptor++)
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF &&
        open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) != descriptor)
      return errno;
  return 0;
}

static platform_kind kind_of_mode(mode_t mode) {
  return S_ISREG(mode) ? PLATFORM_FILE : S_ISDIR(mode) ? PLATFORM_DIRECTORY : PLATFORM_OTHER;
}

platform_kind platform_kind_of_stream(FILE *stream, size_t *bytes) {
  struct stat info;
  if (fstat(fileno(stream), &info) != 0) return PLATFORM_OTHER;
  if (bytes) *bytes = (size_t)info.st_size;
  return kind_of_mode(info.st_mode);
}

/* The pages of a file, plus a page of zeros unless the last page has room. */
static size_t mapped_size(size_t length) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (length / page + 1) * page;
}

int platform_map(FILE *stream, const char **bytes, size_t *length) {
  if (platform_kind_of_stream(stream, length) != PLATFORM_FILE || *length == 0) return EINVAL;
  const size_t size = mapped_size(*length);
  char *const zeros = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (zeros == MAP_FAILED) return errno;
  if (mmap(zeros, *length, PROT_READ, MAP_PRIVATE | MAP_FIXED, fileno(stream), 0) == MAP_FAILED) {
    const int error = errno;
    munmap(zeros, size);
    return error;
  }
  *bytes = zeros;
  return 0;
}

void platform_unmap(const char *bytes, size_t length) {
  munmap((void *)(uintptr_t)bytes, mapped_size(length));
}

void *platform_allocate(size_t bytes) {
  char *const block = malloc(bytes);
#if defined(MADV_HUGEPAGE)
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)block;
  const uintptr_t first = (begin + page - 1) / page * page, end = (begin + bytes) / page * page;
  if (block && bytes >= 1 << 22)
    madvise(block + (first - begin), end - first, MADV_HUGEPAGE); /* fails on some systems */
#endif
  return block;
}

#if defined(__linux__) /* the command needs argp, and is built only here */

typedef struct writer {
  void *argument;
  int (*write)(void *argument, const char *bytes, size_t length);
  int (*close)(void *argument);
} writer;

static ssize_t write_to(void *cookie, const char *bytes, size_t length) {
  const writer *w = cookie;
  const int error = w->write(w->argument, bytes, length);
  if (!error) return (ssize_t)length;
  errno = error;
  return 0; /* indicates an error; negative values are not allowed */
}

static int close_writer(void *cookie) {
  const writer *w = cookie;
  const int error = w->close(w->argument);
  free(cookie);
  if (!error) return 0;
  errno = error;
  return EOF;
}

FILE *platform_open_writer(void *argument, int (*write)(void *argument, const char *bytes, size_t length),
                           int (*close)(void *argument)) {
  writer *const w = malloc(sizeof *w);
  if (!w) return NULL;
  *w = (writer){argument, write, close};
  FILE *const stream = fopencookie(w, "w", (cookie_io_functions_t){.write = write_to, .close = close_writer});
  if (!stream) free(w);
  return stream;
}

#else

FILE *platform_open_writer(void *argument, int (*write)(void *argument, const char *bytes, size_t length),
                           int (*close)(void *argument)) {
  (void)argument, (void)write, (void)close;
  errno = ENOSYS;
  return NULL;
}

#endif

FILE *platform_open_bytes(const char *bytes, size_t length) {
  return fmemopen((void *)(uintptr_t)bytes, length, "rb");
}

/* ---- Files by name ---- */

int platform_kind_of(const char *path, platform_kind *kind) {
  struct stat info;
  *kind = PLATFORM_NOTHING;
  if (stat(path, &info) != 0) return errno == ENOENT ? 0 : errno;
  *kind = kind_of_mode(info.st_mode);
  return 0;
}

int platform_is_same_file(const char *path, const char *other) {
  struct stat a, b;
  if (stat(path, &a) != 0 || stat(other, &b) != 0) return 0;
  return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int platform_may_write(const char *path) {
  platform_kind kind;
  const int error = platform_kind_of(path, &kind);
  if (error) return error;
  return access(path, kind == PLATFORM_DIRECTORY ? W_OK | X_OK : W_OK) ? errno : 0;
}

char *platform_follow_links(const char *path) {
  char *now = copy_text(path), link[PATH_MAX];
  for (int links = 0; now; links++) {
    const ssize_t length = readlink(now, link, sizeof link - 1);
    if (length < 0) return now; /* not a link, or does not exist */
    link[length] = 0;
    const char *slash = strrchr(now, '/');
    const size_t before = *link == '/' || !slash ? 0 : (size_t)(slash - now) + 1;
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

size_t platform_longest_name(void) {
  return NAME_MAX;
}

/* Sets the permissions that open() would give: those of the replaced file, or those that the umask allows. */
static void set_permissions(int descriptor, const char *like) {
  struct stat replaced;
  const mode_t mask = umask(0);
  umask(mask);
  const mode_t mode = like && stat(like, &replaced) == 0 ? replaced.st_mode & 0777 : 0666 & ~mask;
  /* A file system without permissions rejects this; the file is still valid. */
  if (fchmod(descriptor, mode) != 0) return;
}

FILE *platform_create(char *name, const char *like) {
  const int descriptor = mkstemp(name);
  if (descriptor < 0) return NULL;
  set_permissions(descriptor, like);
  FILE *stream = fdopen(descriptor, "w");
  if (stream) return stream;
  const int error = errno;
  close(descriptor);
  unlink(name);
  errno = error;
  return NULL;
}

int platform_remove(const char *path) {
  return unlink(path) ? errno : 0;
}

int platform_rename(const char *from, const char *to) {
  return rename(from, to) ? errno : 0;
}

int platform_make_directory(const char *path) {
  return mkdir(path, 0777) ? errno : 0;
}

int platform_remove_directory(const char *path) {
  return rmdir(path) ? errno : 0;
}

static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ};
enum { signal_count = sizeof signals / sizeof signals[0] };

static void (*stop_handler)(int);

static int is_stop(int signal_number) {
  return signal_number == SIGINT || signal_number == SIGTERM;
}

void platform_before_signals(void (*handler)(int)) {
  for (size_t i = 0; i < signal_count; i++) {
    struct sigaction action = {0}, old;
    if (sigaction(signals[i], NULL, &old) != 0 || old.sa_handler == SIG_IGN) continue;
    if (stop_handler && is_stop(signals[i])) continue;
    action.sa_handler = handler;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(signals[i], &action, NULL);
  }
}

/* One signal at a time; interrupted reads and writes restart. */
void platform_on_stop(void (*handler)(int)) {
  struct sigaction action = {0}, old;
  stop_handler = handler;
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
  for (size_t i = 0; i < signal_count; i++)
    if (is_stop(signals[i]) && sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction(signals[i], &action, NULL);
}

void platform_end_by(int signal_number) {
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void platform_write_error(const char *text, size_t length) {
  if (write(STDERR_FILENO, text, length) < 0) return;
}

void platform_hold_signals(int hold) {
  static sigset_t before;
  sigset_t held;
  sigemptyset(&held);
  for (size_t i = 0; i < signal_count; i++) sigaddset(&held, signals[i]);
  if (hold)
    sigprocmask(SIG_BLOCK, &held, &before);
  else
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- The system ---- */

void platform_be_silent(void) {
  if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) return;
}

/* gethostname may omit the zero byte of a truncated name. */
void platform_host_name(char *name, size_t size) {
  if (gethostname(name, size) != 0) *name = 0;
  name[size - 1] = 0;
}

const void *platform_load(const char *path, const char *symbol, char *error, size_t size) {
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  const void *found = library ? dlsym(library, symbol) : NULL;
  if (!found) snprintf(error, size, "%s", dlerror());
  return found;
}

#else
typedef int platform_posix_is_empty; /* ISO C requires a declaration */
#endif
