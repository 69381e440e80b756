/* texsolve bench auto: solves with Jacobi, with AMG and with auto, set-up included, and compares auto with the
 * better of the other two. b is random. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "family.h"
#include "platform.h"
#include "problem.h"
#include "report.h"

/* Longer solves are measured once. */
static const double longest_solve = 2;

static const report_column RESULTS[] = {
    {"system", "milliseconds, iterations:", 's', -28, 0},
    {"rows", "rows", 'i', 6, 0},
    {"jacobi_milliseconds", "jacobi", 'f', 7, 1},
    {"jacobi_iterations", "iter.", 'i', 5, 0},
    {"amg_milliseconds", "amg", 'f', 7, 1},
    {"amg_iterations", "iter.", 'i', 5, 0},
    {"auto_milliseconds", "auto", 'f', 7, 1},
    {"auto_iterations", "iter.", 'i', 5, 0},
    {"auto_over_better", "ratio", 'f', 5, 2},
    {"ends_with", "with", 's', -6, 0},
    {"again_milliseconds", "", 'f', 0, 0},
    {"choice", "", 's', 0, 0},
    {"entries", "", 'i', 0, 0},
    {"amg_setup_milliseconds", "", 'f', 0, 0},
    {"amg_products", "", 'f', 0, 0},
    {"matrix_milliseconds", "", 'f', 0, 0},
    {"auto_matrix_milliseconds", "", 'f', 0, 0},
    {"reasons", "", 's', 0, 0},
};

enum { COLUMNS = sizeof RESULTS / sizeof *RESULTS, JACOBI = 0, AMG, AUTO, KINDS };

static const ts_preconditioner_kind KIND[KINDS] = {TS_PRECONDITIONER_JACOBI, TS_PRECONDITIONER_AMG,
                                                   TS_PRECONDITIONER_AUTO};
static const int KEEP[KINDS] = {-1, 1, 0};

typedef struct objects {
  ts_context *context;
  ts_matrix *A;
  ts_solver *solver;
  ts_vector *b, *x;
} objects;

/* The minimum of the repetitions, in seconds. */
typedef struct outcome {
  double matrix, solve, again, setup, products;
  ts_result result;
  ts_preconditioner_kind kind; /* the kind in use at the end */
  char choice[200];
} outcome;

typedef struct run {
  const bench_options *options;
  report *r;
  ts_context *context;
  int is_one_thread;
  int count, over; /* systems; systems for which auto exceeds the limit */
  double worst, sum_of_logs;
} run;

/* With one thread on the host CPU time is used, because other programs do not affect it. */
static double now(const run *run) {
  return run->is_one_thread ? (double)clock() / CLOCKS_PER_SEC : seconds_now();
}

static ts_status make(objects *o, const run *run, const problem *p, int kind) {
  const mm_csr *A = &p->system.A;
  const ts_matrix_desc desc = {
      .csr = ts_host_csr(A->rows, A->columns, A->row_offsets, A->column_indices, A->values),
      .format = run->options->format,
      .keep_host_copy = KEEP[kind],
      .components = 1};
  const ts_vector_desc vectors = {.precision = TS_PRECISION_DOUBLE};
  ts_status status = ts_matrix_create(o->context, &desc, &o->A);
  if (status >= 0) status = ts_vector_create(ts_matrix_get_row_space(o->A), &vectors, &o->b);
  if (status >= 0) status = ts_vector_create(ts_matrix_get_row_space(o->A), &vectors, &o->x);
  if (status >= 0) status = ts_vector_write(o->b, ts_host(p->system.b, (size_t)A->rows));
  return status < 0 ? status : ts_context_finish(o->context);
}

static void destroy(objects *o) {
  ts_solver_destroy(&o->solver);
  ts_vector_destroy(&o->x);
  ts_vector_destroy(&o->b);
  ts_matrix_destroy(&o->A);
}

/* The time that a program with a matrix waits for one x, and for another. */
static ts_status solve(objects *o, const run *run, int kind, outcome *found) {
  const bench_options *options = run->options;
  const ts_solver_desc desc = {.preconditioner_kind = KIND[kind],
                               .precision = options->precision < 0 ? TS_PRECISION_AUTO
                                                                   : (ts_precision)options->precision,
                               .rtol = options->rtol,
                               .max_iterations = 100000,
                               .zero_start = 1};
  double start = now(run);
  ts_status status = ts_solver_create(o->A, &desc, &o->solver);
  if (status >= 0) status = ts_solver_solve(o->solver, o->b, o->x, &found->result);
  const double first = now(run) - start;
  start = now(run);
  ts_result again;
  if (status >= 0 && kind == AUTO) status = ts_solver_solve(o->solver, o->b, o->x, &again);
  found->again = fmin(found->again, now(run) - start);
  found->solve = fmin(found->solve, first);
  if (status < 0) return status;
  ts_preconditioner_info info;
  status = ts_preconditioner_get_info(ts_solver_get_preconditioner(o->solver), &info);
  found->setup = fmin(found->setup, info.seconds_setup);
  found->products = info.products;
  found->kind = info.kind;
  if (status >= 0) snprintf(found->choice, sizeof found->choice, "%s", info.choice);
  return status;
}

static int measure_once(const run *run, const problem *p, int kind, outcome *found) {
  objects o = {.context = run->context};
  const double start = now(run);
  ts_status status = make(&o, run, p, kind);
  found->matrix = fmin(found->matrix, now(run) - start);
  if (status >= 0) status = solve(&o, run, kind, found);
  destroy(&o);
  return bench_check(status, o.context, ts_preconditioner_kind_name(KIND[kind]));
}

static int measure(const run *run, const problem *p, outcome found[KINDS]) {
  for (int k = 0; k < KINDS; k++) found[k].matrix = found[k].solve = found[k].again = found[k].setup = INFINITY;
  for (int i = 0; i < run->options->repeat; i++)
    for (int k = 0; k < KINDS; k++)
      if (!(i && found[k].solve > longest_solve) && measure_once(run, p, k, &found[k])) return 1;
  return 0;
}

static double better_of(const outcome found[KINDS]) {
  double better = INFINITY;
  for (int k = 0; k < AUTO; k++)
    if (found[k].result.reason <= TS_REASON_ZERO_RESIDUAL) better = fmin(better, found[k].solve);
  return better;
}

static void report_system(run *run, const char *name, const problem *p, const outcome found[KINDS]) {
  static const double limit = 1.15;
  const mm_csr *A = &p->system.A;
  const double ratio = found[AUTO].solve / better_of(found);
  char reasons[200];
  snprintf(reasons, sizeof reasons, "%.60s; %.60s; %.60s", ts_reason_text(found[JACOBI].result.reason),
           ts_reason_text(found[AMG].result.reason), ts_reason_text(found[AUTO].result.reason));
  run->count++;
  run->over += ratio > limit;
  run->worst = fmax(run->worst, ratio);
  run->sum_of_logs += ratio > 0 ? log(ratio) : 0;
  report_row(run->r, name, (long long)A->rows, 1e3 * found[JACOBI].solve,
             (long long)found[JACOBI].result.iterations, 1e3 * found[AMG].solve,
             (long long)found[AMG].result.iterations, 1e3 * found[AUTO].solve,
             (long long)found[AUTO].result.iterations, ratio, ts_preconditioner_kind_name(found[AUTO].kind),
             1e3 * found[AUTO].again, found[AUTO].choice, (long long)A->nonzeros, 1e3 * found[AMG].setup,
             found[AMG].products, 1e3 * found[JACOBI].matrix, 1e3 * found[AUTO].matrix, reasons);
}

/* Frees the problem. */
static int run_problem(run *run, const char *name, problem *p) {
  outcome found[KINDS] = {{0}};
  const mm_csr *A = &p->system.A;
  for (int32_t i = 0; i < A->rows; i++) p->system.b[i] = family_right_side(i);
  bench_error_subject(name);
  const int failed = measure(run, p, found);
  if (!failed) report_system(run, name, p, found);
  bench_error_subject(NULL);
  problem_free(p);
  return failed;
}

static int run_file(run *run, const char *name) {
  problem p;
  return problem_make(&p, name, run->options->size) || run_problem(run, problem_title(name), &p);
}

static int run_family(run *run, int index, int32_t rows) {
  generated_problem g;
  problem p;
  if (family_make(index, rows, &g)) {
    bench_error("%s: too few rows, or no memory", family_name(index));
    return 1;
  }
  return problem_from_generated(&p, &g) || run_problem(run, family_name(index), &p);
}

static int begins_with(const char *name, const char *text) {
  return !strncmp(name, text, strlen(text));
}

/* By default all families that conjugate gradients can solve. */
static int is_default(const char *name) {
  return !begins_with(name, "wind") && !begins_with(name, "turning");
}

/* An argument is a prefix of families' names, or a file. */
static int run_argument(run *run, const char *name) {
  static const int32_t size = 64000;
  const bench_options *o = run->options;
  int failed = 0, is_family = 0;
  for (int s = 0; s < (o->size_count ? o->size_count : 1); s++)
    for (int k = 0; k < family_count(); k++) {
      if (name ? !begins_with(family_name(k), name) : !is_default(family_name(k))) continue;
      is_family = 1;
      failed |= run_family(run, k, o->size_count ? o->sizes[s] : size);
    }
  return is_family ? failed : run_file(run, name);
}

int bench_auto(const bench_options *options, report *r) {
  bench_options own = *options;
  bench_device device;
  run run = {.options = &own, .r = r};
  int failed = 0;
  if (!own.backend) own.backend = "cpu";
  if (bench_describe(&own, r, &device) || bench_open(&own, 0, 0, &run.context)) return 1;
  run.is_one_thread = own.threads == 1 && !device.is_gl && !device.is_cuda;
  report_note(r, "A x = b with a random b, to ||b - A x|| <= %.3g ||b||: set-up and solve, the shortest of %d.",
              own.rtol, own.repeat);
  report_note(r, "ratio: auto / the better of Jacobi and AMG, each requested by name.");
  report_table(r, "results", NULL, RESULTS, COLUMNS);
  report_section(r, "Jacobi, AMG and auto");
  for (int k = 0; k < own.matrix_count; k++) failed |= run_argument(&run, own.matrices[k]);
  if (!own.matrix_count) failed = run_argument(&run, NULL);
  if (run.count)
    report_note(r, "%d of %d systems above 1.15; the largest is %.2f, the geometric mean %.3f.", run.over,
                run.count, run.worst, exp(run.sum_of_logs / run.count));
  ts_context_destroy(&run.context);
  return failed ? BENCH_INCOMPLETE : 0;
}
