/* Declarations that the parts of the program mesh-smooth share. */
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
  const char *control, *fix; /* for discrete smooth interpolation; NULL: none */
  int steps;                 /* -1: not given */
  int formats;
} program_options;

/* The program's wording for defects that remain after a repair. */
extern const mesh_repair_words repair_words;

/* The input files. They are read before a device or a window is opened, so that their errors are reported
 * first. */
typedef struct program_input {
  load_report report;
  mesh m;
  dsi_controls controls;
} program_input;

/* These return 0, or nonzero after a message. On failure `in` does not need input_free. */
int input_read(const program_options *options, program_input *in);
/* Moves the mesh to its device and notes repairs. Frees `in`, except for its report. */
int input_open(const program_options *options, program_input *in, smoother **s);
void input_free(program_input *in);

/* input_read and input_open in one call. Returns 0, or 1 after a message. */
int open_smoother(const program_options *options, load_report *report, smoother **s);

/* ---- Shared by the benchmarks of both methods ---- */

/* Times a picture of the present mesh. Without OpenGL the result is NAN, and a note is printed. */
int bench_draw(const program_options *options, const smoother *s, int repeats, double *result);

int bench_dsi(const program_options *options, const load_report *loaded, smoother *s);

/* ---- report.c: reports as text or as one JSON object ---- */

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
  work_seconds seconds; /* matrix, setup, solve and draw are sums over the steps */
} work_report;

/* Call before the steps. */
void report_begin(const work_report *w);
/* Number of fixed control points. */
int report_count_fixed(const dsi_controls *controls);
/* Call after each step. Prints a line on a terminal or with -v. */
void report_step(const work_report *w, const step_report *r);
/* Call at the end. They return 0, or -1 after a message. */
int report_end(const work_report *w);
int report_json(const work_report *w);

#endif
