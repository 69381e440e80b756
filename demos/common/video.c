#include "video.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output_file.h"
#include "platform.h"

struct video {
  char *path;
  output_file file;
  size_t frame_bytes;
  platform_child *child;
  FILE *pipe, *errors; /* of the child: its standard input and its error output */
};

static int __attribute__((format(printf, 2, 3))) fail(char message[VIDEO_MESSAGE], const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, VIDEO_MESSAGE, format, arguments);
  va_end(arguments);
  return 1;
}

/* The file name extension, ffmpeg's name of the format, and an encoder option: x264 at about twice the default
 * speed, VP9 in real time. */
static const struct {
  const char *ending, *name, *option, *value;
} formats[] = {{".mp4", "mp4", "-preset", "veryfast"},
               {".mkv", "matroska", "-preset", "veryfast"},
               {".mov", "mov", "-preset", "veryfast"},
               {".webm", "webm", "-deadline", "realtime"}};
enum { format_count = sizeof formats / sizeof formats[0] };

/* Returns format_count if the format is unknown. */
static int format_of(const char *path) {
  const char *dot = strrchr(path, '.');
  int k = dot ? 0 : format_count;
  while (k < format_count && strcmp(dot, formats[k].ending) != 0) k++;
  return k;
}

/* ---- Before the work ---- */

/* Returns NULL, or the reason why videos cannot be written: ffmpeg is not installed. */
static const char *unavailable(void) {
  return platform_is_in_path("ffmpeg") ? NULL : "videos need ffmpeg, which is not installed";
}

int video_is_possible(void) {
  return platform_is_in_path("ffmpeg");
}

/* ffmpeg seeks back in the file at the end, which is impossible in a pipe. */
static int open_file(output_file *file, const char *path, char message[VIDEO_MESSAGE]) {
  const int error = output_create(file, path);
  if (error) return fail(message, "%s: %s, expected a file that can be written", path, strerror(error));
  if (file->temporary) return 0;
  output_discard(file);
  return fail(message, "%s: not a regular file, expected one for a video", path);
}

int video_can_open(const char *path, char message[VIDEO_MESSAGE]) {
  if (format_of(path) == format_count)
    return fail(message, "%s: unknown video format, expected .mp4, .mkv, .mov or .webm", path);
  if (unavailable()) return fail(message, "%s: %s; single pictures do not", path, unavailable());
  output_file file;
  if (open_file(&file, path, message)) return 1;
  output_discard(&file);
  return 0;
}

/* ---- The child ---- */

/* ffmpeg writes to an inherited descriptor. It then neither recreates a file that a signal handler removed, nor
 * interprets the name as a pattern or a URL. It stops at any error with a nonzero status. */
static int start(video *f, int width, int height, int rate) {
  char size[32], frames[16], output[32];
  const int format = format_of(f->path);
  snprintf(size, sizeof size, "%dx%d", width, height);
  snprintf(frames, sizeof frames, "%d", rate);
  platform_name_for_child(f->file.stream, output, sizeof output);
  const char *const arguments[] = {"ffmpeg",
                                   "-nostdin",
                                   "-hide_banner",
                                   "-loglevel",
                                   "error",
                                   "-xerror",
                                   "-f",
                                   "rawvideo",
                                   "-pix_fmt",
                                   "rgb24",
                                   "-s",
                                   size,
                                   "-r",
                                   frames,
                                   "-i",
                                   "pipe:0",
                                   "-an",
                                   "-pix_fmt",
                                   "yuv420p",
                                   formats[format].option,
                                   formats[format].value,
                                   "-f",
                                   formats[format].name,
                                   "-y",
                                   output,
                                   NULL};
  f->errors = tmpfile();
  return f->errors ? platform_start(arguments, NULL, f->errors, f->errors, &f->pipe, &f->child) : errno;
}

static int end(video *f) {
  if (f->pipe) fclose(f->pipe);
  f->pipe = NULL;
  return platform_wait(&f->child);
}

static void destroy(video **made) {
  video *f = *made;
  if (f->errors) fclose(f->errors);
  output_discard(&f->file);
  free(f->path);
  free(f);
  *made = NULL;
}

/* The first line of ffmpeg's error output; "" if it is empty. */
static void read_errors(const video *f, char text[200]) {
  rewind(f->errors);
  if (!fgets(text, 200, f->errors)) *text = 0;
  text[strcspn(text, "\n")] = 0;
}

static int fail_ffmpeg(video *f, char message[VIDEO_MESSAGE]) {
  char text[200];
  end(f);
  read_errors(f, text);
  return fail(message, "%.150s: ffmpeg: %s", f->path, *text ? text : "it ended without an error message");
}

int video_open(const char *path, int width, int height, int frames_per_second, video **made,
               char message[VIDEO_MESSAGE]) {
  *made = NULL;
  if (width % 2 || height % 2)
    return fail(message, "a video of %d x %d pixels, expected an even width and height", width, height);
  if (video_can_open(path, message)) return 1;
  video *f = calloc(1, sizeof *f);
  if (!f) return fail(message, "out of memory");
  *f = (video){.path = copy_text(path), .frame_bytes = 3 * (size_t)width * (size_t)height};
  if (!f->path) {
    fail(message, "out of memory");
  } else if (!open_file(&f->file, path, message)) {
    const int error = start(f, width, height, frames_per_second);
    if (!error) {
      *made = f;
      return 0;
    }
    fail(message, "%s: ffmpeg cannot be started: %s", path, strerror(error));
  }
  video_discard(&f);
  return 1;
}

int video_add(video *f, const unsigned char *rgb, char message[VIDEO_MESSAGE]) {
  const int written = f->pipe && fwrite(rgb, 1, f->frame_bytes, f->pipe) == f->frame_bytes;
  return written ? 0 : fail_ffmpeg(f, message);
}

int video_close(video **made, char message[VIDEO_MESSAGE]) {
  video *f = *made;
  char text[200];
  const int status = end(f);
  read_errors(f, text);
  int failed = status || *text ? fail_ffmpeg(f, message) : 0;
  const int error = failed ? 0 : output_finish(&f->file);
  if (error) failed = fail(message, "%s: %s", f->path, strerror(error));
  destroy(made);
  return failed;
}

void video_discard(video **made) {
  if (!made || !*made) return;
  end(*made);
  destroy(made);
}
