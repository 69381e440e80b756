/* mesh-smooth --bench --method dsi: the time of a frame in which a control point has moved. It includes the new
 * position, a few iterations from the previous frame's solution, and the positions ready to draw. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "mesh_smooth.h"
#include "message.h"
#include "progress.h"
#include "reports.h"

enum { default_iterations = 8, default_repeats = 40, warm_up = 5, most_formats = 16 };

/* The rate at which a display shows continuous motion. */
static const double wanted_frames = 30;

typedef struct dsi_bench {
  const program_options *options;
  smoother *s;
  dsi_controls controls; /* one point */
  double place[3], size;
  int iterations, repeats, frame;
} dsi_bench;

typedef struct frame_times {
  double frame, slowest, longer_frame, host, draw; /* in seconds; draw NAN: not drawn */
  double build, layout;                            /* once, before the first frame */
  double lag; /* largest distance from the solution after the last frame, relative to the diagonal */
} frame_times;

/* Time of an iteration with another form of the same system. */
typedef struct form {
  ts_format format;
  int blocks;
  double seconds; /* NAN: not available on the backend */
  size_t bytes;
  int64_t nonzeros;
} form;

/* ---- A frame ---- */

static int32_t middle_vertex(const mesh *m, const mesh_measures *measures) {
  int32_t nearest = 0;
  double least = INFINITY;
  for (int32_t v = 0; v < m->vertex_count; v++) {
    double squares = 0;
    for (int c = 0; c < 3; c++) {
      const double from =
          m->positions[3 * (size_t)v + (size_t)c] - 0.5 * (measures->low[c] + measures->high[c]);
      squares += c < 2 ? from * from : 0;
    }
    if (squares >= least) continue;
    least = squares;
    nearest = v;
  }
  return nearest;
}

/* Moves the control point up and down by 2 % of the diagonal, in 40 frames. */
static void move_on(dsi_bench *b) {
  dsi_control *point = &b->controls.points[0];
  for (int c = 0; c < 3; c++) point->place[c] = b->place[c];
  point->place[2] += 0.02 * b->size * sin(2 * 3.14159265358979 * ++b->frame / 40);
}

static int finish(const dsi_bench *b) {
  const ts_status status = ts_context_finish(b->s->device.context);
  return status == TS_OK ? 0 : progress_fail(ts_last_error(b->s->device.context));
}

static int time_frame(dsi_bench *b, int iterations, double *seconds) {
  char why[MESH_MESSAGE];
  int converged;
  move_on(b);
  if (finish(b)) return -1;
  const double begin = seconds_now();
  if (smoother_set_controls(b->s, &b->controls, why) || smoother_follow(b->s, iterations, &converged, why))
    return progress_fail(why);
  if (finish(b)) return -1;
  *seconds = seconds_now() - begin;
  return 0;
}

static int time_frames(dsi_bench *b, int iterations, double *median, double *slowest) {
  double *seconds = malloc((size_t)b->repeats * sizeof *seconds);
  if (!seconds) return progress_fail("out of memory for the times");
  int lost = 0;
  for (int k = -warm_up; k < b->repeats && !lost; k++)
    lost = time_frame(b, iterations, &seconds[k < 0 ? 0 : k]);
  if (!lost) *median = report_median(seconds, b->repeats);
  if (!lost && slowest) *slowest = seconds[b->repeats - 1];
  free(seconds);
  return lost;
}

/* Measures the distance of the positions from the solution. */
static int measure_lag(dsi_bench *b, frame_times *t) {
  const size_t count = 3 * (size_t)b->s->start->m.vertex_count;
  float *numbers = malloc(2 * count * sizeof *numbers);
  char why[MESH_MESSAGE];
  step_report report;
  if (!numbers) return progress_fail("out of memory for positions");
  const double begin = seconds_now();
  ts_status status = ts_vector_read(smoother_positions(b->s), ts_host(numbers, count));
  t->host = seconds_now() - begin;
  t->lag = 0;
  int lost = status == TS_OK && !smoother_commit(b->s, why) && !smoother_step(b->s, 0, 0, &report, why) ? 0 : 1;
  if (!lost) status = ts_vector_read(smoother_positions(b->s), ts_host(numbers + count, count));
  for (size_t k = 0; k < count; k++)
    t->lag = fmax(t->lag, fabs((double)numbers[k] - (double)numbers[count + k]));
  free(numbers);
  if (status != TS_OK) return progress_fail(ts_last_error(b->s->device.context));
  return lost ? progress_fail(why) : 0;
}

static int measure(dsi_bench *b, frame_times *t) {
  double first;
  if (time_frame(b, b->iterations, &first)) return -1;
  t->build = b->s->dsi_result.seconds_build;
  t->layout = b->s->dsi_result.seconds_layout;
  if (time_frames(b, 2 * b->iterations, &t->longer_frame, NULL)) return -1;
  if (time_frames(b, b->iterations, &t->frame, &t->slowest)) return -1;
  if (measure_lag(b, t)) return -1;
  return bench_draw(b->options, b->s, b->repeats, &t->draw);
}

/* ---- Other forms of the system ---- */

enum { solves = 5 };

static int time_solve(dsi_bench *b, dsi *d, int iterations, double *seconds, char why[MESH_MESSAGE]) {
  const ts_system_solve_desc how = {.solver = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI,
                                               .precision = TS_PRECISION_SINGLE,
                                               .rtol = 1e-30, /* unreachable */
                                               .max_iterations = iterations,
                                               .check_interval = iterations},
                                    .leave_on_device = 1};
  double all[solves];
  ts_system_result result;
  ts_status status;
  for (int k = -1; k < solves; k++) {
    move_on(b);
    if (dsi_set_controls(d, &b->controls, why)) return 1;
    ts_context_finish(b->s->device.context);
    const double begin = seconds_now();
    if (dsi_solve(d, &how, &result, &status, why)) return 1;
    ts_context_finish(b->s->device.context);
    all[k < 0 ? 0 : k] = seconds_now() - begin;
  }
  *seconds = report_median(all, solves);
  return 0;
}

static void measure_form(dsi_bench *b, form *f) {
  enum { few = 20, many = 120 };
  const smoother_options *o = &b->s->options;
  const dsi_options options = {.weights = o->weights,
                               .fit = o->fit,
                               .free_boundary = o->boundary == TS_MESH_BOUNDARY_FLOW,
                               .format = f->format,
                               .blocks = f->blocks};
  char why[MESH_MESSAGE];
  double short_one, long_one;
  dsi *d;
  f->seconds = NAN;
  if (dsi_create(b->s->device.context, &b->s->start->m, &b->s->measures, &options, &d, why)) return;
  if (!time_solve(b, d, few, &short_one, why) && !time_solve(b, d, many, &long_one, why)) {
    f->seconds = (long_one - short_one) / (many - few);
    dsi_matrix_size(d, &f->bytes, &f->nonzeros);
  }
  dsi_destroy(&d);
}

static int measure_forms(dsi_bench *b, form *forms) {
  static const ts_format formats[] = {TS_FORMAT_CSR, TS_FORMAT_JAGGED, TS_FORMAT_SEGMENTS, TS_FORMAT_BCRS2,
                                      TS_FORMAT_BCRS4};
  int count = 0;
  for (int blocks = 0; blocks < 2; blocks++)
    for (size_t k = 0; k < sizeof formats / sizeof formats[0]; k++) {
      if (!(b->s->device.info.formats & 1u << formats[k])) continue;
      forms[count] = (form){.format = formats[k], .blocks = blocks};
      measure_form(b, &forms[count]);
      if (isfinite(forms[count].seconds)) count++;
    }
  return count;
}

/* ---- Report ---- */

static double whole(const frame_times *t) {
  return t->frame + (isfinite(t->draw) ? t->draw : 0);
}

static double iteration(const dsi_bench *b, const frame_times *t) {
  return fmax(t->longer_frame - t->frame, 0) / b->iterations;
}

static void print_text(const dsi_bench *b, const load_report *loaded, const frame_times *t, const form *forms,
                       int form_count) {
  const mesh *m = &b->s->start->m;
  const ts_system_result *r = &b->s->dsi_result;
  const ts_context_info *device = &b->s->device.info;
  printf("mesh        %s: %d vertices, %d triangles\n", loaded->name, (int)m->vertex_count,
         (int)m->triangle_count);
  printf("device      %s: %s; format %s, %lld entries\n", device->backend, device->device,
         ts_format_name(r->format), (long long)r->nonzeros);
  printf(
      "frame       a fixed control point moves, %d CG iterations, preconditioner %s, positions on the device\n",
      b->iterations, smoother_preconditioner_name(b->options->smoother.preconditioner));
  printf("times       medians of %d, after %d to warm up\n\n", b->repeats, (int)warm_up);
  printf("  %-28s %9.3f ms           slowest %.3f ms\n", "a frame", 1e3 * t->frame, 1e3 * t->slowest);
  printf("  %-28s %9.3f ms           %.3f ms each, from frames of %d\n", "  its iterations",
         1e3 * iteration(b, t) * b->iterations, 1e3 * iteration(b, t), 2 * b->iterations);
  if (isfinite(t->draw))
    printf("  %-28s %9.3f ms           %d x %d pixels, read back\n", "a picture", 1e3 * t->draw,
           b->options->run.picture_width, b->options->run.picture_height);
  printf("  %-28s %9.1f              %.0f wanted\n", "frames per second", 1 / whole(t), wanted_frames);
  printf("  %-28s %9.2g              of the diagonal, maximum after the last frame\n",
         "lag behind the solution", t->lag);
  printf("  %-28s %9.3f ms           to the host instead\n", "positions", 1e3 * t->host);
  printf("  %-28s %9.1f ms           and layout %.1f ms, once\n", "matrix", 1e3 * t->build, 1e3 * t->layout);
  if (!form_count) return;
  printf("\nAn iteration of the same system, x, y and z as components or as unknowns in blocks of 4 x 4:\n");
  for (int k = 0; k < form_count; k++)
    printf("  %-10s %-17s %9.4f ms  %8.2f MB  %lld entries\n", forms[k].blocks ? "blocks" : "components",
           ts_format_name(forms[k].format), 1e3 * forms[k].seconds, 1e-6 * (double)forms[k].bytes,
           (long long)forms[k].nonzeros);
}

static int print_json(const dsi_bench *b, const load_report *loaded, const frame_times *t, const form *forms,
                      int form_count) {
  const mesh *m = &b->s->start->m;
  const ts_system_result *r = &b->s->dsi_result;
  const ts_context_info *device = &b->s->device.info;
  json_t *list = json_array();
  for (int k = 0; k < form_count; k++)
    json_array_append_new(list,
                          json_pack("{s:b, s:s, s:o, s:I, s:I}", "blocks", forms[k].blocks, "format",
                                    ts_format_name(forms[k].format), "iteration_milliseconds",
                                    report_milliseconds(forms[k].seconds), "bytes_device",
                                    (json_int_t)forms[k].bytes, "nonzeros", (json_int_t)forms[k].nonzeros));
  json_t *object = json_pack(
      "{s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:s, s:I, s:i, s:i, s:o, s:o, s:o, s:o, s:f, s:f, s:o, s:o, s:o, "
      "s:o}",
      "file", loaded->name, "method", "dsi", "preconditioner",
      smoother_preconditioner_name(b->options->smoother.preconditioner), "vertices", (int)m->vertex_count,
      "triangles", (int)m->triangle_count, "backend", device->backend, "device", device->device, "format",
      ts_format_name(r->format), "nonzeros", (json_int_t)r->nonzeros, "iterations", b->iterations, "repeats",
      b->repeats, "frame_milliseconds", report_milliseconds(t->frame), "slowest_frame_milliseconds",
      report_milliseconds(t->slowest), "iteration_milliseconds", report_milliseconds(iteration(b, t)),
      "draw_milliseconds", report_milliseconds(t->draw), "frames_per_second", 1 / whole(t),
      "behind_the_solution", t->lag, "host_milliseconds", report_milliseconds(t->host), "build_milliseconds",
      report_milliseconds(t->build), "layout_milliseconds", report_milliseconds(t->layout), "formats", list);
  return report_print(object, 0);
}

int bench_dsi(const program_options *options, const load_report *loaded, smoother *s) {
  const mesh *m = &s->start->m;
  dsi_bench b = {.options = options,
                 .s = s,
                 .size = s->measures.diagonal,
                 .iterations =
                     options->smoother.cg_iterations ? options->smoother.cg_iterations : default_iterations,
                 .repeats = options->steps > 0 ? options->steps : default_repeats};
  char why[MESH_MESSAGE];
  frame_times times = {0};
  form forms[most_formats];
  dsi_control point = {.vertex = middle_vertex(m, &s->measures), .weight = DSI_FIXED};
  for (int c = 0; c < 3; c++) b.place[c] = point.place[c] = m->positions[3 * (size_t)point.vertex + (size_t)c];
  if (dsi_controls_add(&b.controls, m, &point, why)) return progress_fail(why);
  int lost = measure(&b, &times);
  const int form_count = !lost && options->formats ? measure_forms(&b, forms) : 0;
  progress_clear();
  if (!lost && options->run.json) lost = print_json(&b, loaded, &times, forms, form_count);
  if (!lost && !options->run.json) print_text(&b, loaded, &times, forms, form_count);
  dsi_controls_free(&b.controls);
  return lost ? -1 : message_flush_stdout();
}
