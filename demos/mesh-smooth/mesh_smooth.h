/* What the parts of the program mesh-smooth share. */
#ifndef MESH_SMOOTH_H
#define MESH_SMOOTH_H

#include "mesh_load.h"
#include "mesh_view.h"
#include "run_options.h"
#include "smoother.h"

typedef struct program_options {
  run_options run;
  load_options load;
  smoother_options smoother;
  mesh_look look;
  const char *output;        /* NULL: none */
  const char *control, *fix; /* of discrete smooth interpolation; NULL: none */
  int steps;                 /* -1: not said */
  int formats;
} program_options;

/* How it says what a repair has left. */
extern const mesh_repair_words repair_words;

/* What is read before a device or a window is opened, so that a message about a file comes first. */
typedef struct program_input {
  load_report report;
  mesh m;
  dsi_controls controls;
} program_input;

/* They return 0, or another number after a message; `in` then needs no input_free. */
int input_read(const program_options *options, program_input *in);
/* The mesh on its device, and notes of what was repaired; frees `in` except for its report. */
int input_open(const program_options *options, program_input *in, smoother **s);
void input_free(program_input *in);

/* Both at once. Returns 0, or 1 after a message. */
int open_smoother(const program_options *options, load_report *report, smoother **s);

/* ---- What the benchmarks of both methods share ---- */

/* The time of a picture of the mesh as it is, NAN without OpenGL, which is noted. */
int bench_draw(const program_options *options, const smoother *s, int repeats, double *result);

int bench_dsi(const program_options *options, const load_report *loaded, smoother *s);

/* ---- report.c: what it says about its work: lines, or one JSON object ---- */

typedef struct work_seconds {
  double read, prepare, matrix, setup, solve, draw, write;
} work_seconds;

typedef struct work_report {
  const program_options *options;
  const load_report *loaded;
  const smoother *smoother;
  step_report *steps; /* the last one may have failed */
  int step_count;
  const char *drawn;    /* "texture", "shared buffer", "copied through the host"; NULL: no picture */
  work_seconds seconds; /* matrix, set-up, solve and draw are sums over the steps */
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
