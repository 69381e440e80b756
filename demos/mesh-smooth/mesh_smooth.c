/* The program mesh-smooth: smooths a triangle mesh by implicit mean-curvature flow or by discrete smooth
 * interpolation, in a window or without one. */
#include "mesh_smooth.h"

#include <stdio.h>

#include "message.h"
#include "program.h"
#include "progress.h"

const mesh_repair_words repair_words = {.thin = "that angles are bounded there",
                                        .odd_edge = "their vertices are held fixed"};

void input_free(program_input *in) {
  mesh_destroy(&in->m);
  dsi_controls_free(&in->controls);
}

int input_read(const program_options *options, program_input *in) {
  char why[MESH_MESSAGE], because[MESH_MESSAGE];
  *in = (program_input){0};
  if (options->load.path) progress_begin("reading %.50s", options->load.path);
  if (load_mesh(&options->load, &in->m, NULL, &in->report, why)) return progress_fail(why);
  int failed = options->control && dsi_controls_read(&in->controls, options->control, &in->m, why);
  if (!failed && options->fix) {
    failed = dsi_controls_fix(&in->controls, options->fix, &in->m, because);
    if (failed) mesh_fail(why, "--fix: %.300s", because);
  }
  progress_clear();
  if (!failed) return 0;
  input_free(in);
  message("%s", why);
  return 1;
}

int input_open(const program_options *options, program_input *in, smoother **s) {
  char why[MESH_MESSAGE];
  int failed = smoother_create(&in->m, &options->smoother, s, why);
  if (!failed && smoother_set_controls(*s, &in->controls, why)) {
    smoother_destroy(s);
    failed = 1;
  }
  input_free(in);
  if (failed) {
    message("%s: %s", in->report.name, why);
    return 1;
  }
  load_note(&in->report, &repair_words);
  return 0;
}

int open_smoother(const program_options *options, load_report *report, smoother **s) {
  program_input in;
  *s = NULL;
  if (input_read(options, &in)) return 1;
  *report = in.report;
  return input_open(options, &in, s);
}

int main(int argc, char **argv) {
  program_options options;
  program_begin("mesh-smooth");
  options_parse(argc, argv, &options);
  options.smoother.forgets = options.run.bench || options.run.headless;
  return run_program(&options, &options.run);
}
