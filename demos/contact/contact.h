/* What the parts of the program contact share: its options, its exit statuses, its ways of running. */
#ifndef CONTACT_H
#define CONTACT_H

#include <jansson.h>

#include "simulation.h"
#include "view.h"

enum { EXIT_MADE = 0, EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_NOT_MADE = 3 };

typedef struct program_options {
  simulation_options simulation;
  const char *picture, *frames_dir, *film; /* NULL: none */
  int picture_width, picture_height;
  int frames, steps_per_frame; /* -1, 0: not said */
  double ui_scale;
  int forces; /* are drawn */
  contact_shading shading;
  int headless, bench, json, quiet, verbosity;
} program_options;

/* Ends the program with EXIT_USAGE on bad ones. */
void options_parse(int argc, char **argv, program_options *options);

/* The ways to run, which return an exit status after a message. */
int run_headless(const program_options *options);
int run_bench(const program_options *options);
int run_window(const program_options *options);

/* ---- names.c: of enumerations, a name for 0, 1, ... until NULL ---- */

const char *scene_names(int k);
const char *scheme_names(int k);
const char *acceleration_names(int k);
const char *precision_names(int k);
const char *shading_names(int k);

/* ---- report.c: what it says about its work: lines, or one JSON object ---- */

/* Of one frame: sums of times and sweeps over its steps, the largest residual and penetration, and the energy
 * after the last step. */
typedef struct frame_report {
  simulation_figures figures;
  double draw; /* s, of its picture with all files; NAN: none */
} frame_report;

typedef struct work_report {
  const program_options *options;
  const simulation *s;
  frame_report *frames;
  int frame_count, steps_per_frame;
  int stopped;                       /* by a signal, before all frames were made */
  int picture_width, picture_height; /* 0: none */
  double prepare, total;             /* s */
} work_report;

void report_begin(const work_report *w);
void report_frame(const work_report *w); /* a line on a terminal or with -v */
/* Return 0, or -1 after a message. */
int report_end(const work_report *w);
int report_json(const work_report *w);
/* The simulation's own part of a report, for others too: scene, bodies, device, parameters. */
json_t *report_simulation_json(const simulation *s);

#endif
