#if !defined(_WIN32)
#define _GNU_SOURCE 1 /* F_SETPIPE_SZ */
#endif
#include "platform.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *copy_text(const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

static int lower(char c) {
  return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

int same_letters(const char *a, const char *b, size_t length) {
  size_t k = 0;
  while (k < length && lower(a[k]) == lower(b[k])) k++;
  return k == length;
}

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#include <fcntl.h>
#include <io.h>
#include <windows.h>

double seconds_now(void) {
  LARGE_INTEGER now, frequency;
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&frequency);
  return (double)now.QuadPart / (double)frequency.QuadPart;
}

static SRWLOCK lock = SRWLOCK_INIT;

typedef struct ticker {
  double seconds;
  void (*tick)(void);
} ticker;

static DWORD WINAPI run_ticker(void *argument) {
  const ticker *t = argument;
  while (t->tick) {
    Sleep((DWORD)(1e3 * t->seconds));
    t->tick();
  }
  return 0;
}

void platform_every(double seconds, void (*tick)(void)) {
  static ticker t;
  t = (ticker){seconds, tick};
  const HANDLE thread = CreateThread(NULL, 0, run_ticker, &t, 0, NULL);
  if (thread) CloseHandle(thread);
}

void platform_lock(void) {
  AcquireSRWLockExclusive(&lock);
}

void platform_unlock(void) {
  ReleaseSRWLockExclusive(&lock);
}

int platform_is_terminal(FILE *stream) {
  return _isatty(_fileno(stream));
}

int platform_columns(FILE *stream) {
  (void)stream;
  return 80;
}

int platform_reserve_output(FILE **stream) {
  static int saved = -1;
  fflush(stdout);
  if (saved < 0 && (saved = _dup(1)) >= 0 && _dup2(2, 1) != 0) return errno;
  const int copy = saved < 0 ? -1 : _dup(saved);
  *stream = copy < 0 ? NULL : _fdopen(copy, "w");
  return *stream ? 0 : errno;
}

int platform_reserve_descriptors(void) {
  return 0; /* the C library numbers files, and does not reuse the numbers of standard streams */
}

static platform_kind kind_of_mode(unsigned short mode) {
  return (mode & _S_IFMT) == _S_IFREG   ? PLATFORM_FILE
         : (mode & _S_IFMT) == _S_IFDIR ? PLATFORM_DIRECTORY
                                        : PLATFORM_OTHER;
}

platform_kind platform_kind_of_stream(FILE *stream, size_t *bytes) {
  struct _stat64 info;
  if (_fstat64(_fileno(stream), &info)) return PLATFORM_OTHER;
  if (bytes) *bytes = (size_t)info.st_size;
  return kind_of_mode(info.st_mode);
}

int platform_map(FILE *stream, const char **bytes, size_t *length) {
  (void)stream, (void)bytes, (void)length;
  return ENOSYS;
}

void platform_unmap(const char *bytes, size_t length) {
  (void)bytes, (void)length;
}

void *platform_allocate(size_t bytes) {
  return malloc(bytes);
}

FILE *platform_open_writer(void *argument, int (*write)(void *argument, const char *bytes, size_t length),
                           int (*close)(void *argument)) {
  (void)argument, (void)write, (void)close;
  errno = ENOSYS;
  return NULL;
}

FILE *platform_open_bytes(const char *bytes, size_t length) {
  (void)bytes, (void)length;
  errno = ENOSYS;
  return NULL;
}

int platform_kind_of(const char *path, platform_kind *kind) {
  struct _stat64 info;
  *kind = PLATFORM_NOTHING;
  if (_stat64(path, &info)) return errno == ENOENT ? 0 : errno;
  *kind = kind_of_mode(info.st_mode);
  return 0;
}

static int identify(const char *path, BY_HANDLE_FILE_INFORMATION *info) {
  const HANDLE file = CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                  OPEN_EXISTING, 0, NULL);
  if (file == INVALID_HANDLE_VALUE) return 1;
  const int failed = !GetFileInformationByHandle(file, info);
  CloseHandle(file);
  return failed;
}

int platform_is_same_file(const char *path, const char *other) {
  BY_HANDLE_FILE_INFORMATION a, b;
  return !identify(path, &a) && !identify(other, &b) && a.dwVolumeSerialNumber == b.dwVolumeSerialNumber &&
         a.nFileIndexHigh == b.nFileIndexHigh && a.nFileIndexLow == b.nFileIndexLow;
}

int platform_may_write(const char *path) {
  return _access(path, 2) ? errno : 0;
}

char *platform_follow_links(const char *path) {
  return copy_text(path);
}

size_t platform_longest_name(void) {
  return 255;
}

FILE *platform_create(char *name, const char *like) {
  (void)like;
  if (_mktemp_s(name, strlen(name) + 1)) {
    errno = EEXIST;
    return NULL;
  }
  const int descriptor = _open(name, _O_CREAT | _O_EXCL | _O_WRONLY | _O_BINARY, _S_IREAD | _S_IWRITE);
  return descriptor < 0 ? NULL : _fdopen(descriptor, "wb");
}

int platform_remove(const char *path) {
  return remove(path) ? errno : 0;
}

int platform_rename(const char *from, const char *to) {
  return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING) ? 0 : EACCES;
}

int platform_make_directory(const char *path) {
  return CreateDirectoryA(path, NULL) ? 0 : GetLastError() == ERROR_ALREADY_EXISTS ? EEXIST : EACCES;
}

int platform_remove_directory(const char *path) {
  return RemoveDirectoryA(path) ? 0 : EACCES;
}

static const int stop_signals[] = {SIGINT, SIGTERM};
static void (*stop_handler)(int);

static void handle(void (*handler)(int)) {
  for (size_t i = 0; i < sizeof stop_signals / sizeof stop_signals[0]; i++)
    if (signal(stop_signals[i], handler) == SIG_IGN) signal(stop_signals[i], SIG_IGN);
}

void platform_before_signals(void (*handler)(int)) {
  if (!stop_handler) handle(handler);
}

/* Windows removes the handler when a signal arrives. */
static void stop_again(int signal_number) {
  signal(signal_number, stop_again);
  stop_handler(signal_number);
}

void platform_on_stop(void (*handler)(int)) {
  stop_handler = handler;
  handle(stop_again);
}

void platform_end_by(int signal_number) {
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void platform_write_error(const char *text, size_t length) {
  if (_write(2, text, (unsigned)length) < 0) return;
}

void platform_hold_signals(int hold) {
  (void)hold;
}

/* Not supported on Windows. */
int platform_is_in_path(const char *program) {
  (void)program;
  return 0;
}

int platform_is_program(const char *path) {
  (void)path;
  return 0;
}

int platform_own_directory(char *directory, size_t size) {
  (void)directory;
  (void)size;
  return 1;
}

int platform_start(const char *const arguments[], FILE *in, FILE *out, FILE *messages, FILE **pipe,
                   platform_child **child) {
  (void)arguments, (void)in, (void)out, (void)messages, (void)pipe;
  *child = NULL;
  return ENOSYS;
}

int platform_wait(platform_child **child) {
  *child = NULL;
  return 0;
}

int platform_is_running(const platform_child *child) {
  (void)child;
  return 0;
}

void platform_stop(const platform_child *child) {
  (void)child;
}

int platform_run_apart(void (*work)(void *argument, FILE *to), void *argument, size_t memory, int seconds,
                       FILE **from, platform_child **child) {
  (void)work, (void)argument, (void)memory, (void)seconds;
  *from = NULL;
  *child = NULL;
  return ENOSYS;
}

int platform_is_out_of_time(int status) {
  (void)status;
  return 0;
}

void platform_name_for_child(FILE *stream, char *name, size_t size) {
  (void)stream;
  snprintf(name, size, "NUL");
}

void platform_be_silent(void) {}

void platform_host_name(char *name, size_t size) {
  DWORD length = (DWORD)size;
  if (!GetComputerNameA(name, &length)) *name = 0;
}

const void *platform_load(const char *path, const char *symbol, char *error, size_t size) {
  (void)symbol;
  snprintf(error, size, "%s: modules are not loaded on this system", path);
  return NULL;
}

#else

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if !defined(__GLIBC__) /* glibc declares environ */
extern char **environ;
#endif

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

/* ---- Other programs ---- */

struct platform_child {
  pid_t process;
};

int platform_is_program(const char *path) {
  return access(path, X_OK) == 0;
}

int platform_is_in_path(const char *program) {
  const char *path = getenv("PATH");
  char name[4096];
  while (path && *path) {
    const size_t length = strcspn(path, ":");
    snprintf(name, sizeof name, "%.*s/%s", (int)length, path, program);
    if (platform_is_program(name)) return 1;
    path += length + (path[length] == ':');
  }
  return 0;
}

int platform_own_directory(char *directory, size_t size) {
  const ssize_t length = readlink("/proc/self/exe", directory, size - 1);
  if (length <= 0) return 1;
  directory[length] = 0;
  char *slash = strrchr(directory, '/');
  if (!slash) return 1;
  *slash = 0;
  return 0;
}

/* Avoids passing a picture in pieces of 64 kB, each with a context switch. */
static void widen_pipe(int end) {
#ifdef F_SETPIPE_SZ
  fcntl(end, F_SETPIPE_SZ, 1 << 20); /* the maximum without privileges; less also works */
#else
  (void)end;
#endif
}

/* `from` is the end that the child reads; the child inherits nothing else of the pipe. */
static int open_pipe(int *from, FILE **to) {
  int ends[2];
  if (pipe(ends)) return errno;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  widen_pipe(ends[1]);
  *to = fdopen(ends[1], "w");
  if (!*to) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    return error;
  }
  setvbuf(*to, NULL, _IONBF, 0);
  signal(SIGPIPE, SIG_IGN);
  *from = ends[0];
  return 0;
}

/* A child in its own process group does not receive the terminal's signals. */
static int spawn(const char *const arguments[], int in, int out, int messages, int apart, pid_t *process) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t signals;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  if (messages >= 0) posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
  posix_spawnattr_init(&attributes);
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, (short)(POSIX_SPAWN_SETSIGDEF | (apart ? POSIX_SPAWN_SETPGROUP : 0)));
  const int error =
      posix_spawnp(process, arguments[0], &actions, &attributes, (char *const *)arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

int platform_start(const char *const arguments[], FILE *in, FILE *out, FILE *messages, FILE **pipe,
                   platform_child **child) {
  int from = -1;
  platform_child *made = malloc(sizeof *made);
  *child = NULL;
  if (!made) return ENOMEM;
  int error = in ? 0 : open_pipe(&from, pipe);
  if (!error)
    error = spawn(arguments, in ? fileno(in) : from, fileno(out), messages ? fileno(messages) : -1, !in,
                  &made->process);
  if (from >= 0) close(from);
  if (!error) {
    *child = made;
    return 0;
  }
  if (from >= 0) {
    fclose(*pipe);
    *pipe = NULL;
  }
  free(made);
  return error;
}

int platform_wait(platform_child **child) {
  int status = 0;
  if (!*child) return 0;
  while (waitpid((*child)->process, &status, 0) < 0 && errno == EINTR) continue;
  free(*child);
  *child = NULL;
  return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

int platform_is_running(const platform_child *child) {
  siginfo_t ended = {0};
  return waitid(P_PID, (id_t)child->process, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0;
}

void platform_stop(const platform_child *child) {
  kill(child->process, SIGTERM);
}

static void lower_limit(int resource, rlim_t soft, rlim_t hard) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > soft) limit.rlim_cur = soft;
  if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > hard) limit.rlim_max = hard;
  setrlimit(resource, &limit);
}

/* The address space of this process in bytes; 0: unknown. */
static size_t own_address_space(void) {
  unsigned long long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file) return 0;
  if (fscanf(file, "%llu", &pages) != 1) pages = 0;
  fclose(file);
  return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Signals end the child immediately, because the parent owns the files that the program removes on a signal. */
static void confine(size_t memory, int seconds) {
  const int others[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  sigset_t none;
  for (size_t i = 0; i < signal_count; i++) signal(signals[i], SIG_DFL);
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) signal(others[i], SIG_DFL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  const size_t space = own_address_space();
  if (space && space < SIZE_MAX - memory) lower_limit(RLIMIT_AS, space + memory, space + memory);
  lower_limit(RLIMIT_CPU, (rlim_t)seconds, (rlim_t)seconds + 1);
  lower_limit(RLIMIT_CORE, 0, 0);
  const int nothing = open("/dev/null", O_RDWR);
  for (int descriptor = 0; descriptor <= 2 && nothing >= 0; descriptor++) dup2(nothing, descriptor);
}

int platform_run_apart(void (*work)(void *argument, FILE *to), void *argument, size_t memory, int seconds,
                       FILE **from, platform_child **child) {
  int ends[2] = {-1, -1};
  *from = NULL;
  *child = malloc(sizeof **child);
  if (!*child) return ENOMEM;
  int error = pipe(ends) ? errno : 0;
  if (!error && !(*from = fdopen(ends[0], "rb"))) error = errno;
  if (!error && ((*child)->process = fork()) < 0) error = errno;
  if (!error && (*child)->process == 0) {
    close(ends[0]);
    confine(memory, seconds);
    FILE *to = fdopen(ends[1], "wb");
    if (to) work(argument, to);
    _exit(!to || ferror(to) || fclose(to)); /* without the parent's exit handlers */
  }
  if (ends[1] >= 0) close(ends[1]);
  if (!error) return 0;
  if (*from)
    fclose(*from);
  else if (ends[0] >= 0)
    close(ends[0]);
  free(*child);
  *child = NULL;
  *from = NULL;
  return error;
}

int platform_is_out_of_time(int status) {
  return status == 256 + SIGXCPU || status == 256 + SIGKILL;
}

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

void platform_name_for_child(FILE *stream, char *name, size_t size) {
  snprintf(name, size, "/dev/fd/%d", fileno(stream));
}

#endif
