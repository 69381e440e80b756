#include "video.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output_file.h"
#include "simulation.h"

struct video {
  char *path;
  output_file file;
  size_t frame_bytes;
  pid_t child;
  int pipe, errors; /* of the child: its input, what it says */
};

/* The video's file, its format for ffmpeg, and an option of the encoder that ffmpeg takes for it: x264 in twice
 * its usual speed, VP9 in real time. */
static const struct {
  const char *ending, *name, *option, *value;
} formats[] = {{".mp4", "mp4", "-preset", "veryfast"},
               {".mkv", "matroska", "-preset", "veryfast"},
               {".mov", "mov", "-preset", "veryfast"},
               {".webm", "webm", "-deadline", "realtime"}};
enum { format_count = sizeof formats / sizeof formats[0] };

/* format_count: unknown. */
static int format_of(const char *path) {
  const char *dot = strrchr(path, '.');
  int k = dot ? 0 : format_count;
  while (k < format_count && strcmp(dot, formats[k].ending) != 0) k++;
  return k;
}

/* ---- Before the work ---- */

static int is_in_path(const char *program) {
  const char *path = getenv("PATH");
  char name[4096];
  while (path && *path) {
    const size_t length = strcspn(path, ":");
    snprintf(name, sizeof name, "%.*s/%s", (int)length, path, program);
    if (access(name, X_OK) == 0) return 1;
    path += length + (path[length] == ':');
  }
  return 0;
}

/* NULL, or why no video can be made here: ffmpeg is not installed. */
static const char *unavailable(void) {
  return is_in_path("ffmpeg") ? NULL : "videos need ffmpeg, which is not installed";
}

int video_is_possible(void) {
  return is_in_path("ffmpeg");
}

/* ffmpeg goes back in the file at the end, which no pipe lets it do. */
static int open_file(output_file *file, const char *path, char message[SIMULATION_MESSAGE]) {
  const int error = output_create(file, path);
  if (error)
    return simulation_fail(message, "%s: %s, expected a file that can be written", path, strerror(error));
  if (file->temporary) return 0;
  output_discard(file);
  return simulation_fail(message, "%s: no regular file, as which alone a video can be written", path);
}

int video_can_open(const char *path, char message[SIMULATION_MESSAGE]) {
  if (format_of(path) == format_count)
    return simulation_fail(message, "%s: a video of unknown format, expected .mp4, .mkv, .mov or .webm", path);
  if (unavailable()) return simulation_fail(message, "%s: %s; single pictures need none", path, unavailable());
  output_file file;
  if (open_file(&file, path, message)) return 1;
  output_discard(&file);
  return 0;
}

/* ---- The child ---- */

/* It writes to a descriptor that it inherits, so that it neither recreates the file after a signal has removed
 * it nor takes the name for a pattern or an address. Any error ends it, with a status that is not 0. */
static void run_ffmpeg(const video *f, int input, int width, int height, int rate) {
  char size[32], frames[16], output[32];
  const int format = format_of(f->path);
  snprintf(size, sizeof size, "%dx%d", width, height);
  snprintf(frames, sizeof frames, "%d", rate);
  snprintf(output, sizeof output, "/dev/fd/%d", fileno(f->file.stream));
  dup2(input, STDIN_FILENO);
  dup2(f->errors, STDOUT_FILENO);
  dup2(f->errors, STDERR_FILENO);
  signal(SIGPIPE, SIG_DFL);
  execlp("ffmpeg", "ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-xerror", "-f", "rawvideo",
         "-pix_fmt", "rgb24", "-s", size, "-r", frames, "-i", "pipe:0", "-an", "-pix_fmt", "yuv420p",
         formats[format].option, formats[format].value, "-f", formats[format].name, "-y", output, (char *)NULL);
  _exit(127);
}

/* So that a picture is not handed over in pieces of 64 kB, each with a change from one process to the other. */
static void widen_pipe(int pipe) {
#ifdef F_SETPIPE_SZ
  fcntl(pipe, F_SETPIPE_SZ, 1 << 20); /* as much as anybody may have; less will do */
#else
  (void)pipe;
#endif
}

static int start(video *f, int width, int height, int rate) {
  int ends[2];
  char log[] = "/tmp/fluid-ffmpeg.XXXXXX";
  f->errors = mkstemp(log);
  if (f->errors < 0) return -1;
  unlink(log);
  if (pipe(ends)) return -1;
  f->pipe = ends[1];
  widen_pipe(f->pipe);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  signal(SIGPIPE, SIG_IGN);
  f->child = fork();
  if (f->child == 0) run_ffmpeg(f, ends[0], width, height, rate);
  close(ends[0]);
  return f->child < 0 ? -1 : 0;
}

static void end(video *f, int *status) {
  if (f->pipe >= 0) close(f->pipe);
  f->pipe = -1;
  *status = 0;
  if (f->child > 0)
    while (waitpid(f->child, status, 0) < 0 && errno == EINTR) continue;
  f->child = 0;
}

static void destroy(video **made) {
  video *f = *made;
  if (f->errors >= 0) close(f->errors);
  output_discard(&f->file);
  free(f->path);
  free(f);
  *made = NULL;
}

/* Nothing but errors is said. */
static int said_something(const video *f) {
  struct stat log;
  return fstat(f->errors, &log) == 0 && log.st_size > 0;
}

/* The first line that ffmpeg said. */
static int fail_ffmpeg(video *f, char message[SIMULATION_MESSAGE]) {
  char text[200];
  int status;
  end(f, &status);
  const ssize_t length = pread(f->errors, text, sizeof text - 1, 0);
  text[length > 0 ? length : 0] = 0;
  text[strcspn(text, "\n")] = 0;
  return simulation_fail(message, "%.150s: ffmpeg: %s", f->path, *text ? text : "it ended without a word");
}

int video_open(const char *path, int width, int height, int frames_per_second, video **made,
               char message[SIMULATION_MESSAGE]) {
  *made = NULL;
  if (width % 2 || height % 2)
    return simulation_fail(message, "a video of %d x %d pixels, expected even numbers", width, height);
  if (video_can_open(path, message)) return 1;
  video *f = calloc(1, sizeof *f);
  if (!f) return simulation_fail(message, "out of memory");
  *f = (video){
      .path = strdup(path), .frame_bytes = 3 * (size_t)width * (size_t)height, .pipe = -1, .errors = -1};
  if (!f->path) {
    simulation_fail(message, "out of memory");
  } else if (!open_file(&f->file, path, message)) {
    if (start(f, width, height, frames_per_second) == 0) {
      *made = f;
      return 0;
    }
    simulation_fail(message, "%s: ffmpeg cannot be started: %s", path, strerror(errno));
  }
  video_discard(&f);
  return 1;
}

int video_add(video *f, const unsigned char *rgb, char message[SIMULATION_MESSAGE]) {
  for (size_t done = 0; done < f->frame_bytes;) {
    const ssize_t written = f->pipe < 0 ? -1 : write(f->pipe, rgb + done, f->frame_bytes - done);
    if (written < 0 && f->pipe >= 0 && errno == EINTR) continue;
    if (written < 0) return fail_ffmpeg(f, message);
    done += (size_t)written;
  }
  return 0;
}

int video_close(video **made, char message[SIMULATION_MESSAGE]) {
  video *f = *made;
  int status;
  end(f, &status);
  int failed = status || said_something(f) ? fail_ffmpeg(f, message) : 0;
  const int error = failed ? 0 : output_finish(&f->file);
  if (error) failed = simulation_fail(message, "%s: %s", f->path, strerror(error));
  destroy(made);
  return failed;
}

void video_discard(video **made) {
  int status;
  if (!made || !*made) return;
  end(*made, &status);
  destroy(made);
}
