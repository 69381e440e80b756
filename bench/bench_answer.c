/* texsolve bench answer: from a matrix in a file, in host arrays or in CUDA memory, to the x of A x = 1.
 * Measures the time to read, to create, to prepare and to solve. The yardstick is a copy of the arrays by one
 * thread. The host recomputes residuals in long double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <texsolve/solver.h>

#include "compare.h"
#include "device_arrays.h"
#include "peer_program.h"
#include "platform.h"
#include "problem.h"
#include "report.h"
#include "reports.h"

static const char *const DEFAULT_SET[] = {"7 points", "27 points", "graph, Barabasi-Albert", "cantilever"};

static const report_column RESULTS[] = {
    {"implementation", "by", 's', -6, 0},
    {"read_milliseconds", "read", 'f', 7, 1},
    {"copy_milliseconds", "copy", 'f', 6, 2},
    {"create_milliseconds", "create", 'f', 7, 2},
    {"create_copies", "/copy", 'f', 5, 1},
    {"write_milliseconds", "values", 'f', 7, 2},
    {"setup_milliseconds", "set-up", 'f', 7, 2},
    {"milliseconds", "solve", 'f', 7, 2},
    {"sum_milliseconds", "sum", 'f', 7, 2},
    {"preconditioner", "with", 's', -10, 0},
    {"iterations", "iter.", 'i', 5, 0},
    {"reached", "met", 's', -3, 0},
    {"write_copies", "", 'f', 0, 1},
    {"residual", "", 'e', 0, 1},
    {"matrix", "", 's', 0, 0},
    {"rows", "", 'i', 0, 0},
    {"entries", "", 'i', 0, 0},
    {"format", "", 's', 0, 0},
    {"device_bytes", "", 'i', 0, 0},
};

enum {
  COLUMNS = sizeof RESULTS / sizeof *RESULTS,
  SET = sizeof DEFAULT_SET / sizeof *DEFAULT_SET,
  DEFAULT_ROWS = 300000,
  MOST_RUNS = 101
};

typedef struct run {
  const bench_options *options;
  report *r;
  compare_results backends;
} run;

/* The seconds of each run. */
typedef struct times {
  double copy[MOST_RUNS], create[MOST_RUNS], write[MOST_RUNS], setup[MOST_RUNS], solve[MOST_RUNS],
      sum[MOST_RUNS];
} times;

typedef struct outcome {
  ts_matrix_info info;
  ts_preconditioner_kind kind;
  ts_result result;
  solve_accuracy accuracy;
} outcome;

static int is_file(const char *name) {
  return !generated_is_name(name) && !problem_is_family(name);
}

/* ---- One run ---- */

static double copy_array(const void *from, size_t bytes, int *failed) {
  const double start = seconds_now();
  void *to = platform_allocate(bytes);
  if (to) memcpy(to, from, bytes);
  const double seconds = seconds_now() - start;
  if (!to || ((volatile char *)to)[bytes / 2] != ((const char *)from)[bytes / 2]) *failed = 1;
  free(to);
  return seconds;
}

/* In the same way as NumPy copies arrays. */
static double copy(const mm_csr *A, int *failed) {
  const size_t entries = (size_t)A->nonzeros;
  return copy_array(A->row_offsets, ((size_t)A->rows + 1) * sizeof *A->row_offsets, failed) +
         copy_array(A->column_indices, entries * sizeof *A->column_indices, failed) +
         copy_array(A->values, entries * sizeof *A->values, failed);
}

typedef struct objects {
  ts_context *context;
  ts_csr csr;
  ts_array given_b, given_x;
  ts_matrix *A;
  ts_solver *solver;
  ts_vector *b, *x;
} objects;

static ts_status create(objects *o, const bench_options *options) {
  const ts_matrix_desc desc = {.csr = o->csr, .format = options->format};
  const ts_status status = ts_matrix_create(o->context, &desc, &o->A);
  return status < 0 ? status : ts_context_finish(o->context);
}

static ts_status prepare(objects *o, const bench_options *options) {
  const ts_solver_desc solver = {.precision = options->precision < 0 ? TS_PRECISION_AUTO
                                                                     : (ts_precision)options->precision,
                                 .rtol = options->rtol,
                                 .max_iterations = 100000,
                                 .zero_start = 1};
  const ts_status status = ts_solver_create(o->A, &solver, &o->solver);
  return status < 0 ? status : ts_context_finish(o->context);
}

static ts_status solve(objects *o, ts_result *result) {
  const ts_vector_desc vectors = {.precision = TS_PRECISION_DOUBLE};
  ts_status status = ts_vector_create(ts_matrix_get_row_space(o->A), &vectors, &o->b);
  if (status >= 0) status = ts_vector_create(ts_matrix_get_column_space(o->A), &vectors, &o->x);
  if (status >= 0) status = ts_vector_write(o->b, o->given_b);
  if (status >= 0) status = ts_solver_solve(o->solver, o->b, o->x, result);
  if (status >= 0) status = ts_vector_read(o->x, o->given_x);
  return status < 0 ? status : ts_context_finish(o->context);
}

static ts_status write_values(objects *o) {
  const ts_status status = ts_matrix_set_values(o->A, &o->csr);
  return status < 0 ? status : ts_context_finish(o->context);
}

static void drop(objects *o) {
  ts_solver_destroy(&o->solver);
  ts_vector_destroy(&o->x);
  ts_vector_destroy(&o->b);
  ts_matrix_destroy(&o->A);
}

static ts_status run_once(const run *run, objects *o, int k, times *t, outcome *found) {
  const double start = seconds_now();
  ts_status status = create(o, run->options);
  const double created = seconds_now();
  if (status >= 0) status = prepare(o, run->options);
  const double prepared = seconds_now();
  if (status >= 0) status = solve(o, &found->result);
  const double solved = seconds_now();
  ts_preconditioner_info M = {0};
  if (status >= 0) status = ts_matrix_get_info(o->A, &found->info);
  if (status >= 0) status = ts_preconditioner_get_info(ts_solver_get_preconditioner(o->solver), &M);
  found->kind = M.kind;
  t->create[k] = created - start;
  t->setup[k] = prepared - created;
  t->solve[k] = solved - prepared;
  t->sum[k] = solved - start;
  const double before = seconds_now();
  if (status >= 0) status = write_values(o);
  t->write[k] = seconds_now() - before;
  return status;
}

/* ---- Tables ---- */

static void report_outcome(const run *run, const char *backend, const char *name, const problem *p, double read,
                           times *t, const outcome *found) {
  char matrix[BENCH_NAME_SIZE];
  const int runs = run->options->repeat;
  const double copied = report_median(t->copy, runs), created = report_median(t->create, runs),
               written = report_median(t->write, runs);
  const double rtol = fmax(run->options->rtol, 4 * found->accuracy.rounding);
  bench_short_name(matrix, name);
  report_row(run->r, backend, 1e3 * read, 1e3 * copied, 1e3 * created, created / copied, 1e3 * written,
             1e3 * report_median(t->setup, runs), 1e3 * report_median(t->solve, runs),
             1e3 * report_median(t->sum, runs), ts_preconditioner_kind_name(found->kind),
             (long long)found->result.iterations, found->accuracy.residual <= rtol ? "yes" : "no",
             written / copied, found->accuracy.residual, matrix, (long long)p->system.A.rows,
             (long long)p->system.A.nonzeros, ts_format_name(found->info.format),
             (long long)found->info.bytes_device);
}

/* ---- Libraries used from Python (peer/peer_python.py) ---- */

static int write_matrix(FILE *file, const void *user) {
  const mm_csr *A = user;
  const int64_t sizes[] = {A->rows, A->columns, A->nonzeros};
  const size_t entries = (size_t)A->nonzeros, offsets = (size_t)A->rows + 1;
  return fwrite(sizes, sizeof sizes, 1, file) != 1 ||
         fwrite(A->row_offsets, sizeof *A->row_offsets, offsets, file) != offsets ||
         fwrite(A->column_indices, sizeof *A->column_indices, entries, file) != entries ||
         fwrite(A->values, sizeof *A->values, entries, file) != entries;
}

static double number(const json_t *entry, const char *key) {
  const json_t *value = json_object_get(entry, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static void report_peer(const run *run, const char *name, const problem *p, double read, const json_t *entry) {
  char matrix[BENCH_NAME_SIZE];
  const double create = number(entry, "create"), setup = number(entry, "setup"), solve = number(entry, "solve"),
               residual = number(entry, "residual");
  bench_short_name(matrix, name);
  report_row(run->r, json_string_value(json_object_get(entry, "library")), 1e3 * read, NAN, 1e3 * create, NAN,
             NAN, 1e3 * setup, 1e3 * solve, 1e3 * (create + setup + solve),
             json_string_value(json_object_get(entry, "setting")),
             (long long)json_integer_value(json_object_get(entry, "iterations")),
             residual <= run->options->rtol ? "yes" : "no", NAN, residual, matrix, (long long)p->system.A.rows,
             (long long)p->system.A.nonzeros, "csr", 0LL);
}

static int run_peers(const run *run, const char *name, const problem *p) {
  char path[PEER_PATH_SIZE], rtol[32], repeats[16];
  if (!peer_find("peer-python", path)) return 0;
  snprintf(rtol, sizeof rtol, "%.17g", run->options->rtol);
  snprintf(repeats, sizeof repeats, "%d", run->options->repeat);
  const char *const arguments[] = {path, rtol, repeats, is_file(name) ? name : NULL, NULL};
  bench_error_subject(name);
  json_t *answer = peer_ask(arguments, write_matrix, &p->system.A), *entry;
  bench_error_subject(NULL);
  size_t index;
  json_array_foreach(json_object_get(answer, "results"), index, entry)
      report_peer(run, name, p, number(answer, "read"), entry);
  json_decref(answer);
  return !answer;
}

/* The first run is a warm-up. */
static int measure(const run *run, objects *o, const problem *p, const char *name, times *t, outcome *found) {
  int failed = 0;
  for (int k = -1; k < run->options->repeat && !failed; k++) {
    const int slot = k < 0 ? 0 : k;
    t->copy[slot] = copy(&p->system.A, &failed);
    failed |= bench_check(run_once(run, o, slot, t, found), o->context, name);
    if (k < run->options->repeat - 1) drop(o);
  }
  return failed;
}

/* `x`: host memory for the solution. */
static void set_host_arrays(objects *o, const problem *p, double *x) {
  const mm_csr *A = &p->system.A;
  o->csr = ts_host_csr(A->rows, A->columns, A->row_offsets, A->column_indices, A->values);
  o->given_b = ts_host((const double *)p->system.b, (size_t)A->rows);
  o->given_x = ts_host(x, (size_t)A->columns);
}

static int run_arrays(const run *run, const char *backend, const char *name, const problem *p, double read,
                      objects *o, double *x) {
  times t;
  outcome found = {0};
  int failed = measure(run, o, p, name, &t, &found);
  const ts_array on_host = ts_host(x, (size_t)p->system.A.columns);
  if (!failed) failed = bench_check(ts_vector_read(o->x, on_host), o->context, name);
  drop(o);
  if (failed) return failed;
  found.accuracy = solve_residual(&p->system, x, 0);
  report_outcome(run, backend, name, p, read, &t, &found);
  return 0;
}

/* As above, with arrays and x in CUDA memory. */
static int run_device_arrays(const run *run, const char *name, const problem *p, objects *o, double *x) {
  enum { COUNT = 5 };
  ts_array *const arrays[COUNT] = {&o->csr.row_offsets, &o->csr.column_indices, &o->csr.values, &o->given_b,
                                   &o->given_x};
  int failed = device_arrays_upload(arrays, COUNT);
  if (!failed) failed = run_arrays(run, "CUDA memory", name, p, NAN, o, x);
  device_arrays_free(arrays, COUNT);
  return failed;
}

static int run_backend(const run *run, const char *backend, const char *name, const problem *p, double read) {
  bench_options options = *run->options;
  objects o = {0};
  options.backend = backend;
  bench_error_subject(name);
  int failed = bench_open(&options, 0, 0, &o.context);
  double *x = calloc((size_t)p->system.A.columns, sizeof *x);
  if (!failed && !x) failed = bench_check(TS_ERROR_OUT_OF_HOST_MEMORY, NULL, name);
  if (!failed) set_host_arrays(&o, p, x);
  if (!failed) failed = run_arrays(run, backend, name, p, read, &o, x);
  if (!failed && device_arrays_are_known(backend)) failed = run_device_arrays(run, name, p, &o, x);
  free(x);
  bench_error_subject(NULL);
  ts_context_destroy(&o.context);
  return failed;
}

static int run_size(const run *run, const char *name, int32_t rows) {
  problem p;
  int failed = 0;
  const double start = seconds_now();
  if (problem_make(&p, name, rows)) return 1;
  const double read = is_file(name) ? seconds_now() - start : NAN;
  report_section(run->r, "%s: %d rows, %lld entries", problem_title(name), p.system.A.rows,
                 (long long)p.system.A.nonzeros);
  for (int b = 0; b < run->backends.backend_count; b++)
    if (!run->backends.backends[b].is_absent)
      failed |= run_backend(run, run->backends.backends[b].name, name, &p, read);
  if (run->options->peers) failed |= run_peers(run, name, &p);
  problem_free(&p);
  return failed;
}

/* A file determines its own size. */
static int run_matrix(const run *run, const char *name) {
  const bench_options *o = run->options;
  int failed = 0;
  if (!o->size_count || is_file(name)) return run_size(run, name, DEFAULT_ROWS);
  for (int k = 0; k < o->size_count; k++) failed |= run_size(run, name, o->sizes[k]);
  return failed;
}

int bench_answer(const bench_options *options, report *r) {
  run run = {.options = options, .r = r};
  int failed = 0;
  if (compare_open_all(options, &run.backends)) return 1;
  for (int b = 0; b < run.backends.backend_count; b++)
    if (!run.backends.backends[b].is_absent)
      report_field(r, run.backends.backends[b].name, run.backends.backends[b].name, "%s",
                   run.backends.backends[b].device);
  report_note(r, "A x = 1 to ||b - A x|| <= %.3g ||b||; medians of %d runs in milliseconds.", options->rtol,
              options->repeat);
  report_note(r, "CUDA memory: from arrays there to x there.");
  report_note(r, "copy: one thread copies the matrix's arrays into new memory. values: set_values.");
  report_note(r,
              "set-up: creating a solver. solve: includes transfers, and a change of auto's preconditioner.");
  report_table(r, "results", NULL, RESULTS, COLUMNS);
  for (int i = 0; i < options->matrix_count; i++) failed |= run_matrix(&run, options->matrices[i]);
  if (options->matrix) failed |= run_matrix(&run, options->matrix);
  for (int i = 0; i < SET && !options->matrix && !options->matrix_count; i++)
    failed |= run_matrix(&run, DEFAULT_SET[i]);
  return failed || run.backends.left_out ? BENCH_INCOMPLETE : 0;
}
