/* mesh-smooth: smooths a triangle mesh by implicit mean-curvature flow, in a window or without one. */
#include "mesh_smooth.h"

#include <stdio.h>

#include "message.h"
#include "progress.h"
#ifdef MESH_SMOOTH_WINDOW
#include "window.h"
#endif

static void print_note(const char *line, void *user) {
  message_note("%s: %s", (const char *)user, line);
}

int open_smoother(const program_options *options, load_report *report, smoother **s) {
  char why[MESH_MESSAGE];
  mesh m;
  *s = NULL;
  if (options->load.path) progress_show("reading %.50s", options->load.path);
  if (load_mesh(&options->load, &m, report, why)) {
    message("%s", why);
    return 1;
  }
  if (smoother_create(&m, &options->smoother, s, why)) {
    message("%s: %s", report->name, why);
    return 1;
  }
  load_describe(report, print_note, report->name);
  return 0;
}

#ifdef MESH_SMOOTH_WINDOW

static int run_window(const program_options *given) {
  program_options options = *given;
  char why[MESH_MESSAGE];
  load_report report;
  smoother *s;
  if (smooth_window_open(0, 0, why)) {
    message("%s; --headless does without", why);
    return EXIT_ERROR;
  }
  options.smoother.platform = TS_GL_PLATFORM_CURRENT;
  int failed = open_smoother(&options, &report, &s);
  if (!failed) {
    const window_options window = {.name = report.name,
                                   .output = options.output,
                                   .screenshot = options.screenshot,
                                   .look = options.look,
                                   .keep_duplicates = options.load.keep_duplicates,
                                   .steps = options.steps > 0 ? options.steps : 0};
    failed = smooth_window_run(&s, &window, why);
    if (failed) message("%s", why);
  }
  smoother_destroy(&s);
  smooth_window_close();
  return failed ? EXIT_ERROR : EXIT_MADE;
}

#else

static int run_window(const program_options *options) {
  (void)options;
  message("no window in this build, expected --headless");
  return EXIT_ERROR;
}

#endif

int main(int argc, char **argv) {
  program_options options;
  message_set_program("mesh-smooth");
  options_parse(argc, argv, &options);
  message_set_quiet(options.quiet);
  progress_enable(!options.quiet);
  if (options.bench) return run_bench(&options);
  return options.headless ? run_headless(&options) : run_window(&options);
}
