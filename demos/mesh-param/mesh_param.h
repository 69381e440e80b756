/* Declarations that the parts of the program mesh-param share. */
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
  ts_gl_desc gl;        /* of the device */
  flattening_pin *pins; /* vertices are counted from 0, as in the file */
  int32_t pin_count;
  flat_look look;
  const char *output; /* NULL: none */
} program_options;

/* Opens a mesh with its charts and pins, in all modes, and notes repairs and cuts. Returns 0, or 1 after a
 * message. */
int open_flattening(const program_options *options, int may_cut, load_report *report, flattening *f);

extern const mesh_repair_words repair_words;

/* ---- report.c: reports as text or as one JSON object ---- */

typedef struct work_seconds {
  double read, charts, solve, draw, write;
} work_seconds;

typedef struct work_report {
  const program_options *options;
  const load_report *loaded;
  const flattening *f;
  const ts_context_info *device;
  const conformal_result *solved;
  const char *drawn; /* path of u and v into the picture; NULL: no picture */
  work_seconds seconds;
} work_report;

/* Call report_begin before the solve and one of the others at the end. Those return 0, or -1 after a
 * message. */
void report_begin(const work_report *w);
int report_end(const work_report *w);
int report_json(const work_report *w);

const char *report_normal_name(ts_normal normal);

#endif
