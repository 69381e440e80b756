/* Declarations that the parts of the program contact share. */
#ifndef CONTACT_H
#define CONTACT_H

#include <jansson.h>

#include "run_options.h"
#include "simulation.h"
#include "view.h"

typedef struct program_options {
  run_options run;
  simulation_options simulation;
  int forces; /* draw the contact forces */
  contact_shading shading;
} program_options;

/* ---- names.c: names of enumeration values 0, 1, ..., then NULL ---- */

const char *scene_names(int k);
const char *scheme_names(int k);
const char *acceleration_names(int k);
const char *precision_names(int k);
const char *shading_names(int k);

/* ---- report.c: reports as text or as one JSON object ---- */

/* One frame: sums of times and sweeps over its steps, the largest residual and penetration, and the energy
 * after the last step. */
typedef struct frame_report {
  simulation_figures figures;
  double draw; /* seconds for the picture and all files; NAN: no picture */
} frame_report;

typedef struct work_report {
  const program_options *options;
  const simulation *s;
  frame_report *frames;
  int frame_count, steps_per_frame;
  int stopped;                       /* a signal ended the run early */
  int picture_width, picture_height; /* 0: no picture */
  double prepare, total;             /* seconds */
} work_report;

void report_begin(const work_report *w);
void report_frame(const work_report *w); /* prints a line on a terminal or with -v */
/* Return 0, or -1 after a message. */
int report_end(const work_report *w);
int report_json(const work_report *w);
/* The part of a report that describes the simulation: scene, bodies, device, parameters. */
json_t *report_simulation_json(const simulation *s);

#endif
