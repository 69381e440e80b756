/* texsolve bench ilu: incomplete factors. Their triangular systems are solved exactly on the host, exactly on
 * the device, or by sweeps. Measures set-up, an application, and solves of A x = 1. The solver is conjugate
 * gradients with ic, or bicgstab with ilu for a nonsymmetric matrix. The host recomputes residuals in long
 * double. */
#include <math.h>
#include <stdlib.h>
#include <texsolve/solver.h>

#include "compare.h"
#include "platform.h"
#include "problem.h"
#include "report.h"
#include "reports.h"
#include "timing.h"

static const char *const DEFAULT_SET[] = {"poisson2d", "poisson3d", "jumps3d", "cantilever"};

typedef struct way {
  const char *name;
  int sweeps;
  double level_nanoseconds; /* decides between host and device; 0: the default */
} way;

static const way WAYS[] = {
    {"host", 0, 1e15}, {"device", 0, 1e-9}, {"3 sweeps", 3, 0}, {"5 sweeps", 5, 0}, {"8 sweeps", 8, 0}};

typedef struct pattern {
  const char *name;
  int levels; /* as in ts_preconditioner_desc */
} pattern;

static const pattern PATTERNS[] = {{"by size", 0}, {"no fill", -1}, {"1 level", 1}};

static const report_column RESULTS[] = {
    {"backend", "backend", 's', -7, 0},
    {"preconditioner", "with", 's', -4, 0},
    {"entries_kept", "entries", 's', -7, 0},
    {"products", "fill", 'f', 5, 2},
    {"solved", "solved", 's', -8, 0},
    {"setup_milliseconds", "set-up ms", 'f', 9, 2},
    {"apply_milliseconds", "apply ms", 'f', 9, 3},
    {"milliseconds", "solve ms", 'f', 9, 2},
    {"iterations", "iter.", 'i', 6, 0},
    {"residual", "residual", 'e', 9, 2},
    {"reached", "met", 's', -3, 0},
    {"matrix", "", 's', 0, 0},
    {"rows", "", 'i', 0, 0},
    {"entries", "", 'i', 0, 0},
    {"method", "", 's', 0, 0},
};

enum {
  COLUMNS = sizeof RESULTS / sizeof *RESULTS,
  SET = sizeof DEFAULT_SET / sizeof *DEFAULT_SET,
  WAY_COUNT = sizeof WAYS / sizeof *WAYS,
  PATTERN_COUNT = sizeof PATTERNS / sizeof *PATTERNS
};

typedef struct run {
  const bench_options *options;
  report *r;
  compare_results backends;
} run;

typedef struct objects {
  ts_context *context;
  ts_matrix *A;
  ts_preconditioner *M;
  ts_solver *solver;
  ts_vector *b, *x;
} objects;

typedef struct outcome {
  ts_preconditioner_info info;
  double apply, solve; /* seconds */
  ts_result result;
  solve_accuracy accuracy;
} outcome;

/* ---- One way ---- */

static int apply(void *user, long count) {
  const objects *o = user;
  ts_status status = TS_OK;
  for (long k = 0; k < count && status >= 0; k++) status = ts_preconditioner_apply(o->M, o->x, o->b);
  if (status >= 0) status = ts_context_finish(o->context);
  return status < 0;
}

static ts_status make(const run *run, const problem *p, int is_symmetric, const pattern *pattern,
                      const way *way, objects *o) {
  const bench_options *options = run->options;
  const ts_vector_desc vectors = {.precision = TS_PRECISION_DOUBLE};
  const ts_preconditioner_desc M = {.kind = is_symmetric ? TS_PRECONDITIONER_IC : TS_PRECONDITIONER_ILU,
                                    .levels = pattern->levels,
                                    .sweeps = way->sweeps};
  ts_status status = ts_preconditioner_create(o->A, &M, &o->M);
  if (status >= 0) status = ts_vector_create(ts_matrix_get_row_space(o->A), &vectors, &o->b);
  if (status >= 0) status = ts_vector_create(ts_matrix_get_row_space(o->A), &vectors, &o->x);
  if (status >= 0) status = ts_vector_write(o->b, ts_host(p->system.b, (size_t)p->system.A.rows));
  const ts_solver_desc solver = {.method = is_symmetric ? TS_METHOD_CG : TS_METHOD_BICGSTAB,
                                 .preconditioner = o->M,
                                 .precision = options->precision < 0 ? TS_PRECISION_AUTO
                                                                     : (ts_precision)options->precision,
                                 .rtol = options->rtol,
                                 .max_iterations = 10000,
                                 .zero_start = 1};
  return status < 0 ? status : ts_solver_create(o->A, &solver, &o->solver);
}

/* The median of several solves. */
static ts_status solve(const run *run, objects *o, outcome *found) {
  double times[101];
  ts_status status = ts_solver_solve(o->solver, o->b, o->x, NULL);
  for (int k = 0; k < run->options->repeat && status >= 0; k++) {
    const double start = seconds_now();
    status = ts_solver_solve(o->solver, o->b, o->x, &found->result);
    times[k] = seconds_now() - start;
  }
  if (status >= 0) found->solve = report_median(times, run->options->repeat);
  return status;
}

static ts_status measure_all(const run *run, objects *o, outcome *found, const problem *p, double *x) {
  timing t;
  ts_status status = ts_preconditioner_get_info(o->M, &found->info);
  if (status >= 0 && timing_measure(&t, run->options->repeat, BENCH_BATCH_SECONDS, apply, o))
    status = TS_ERROR_DEVICE;
  if (status >= 0) found->apply = t.seconds;
  if (status >= 0) status = solve(run, o, found);
  return status < 0 ? status : ts_vector_read(o->x, ts_host(x, (size_t)p->system.A.rows));
}

static void drop(objects *o) {
  ts_solver_destroy(&o->solver);
  ts_vector_destroy(&o->x);
  ts_vector_destroy(&o->b);
  ts_preconditioner_destroy(&o->M);
}

/* Each sweep reads L and U. The diagonal is read once for all sweeps. */
static double fill_of(const problem *p, const way *way, const outcome *found) {
  const double diagonal = p->system.A.rows / (double)p->system.A.nonzeros;
  return (found->info.products - diagonal) / (way->sweeps ? way->sweeps : 1) + diagonal;
}

static void report_outcome(const run *run, const char *backend, const char *name, const problem *p,
                           const pattern *pattern, const way *way, const outcome *found) {
  char matrix[BENCH_NAME_SIZE];
  bench_short_name(matrix, name);
  const double rtol = fmax(run->options->rtol, 4 * found->accuracy.rounding);
  report_row(run->r, backend, ts_preconditioner_kind_name(found->info.kind), pattern->name,
             fill_of(p, way, found), way->name, 1e3 * found->info.seconds_setup, 1e3 * found->apply,
             1e3 * found->solve, (long long)found->result.iterations, found->accuracy.residual,
             found->accuracy.residual <= rtol ? "yes" : "no", matrix, (long long)p->system.A.rows,
             (long long)p->system.A.nonzeros, ts_method_name(found->result.method));
}

/* Nonzero: not measured. A backend without a choice gets only one row. */
static int run_way(const run *run, const char *backend, const char *name, const problem *p,
                   const pattern *pattern, const way *way, objects *o) {
  ts_matrix_info info;
  outcome found = {0};
  if (way->level_nanoseconds > 0 &&
      ts_context_set_tuning(o->context, "ilu_level_nanoseconds", way->level_nanoseconds) < 0 &&
      way->level_nanoseconds < 1)
    return 0;
  double *x = malloc((size_t)p->system.A.rows * sizeof *x);
  ts_status status = x ? ts_matrix_get_info(o->A, &info) : TS_ERROR_OUT_OF_HOST_MEMORY;
  const int is_symmetric =
      status >= 0 && info.symmetric && info.zero_diagonal_row < 0 && !info.negative_diagonal;
  if (status >= 0) status = make(run, p, is_symmetric, pattern, way, o);
  if (status >= 0) status = measure_all(run, o, &found, p, x);
  const int failed = bench_check(status, o->context, way->name);
  if (!failed) {
    found.accuracy = solve_residual(&p->system, x, 0);
    report_outcome(run, backend, name, p, pattern, way, &found);
  }
  free(x);
  drop(o);
  return failed;
}

/* ---- Tables ---- */

static int run_backend(const run *run, const char *backend, const char *name, const problem *p) {
  bench_options options = *run->options;
  objects o = {0};
  const mm_csr *A = &p->system.A;
  options.backend = backend;
  bench_error_subject(name);
  int failed = bench_open(&options, 0, 0, &o.context);
  const ts_matrix_desc desc = {
      .csr = ts_host_csr(A->rows, A->columns, A->row_offsets, A->column_indices, A->values),
      .format = options.format,
      .keep_host_copy = 1};
  if (o.context) failed |= bench_check(ts_matrix_create(o.context, &desc, &o.A), o.context, name);
  for (int p_ = 0; o.A && p_ < PATTERN_COUNT; p_++)
    for (int k = 0; k < WAY_COUNT; k++) failed |= run_way(run, backend, name, p, &PATTERNS[p_], &WAYS[k], &o);
  bench_error_subject(NULL);
  ts_matrix_destroy(&o.A);
  ts_context_destroy(&o.context);
  return failed;
}

static int run_size(const run *run, const char *name, int32_t rows) {
  problem p;
  int failed = 0;
  if (problem_make(&p, name, rows)) return 1;
  report_section(run->r, "%s: %d rows, %lld entries", problem_title(name), p.system.A.rows,
                 (long long)p.system.A.nonzeros);
  for (int b = 0; b < run->backends.backend_count; b++)
    if (!run->backends.backends[b].is_absent)
      failed |= run_backend(run, run->backends.backends[b].name, name, &p);
  problem_free(&p);
  return failed;
}

/* A file determines its own size. */
static int run_matrix(const run *run, const char *name) {
  const bench_options *o = run->options;
  int failed = 0;
  if (!o->size_count || !generated_is_name(name)) return run_size(run, name, 100000);
  for (int k = 0; k < o->size_count; k++) failed |= run_size(run, name, o->sizes[k]);
  return failed;
}

int bench_ilu(const bench_options *options, report *r) {
  run run = {.options = options, .r = r};
  int failed = 0;
  if (compare_open_all(options, &run.backends)) return 1;
  for (int b = 0; b < run.backends.backend_count; b++)
    if (!run.backends.backends[b].is_absent)
      report_field(r, run.backends.backends[b].name, run.backends.backends[b].name, "%s",
                   run.backends.backends[b].device);
  report_note(r, "A x = 1 to ||b - A x|| <= %.3g ||b||. fill: entries of the factors / entries of A.",
              options->rtol);
  report_note(r, "apply: M^-1 r. residual: of x in doubles, on the host in long double.");
  report_table(r, "results", NULL, RESULTS, COLUMNS);
  for (int i = 0; i < options->matrix_count; i++) failed |= run_matrix(&run, options->matrices[i]);
  if (options->matrix) failed |= run_matrix(&run, options->matrix);
  for (int i = 0; i < SET && !options->matrix && !options->matrix_count; i++)
    failed |= run_matrix(&run, DEFAULT_SET[i]);
  return failed || run.backends.left_out ? BENCH_INCOMPLETE : 0;
}
