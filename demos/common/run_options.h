/* Options that the demos share, and the modes that they select. The command texsolve has the same names for the
 * same options: --output, --backend, --threads, --format, --solver, --rtol, --max-iterations, --max-sweeps,
 * --json, --quiet, --verbose (options.h). */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include "options.h"

enum { EXIT_MADE = 0, EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_NOT_MADE = 3 };

/* Every program_options has a member `run` of this type. */
typedef struct run_options {
  const char *picture, *video, *frames_dir; /* file names; NULL: not wanted */
  int picture_width, picture_height;        /* 0: not given */
  int frames, steps_per_frame;              /* not given: -1; 0 */
  double ui_scale;
  int headless, bench, json, quiet, verbosity;
} run_options;

#define OPTIONS_DEVICE(backend, platform)                                                                      \
  OPTION_ROW(BACKEND, "backend", "NAME", backend,                                                              \
             .help = "auto, cuda, gl, cuda:N or gl:N (device N), cpu, or check:NAME (default: auto, the "      \
                     "first of CUDA, OpenGL on a GPU, and the CPU)"),                                          \
      OPTION_ROW(PLATFORM, "gl-platform", "NAME", platform,                                                    \
                 .help = "OpenGL context of --headless: egl, or window, a hidden window (default: egl)")
#define OPTIONS_PICTURE(what, standard_size)                                                                   \
  OPTION_PICTURE("picture", run.picture, what ", as PNG"),                                                     \
      OPTION_SIZE("picture-size", run.picture_width, 16, 16384, "pixels, such as 1280x720",                    \
                  "size of pictures in pixels (default: " standard_size ")")
#define OPTION_FRAMES_DIR(what)                                                                                \
  OPTION_TEXT("frames-dir", "DIR", run.frames_dir,                                                             \
              "a picture of every " what ", as DIR/frame-00000.png and so on")
/* For simulations. */
#define OPTIONS_FRAMES(count, steps, standard_size)                                                            \
  OPTION_WHOLE("frames", "N", run.frames, 0, 10000000,                                                         \
               "frames to compute without a window (default: " count ")"),                                     \
      OPTION_WHOLE("steps-per-frame", "N", run.steps_per_frame, 1, 10000,                                      \
                   "time steps per frame (default: " steps ")"),                                               \
      OPTION_TEXT("video", "FILE", run.video,                                                                  \
                  "a video of all frames: .mp4, .mkv, .mov or .webm; needs ffmpeg"),                           \
      OPTION_FRAMES_DIR("frame"), OPTIONS_PICTURE("the last frame", standard_size)
#define OPTIONS_RUN(of_bench, of_json, of_verbose)                                                             \
  OPTION_HEADING("Mode:"), OPTION_FLAG("headless", run.headless, "run without a window"),                      \
      OPTION_NUMBER("ui-scale", "FACTOR", run.ui_scale, 0.5, 4, "a number from 0.5 to 4",                      \
                    "size of the window's controls, relative to the display's own scale (default: 1)"),        \
      OPTION_FLAG("bench", run.bench, of_bench), OPTION_FLAG("json", run.json, of_json),                       \
      OPTION_ROW(FLAG, "quiet", NULL, run.quiet, .letter = 'q',                                                \
                 .help = "print only errors, not the report or notes"),                                        \
      OPTION_ROW(FLAG, "verbose", NULL, run.verbosity, .letter = 'v', .help = of_verbose)

struct program_options; /* defined by the program */

/* Exits with EXIT_USAGE if an option is wrong. */
void options_parse(int argc, char **argv, struct program_options *options);
/* Refuses combinations that are wrong in every program. */
void run_options_check(const run_options *run);

/* The modes of a program, and run_program, which calls the selected one. They return an exit status, after a
 * message if they failed. */
int run_headless(const struct program_options *options);
int run_bench(const struct program_options *options);
int run_window(const struct program_options *options);
int run_program(const struct program_options *options, const run_options *run);

#endif
