/* mesh-smooth: smooths a triangle mesh by implicit mean-curvature flow, or by discrete smooth interpolation, in
 * a window or without one. */
#include "mesh_smooth.h"

#include <stdio.h>

#include "message.h"
#include "program.h"
#include "progress.h"

const mesh_repair_words repair_words = {.thin = "that angles are bounded there",
                                        .odd_edge = "their vertices are held fixed"};

int open_smoother(const program_options *options, load_report *report, smoother **s) {
  char why[MESH_MESSAGE], because[MESH_MESSAGE];
  mesh m;
  *s = NULL;
  if (options->load.path) progress_show("reading %.50s", options->load.path);
  if (load_mesh(&options->load, &m, NULL, report, why)) return progress_fail(why);
  dsi_controls controls = {0};
  int failed = options->control && dsi_controls_read(&controls, options->control, &m, why);
  if (!failed && options->fix) {
    failed = dsi_controls_fix(&controls, options->fix, &m, because);
    if (failed) mesh_fail(why, "--fix: %.300s", because);
  }
  if (failed) {
    mesh_destroy(&m);
    message("%s", why);
  } else {
    failed = smoother_create(&m, &options->smoother, s, why);
    if (!failed && smoother_set_controls(*s, &controls, why)) {
      smoother_destroy(s);
      failed = 1;
    }
    if (failed) message("%s: %s", report->name, why);
  }
  dsi_controls_free(&controls);
  if (failed) return 1;
  load_note(report, &repair_words);
  return 0;
}

int main(int argc, char **argv) {
  program_options options;
  program_begin("mesh-smooth");
  options_parse(argc, argv, &options);
  message_set_quiet(options.quiet);
  progress_enable(!options.quiet);
  options.smoother.forgets = options.bench || options.headless;
  if (options.bench) return run_bench(&options);
  return options.headless ? run_headless(&options) : run_window(&options);
}
