/* texsolve bench multigrid: cycles and solves of -div grad u = 1 on N x N points of the unit square, with u = 0
 * on its sides. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <texsolve/grid.h>

#include "multigrid_model.h"
#include "report.h"

enum { SHORT = 1, LONG = 9, WARM = 4, MEASURED = 4 };

static const report_column CYCLES[] = {
    {"size", "size", 'i', 5, 0},
    {"cycle", "cycle", 's', -7, 0},
    {"smoother", "smoother", 's', -11, 0},
    {"storage", "storage", 's', -8, 0},
    {"milliseconds", "ms", 'f', 8, 3},
    {"spread_percent", "spread%", 'f', 7, 1},
    {"factor", "factor", 'f', 6, 3},
    {"milliseconds_per_decade", "a decade", 'f', 8, 3},
    {"setup_milliseconds", "set-up", 'f', 7, 1},
    {"limit_milliseconds", "limit", 'f', 7, 3},
    {"times_limit", "times", 'f', 5, 1},
};

static const report_column SOLVES[] = {
    {"size", "size", 'i', 5, 0},
    {"method", "method", 's', -24, 0},
    {"cycles", "cycles", 'i', 6, 0},
    {"residual", "residual/1e-6", 'f', 13, 3},
    {"setup_milliseconds", "set-up ms", 'f', 9, 2},
    {"milliseconds", "solve ms", 'f', 9, 2},
    {"spread_percent", "spread%", 'f', 7, 1},
};

/* ---- The problem on the device ---- */

typedef struct objects {
  ts_context *context;
  ts_space *grid;
  ts_matrix *A;
  ts_vector *b, *x, *r;
  ts_multigrid *multigrid;
  int cycles; /* per run */
  ts_result result;
} objects;

static void bench_multigrid_destroy(objects *o) {
  ts_multigrid_destroy(&o->multigrid);
  ts_vector_destroy(&o->r);
  ts_vector_destroy(&o->x);
  ts_vector_destroy(&o->b);
  ts_matrix_destroy(&o->A);
  ts_space_destroy(&o->grid);
  ts_context_destroy(&o->context);
}

static int fill(objects *o, const ts_poisson_desc *desc, float *values) {
  const size_t n = (size_t)desc->width * (size_t)desc->height;
  ts_grid_desc grid;
  ts_status status = ts_poisson_grid(desc, &grid);
  if (status >= 0) status = ts_grid_create(o->context, &grid, &o->grid);
  if (status >= 0)
    status =
        ts_poisson_stencil(o->context, desc, ts_host(values, 9 * (size_t)desc->width * (size_t)desc->height));
  if (status >= 0)
    status = ts_stencil_create(o->grid, ts_host(values, 9 * (size_t)ts_space_get_size(o->grid)), &o->A);
  for (size_t k = 0; k < n; k++) values[k] = 1;
  if (status >= 0)
    status = ts_poisson_right_hand_side(o->context, desc,
                                        ts_host(values, (size_t)desc->width * (size_t)desc->height), NULL,
                                        ts_host(values + n, (size_t)desc->width * (size_t)desc->height),
                                        ts_host(values + 2 * n, (size_t)desc->width * (size_t)desc->height));
  if (status >= 0) status = ts_vector_create(o->grid, NULL, &o->b);
  if (status >= 0) status = ts_vector_create(o->grid, NULL, &o->x);
  if (status >= 0) status = ts_vector_create(o->grid, NULL, &o->r);
  if (status >= 0) status = ts_vector_write(o->b, ts_host(values + n, n));
  return bench_check(status, o->context, "making the problem");
}

static int make(const bench_options *options, int size, objects *o) {
  const ts_poisson_desc desc = {.width = size, .height = size};
  memset(o, 0, sizeof *o);
  if (bench_open(options, 0, 0, &o->context)) return 1;
  float *values = malloc(9 * (size_t)size * (size_t)size * sizeof *values);
  if (!values) bench_error("out of memory for a stencil of %dx%d points", size, size);
  const int failed = !values || fill(o, &desc, values);
  free(values);
  return failed;
}

/* ---- Cycles ---- */

static int run_cycles(void *user, long count) {
  objects *o = user;
  ts_status status = TS_OK;
  for (long k = 0; k < count && status >= 0; k++)
    status = ts_multigrid_cycle(o->multigrid, o->b, o->x, o->cycles);
  if (status >= 0) status = ts_context_finish(o->context);
  return bench_check(status, o->context, "a cycle");
}

/* ||b - A x|| with b = 0 in place of r, computed on the host. */
static int norm_of_product(objects *o, double *norm) {
  const size_t n = (size_t)ts_space_get_size(o->grid);
  float *values = malloc(n * sizeof *values);
  ts_status status = values ? ts_matrix_multiply(o->r, o->A, o->x) : TS_ERROR_OUT_OF_HOST_MEMORY;
  if (status >= 0) status = ts_vector_read(o->r, ts_host(values, n));
  double squares = 0;
  for (size_t k = 0; status >= 0 && k < n; k++) squares += (double)values[k] * values[k];
  *norm = sqrt(squares);
  free(values);
  return bench_check(status, o->context, "measuring a residual");
}

/* With b = 0, x tends to 0, so rounding does not limit the reduction. */
static int measure_factor(objects *o, double *factor) {
  const size_t n = (size_t)ts_space_get_size(o->grid), width = (size_t)lround(sqrt((double)n));
  float *values = malloc(n * sizeof *values);
  double before = 0, after = 0;
  if (!values) {
    bench_error("out of memory for %zu numbers", n);
    return 1;
  }
  for (size_t k = 0; k < n; k++) {
    const size_t i = k % width, j = k / width;
    const int inside = i > 0 && j > 0 && i + 1 < width && j + 1 < width;
    values[k] = inside ? generated_noise((uint32_t)k, 3u) - 0.5F : 0;
  }
  ts_vector *zero = NULL;
  ts_status status = ts_vector_create(o->grid, NULL, &zero);
  if (status >= 0) status = ts_vector_write(o->x, ts_host(values, n));
  free(values);
  if (status >= 0) status = ts_multigrid_cycle(o->multigrid, zero, o->x, WARM);
  int failed = bench_check(status, o->context, "a cycle") || norm_of_product(o, &before);
  if (!failed)
    failed = bench_check(ts_multigrid_cycle(o->multigrid, zero, o->x, MEASURED), o->context, "a cycle") ||
             norm_of_product(o, &after);
  *factor = pow(after / before, 1.0 / MEASURED);
  ts_vector_destroy(&zero);
  return failed;
}

static int measure_cycles(const bench_options *options, objects *o, const device_limits *limits, int size,
                          const ts_multigrid_desc *desc, report *r) {
  ts_multigrid_info info = {0};
  timing shorter, longer;
  cycle_model model;
  double factor;
  char name[16];
  const ts_status status = ts_multigrid_create(o->A, desc, &o->multigrid);
  if (status == TS_ERROR_UNSUPPORTED) return 0; /* this backend does not support the storage */
  int failed = bench_check(status, o->context, "making multigrid") ||
               bench_check(ts_multigrid_get_info(o->multigrid, &info), o->context, "asking multigrid");
  o->cycles = SHORT;
  failed = failed || timing_measure(&shorter, options->repeat, BENCH_BATCH_SECONDS, run_cycles, o);
  o->cycles = LONG;
  failed = failed || timing_measure(&longer, options->repeat, BENCH_BATCH_SECONDS, run_cycles, o) ||
           measure_factor(o, &factor) || cycle_model_of(limits, o->multigrid, desc, &model);
  ts_multigrid_destroy(&o->multigrid);
  if (failed) return 1;
  /* On a busy machine the shorter run may have taken longer; the difference then means nothing. */
  const double difference = longer.seconds > shorter.seconds ? longer.seconds - shorter.seconds : NAN;
  const double seconds = difference / (LONG - SHORT);
  const double spread = (longer.spread * longer.seconds + shorter.spread * shorter.seconds) / difference;
  snprintf(name, sizeof name, "%s(%d,%d)", ts_cycle_name(info.cycle), info.pre, info.post);
  report_row(r, (long long)size, name, ts_smoother_name(info.smoother), ts_grid_storage_name(info.storage),
             1e3 * seconds, 100 * spread, factor, 1e3 * seconds / -log10(factor), 1e3 * info.seconds_setup,
             1e3 * model.seconds, seconds / model.seconds);
  return 0;
}

/* ---- Solves ---- */

static int run_solves(void *user, long count) {
  objects *o = user;
  ts_status status = TS_OK;
  for (long k = 0; k < count && status >= 0; k++) {
    status = ts_vector_fill(o->x, 0);
    if (status >= 0) status = ts_multigrid_solve(o->multigrid, o->b, o->x, &o->result);
  }
  if (status >= 0) status = ts_context_finish(o->context);
  return bench_check(status, o->context, "solving");
}

typedef struct method {
  const char *name;
  int full;
  ts_smoother smoother;
} method;

static const method METHODS[] = {
    {"cycles", 0, TS_SMOOTHER_AUTO},
    {"full multigrid, cycles", 1, TS_SMOOTHER_AUTO},
    {"cycles, jacobi", 0, TS_SMOOTHER_JACOBI},
};

static int measure_solve(const bench_options *options, objects *o, int size, const method *m, report *r) {
  const ts_multigrid_desc desc = {.smoother = m->smoother, .full = m->full, .rtol = 1e-6};
  ts_multigrid_info info = {0};
  timing t;
  ts_status status = ts_multigrid_create(o->A, &desc, &o->multigrid);
  if (status >= 0) status = ts_multigrid_get_info(o->multigrid, &info);
  const int failed = bench_check(status, o->context, "making the solver") ||
                     timing_measure(&t, options->repeat, BENCH_BATCH_SECONDS, run_solves, o);
  ts_multigrid_destroy(&o->multigrid);
  if (failed) return 1;
  report_row(r, (long long)size, m->name, (long long)o->result.iterations, o->result.relative_residual * 1e6,
             1e3 * info.seconds_setup, 1e3 * t.seconds, 100 * t.spread);
  return 0;
}

/* ---- Everything ---- */

static const ts_multigrid_desc CONFIGURATIONS[] = {
    {.smoother = TS_SMOOTHER_FOUR_COLOUR},
    {.smoother = TS_SMOOTHER_RED_BLACK},
    {.smoother = TS_SMOOTHER_FOUR_COLOUR, .cycle = TS_CYCLE_F},
    {.smoother = TS_SMOOTHER_FOUR_COLOUR, .cycle = TS_CYCLE_W},
    {.smoother = TS_SMOOTHER_CHEBYSHEV},
    {.smoother = TS_SMOOTHER_JACOBI, .storage = TS_GRID_STORAGE_PLAIN},
    {.smoother = TS_SMOOTHER_JACOBI, .storage = TS_GRID_STORAGE_LAYERED},
    {.smoother = TS_SMOOTHER_JACOBI, .storage = TS_GRID_STORAGE_PARITIES},
};

static int list_sizes(const bench_options *options, const bench_device *device, int sizes[8]) {
  const int largest = !device->is_hardware && device->is_gl ? 513
                      : device->is_gl || device->is_cuda    ? 4097
                                                            : 2049;
  int count = 0;
  if (options->size) {
    sizes[0] = options->size;
    return 1;
  }
  for (int n = 65; n <= largest; n = 2 * n - 1) sizes[count++] = n;
  return count;
}

/* The finest level's stencil and vectors are most of the data. */
static int measure_limits(const bench_options *options, int size, device_limits *limits) {
  return limits_measure(limits, options, 4.0 * 9 * size * size);
}

static int run_size(const bench_options *options, int size, int solves, report *r) {
  device_limits limits;
  objects o;
  int failed = 0;
  if (!solves && measure_limits(options, size, &limits)) return 1;
  failed = make(options, size, &o);
  for (size_t k = 0; !solves && !failed && k < sizeof CONFIGURATIONS / sizeof *CONFIGURATIONS; k++)
    failed = measure_cycles(options, &o, &limits, size, &CONFIGURATIONS[k], r);
  for (size_t k = 0; solves && !failed && k < sizeof METHODS / sizeof *METHODS; k++)
    failed = measure_solve(options, &o, size, &METHODS[k], r);
  bench_multigrid_destroy(&o);
  return failed;
}

int bench_multigrid(const bench_options *options, report *r) {
  bench_device device;
  int sizes[8], failed = 0;
  if (bench_describe(options, r, &device)) return 1;
  if (options->size && (options->size < 9 || options->size > 32769)) {
    bench_error("--size %d: expected 9 to 32769 points a side", options->size);
    return 1;
  }
  const int count = list_sizes(options, &device, sizes);
  report_note(r,
              "-div grad u = 1 on size x size points, u = 0 on the sides. Times in milliseconds: of a cycle,");
  report_note(
      r, "the difference of calls with %d and %d; for a decade of the residual; of the set-up. Factor: the",
      SHORT, LONG);
  report_note(r, "mean of cycles %d to %d with b = 0. Limit: the sum of the least times of %s", WARM + 1,
              WARM + MEASURED, device.is_gl ? "a cycle's passes" : "what a cycle reads and writes");
  report_note(r, "(docs/limits.md), with rates measured at this size.");
  report_table(r, "cycles", "Cycles", CYCLES, sizeof CYCLES / sizeof *CYCLES);
  for (int k = 0; k < count && !failed; k++) failed = run_size(options, sizes[k], 0, r);
  report_table(r, "solves", "Solves to a relative residual of 1e-6", SOLVES, sizeof SOLVES / sizeof *SOLVES);
  for (int k = 0; k < count && !failed; k++) failed = run_size(options, sizes[k], 1, r);
  return failed;
}
