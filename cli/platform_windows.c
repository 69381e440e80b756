/* platform.h on Windows. */
#if defined(_WIN32)
#include "platform.h"

#define WIN32_LEAN_AND_MEAN
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
typedef int platform_windows_is_empty; /* ISO C requires a declaration */
#endif
