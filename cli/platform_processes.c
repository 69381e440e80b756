/* Other programs, and work in a process of its own, on POSIX systems. */
#if !defined(_WIN32)
#define _GNU_SOURCE 1 /* F_SETPIPE_SZ */
#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined(__GLIBC__) /* glibc declares environ */
extern char **environ;
#endif

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
  enum { standard_signals = 31 };
  sigset_t none;
  for (int s = 1; s <= standard_signals; s++) signal(s, SIG_DFL);
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

void platform_name_for_child(FILE *stream, char *name, size_t size) {
  snprintf(name, size, "/dev/fd/%d", fileno(stream));
}

#else
typedef int platform_processes_is_empty; /* ISO C requires a declaration */
#endif
