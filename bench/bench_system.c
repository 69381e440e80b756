/* texsolve bench system: the system builder's time from rows to a packed matrix, and for a change. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <texsolve/system.h>

#include "report.h"
#include "reports.h"
#include "timing.h"

/* Systems on the vertices of a triangulated square grid. */
typedef struct grid {
  int32_t side;
  int32_t vertices, triangles;
} grid;

typedef struct model {
  const char *name;
  int32_t unknowns; /* per vertex */
  int components;
  int least_squares, symmetric;
  /* Defines the system and counts coefficients. Nonzero: failed. */
  int (*state)(ts_system *system, const grid *g, int64_t *coefficients);
  ts_normal normal;
} model;

static grid make_grid(int32_t vertices) {
  grid g = {(int32_t)floor(sqrt((double)vertices)), 0, 0};
  if (g.side < 3) g.side = 3;
  g.vertices = g.side * g.side;
  g.triangles = 2 * (g.side - 1) * (g.side - 1);
  return g;
}

/* Neighbours along the axes and one diagonal; returns their number. */
static int neighbours(const grid *g, int32_t v, int32_t near[6]) {
  static const int dx[] = {-1, 0, -1, 1, 0, 1}, dy[] = {-1, -1, 0, 0, 1, 1};
  const int32_t x = v % g->side, y = v / g->side;
  int count = 0;
  for (int k = 0; k < 6; ++k) {
    const int32_t i = x + dx[k], j = y + dy[k];
    if (i >= 0 && j >= 0 && i < g->side && j < g->side) near[count++] = j * g->side + i;
  }
  return count;
}

static void triangle(const grid *g, int32_t t, int32_t v[3]) {
  const int32_t cell = t / 2, at = cell / (g->side - 1) * g->side + cell % (g->side - 1);
  v[0] = at;
  v[1] = t & 1 ? at + g->side + 1 : at + 1;
  v[2] = t & 1 ? at + g->side : at + g->side + 1;
}

/* ---- Systems ---- */

/* A Laplacian with a small addition to the diagonal, row by row. */
static int state_rows(ts_system *system, const grid *g, int64_t *coefficients) {
  const double b = 1;
  for (int32_t v = 0; v < g->vertices; ++v) {
    int32_t unknowns[7];
    double a[7];
    const int count = neighbours(g, v, unknowns);
    for (int k = 0; k < count; ++k) a[k] = -1;
    unknowns[count] = v;
    a[count] = count + 0.01;
    if (ts_system_row(system, count + 1, unknowns, a, &b, 1)) return 1;
    *coefficients += count + 1;
  }
  return 0;
}

/* The same Laplacian from triangles. Each adds 9 entries, or 6 of one half. */
static int state_triangles(ts_system *system, const grid *g, int symmetric, int64_t *coefficients) {
  for (int32_t t = 0; t < g->triangles; ++t) {
    int32_t v[3];
    triangle(g, t, v);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j <= (symmetric ? i : 2); ++j)
        if (ts_system_add(system, v[i], v[j], i == j ? 1.01 : -0.5)) return 1;
    *coefficients += symmetric ? 6 : 9;
  }
  for (int32_t v = 0; v < g->vertices; ++v)
    if (ts_system_add_right_hand_side(system, v, 0, 1)) return 1;
  return 0;
}
static int state_entries(ts_system *system, const grid *g, int64_t *coefficients) {
  return state_triangles(system, g, 0, coefficients);
}
static int state_triangle(ts_system *system, const grid *g, int64_t *coefficients) {
  return state_triangles(system, g, 1, coefficients);
}

/* Two conditions per triangle on u and v of its corners, as for a conformal map. */
static int state_conformal(ts_system *system, const grid *g, int64_t *coefficients) {
  for (int32_t t = 0; t < g->triangles; ++t) {
    int32_t v[3];
    triangle(g, t, v);
    const double z = 0.3 * (double)generated_noise((uint32_t)v[0], (uint32_t)v[1]);
    const double x[3] = {1 - z, z, -1}, y[3] = {-1, 1 + z, -z};
    const int32_t unknowns[6] = {2 * v[0], 2 * v[0] + 1, 2 * v[1], 2 * v[1] + 1, 2 * v[2], 2 * v[2] + 1};
    const double real[6] = {x[0], -y[0], x[1], -y[1], x[2], -y[2]};
    const double imaginary[6] = {y[0], x[0], y[1], x[1], y[2], x[2]};
    if (ts_system_row(system, 6, unknowns, real, NULL, 1) ||
        ts_system_row(system, 6, unknowns, imaginary, NULL, 1))
      return 1;
    *coefficients += 12;
  }
  return 0;
}

/* One condition per vertex, equality with the mean of its neighbours. Every hundredth vertex is also tied to
 * its place. */
static int state_smooth(ts_system *system, const grid *g, int64_t *coefficients) {
  for (int32_t v = 0; v < g->vertices; ++v) {
    int32_t unknowns[7];
    double a[7];
    const int count = neighbours(g, v, unknowns);
    for (int k = 0; k < count; ++k) a[k] = -1.0 / count;
    unknowns[count] = v;
    a[count] = 1;
    if (ts_system_row(system, count + 1, unknowns, a, NULL, 1)) return 1;
    *coefficients += count + 1;
    if (v % 100) continue;
    const int32_t x = v % g->side, y = v / g->side;
    const double b[3] = {x, y, (double)generated_noise((uint32_t)v, 7)}, one = 1;
    if (ts_system_row(system, 1, &v, &one, b, 0.1)) return 1;
    ++*coefficients;
  }
  return 0;
}

static const model MODELS[] = {
    {"rows", 1, 1, 0, 0, state_rows, TS_NORMAL_AUTO},
    {"entries", 1, 1, 0, 0, state_entries, TS_NORMAL_AUTO},
    {"triangle", 1, 1, 0, 1, state_triangle, TS_NORMAL_AUTO},
    {"conformal", 2, 1, 1, 0, state_conformal, TS_NORMAL_FORMED},
    {"  applied", 2, 1, 1, 0, state_conformal, TS_NORMAL_APPLIED},
    {"smooth", 1, 3, 1, 0, state_smooth, TS_NORMAL_FORMED},
    {"  applied", 1, 3, 1, 0, state_smooth, TS_NORMAL_APPLIED},
};

/* ---- Measuring ---- */

typedef struct times {
  double state, build, layout;
} times;

static int check(ts_status status, const ts_context *context, const char *what) {
  return status == TS_NOT_CONVERGED ? 0 : bench_check(status, context, what);
}

/* Times the build from begin to the packed matrix; the solve has only one iteration. */
static int bench_system_build(ts_system *system, const model *m, const grid *g, const ts_system_solve_desc *how,
                              times *t, int64_t *coefficients, ts_system_result *result) {
  ts_context *context = ts_system_get_context(system);
  const double start = timing_now();
  *coefficients = 0;
  if (bench_check(ts_system_begin(system), context, "stating a system")) return 1;
  if (m->state(system, g, coefficients)) return bench_check(TS_ERROR_DEVICE, context, "stating a system");
  t->state = timing_now() - start;
  if (bench_check(ts_system_end(system), context, "building a system")) return 1;
  if (check(ts_system_solve(system, how, result), context, "solving a system")) return 1;
  t->build = result->seconds_build;
  t->layout = result->seconds_layout;
  return 0;
}

/* Moves a locked unknown and does a few iterations. Times the excess over the iterations alone. */
static int drag(ts_system *system, const ts_system_solve_desc *how, int repeat, double *seconds) {
  ts_context *context = ts_system_get_context(system);
  double moved[101], still[101];
  ts_system_result result;
  for (int k = 0; k < repeat; ++k) {
    const double value[4] = {k, 1, 1, 1};
    double start = timing_now();
    if (check(ts_system_solve(system, how, &result), context, "solving a system") ||
        bench_check(ts_context_finish(context), context, "solving a system"))
      return 1;
    still[k] = timing_now() - start;
    start = timing_now();
    if (bench_check(ts_system_set_value(system, 0, value), context, "moving an unknown") ||
        check(ts_system_solve(system, how, &result), context, "solving a system") ||
        bench_check(ts_context_finish(context), context, "solving a system"))
      return 1;
    moved[k] = timing_now() - start;
  }
  seconds[0] = report_median(still, repeat);
  seconds[1] = report_median(moved, repeat);
  return 0;
}

static const report_column COLUMNS[] = {
    {"system", "system", 's', -9, 0},           {"unknowns", "unknowns", 'i', 8, 0},
    {"coefficients", "stated", 'i', 8, 0},      {"nonzeros", "nonzeros", 'i', 8, 0},
    {"format", "format", 's', -6, 0},           {"state_microseconds", "state", 'f', 5, 2},
    {"build_microseconds", "build", 'f', 5, 2}, {"layout_microseconds", "layout", 'f', 6, 2},
    {"microseconds", "total", 'f', 5, 3},       {"again_microseconds", "again", 'f', 5, 3},
    {"frame_milliseconds", "8 it", 'f', 6, 2},  {"moved_milliseconds", "moved", 'f', 6, 2},
};

static double per_entry(double seconds, double entries) {
  return 1e6 * seconds / entries;
}

static int measure(const bench_options *o, ts_context *context, const model *m, int32_t vertices, report *r) {
  const grid g = make_grid(vertices);
  const ts_system_desc desc = {.unknowns = g.vertices * m->unknowns,
                               .components = m->components,
                               .least_squares = m->least_squares,
                               .symmetric = m->symmetric};
  const ts_system_solve_desc how = {
      .format = o->format, .normal = m->normal, .solver.max_iterations = 1, .leave_on_device = 1};
  ts_system *system = NULL;
  if (bench_check(ts_system_create(context, &desc, &system), context, "making a system")) return 1;
  const double corner[4] = {1, 1, 1, 1};
  const int32_t locked[] = {0, 1, desc.unknowns - 2, desc.unknowns - 1};
  int failed = 0;
  for (int k = 0; k < 4 && !failed; ++k)
    failed = bench_check(ts_system_lock(system, locked[k]), context, "locking an unknown") ||
             bench_check(ts_system_set_value(system, locked[k], corner), context, "setting an unknown");
  times first, again;
  int64_t coefficients = 0;
  ts_system_result result;
  double frame[2];
  ts_system_solve_desc few = how;
  few.solver.max_iterations = 8;
  failed = failed || bench_system_build(system, m, &g, &how, &first, &coefficients, &result);
  failed = failed || bench_system_build(system, m, &g, &how, &again, &coefficients, &result);
  failed = failed || drag(system, &few, o->repeat, frame);
  ts_system_destroy(&system);
  if (failed) return 1;
  const double entries = (double)(coefficients > result.nonzeros ? coefficients : result.nonzeros);
  report_row(r, m->name, (long long)desc.unknowns, (long long)coefficients, (long long)result.nonzeros,
             ts_format_name(result.format), per_entry(first.state, entries), per_entry(first.build, entries),
             per_entry(first.layout, entries), per_entry(first.state + first.build + first.layout, entries),
             per_entry(again.state + again.build + again.layout, entries), 1e3 * frame[0], 1e3 * frame[1]);
  return 0;
}

int bench_system(const bench_options *o, report *r) {
  bench_device device;
  ts_context *context;
  if (bench_describe(o, r, &device)) return 1;
  report_note(r, "us per entry: a coefficient as added, or a nonzero of the matrix, which has more. state:");
  report_note(r, "the calls; build: sorting, adding up, normal equations; layout: packing and upload; total:");
  report_note(r, "all three; again: other values in the same pattern. 8 it: ms of 8 iterations that stay on");
  report_note(r, "the device; moved: the same, after a locked unknown got another value.");
  if (bench_open(o, 0, 0, &context)) return 1;
  const int32_t vertices = o->size ? o->size : device.is_hardware ? 250000 : 1 << 14;
  report_table(r, "systems", "The system builder", COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  int failed = 0;
  for (size_t k = 0; k < sizeof MODELS / sizeof *MODELS && !failed; ++k)
    failed = measure(o, context, &MODELS[k], vertices, r);
  ts_context_destroy(&context);
  return failed;
}
