/* texsolve bench amg: solves of A x = 1 by conjugate gradients, with Jacobi and with algebraic multigrid: the
 * hierarchy, set-up, update, iterations and time. The host recomputes residuals in long double. */
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "platform.h"
#include "problem.h"
#include "report.h"
#include "reports.h"

/* Longer steps are measured once. */
static const double longest_step = 2;

static const char *const DEFAULT_SET[] = {"poisson2d", "poisson3d", "anisotropic2d", "anisotropic3d",
                                          "jumps2d",   "jumps3d",   "cantilever"};

static const report_column RESULTS[] = {
    {"backend", "backend", 's', -7, 0},
    {"preconditioner", "with", 's', -6, 0},
    {"levels", "lev.", 'f', 4, 0},
    {"operator_complexity", "cost", 'f', 5, 2},
    {"setup_milliseconds", "set-up ms", 'f', 9, 2},
    {"update_milliseconds", "update ms", 'f', 9, 2},
    {"update_of_setup", "part", 'f', 5, 2},
    {"milliseconds", "solve ms", 'f', 8, 2},
    {"iterations", "iter.", 'i', 5, 0},
    {"milliseconds_an_iteration", "ms/iter.", 'f', 8, 3},
    {"residual", "residual", 'e', 8, 2},
    {"reached", "met", 's', -3, 0},
    {"matrix", "", 's', 0, 0},
    {"rows", "", 'i', 0, 0},
    {"entries", "", 'i', 0, 0},
    {"grid_complexity", "", 'f', 0, 0},
    {"megabytes_of_levels", "", 'f', 0, 0},
    {"matrix_milliseconds", "", 'f', 0, 0},
    {"first_update_milliseconds", "", 'f', 0, 0},
    {"method", "", 's', 0, 0},
    {"precision", "", 's', 0, 0},
    {"reason", "", 's', 0, 0},
};

enum { COLUMNS = sizeof RESULTS / sizeof *RESULTS, SET = sizeof DEFAULT_SET / sizeof *DEFAULT_SET };

typedef struct run {
  const bench_options *options;
  report *r;
  compare_results backends;
} run;

/* ---- One preconditioner on one backend ---- */

typedef struct objects {
  ts_context *context;
  const run *run;
  const problem *p;
  ts_preconditioner_kind kind;
  ts_csr csr;
  ts_matrix *A;
  ts_preconditioner *M;
  ts_solver *solver;
  ts_vector *b, *x;
  ts_result result;
} objects;

typedef struct outcome {
  double matrix, setup, first_update, update, solve; /* seconds */
  ts_amg_info info;                                  /* levels 0: not AMG */
  solve_accuracy accuracy;
} outcome;

/* A timed step and its preparation. */
typedef ts_status (*step)(objects *o);

static ts_status nothing(objects *o) {
  (void)o;
  return TS_OK;
}

static ts_status make_matrix(objects *o) {
  const ts_matrix_desc desc = {
      .csr = o->csr, .format = o->run->options->format, .keep_host_copy = 1, .components = 1};
  return ts_matrix_create(o->context, &desc, &o->A);
}

static ts_status drop_preconditioner(objects *o) {
  ts_preconditioner_destroy(&o->M);
  return TS_OK;
}

static ts_status set_up(objects *o) {
  ts_amg_desc amg = o->run->options->amg;
  amg.unknowns = o->p->unknowns;
  amg.dimensions = o->p->dimensions;
  const size_t rows = (size_t)o->p->system.A.rows;
  amg.coordinates = ts_host(o->p->coordinates, rows);
  amg.near_null_vectors = o->p->vectors;
  amg.near_null = ts_host(o->p->near_null, rows * (size_t)o->p->vectors);
  const ts_preconditioner_desc desc = {.kind = o->kind, .amg = o->kind == TS_PRECONDITIONER_AMG ? &amg : NULL};
  return ts_preconditioner_create(o->A, &desc, &o->M);
}

static ts_status set_values(objects *o) {
  return ts_matrix_set_values(o->A, &o->csr);
}

static ts_status update(objects *o) {
  return ts_preconditioner_update(o->M);
}

static ts_status bench_amg_solve(objects *o) {
  return ts_solver_solve(o->solver, o->b, o->x, &o->result);
}

static ts_status time_once(objects *o, step before, step timed, double *seconds) {
  ts_status status = before(o);
  if (status >= 0) status = ts_context_finish(o->context);
  const double start = seconds_now();
  if (status >= 0) status = timed(o);
  if (status >= 0) {
    const ts_status finished = ts_context_finish(o->context);
    if (finished < 0) status = finished;
  }
  *seconds = seconds_now() - start;
  return status;
}

/* The first run compiles and allocates workspace. It counts only if it takes long. */
static ts_status measure_step(objects *o, step before, step timed, double *seconds) {
  double times[101];
  const int repeat = o->run->options->repeat;
  ts_status status = time_once(o, before, timed, seconds);
  if (*seconds > longest_step) return status;
  for (int k = 0; k < repeat && status >= 0; k++) status = time_once(o, before, timed, &times[k]);
  if (status >= 0) *seconds = report_median(times, repeat);
  return status;
}

static ts_status make_solver(objects *o) {
  const bench_options *options = o->run->options;
  const ts_vector_desc vectors = {.precision = TS_PRECISION_DOUBLE};
  const ts_solver_desc solver = {.preconditioner = o->M,
                                 .precision = options->precision < 0 ? TS_PRECISION_AUTO
                                                                     : (ts_precision)options->precision,
                                 .rtol = options->rtol,
                                 .zero_start = 1};
  ts_status status = ts_vector_create(ts_matrix_get_row_space(o->A), &vectors, &o->b);
  if (status >= 0) status = ts_vector_create(ts_matrix_get_row_space(o->A), &vectors, &o->x);
  if (status >= 0) status = ts_vector_write(o->b, ts_host(o->p->system.b, (size_t)o->p->system.A.rows));
  return status < 0 ? status : ts_solver_create(o->A, &solver, &o->solver);
}

static ts_status measure_all(objects *o, outcome *found) {
  ts_status status = time_once(o, nothing, make_matrix, &found->matrix);
  found->first_update = found->update = NAN;
  if (status >= 0) status = measure_step(o, drop_preconditioner, set_up, &found->setup);
  ts_preconditioner_info made = {0};
  if (status >= 0) status = ts_preconditioner_get_info(o->M, &made);
  const int is_amg = made.kind == TS_PRECONDITIONER_AMG;
  if (status >= 0 && is_amg) status = time_once(o, set_values, update, &found->first_update);
  if (status >= 0 && is_amg) status = measure_step(o, set_values, update, &found->update);
  if (status >= 0 && is_amg) status = ts_preconditioner_get_amg_info(o->M, &found->info);
  if (status >= 0) status = make_solver(o);
  if (status >= 0) status = measure_step(o, nothing, bench_amg_solve, &found->solve);
  return status;
}

static void bench_amg_destroy(objects *o) {
  ts_solver_destroy(&o->solver);
  ts_vector_destroy(&o->x);
  ts_vector_destroy(&o->b);
  ts_preconditioner_destroy(&o->M);
  ts_matrix_destroy(&o->A);
}

static int measure(objects *o, outcome *found) {
  const size_t rows = (size_t)o->p->system.A.rows;
  double *x = malloc(rows * sizeof *x);
  ts_status status = x ? measure_all(o, found) : TS_ERROR_OUT_OF_HOST_MEMORY;
  if (status >= 0) status = ts_vector_read(o->x, ts_host(x, rows));
  const int failed = bench_check(status, o->context, ts_preconditioner_kind_name(o->kind));
  if (!failed) found->accuracy = solve_residual(&o->p->system, x, 0);
  free(x);
  return failed;
}

/* ---- Tables ---- */

static const char *reason_text(ts_reason reason) {
  return reason <= TS_REASON_ZERO_RESIDUAL ? "converged" : ts_reason_text(reason);
}

static void report_outcome(const run *run, const char *backend, const char *name, const objects *o,
                           const outcome *found) {
  const mm_csr *A = &o->p->system.A;
  const ts_amg_info *info = &found->info;
  const int is_amg = info->levels > 0;
  const double rtol = fmax(run->options->rtol, 4 * found->accuracy.rounding);
  char matrix[BENCH_NAME_SIZE];
  bench_short_name(matrix, name);
  report_row(run->r, backend, ts_preconditioner_kind_name(o->kind), is_amg ? (double)info->levels : NAN,
             is_amg ? info->operator_complexity : NAN, 1e3 * found->setup, 1e3 * found->update,
             found->update / found->setup, 1e3 * found->solve, (long long)o->result.iterations,
             o->result.iterations ? 1e3 * found->solve / o->result.iterations : NAN, found->accuracy.residual,
             found->accuracy.residual <= rtol ? "yes" : "no", matrix, (long long)A->rows,
             (long long)A->nonzeros, is_amg ? info->grid_complexity : NAN,
             is_amg ? 1e-6 * (double)info->bytes_device : NAN, 1e3 * found->matrix, 1e3 * found->first_update,
             ts_method_name(o->result.method), ts_precision_name(o->result.precision),
             reason_text(o->result.reason));
  ts_preconditioner_info made;
  if (o->kind == TS_PRECONDITIONER_AUTO && ts_preconditioner_get_info(o->M, &made) == TS_OK)
    report_note(run->r, "auto is %s", made.choice);
}

/* Nonzero: something could not be measured. */
static int run_backend(const run *run, int backend, const char *name, const problem *p) {
  static const ts_preconditioner_kind kinds[] = {TS_PRECONDITIONER_JACOBI, TS_PRECONDITIONER_AMG};
  bench_options options = *run->options;
  const mm_csr *A = &p->system.A;
  ts_context *context = NULL;
  options.backend = run->backends.backends[backend].name;
  bench_error_subject(name);
  int failed = bench_open(&options, 0, 0, &context);
  for (int k = 0; context && k < (options.preconditioner < 0 ? 2 : 1); k++) {
    objects o = {.context = context,
                 .run = run,
                 .p = p,
                 .kind = options.preconditioner < 0 ? kinds[k] : (ts_preconditioner_kind)options.preconditioner,
                 .csr = ts_host_csr(A->rows, A->columns, A->row_offsets, A->column_indices, A->values)};
    outcome found = {0};
    if (measure(&o, &found))
      failed = 1;
    else
      report_outcome(run, options.backend, name, &o, &found);
    bench_amg_destroy(&o);
  }
  bench_error_subject(NULL);
  ts_context_destroy(&context);
  return failed;
}

static int run_size(const run *run, const char *name, int32_t rows) {
  problem p;
  int failed = 0;
  if (problem_make(&p, name, rows)) return 1;
  report_section(run->r, "%s: %d rows, %lld entries", problem_title(name), p.system.A.rows,
                 (long long)p.system.A.nonzeros);
  for (int b = 0; b < run->backends.backend_count; b++)
    if (!run->backends.backends[b].is_absent) failed |= run_backend(run, b, name, &p);
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

/* The number of table rows per matrix. */
static int rows_of(const run *run, const char *name) {
  const bench_options *o = run->options;
  int backends = 0;
  for (int b = 0; b < run->backends.backend_count; b++) backends += !run->backends.backends[b].is_absent;
  const int sizes = o->size_count && generated_is_name(name) ? o->size_count : 1;
  return backends * sizes * (o->preconditioner < 0 ? 2 : 1);
}

static int expected_rows(const run *run) {
  const bench_options *o = run->options;
  int rows = o->matrix ? rows_of(run, o->matrix) : 0;
  for (int i = 0; i < o->matrix_count; i++) rows += rows_of(run, o->matrices[i]);
  for (int i = 0; i < SET && !o->matrix && !o->matrix_count; i++) rows += rows_of(run, DEFAULT_SET[i]);
  return rows;
}

int bench_amg(const bench_options *options, report *r) {
  run run = {.options = options, .r = r};
  int failed = 0;
  if (compare_open_all(options, &run.backends)) return 1;
  for (int b = 0; b < run.backends.backend_count; b++)
    if (!run.backends.backends[b].is_absent)
      report_field(r, run.backends.backends[b].name, run.backends.backends[b].name, "%s",
                   run.backends.backends[b].device);
  report_note(r, "A x = 1 to ||b - A x|| <= %.3g ||b||. cost: entries of all levels / entries of A.",
              options->rtol);
  report_note(
      r, "update: a later one; part: update / set-up. residual: of x in doubles, on the host in long double.");
  report_table(r, "results", NULL, RESULTS, COLUMNS);
  report_expect(r, expected_rows(&run));
  for (int i = 0; i < options->matrix_count; i++) failed |= run_matrix(&run, options->matrices[i]);
  if (options->matrix) failed |= run_matrix(&run, options->matrix);
  for (int i = 0; i < SET && !options->matrix && !options->matrix_count; i++)
    failed |= run_matrix(&run, DEFAULT_SET[i]);
  return failed || run.backends.left_out ? BENCH_INCOMPLETE : 0;
}
