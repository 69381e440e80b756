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

static int run_window(const program_options *options) {
  (void)options;
  message("no window in this build, expected --headless");
  return EXIT_ERROR;
}

int main(int argc, char **argv) {
  program_options options;
  message_set_program("mesh-smooth");
  options_parse(argc, argv, &options);
  message_set_quiet(options.quiet);
  progress_enable(!options.quiet);
  if (options.bench) return run_bench(&options);
  return options.headless ? run_headless(&options) : run_window(&options);
}
