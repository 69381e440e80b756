/* What mesh-param says about its work: lines, or one JSON object. */
#ifndef REPORT_H
#define REPORT_H

#include "mesh_param.h"

typedef struct work_seconds {
  double read, charts, solve, draw, write;
} work_seconds;

typedef struct work_report {
  const program_options *options;
  const load_report *loaded;
  const flattening *f;
  const ts_context_info *device;
  const conformal_result *solved;
  const char *drawn; /* how u and v got into the picture; NULL without one */
  work_seconds seconds;
} work_report;

/* Before the solution, and after everything. The last two return 0, or -1 after a message. */
void report_begin(const work_report *w);
int report_end(const work_report *w);
int report_json(const work_report *w);

const char *report_normal_name(ts_normal normal);

#endif
