/* texsolve bench precision: accuracy, iterations, time and memory of solves of A x = 1 in every precision. The
 * host recomputes residuals in long double. */
#include <math.h>
#include <stdlib.h>

#include "compare.h"
#include "platform.h"
#include "problem.h"
#include "report.h"
#include "reports.h"

/* Longer solves are measured once. */
static const double longest_solve = 2;

typedef struct outcome {
  ts_result result;
  solve_accuracy accuracy;
  double seconds, megabytes;
} outcome;

/* Per backend and precision, over all matrices. */
typedef struct tally {
  int matrices, reached;
  double worst_ratio; /* maximum ratio of iterations to those in double precision */
} tally;

typedef struct run {
  const bench_options *options;
  report *r;
  compare_results backends;
  tally tallies[COMPARE_BACKENDS][TS_PRECISION_DOUBLE + 1];
} run;

static const report_column RESULTS[] = {
    {"backend", "backend", 's', -7, 0},
    {"asked", "asked", 's', -6, 0},
    {"single", "single", 'i', 6, 0},
    {"mixed", "mixed", 'i', 6, 0},
    {"double", "double", 'i', 6, 0},
    {"of_double", "/double", 'f', 7, 2},
    {"residual", "residual", 'e', 9, 2},
    {"reached", "reached", 's', -7, 0},
    {"milliseconds", "ms", 'f', 10, 2},
    {"megabytes", "MB", 'f', 8, 2},
    {"matrix", "", 's', 0, 0},
    {"rows", "", 'i', 0, 0},
    {"rounding", "", 'e', 0, 0},
    {"precision", "", 's', 0, 0},
    {"reason", "", 's', 0, 0},
    {"device_residual", "", 'e', 0, 0},
    {"microseconds_an_iteration", "", 'f', 0, 0},
};

static const report_column TOTALS[] = {
    {"backend", "backend", 's', -7, 0},
    {"asked", "asked", 's', -6, 0},
    {"matrices", "matrices", 'i', 8, 0},
    {"reached", "reached", 'i', 7, 0},
    {"worst_of_double", "most iterations / double", 'f', 24, 2},
};

#define COUNT(columns) ((int)(sizeof(columns) / sizeof *(columns)))

/* ---- Solves ---- */

typedef struct objects {
  ts_matrix *A;
  ts_solver *solver;
  ts_vector *b, *x;
} objects;

static ts_status bench_precision_create(ts_context *context, const run *run, const solve_system *s,
                                        ts_precision precision, objects *o) {
  const int single = precision == TS_PRECISION_SINGLE;
  const ts_vector_desc vectors = {.precision = single ? TS_PRECISION_SINGLE : TS_PRECISION_DOUBLE};
  const ts_matrix_desc matrix = {
      .csr = ts_host_csr(s->A.rows, s->A.columns, s->A.row_offsets, s->A.column_indices, s->A.values),
      .format = run->options->format,
      .precision = single ? TS_PRECISION_SINGLE : TS_PRECISION_AUTO,
      .components = 1};
  const ts_solver_desc solver = {.preconditioner_kind = TS_PRECONDITIONER_JACOBI,
                                 .precision = precision,
                                 .rtol = run->options->rtol,
                                 .zero_start = 1};
  ts_status status = ts_matrix_create(context, &matrix, &o->A);
  if (status >= 0) status = ts_vector_create(ts_matrix_get_row_space(o->A), &vectors, &o->b);
  if (status >= 0) status = ts_vector_create(ts_matrix_get_row_space(o->A), &vectors, &o->x);
  if (status >= 0) status = ts_vector_write(o->b, ts_host(s->b, (size_t)s->A.rows));
  return status < 0 ? status : ts_solver_create(o->A, &solver, &o->solver);
}

static void bench_precision_destroy(objects *o) {
  ts_solver_destroy(&o->solver);
  ts_vector_destroy(&o->x);
  ts_vector_destroy(&o->b);
  ts_matrix_destroy(&o->A);
}

static ts_status solve_timed(ts_context *context, objects *o, ts_result *result, double *seconds) {
  ts_status status = ts_context_finish(context);
  const double start = seconds_now();
  if (status >= 0) status = ts_solver_solve(o->solver, o->b, o->x, result);
  *seconds = seconds_now() - start;
  return status;
}

/* The first solve allocates workspace and compiles. The later ones are measured. */
static ts_status bench_precision_solve(ts_context *context, objects *o, int repeat, outcome *found) {
  double times[101];
  ts_status status = solve_timed(context, o, &found->result, &found->seconds);
  if (found->seconds > longest_solve) repeat = 1;
  for (int k = 0; k < repeat && status >= 0; k++) {
    ts_result again;
    status = solve_timed(context, o, &again, &times[k]);
  }
  if (status >= 0) found->seconds = report_median(times, repeat);
  return status;
}

static int measure(ts_context *context, const run *run, const solve_system *s, ts_precision precision,
                   outcome *found) {
  objects o = {0};
  ts_context_info info = {0};
  double *x = malloc((size_t)s->A.rows * sizeof *x);
  ts_status status = x ? bench_precision_create(context, run, s, precision, &o) : TS_ERROR_OUT_OF_HOST_MEMORY;
  if (status >= 0) status = bench_precision_solve(context, &o, run->options->repeat, found);
  if (status >= 0) status = ts_context_get_info(context, &info);
  if (status >= 0) status = ts_vector_read(o.x, ts_host(x, (size_t)s->A.rows));
  const int failed = bench_check(status, context, ts_precision_name(precision));
  if (!failed) {
    found->megabytes = 1e-6 * (double)info.bytes_device;
    found->accuracy = solve_residual(s, x, 0);
  }
  bench_precision_destroy(&o);
  free(x);
  return failed;
}

/* ---- Tables ---- */

static const char *reason_text(ts_reason reason) {
  return reason <= TS_REASON_ZERO_RESIDUAL ? "converged" : ts_reason_text(reason);
}

/* The limit is the tolerance, or 4 times the error from rounding x to doubles if that is larger. */
static int is_reached(const run *run, const outcome *o) {
  return o->accuracy.residual <= fmax(run->options->rtol, 4 * o->accuracy.rounding);
}

static void report_outcome(run *run, int backend, const char *name, const solve_system *s, ts_precision asked,
                           const outcome *o, int in_double) {
  const ts_result *result = &o->result;
  const int *count = result->precision_iterations;
  const double ratio =
      in_double > 0 && asked != TS_PRECISION_DOUBLE ? (double)result->iterations / in_double : NAN;
  char matrix[BENCH_NAME_SIZE];
  tally *t = &run->tallies[backend][asked];
  bench_short_name(matrix, name);
  t->matrices++;
  t->reached += is_reached(run, o);
  if (is_reached(run, o) && !(ratio <= t->worst_ratio) && !isnan(ratio)) t->worst_ratio = ratio;
  report_row(run->r, run->backends.backends[backend].name, ts_precision_name(asked),
             (long long)count[TS_PRECISION_SINGLE], (long long)count[TS_PRECISION_MIXED],
             (long long)count[TS_PRECISION_DOUBLE], ratio, o->accuracy.residual,
             is_reached(run, o) ? "yes" : "no", 1e3 * o->seconds, o->megabytes, matrix, (long long)s->A.rows,
             o->accuracy.rounding, ts_precision_name(result->precision), reason_text(result->reason),
             result->relative_residual, result->iterations ? 1e6 * o->seconds / result->iterations : NAN);
}

/* Double precision runs first, as the reference for the others. Nonzero: something could not be measured. */
static int run_backend(run *run, int backend, const char *name, const solve_system *s) {
  static const ts_precision order[] = {TS_PRECISION_DOUBLE, TS_PRECISION_MIXED, TS_PRECISION_AUTO,
                                       TS_PRECISION_SINGLE};
  bench_options o = *run->options;
  ts_context *context = NULL;
  int failed, in_double = 0;
  o.backend = run->backends.backends[backend].name;
  bench_error_subject(name);
  failed = bench_open(&o, 0, 0, &context);
  for (int k = 0; context && k < 4; k++) {
    outcome found = {0};
    if (o.precision >= 0 && o.precision != (int)order[k]) continue;
    if (measure(context, run, s, order[k], &found)) {
      failed = 1;
      continue;
    }
    if (order[k] == TS_PRECISION_DOUBLE) in_double = found.result.iterations;
    report_outcome(run, backend, name, s, order[k], &found, in_double);
  }
  bench_error_subject(NULL);
  ts_context_destroy(&context);
  return failed;
}

static int run_matrix(run *run, const char *name) {
  problem p;
  int failed = 0;
  if (problem_make(&p, name, run->options->size ? run->options->size : 100000)) return 1;
  report_section(run->r, "%s: %d rows, %lld entries", problem_title(name), p.system.A.rows,
                 (long long)p.system.A.nonzeros);
  for (int b = 0; b < run->backends.backend_count; b++)
    if (!run->backends.backends[b].is_absent) failed |= run_backend(run, b, name, &p.system);
  problem_free(&p);
  return failed;
}

static void report_totals(run *run) {
  report_table(run->r, "totals", "Matrices solved to the tolerance, or to the precision of x in doubles",
               TOTALS, COUNT(TOTALS));
  for (int b = 0; b < run->backends.backend_count; b++)
    for (int p = 0; p <= TS_PRECISION_DOUBLE; p++) {
      const tally *t = &run->tallies[b][p];
      if (t->matrices)
        report_row(run->r, run->backends.backends[b].name, ts_precision_name((ts_precision)p),
                   (long long)t->matrices, (long long)t->reached, t->worst_ratio > 0 ? t->worst_ratio : NAN);
    }
}

int bench_precision(const bench_options *options, report *r) {
  run run = {.options = options, .r = r};
  int failed = 0;
  if (compare_open_all(options, &run.backends)) return 1;
  for (int b = 0; b < run.backends.backend_count; b++)
    if (!run.backends.backends[b].is_absent)
      report_field(r, run.backends.backends[b].name, run.backends.backends[b].name, "%s",
                   run.backends.backends[b].device);
  report_note(
      r, "A x = 1 to ||b - A x|| <= %.3g ||b||, Jacobi; iterations by precision, and over those of double.",
      options->rtol);
  report_note(r,
              "residual: of x in doubles, on the host in long double. reached: that, or 4 times the effect of");
  report_note(r,
              "rounding x to doubles, 2^-53 || |A| |x| || / ||b||. MB: on the device, including the matrix.");
  report_table(r, "results", NULL, RESULTS, COUNT(RESULTS));
  for (int i = 0; i < options->matrix_count; i++) failed |= run_matrix(&run, options->matrices[i]);
  if (options->matrix) failed |= run_matrix(&run, options->matrix);
  if (!options->matrix && !options->matrix_count) failed |= run_matrix(&run, "poisson3d");
  report_totals(&run);
  return failed || run.backends.left_out ? BENCH_INCOMPLETE : 0;
}
