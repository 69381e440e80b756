/* What the parts of the program mesh-param share. */
#ifndef MESH_PARAM_H
#define MESH_PARAM_H

#include <texsolve/gl.h>

#include "flattening.h"
#include "mesh_load.h"
#include "run_options.h"

enum { MOST_PINS = 1000 };

typedef struct program_options {
  run_options run;
  load_options load;
  flattening_options flattening;
  conformal_options conformal;
  ts_context_desc device;
  ts_gl_desc gl;        /* of it */
  flattening_pin *pins; /* vertices as the file counts them, from 0 */
  int32_t pin_count;
  flat_look look;
  const char *output; /* NULL: none */
} program_options;

/* What all ways of running begin with: a mesh with its charts and pins, and notes of what was repaired and cut.
 * Returns 0, or 1 after a message. */
int open_flattening(const program_options *options, int may_cut, load_report *report, flattening *f);

extern const mesh_repair_words repair_words;

/* ---- report.c: what it says about its work: lines, or one JSON object ---- */

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
