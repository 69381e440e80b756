/* What the parts of the program contact share. */
#ifndef CONTACT_H
#define CONTACT_H

#include <jansson.h>

#include "run_options.h"
#include "simulation.h"
#include "view.h"

typedef struct program_options {
  run_options run;
  simulation_options simulation;
  int forces; /* are drawn */
  contact_shading shading;
} program_options;

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
