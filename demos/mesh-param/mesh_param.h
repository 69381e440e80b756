/* What the parts of the program mesh-param share: its options, its exit statuses, its ways of running. */
#ifndef MESH_PARAM_H
#define MESH_PARAM_H

#include <texsolve/gl.h>

#include "flattening.h"
#include "mesh_load.h"

enum { EXIT_FLAT = 0, EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_NOT_CONVERGED = 3 };
enum { MOST_PINS = 1000 };

typedef struct program_options {
  load_options load;
  flattening_options flattening;
  conformal_options conformal;
  ts_context_desc device;
  ts_gl_desc gl;        /* of it */
  flattening_pin *pins; /* vertices as the file counts them, from 0 */
  int32_t pin_count;
  flat_look look;
  const char *output, *screenshot; /* NULL: none */
  int width, height;               /* of pictures */
  double ui_scale;
  int headless, bench, json, quiet, verbosity;
} program_options;

/* Ends the program with EXIT_USAGE on bad ones. The pins are the program's until its end. */
void options_parse(int argc, char **argv, program_options *options);

/* What all ways of running begin with: a mesh with its charts and pins, and notes of what was repaired and cut.
 * Returns 0, or 1 after a message. */
int open_flattening(const program_options *options, int may_cut, load_report *report, flattening *f);

/* The ways to run, which return an exit status after a message. */
int run_headless(const program_options *options);
int run_bench(const program_options *options);
int run_window(const program_options *options);

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
