/* What mesh-smooth says about its work: lines, or one JSON object. */
#ifndef REPORT_H
#define REPORT_H

#include "mesh_smooth.h"

typedef struct work_seconds {
  double read, prepare, matrix, solve, draw, write;
} work_seconds;

typedef struct work_report {
  const program_options *options;
  const load_report *loaded;
  const smoother *smoother;
  step_report *steps; /* the last one may have failed */
  int step_count;
  const char *drawn;    /* "texture", "shared buffer", "copied through the host"; NULL: no picture */
  work_seconds seconds; /* matrix, solve and draw are sums over the steps */
} work_report;

/* Before the steps. */
void report_begin(const work_report *w);
/* How many control points are fixed. */
int report_count_fixed(const dsi_controls *controls);
/* After a step: a line on a terminal or with -v. */
void report_step(const work_report *w, const step_report *r);
/* After everything. Return 0, or -1 after a message. */
int report_end(const work_report *w);
int report_json(const work_report *w);

#endif
