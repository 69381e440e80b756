/* What the parts of the program fluid share. */
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

/* ---- names.c: of enumerations, a name for 0, 1, ... until NULL ---- */

const char *scene_names(int k);
const char *field_names(int k);
const char *smoother_names(int k);
const char *storage_names(int k);
const char *interpolation_names(int k);
const char *cycle_names(int k);

/* ---- report.c: what it says about its work: lines, or one JSON object ---- */

/* Of one frame. NAN, 0: not measured. */
typedef struct frame_report {
  ts_fluid_result last; /* of its last step */
  int iterations;       /* of all of its steps, as are `stages` */
  double stages[TS_FLUID_STAGE_COUNT];
  double seconds, draw; /* of its steps, seen from the host; of its picture with all files */
  double probe[2];
} frame_report;

typedef struct work_report {
  const program_options *options;
  const simulation *s;
  frame_report *frames;
  int frame_count, steps_per_frame, measured;
  int stopped;       /* by a signal, before all frames were made */
  const char *drawn; /* "texture", "shared buffer", "copied through the host"; NULL: no picture */
  int picture_width, picture_height; /* 0: none */
  double prepare, total;             /* s */
} work_report;

void report_begin(const work_report *w);
void report_frame(const work_report *w); /* a line on a terminal or with -v */
/* Return 0, or -1 after a message. */
int report_end(const work_report *w);
int report_json(const work_report *w);

/* The simulation's own part of a report, for others too: scene, size, device, parameters. */
json_t *report_simulation_json(const simulation *s);

#endif
