/* texsolve bench batch: many small systems in one call (texsolve/batch.h). The systems are 5-point
 * discretisations on a square with --size points: diffusion with random coefficients, and diffusion with a
 * random wind, upwind differences. Every system has other values. The host recomputes residuals in long double.
 * With --peers a loop of SciPy's direct solver solves the first of the same systems. */
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <texsolve/batch.h>

#include "bench.h"
#include "device_arrays.h"
#include "peer_program.h"
#include "platform.h"
#include "report.h"
#include "reports.h"

static const report_column RESULTS[] = {
    {"implementation", "by", 's', -11, 0},
    {"problem", "problem", 's', -10, 0},
    {"rows", "rows", 'i', 6, 0},
    {"systems", "systems", 'i', 8, 0},
    {"milliseconds", "ms", 'f', 9, 2},
    {"microseconds_per_system", "us/system", 'f', 9, 3},
    {"method", "method", 's', -8, 0},
    {"iterations", "iter.", 'f', 6, 1},
    {"most_iterations", "most", 'i', 5, 0},
    {"residual", "residual", 'e', 9, 1},
    {"entries", "", 'i', 0, 0},
};

enum {
  COLUMNS = sizeof RESULTS / sizeof *RESULTS,
  DEFAULT_SYSTEMS = 10000,
  DEFAULT_SIZE = 100,
  PEER_SYSTEMS = 1000 /* maximum for a loop of other libraries */
};

typedef struct batch {
  int32_t rows, systems;
  size_t entries;
  int32_t *offsets, *columns;
  double *values, *b, *x;
  ts_batch_result *results;
} batch;

typedef struct run {
  const bench_options *options;
  report *r;
  ts_context *context;
  const char *problem;
  int is_one_thread; /* on the CPU: times are processor time */
} run;

/* ---- Problems ---- */

static double uniform(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 9007199254740992.0;
}

/* The value of each link between point i and its neighbour j; both directions share the coefficient. */
static double link_value(uint64_t system, int32_t i, int32_t j, int has_wind) {
  const uint64_t low = (uint64_t)(i < j ? i : j), high = (uint64_t)(i < j ? j : i);
  uint64_t state = system * 1000003 + low * 7919 + high * 104729;
  uniform(&state);
  const double coefficient = 1 + uniform(&state), wind = has_wind ? 2 * uniform(&state) : 0;
  return -coefficient - (i > j ? wind : 0);
}

static void fill(batch *s, int has_wind) {
  uint64_t state = 1;
  for (size_t k = 0; k < (size_t)s->systems; k++) {
    double *values = s->values + k * s->entries;
    for (int32_t i = 0; i < s->rows; i++) {
      double sum = 0.05;
      size_t diagonal = 0;
      for (size_t e = (size_t)s->offsets[i]; e < (size_t)s->offsets[i + 1]; e++) {
        if (s->columns[e] == i)
          diagonal = e;
        else
          sum -= values[e] = link_value(k, i, s->columns[e], has_wind);
      }
      values[diagonal] = sum;
    }
  }
  for (size_t k = 0; k < (size_t)s->systems * (size_t)s->rows; k++) s->b[k] = uniform(&state) - 0.5;
}

static void batch_free(batch *s) {
  free(s->offsets), free(s->columns), free(s->values), free(s->b), free(s->x), free(s->results);
}

static int batch_make(batch *s, int32_t rows, int32_t systems) {
  const int32_t width = (int32_t)ceil(sqrt(rows)), steps[] = {-width, -1, 0, 1, width};
  const size_t numbers = (size_t)rows * (size_t)systems;
  *s = (batch){.rows = rows, .systems = systems};
  s->offsets = calloc((size_t)rows + 1, sizeof *s->offsets);
  s->columns = calloc(5 * (size_t)rows, sizeof *s->columns);
  for (int32_t i = 0; s->offsets && s->columns && i < rows; i++) {
    for (int k = 0; k < 5; k++) {
      const int32_t j = i + steps[k];
      if (j < 0 || j >= rows || (steps[k] == -1 && i % width == 0) || (steps[k] == 1 && j % width == 0))
        continue;
      if (k > 0 && steps[k] == steps[k - 1]) continue; /* a grid of width 1 */
      s->columns[s->entries++] = j;
    }
    s->offsets[i + 1] = (int32_t)s->entries;
  }
  s->values = calloc(s->entries * (size_t)systems + 1, sizeof *s->values);
  s->b = calloc(numbers, sizeof *s->b);
  s->x = calloc(numbers, sizeof *s->x);
  s->results = calloc((size_t)systems, sizeof *s->results);
  if (s->offsets && s->columns && s->values && s->b && s->x && s->results) return 0;
  bench_error("out of memory for %d systems of %d rows", systems, rows);
  return 1;
}

/* The largest relative residual of the first `systems` systems. */
static double worst_residual(const batch *s, int32_t systems) {
  double worst = 0;
  for (size_t k = 0; k < (size_t)systems; k++) {
    const double *b = s->b + k * (size_t)s->rows, *x = s->x + k * (size_t)s->rows;
    long double left = 0, size = 0;
    for (int32_t i = 0; i < s->rows; i++) {
      long double rest = b[i];
      for (size_t e = (size_t)s->offsets[i]; e < (size_t)s->offsets[i + 1]; e++)
        rest -= (long double)s->values[k * s->entries + e] * x[s->columns[e]];
      left += rest * rest;
      size += (long double)b[i] * b[i];
    }
    worst = fmax(worst, (double)sqrtl(left / size));
  }
  return worst;
}

/* ---- The library ---- */

static void report_outcome(const run *run, const char *by, const batch *s, double seconds) {
  double iterations = 0;
  int most = 0;
  for (int32_t k = 0; k < s->systems; k++) {
    iterations += s->results[k].iterations;
    if (s->results[k].iterations > most) most = s->results[k].iterations;
  }
  report_row(run->r, by, run->problem, (long long)s->rows, (long long)s->systems, 1e3 * seconds,
             1e6 * seconds / s->systems, ts_method_name(s->results[0].method), iterations / s->systems,
             (long long)most, worst_residual(s, s->systems), (long long)s->entries);
}

static double now(const run *run) {
  return run->is_one_thread ? (double)clock() / CLOCKS_PER_SEC : seconds_now();
}

/* The first call is a warm-up. x is on the host, or is copied there. */
static int measure(const run *run, const char *by, const batch *s, const ts_batch_desc *desc, ts_array b,
                   ts_array x) {
  double times[101];
  ts_status status = TS_OK;
  for (int k = -1; k < run->options->repeat && status >= 0; k++) {
    const double start = now(run);
    status = ts_batch_solve(run->context, desc, b, x, s->results);
    if (status >= 0) status = ts_context_finish(run->context);
    times[k < 0 ? 0 : k] = now(run) - start;
  }
  if (bench_check(status, run->context, "a batch")) return 1;
  if (device_arrays_download(&x, s->x)) return 1;
  report_outcome(run, by, s, report_median(times, run->options->repeat));
  return 0;
}

static int run_arrays(const run *run, const batch *s) {
  const size_t numbers = (size_t)s->rows * (size_t)s->systems;
  ts_array b = ts_host((const double *)s->b, numbers), x = ts_host(s->x, numbers);
  ts_batch_desc desc = {.systems = s->systems,
                        .rows = s->rows,
                        .row_offsets = ts_host(s->offsets, (size_t)s->rows + 1),
                        .column_indices = ts_host(s->columns, s->entries),
                        .values = ts_host((const double *)s->values, s->entries * (size_t)s->systems),
                        .rtol = run->options->rtol,
                        .zero_start = 1};
  ts_context_info info;
  if (measure(run, "host arrays", s, &desc, b, x)) return 1;
  if (bench_check(ts_context_get_info(run->context, &info), run->context, "the device")) return 1;
  if (!device_arrays_are_known(info.backend)) return 0;
  enum { COUNT = 5 };
  ts_array *const arrays[COUNT] = {&desc.row_offsets, &desc.column_indices, &desc.values, &b, &x};
  const int failed = device_arrays_upload(arrays, COUNT) || measure(run, "CUDA memory", s, &desc, b, x);
  device_arrays_free(arrays, COUNT);
  return failed;
}

/* ---- A loop of SciPy's direct solver (peer/peer_batch.py) ---- */

static int write_systems(FILE *file, const void *user) {
  const batch *s = user;
  const int32_t systems = s->systems < PEER_SYSTEMS ? s->systems : PEER_SYSTEMS;
  const int64_t sizes[] = {s->rows, (int64_t)s->entries, systems};
  const size_t offsets = (size_t)s->rows + 1, values = s->entries * (size_t)systems,
               numbers = (size_t)s->rows * (size_t)systems;
  return fwrite(sizes, sizeof sizes, 1, file) != 1 ||
         fwrite(s->offsets, sizeof *s->offsets, offsets, file) != offsets ||
         fwrite(s->columns, sizeof *s->columns, s->entries, file) != s->entries ||
         fwrite(s->values, sizeof *s->values, values, file) != values ||
         fwrite(s->b, sizeof *s->b, numbers, file) != numbers;
}

static int run_peers(const run *run, const batch *s) {
  char path[PEER_PATH_SIZE], repeats[16];
  if (!peer_find("peer-batch", path)) return 0;
  snprintf(repeats, sizeof repeats, "%d", run->options->repeat);
  const char *const arguments[] = {path, repeats, run->is_one_thread ? "--processor-time" : NULL, NULL};
  json_t *answer = peer_ask(arguments, write_systems, s), *entry;
  size_t index;
  json_array_foreach(json_object_get(answer, "results"), index, entry) {
    const double seconds = json_number_value(json_object_get(entry, "seconds"));
    const long long systems = (long long)json_integer_value(json_object_get(entry, "systems"));
    report_row(run->r, json_string_value(json_object_get(entry, "library")), run->problem, (long long)s->rows,
               systems, 1e3 * seconds, 1e6 * seconds / (double)systems,
               json_string_value(json_object_get(entry, "setting")), 1.0, 1LL,
               json_number_value(json_object_get(entry, "residual")), (long long)s->entries);
  }
  json_decref(answer);
  return !answer;
}

static int run_size(run *run, int32_t rows) {
  static const char *const problems[] = {"diffusion", "wind"};
  const int32_t systems = run->options->batch ? run->options->batch : DEFAULT_SYSTEMS;
  batch s;
  int failed = batch_make(&s, rows, systems);
  for (int k = 0; k < 2 && !failed; k++) {
    run->problem = problems[k];
    fill(&s, k);
    failed = run_arrays(run, &s) || (run->options->peers && run_peers(run, &s));
  }
  batch_free(&s);
  return failed;
}

int bench_batch(const bench_options *options, report *r) {
  static const int32_t default_size = DEFAULT_SIZE;
  run run = {.options = options, .r = r};
  const int32_t *sizes = options->size_count ? options->sizes : &default_size;
  const int count = options->size_count ? options->size_count : 1;
  bench_device device;
  int failed = bench_describe(options, r, &device) || bench_open(options, 0, 0, &run.context);
  if (!failed) {
    run.is_one_thread = !device.is_gl && !device.is_cuda && device.threads == 1;
    report_note(r, "One call solves all systems to ||b - A x|| <= %.3g ||b||; medians of %d calls.",
                options->rtol, options->repeat);
    if (run.is_one_thread) report_note(r, "One thread: times are processor time.");
    report_table(r, "results", "Batches", RESULTS, COLUMNS);
  }
  for (int k = 0; k < count && !failed; k++) failed = run_size(&run, sizes[k]);
  ts_context_destroy(&run.context);
  return failed;
}
