/* texsolve bench lcp without problems: times a sweep of dense Gauss-Seidel over a complementarity problem. Runs
 * every scheme of the backend, and the sequential loop on one core for comparison (figures 6, 7 and 8 of
 * Courtecuisse and Allard 2009).
 *
 * A sweep reads the whole matrix, n^2 numbers, and performs 2 n^2 operations, unless unknowns have not changed.
 * To prevent such savings all unknowns keep changing: bounds are -1 and 1, the diagonal is 1, and the other
 * entries are random within 4 / sqrt(n) and nonsymmetric. The sweeps never converge. --batch sweeps many small
 * problems at once. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <texsolve/lcp.h>

#include "lcp_solves.h"
#include "report.h"
#include "timing.h"

static const report_column COLUMNS[] = {
    {"size", "n", 'i', 6, 0},
    {"precision", "precision", 's', -9, 0},
    {"scheme", "scheme", 's', -10, 0},
    {"backend", NULL, 's', 0, 0},
    {"milliseconds_a_sweep", "ms/sweep", 'f', 10, 4},
    {"spread_percent", "spread%", 'f', 7, 1},
    {"gigabytes_per_second", "GB/s", 'f', 8, 1},
    {"gflops", "GFLOP/s", 'f', 8, 1},
    {"times_sequential", "x one core", 'f', 10, 2},
};

static const report_column BATCH_COLUMNS[] = {
    {"size", "n", 'i', 6, 0},
    {"batch", "problems", 'i', 8, 0},
    {"sweeps", "sweeps", 'i', 6, 0},
    {"precision", "precision", 's', -9, 0},
    {"scheme", "scheme", 's', -10, 0},
    {"backend", NULL, 's', 0, 0},
    {"milliseconds", "ms for all", 'f', 10, 3},
    {"spread_percent", "spread%", 'f', 7, 1},
    {"times_sequential", "x one core", 'f', 10, 2},
};

static const int32_t DEFAULT_SIZES[] = {100, 300, 1000, 2000, 3000, 10000};
enum {
  DEFAULT_COUNT = sizeof DEFAULT_SIZES / sizeof *DEFAULT_SIZES,
  most_sweeps = 100,
  batch_sweeps = 50,
  batch_size = 60
};
static const double longest_sweep = 2; /* seconds; a slower scheme is measured only once */

typedef struct problem {
  int32_t n, batch;
  float *matrix, *q;
  double *lower, *upper;
} problem;

/* Reproducible random numbers between -1 and 1. */
static float next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (float)((double)(*state >> 40) * 0x1p-23 - 1);
}

static int make_problem(problem *p, int32_t n, int32_t batch) {
  const size_t order = (size_t)n, rows = order * (size_t)batch;
  uint64_t state = 1;
  *p = (problem){.n = n,
                 .batch = batch,
                 .matrix = malloc(rows * order * sizeof(float)),
                 .q = malloc(rows * sizeof(float)),
                 .lower = malloc(rows * sizeof(double)),
                 .upper = malloc(rows * sizeof(double))};
  if (!p->matrix || !p->q || !p->lower || !p->upper) {
    bench_error("out of memory for %d matrices of %d x %d", batch, n, n);
    return 1;
  }
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < order; j++)
      p->matrix[i * order + j] = i % order == j ? 1 : 4 * next_random(&state) / sqrtf((float)n);
    p->lower[i] = -1, p->upper[i] = 1;
    p->q[i] = next_random(&state);
  }
  return 0;
}

static void free_problem(problem *p) {
  free(p->matrix);
  free(p->q);
  free(p->lower);
  free(p->upper);
}

/* ---- One scheme ---- */

typedef struct objects {
  ts_context *context;
  ts_lcp *lcp;
  ts_vector *q, *z;
  ts_lcp_settings settings;
} objects;

static int make_objects(objects *o, ts_context *context, const problem *p, ts_precision precision) {
  const size_t rows = (size_t)p->n * (size_t)p->batch;
  const ts_lcp_desc desc = {.size = p->n,
                            .batch = p->batch,
                            .matrix = ts_host(p->matrix, rows * (size_t)p->n),
                            .lower = ts_host(p->lower, rows),
                            .upper = ts_host(p->upper, rows),
                            .precision = precision};
  const ts_vector_desc vector = {.components = 1, .precision = precision};
  *o = (objects){.context = context};
  ts_status status = ts_lcp_create(context, &desc, &o->lcp);
  if (status >= 0) status = ts_vector_create(ts_lcp_get_space(o->lcp), &vector, &o->q);
  if (status >= 0) status = ts_vector_create(ts_lcp_get_space(o->lcp), &vector, &o->z);
  if (status >= 0) status = ts_vector_write(o->q, ts_host(p->q, rows));
  return bench_check(status, context, "ts_lcp_create");
}

static void free_objects(objects *o) {
  ts_vector_destroy(&o->q);
  ts_vector_destroy(&o->z);
  ts_lcp_destroy(&o->lcp);
}

static int run_sweeps(void *user, long count) {
  objects *o = user;
  ts_status status = TS_OK;
  for (long k = 0; k < count && status >= 0; k++) status = ts_lcp_solve(o->lcp, o->q, o->z, &o->settings, NULL);
  if (status >= 0) status = ts_context_finish(o->context);
  return bench_check(status, o->context, "ts_lcp_solve");
}

/* A solve has the paper's sweep count, or fewer to fit into a batch. If a scheme is too slow for that, the time
 * of one sweep counts. For several problems it is the time of all their sweeps. */
static int measure_scheme(objects *o, const bench_options *options, ts_lcp_scheme scheme, timing *t) {
  if (options->batch) {
    o->settings = (ts_lcp_settings){.scheme = scheme, .fixed_sweeps = batch_sweeps};
    return timing_measure(t, options->repeat, BENCH_BATCH_SECONDS, run_sweeps, o);
  }
  o->settings = (ts_lcp_settings){.scheme = scheme, .fixed_sweeps = 1};
  if (run_sweeps(o, 1)) return 1;
  const double start = timing_now();
  if (run_sweeps(o, 1)) return 1;
  const double once = timing_now() - start;
  *t = (timing){.seconds = once, .fastest = once, .batch = 1, .repetitions = 1};
  if (once > longest_sweep) return 0;
  const double fit = BENCH_BATCH_SECONDS / once;
  const int sweeps = fit > most_sweeps ? most_sweeps : fit < 1 ? 1 : (int)fit;
  o->settings.fixed_sweeps = sweeps;
  if (timing_measure(t, options->repeat, BENCH_BATCH_SECONDS, run_sweeps, o)) return 1;
  t->seconds /= sweeps;
  return 0;
}

static void report_scheme(report *r, const bench_options *options, const problem *p, ts_precision precision,
                          const char *scheme, const ts_context *context, const timing *t, double sequential) {
  ts_context_info info = {0};
  (void)ts_context_get_info(context, &info);
  if (options->batch) {
    report_row(r, (long long)p->n, (long long)p->batch, (long long)batch_sweeps, ts_precision_name(precision),
               scheme, info.backend, 1e3 * t->seconds, 100 * t->spread, sequential / t->seconds);
    return;
  }
  const double entries = (double)p->n * p->n, size = precision == TS_PRECISION_DOUBLE ? 8 : 4;
  report_row(r, (long long)p->n, ts_precision_name(precision), scheme, info.backend, 1e3 * t->seconds,
             100 * t->spread, 1e-9 * size * entries / t->seconds, 2e-9 * entries / t->seconds,
             sequential / t->seconds);
}

/* ---- All schemes ---- */

/* The sequential loop is the CPU backend's row scheme on one thread. */
static int measure_sequential(const bench_options *options, report *r, const problem *p, ts_precision precision,
                              double *seconds) {
  bench_options one = *options;
  ts_context *context = NULL;
  objects o = {0};
  timing t;
  one.backend = "cpu";
  one.threads = 1;
  int failed = bench_open(&one, 0, 0, &context) || make_objects(&o, context, p, precision) ||
               measure_scheme(&o, options, TS_LCP_SCHEME_ROW, &t);
  if (!failed) {
    *seconds = t.seconds;
    report_scheme(r, options, p, precision, "sequential", context, &t, t.seconds);
  }
  free_objects(&o);
  ts_context_destroy(&context);
  return failed;
}

static int measure_precision(const bench_options *options, report *r, const problem *p,
                             ts_precision precision) {
  ts_context *context = NULL;
  objects o = {0};
  double sequential = NAN;
  if (measure_sequential(options, r, p, precision, &sequential)) return 1;
  int failed = bench_open(options, 0, 0, &context) || make_objects(&o, context, p, precision);
  for (int scheme = TS_LCP_SCHEME_ROW; !failed && scheme <= TS_LCP_SCHEME_RELAXED; scheme++) {
    timing t;
    if (!ts_lcp_has_scheme(context, (ts_lcp_scheme)scheme)) continue;
    failed = measure_scheme(&o, options, (ts_lcp_scheme)scheme, &t);
    if (!failed)
      report_scheme(r, options, p, precision, ts_lcp_scheme_name((ts_lcp_scheme)scheme), context, &t,
                    sequential);
  }
  free_objects(&o);
  ts_context_destroy(&context);
  return failed;
}

static int measure_size(const bench_options *options, report *r, int32_t n) {
  problem p;
  int failed = make_problem(&p, n, options->batch ? options->batch : 1);
  report_section(r, "n = %d", n);
  if (!failed && options->precision != TS_PRECISION_DOUBLE)
    failed = measure_precision(options, r, &p, TS_PRECISION_SINGLE);
  if (!failed && options->precision != TS_PRECISION_SINGLE)
    failed = measure_precision(options, r, &p, TS_PRECISION_DOUBLE);
  free_problem(&p);
  return failed;
}

int bench_lcp(const bench_options *options, report *r) {
  bench_device device;
  int failed = 0;
  if (bench_describe(options, r, &device)) return 1;
  if (options->matrix_count) return bench_lcp_solves(options, &device, r);
  static const int32_t small = batch_size;
  const int32_t *sizes = options->size_count ? options->sizes : options->batch ? &small : DEFAULT_SIZES;
  const int count = options->size_count ? options->size_count : options->batch ? 1 : DEFAULT_COUNT;
  report_note(r, "%ssequential: rows, one thread of the CPU.",
              options->batch ? "" : "GB/s: of the matrix, which a sweep reads once. ");
  if (options->batch)
    report_table(r, "batch", NULL, BATCH_COLUMNS, sizeof BATCH_COLUMNS / sizeof *BATCH_COLUMNS);
  else
    report_table(r, "sweeps", NULL, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  for (int k = 0; k < count && !failed; k++) failed = measure_size(options, r, sizes[k]);
  return failed;
}
