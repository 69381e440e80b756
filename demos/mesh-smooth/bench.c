/* mesh-smooth --bench: times of a step of the flow and of its parts. The time that matters is that of the whole
 * step: the parts are timed with a host synchronisation after each, which a step does not have. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "drawing.h"
#include "mesh_smooth.h"
#include "message.h"
#include "progress.h"
#include "reports.h"

enum { paper_iterations = 5, default_repeats = 20, warm_up = 3 };

/* Bolz et al. 2003, section 3.3: 37 k vertices, five iterations, on a GeForce FX. The time excludes pbuffer
 * switches. */
static const double paper_seconds = 1.0 / 20;

typedef struct bench_state {
  const program_options *options;
  smoother *s;
  ts_vector *original; /* positions to restore before each step */
  double time_step;
  int iterations, repeats;
} bench_state;

typedef struct bench_times {
  /* medians in seconds; draw NAN: not drawn */
  double step, fastest_step, assemble, solve, longer_solve, draw;
} bench_times;

static int fail_status(const bench_state *b, ts_status status) {
  const char *text = ts_last_error(b->s->device.context);
  message("%s", *text ? text : ts_status_text(status));
  return -1;
}

static int set_iterations(const bench_state *b, int iterations) {
  /* An unreachable tolerance, so that every solve makes all of its iterations. */
  const ts_solver_desc cg = {.preconditioner_kind =
                                 smoother_preconditioner_kind(b->options->smoother.preconditioner),
                             .rtol = 1e-30,
                             .precision = TS_PRECISION_SINGLE,
                             .max_iterations = iterations};
  const ts_status status = ts_mesh_flow_set_solver(b->s->device.flow, &cg);
  return status == TS_OK ? 0 : fail_status(b, status);
}

static ts_status put_back(const bench_state *b) {
  const ts_status status = ts_vector_copy(smoother_positions(b->s), b->original);
  return status == TS_OK ? ts_context_finish(b->s->device.context) : status;
}

/* A timed operation. It starts with an idle device and the original positions, and ends when the device has
 * finished. */
typedef ts_status timed_fn(const bench_state *b, double *seconds);

static ts_status time_step(const bench_state *b, double *seconds) {
  const double begin = seconds_now();
  ts_status status = ts_mesh_flow_step(b->s->device.flow, smoother_positions(b->s), b->time_step, NULL);
  if (status == TS_OK) status = ts_context_finish(b->s->device.context);
  *seconds = seconds_now() - begin;
  return status;
}

static ts_status time_assembly(const bench_state *b, double *seconds) {
  const double begin = seconds_now();
  ts_status status = ts_mesh_flow_assemble(b->s->device.flow, smoother_positions(b->s), b->time_step);
  if (status == TS_OK) status = ts_context_finish(b->s->device.context);
  *seconds = seconds_now() - begin;
  return status;
}

static ts_status time_solve(const bench_state *b, double *seconds) {
  ts_status status = time_assembly(b, seconds);
  if (status != TS_OK) return status;
  const double begin = seconds_now();
  status = ts_mesh_flow_solve(b->s->device.flow, smoother_positions(b->s), NULL);
  if (status >= 0) status = ts_context_finish(b->s->device.context);
  *seconds = seconds_now() - begin;
  return status;
}

static int measure(const bench_state *b, timed_fn *timed, double *result, double *fastest) {
  double *const seconds = malloc((size_t)b->repeats * sizeof *seconds);
  if (!seconds) {
    message("out of memory for %d times", b->repeats);
    return -1;
  }
  ts_status status = TS_OK;
  for (int k = -warm_up; k < b->repeats && status == TS_OK; k++) {
    status = put_back(b);
    if (status == TS_OK) status = timed(b, &seconds[k < 0 ? 0 : k]);
  }
  if (status == TS_OK) {
    *result = report_median(seconds, b->repeats);
    if (fastest) *fastest = seconds[0];
  }
  free(seconds);
  if (status == TS_NOT_CONVERGED) {
    message("the step failed, so there is nothing to time; expected a shorter --time-step");
    return -1;
  }
  return status == TS_OK ? 0 : fail_status(b, status);
}

int bench_draw(const program_options *options, const smoother *s, int repeats, double *result) {
  enum { most = 20 };
  char why[MESH_MESSAGE];
  double seconds[most];
  drawing *d;
  const int count = repeats < most ? repeats : most;
  int failed = 0;
  *result = NAN;
  if (drawing_open(s, &options->look, options->run.picture_width, options->run.picture_height, &d, why)) {
    message_note("%s; drawing is not timed", why);
    return 0;
  }
  for (int k = -1; k < count && !failed; k++) {
    const double begin = seconds_now();
    failed = drawing_make(d, NULL, why);
    seconds[k < 0 ? 0 : k] = seconds_now() - begin;
  }
  drawing_close(&d);
  if (failed)
    message("%s", why);
  else
    *result = report_median(seconds, count);
  return failed ? -1 : 0;
}

static int measure_all(bench_state *b, bench_times *t) {
  if (set_iterations(b, b->iterations)) return -1;
  if (measure(b, time_step, &t->step, &t->fastest_step)) return -1;
  if (measure(b, time_assembly, &t->assemble, NULL)) return -1;
  if (measure(b, time_solve, &t->solve, NULL)) return -1;
  if (set_iterations(b, 2 * b->iterations)) return -1;
  if (measure(b, time_solve, &t->longer_solve, NULL)) return -1;
  return bench_draw(b->options, b->s, b->repeats, &t->draw);
}

/* ---- Report ---- */

typedef struct bench_parts {
  double assemble, setup, iterations, draw;
} bench_parts;

/* A second measurement with twice the iterations separates the time per iteration from the fixed cost of a
 * solve. */
static bench_parts tell_apart(const bench_times *t) {
  const double iterations = fmin(fmax(t->longer_solve - t->solve, 0), t->solve);
  return (bench_parts){t->assemble, t->solve - iterations, iterations, t->draw};
}

static void print_part(const char *name, double seconds, double whole) {
  printf("  %-28s %9.3f ms  %5.1f %%", name, 1e3 * seconds, 100 * seconds / whole);
}

static void print_text(const bench_state *b, const load_report *loaded, const bench_times *t) {
  const bench_parts p = tell_apart(t);
  const double sum = p.assemble + p.setup + p.iterations;
  const mesh *m = &b->s->start->m;
  const ts_context_info *device = &b->s->device.info;
  ts_mesh_flow_info flow = {0};
  ts_mesh_flow_get_info(b->s->device.flow, &flow);
  printf("mesh        %s: %d vertices, %d triangles\n", loaded->name, (int)m->vertex_count,
         (int)m->triangle_count);
  printf("device      %s: %s; format %s\n", device->backend, device->device, ts_format_name(flow.format));
  printf(
      "step        %d CG iterations, preconditioner %s, the matrix recomputed; positions are restored before "
      "each\n",
      b->iterations, smoother_preconditioner_name(b->options->smoother.preconditioner));
  printf("times       medians of %d, after %d to warm up\n\n", b->repeats, (int)warm_up);
  printf("  %-28s %9.3f ms           fastest %.3f ms\n", "the whole step", 1e3 * t->step,
         1e3 * t->fastest_step);
  printf(
      "  %-28s %9s %2.0f ms           37 k vertices, 5 iterations, GeForce FX without its pbuffer switches\n\n",
      "Bolz et al. 2003, 3.3", "less than", 1e3 * paper_seconds);
  printf("Its parts, with a host synchronisation after each, which a normal step does not have:\n");
  print_part("matrix and right-hand side", p.assemble, sum);
  putchar('\n');
  print_part("CG: set-up and end", p.setup, sum);
  putchar('\n');
  print_part("CG: iterations", p.iterations, sum);
  printf("  %.3f ms each, from a solve of %d\n", 1e3 * p.iterations / b->iterations, 2 * b->iterations);
  if (isfinite(p.draw))
    printf("  %-28s %9.3f ms           %d x %d pixels, read back; not part of the step\n", "a picture",
           1e3 * p.draw, b->options->run.picture_width, b->options->run.picture_height);
}

static int print_json(const bench_state *b, const load_report *loaded, const bench_times *t) {
  const bench_parts p = tell_apart(t);
  const mesh *m = &b->s->start->m;
  const ts_context_info *device = &b->s->device.info;
  ts_mesh_flow_info flow = {0};
  ts_mesh_flow_get_info(b->s->device.flow, &flow);
  json_t *object = json_pack(
      "{s:s, s:s, s:i, s:i, s:s, s:s, s:s, s:i, s:i, s:s, s:o, s:o, s:o, s:{s:o, s:o, s:o, s:o}}", "file",
      loaded->name, "preconditioner", smoother_preconditioner_name(b->options->smoother.preconditioner),
      "vertices", (int)m->vertex_count, "triangles", (int)m->triangle_count, "backend", device->backend,
      "device", device->device, "format", ts_format_name(flow.format), "iterations", b->iterations, "repeats",
      b->repeats, "positions", "put back before each step", "step_milliseconds", report_milliseconds(t->step),
      "fastest_step_milliseconds", report_milliseconds(t->fastest_step), "paper_milliseconds",
      report_milliseconds(paper_seconds), "milliseconds", "matrix_and_right_hand_side",
      report_milliseconds(p.assemble), "setup", report_milliseconds(p.setup), "iterations",
      report_milliseconds(p.iterations), "draw", report_milliseconds(p.draw));
  return report_print(object, 0);
}

static int bench(bench_state *b, const load_report *loaded) {
  bench_times times;
  const ts_vector_desc three = {.components = 3};
  ts_status status = ts_vector_create(ts_mesh_flow_get_space(b->s->device.flow), &three, &b->original);
  if (status == TS_OK) status = ts_vector_copy(b->original, smoother_positions(b->s));
  if (status != TS_OK) return fail_status(b, status);
  if (measure_all(b, &times)) return -1;
  progress_clear();
  if (b->options->run.json) return print_json(b, loaded, &times);
  print_text(b, loaded, &times);
  return message_flush_stdout();
}

int run_bench(const program_options *o) {
  load_report loaded;
  bench_state b = {.options = o,
                   .iterations = o->smoother.cg_iterations ? o->smoother.cg_iterations : paper_iterations,
                   .repeats = o->steps > 0 ? o->steps : default_repeats};
  if (open_smoother(o, &loaded, &b.s)) return EXIT_ERROR;
  b.time_step = b.s->options.time_step;
  progress_begin("timing");
  const int is_dsi = o->smoother.method == SMOOTHER_DSI;
  const int failed = is_dsi ? bench_dsi(o, &loaded, b.s) : bench(&b, &loaded);
  progress_clear();
  ts_vector_destroy(&b.original);
  smoother_destroy(&b.s);
  return failed ? EXIT_ERROR : EXIT_MADE;
}
