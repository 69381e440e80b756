/* Declarations that the parts of the program fluid share. */
#ifndef FLUID_H
#define FLUID_H

#include <jansson.h>

#include "drawing.h"
#include "run_options.h"
#include "simulation.h"

typedef struct program_options {
  run_options run;
  simulation_options simulation;
  fluid_look look;
  int field_given;
  const char *profile; /* NULL: none */
  double probe[2];     /* m; NAN: none */
} program_options;

/* ---- names.c: names of enumeration values 0, 1, ..., then NULL ---- */

const char *scene_names(int k);
const char *field_names(int k);
const char *smoother_names(int k);
const char *storage_names(int k);
const char *interpolation_names(int k);
const char *cycle_names(int k);

/* ---- report.c: reports as text or as one JSON object ---- */

/* One frame. Values that were not measured are NAN or 0. */
typedef struct frame_report {
  ts_fluid_result last; /* of the frame's last step */
  int iterations;       /* sum over the frame's steps, like `stages` */
  double stages[TS_FLUID_STAGE_COUNT];
  double seconds, draw; /* wall-clock time of the steps; of the picture with all files */
  double probe[2];
} frame_report;

typedef struct work_report {
  const program_options *options;
  const simulation *s;
  frame_report *frames;
  int frame_count, steps_per_frame, measured;
  int stopped;       /* a signal ended the run early */
  const char *drawn; /* "texture", "shared buffer", "copied through the host"; NULL: no picture */
  int picture_width, picture_height; /* 0: no picture */
  double prepare, total;             /* seconds */
} work_report;

void report_begin(const work_report *w);
void report_frame(const work_report *w); /* prints a line on a terminal or with -v */
/* Return 0, or -1 after a message. */
int report_end(const work_report *w);
int report_json(const work_report *w);

/* The part of a report that describes the simulation: scene, size, device, parameters. */
json_t *report_simulation_json(const simulation *s);

#endif
