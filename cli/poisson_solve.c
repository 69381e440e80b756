/* `texsolve poisson` on the device: the stencil, its multigrid, the solve, and the accuracy of the solution. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "message.h"
#include "poisson.h"
#include "progress.h"

static int failed_call(const ts_context *context, ts_status status, const char *what) {
  const char *text = ts_last_error(context);
  message("%s: %s", what, *text ? text : ts_status_text(status));
  return -1;
}

int poisson_check_grid(const poisson_options *options, ts_context *context) {
  ts_poisson_desc desc;
  ts_grid_desc grid;
  ts_space *space = NULL;
  poisson_describe(options, &desc);
  ts_status status = ts_poisson_grid(&desc, &grid);
  if (status < 0) return failed_call(NULL, status, "the problem");
  status = ts_grid_create(context, &grid, &space);
  ts_space_destroy(&space);
  return status < 0 ? failed_call(context, status, "--size") : 0;
}

/* ---- Objects ---- */

typedef struct device_objects {
  ts_context *context;
  ts_space *grid;
  ts_matrix *A;
  ts_vector *b, *x;
  ts_multigrid *multigrid;
  int lacks_pairs; /* the device has single precision only */
} device_objects;

static void poisson_solve_destroy(device_objects *d) {
  ts_multigrid_destroy(&d->multigrid);
  ts_vector_destroy(&d->x);
  ts_vector_destroy(&d->b);
  ts_matrix_destroy(&d->A);
  ts_space_destroy(&d->grid);
}

/* Uses double precision if requested and supported. */
static ts_status create_vector(device_objects *d, int is_double, ts_vector **v) {
  const ts_vector_desc whole = {.precision = TS_PRECISION_DOUBLE}, rounded = {.precision = TS_PRECISION_SINGLE};
  const ts_status status = ts_vector_create(d->grid, is_double ? &whole : &rounded, v);
  if (status != TS_ERROR_UNSUPPORTED || !is_double) return status;
  d->lacks_pairs = 1;
  return ts_vector_create(d->grid, &rounded, v);
}

static ts_status create_x(const poisson_options *o, device_objects *d) {
  const ts_status status = create_vector(d, o->precision != TS_PRECISION_SINGLE, &d->x);
  return status >= 0 && d->lacks_pairs && o->precision > TS_PRECISION_SINGLE ? TS_ERROR_UNSUPPORTED : status;
}

/* Uses double precision only if floats would round a number, because further parts slow down every residual. */
static ts_status create_b(const double *b, size_t n, device_objects *d) {
  size_t k = 0;
  while (k < n && (double)(float)b[k] == b[k]) k++;
  return create_vector(d, k < n, &d->b);
}

/* The written solution must meet the tolerance, not only the pairs of floats that the cycles computed. */
static void check_written(const poisson_options *o, poisson_outcome *outcome) {
  if (outcome->status != TS_OK || !(outcome->rounded_residual > o->rtol)) return;
  outcome->status = TS_NOT_CONVERGED;
  outcome->reason = TS_REASON_STAGNATED;
  snprintf(outcome->message, sizeof outcome->message,
           "x in single precision has a relative residual of %.2g, and %.2g in two floats per point",
           outcome->rounded_residual, outcome->solver_residual);
}

/* Computes the grid's stencil, b and x in a buffer of nine values per point, and uploads each immediately. */
static int upload(const poisson_options *options, const poisson_problem *problem, device_objects *d,
                  double *values, poisson_outcome *outcome) {
  const ts_poisson_desc *desc = &problem->desc;
  const size_t n = (size_t)desc->width * (size_t)desc->height;
  const ts_boundary_values boundaries = poisson_boundaries(problem);
  ts_grid_desc grid;
  double start = seconds_now();
  ts_status status = ts_poisson_grid(desc, &grid);
  if (status >= 0) status = ts_grid_create(d->context, &grid, &d->grid);
  if (status >= 0)
    status =
        ts_poisson_stencil(d->context, desc, ts_host(values, 9 * (size_t)desc->width * (size_t)desc->height));
  outcome->seconds_make += seconds_now() - start;
  start = seconds_now();
  if (status >= 0)
    status = ts_stencil_create(d->grid, ts_host(values, 9 * (size_t)ts_space_get_size(d->grid)), &d->A);
  if (status >= 0) status = create_x(options, d);
  outcome->seconds_setup += seconds_now() - start;
  start = seconds_now();
  if (status >= 0)
    status = ts_poisson_right_hand_side(
        d->context, desc, ts_host(problem->g, (size_t)desc->width * (size_t)desc->height), &boundaries,
        ts_host(values, (size_t)desc->width * (size_t)desc->height),
        ts_host(values + n, (size_t)desc->width * (size_t)desc->height));
  outcome->seconds_make += seconds_now() - start;
  start = seconds_now();
  if (status >= 0) status = create_b(values, n, d);
  if (status >= 0) status = ts_vector_write(d->b, ts_host(values, n));
  if (status >= 0) status = ts_vector_write(d->x, ts_host(values + n, n));
  outcome->seconds_setup += seconds_now() - start;
  return status < 0 ? failed_call(d->context, status, "the problem") : 0;
}

/* ---- Solving ---- */

typedef struct watcher {
  const poisson_options *options;
  poisson_outcome *outcome;
  double first; /* first residual reported; 0: none yet */
} watcher;

/* The last element of a full history is overwritten with the last cycle. */
static void keep(poisson_outcome *o, double residual) {
  if (o->history_count == POISSON_HISTORY) {
    o->history[POISSON_HISTORY - 2] = o->history[POISSON_HISTORY - 1];
    o->history_count--;
  }
  o->history[o->history_count++] = residual;
}

static void note_residual(watcher *w, int cycle, double number, double residual) {
  const double rtol = w->options->rtol;
  if (w->first == 0) w->first = residual;
  keep(w->outcome, number);
  poisson_report_cycle(w->options, w->outcome, cycle);
  progress_step(progress_of_residual(w->first, residual, rtol), "%s %d, residual %.1e, target %.0e",
                w->options->cg ? "iteration" : "cycle", cycle, residual, rtol);
}

static int after_check(const ts_progress *progress, void *user) {
  for (int k = 0; k < progress->count; k++)
    note_residual(user, progress->iteration - progress->count + 1 + k, progress->history[k],
                  progress->relative_residual);
  return interrupt_is_asked();
}

static void record_result(const ts_result *result, poisson_outcome *outcome) {
  outcome->reason = result->reason;
  snprintf(outcome->message, sizeof outcome->message, "%s", result->message);
  outcome->cycles = result->iterations;
  outcome->precision = result->precision;
  memcpy(outcome->precision_iterations, result->precision_iterations, sizeof outcome->precision_iterations);
  outcome->host_synchronisations = result->host_synchronisations;
  outcome->solver_residual = result->relative_residual;
  outcome->rounded_residual = result->rounded_residual;
}

static ts_status solve_cycles(device_objects *d, poisson_outcome *outcome) {
  ts_result result;
  const ts_status status = ts_multigrid_solve(d->multigrid, d->b, d->x, &result);
  if (status < 0) return status;
  record_result(&result, outcome);
  outcome->factor = result.factor;
  outcome->incompatible = result.incompatible;
  return status;
}

static double factor_of(const poisson_outcome *o) {
  const int last = o->history_count - 1, steps = last < 5 ? last : 5;
  if (steps < 1 || o->history[last - steps] <= 0) return NAN;
  return pow(o->history[last] / o->history[last - steps], 1.0 / steps);
}

static ts_status solve_cg(const poisson_options *options, device_objects *d, watcher *w) {
  poisson_outcome *outcome = w->outcome;
  const ts_preconditioner_desc cycle = {.kind = TS_PRECONDITIONER_MULTIGRID, .multigrid = d->multigrid};
  ts_preconditioner *M = NULL;
  ts_result result;
  ts_status status = ts_preconditioner_create(d->A, &cycle, &M);
  const ts_solver_desc desc = {.method = TS_METHOD_CG,
                               .preconditioner = M,
                               .precision = options->precision,
                               .rtol = options->rtol,
                               .max_iterations = options->max_cycles,
                               .check_interval = 1,
                               .progress = after_check,
                               .progress_user = w};
  ts_solver *solver = NULL;
  if (status >= 0) status = ts_solver_create(d->A, &desc, &solver);
  if (status >= 0) status = ts_solver_solve(solver, d->b, d->x, &result);
  ts_solver_destroy(&solver);
  ts_preconditioner_destroy(&M);
  if (status < 0) return status;
  record_result(&result, outcome);
  outcome->factor = factor_of(outcome);
  outcome->incompatible = NAN;
  return status;
}

/* ---- Comparison with the exact solution ---- */

static void measure_errors(const poisson_problem *problem, const double *x, poisson_outcome *outcome) {
  const size_t n = (size_t)problem->desc.width * (size_t)problem->desc.height;
  double shift = 0, squares = 0, largest = 0;
  outcome->error_max = outcome->error_rms = NAN;
  if (!problem->exact) return;
  /* If only derivatives are prescribed, u is defined up to a constant. */
  if (outcome->multigrid.null_space_components)
    for (size_t k = 0; k < n; k++) shift += (x[k] - problem->exact[k]) / (double)n;
  for (size_t k = 0; k < n; k++) {
    const double error = fabs(x[k] - problem->exact[k] - shift);
    squares += error * error;
    if (!(error <= largest)) largest = error;
  }
  outcome->error_max = largest;
  outcome->error_rms = sqrt(squares / (double)n);
}

static int set_up(const poisson_options *options, const poisson_problem *problem, device_objects *d,
                  watcher *w) {
  const size_t n = (size_t)options->width * (size_t)options->height;
  progress_begin("storing the problem");
  double *values = malloc(9 * n * sizeof *values);
  if (!values) {
    message("out of memory for a stencil of %dx%d points", options->width, options->height);
    return -1;
  }
  int failed = upload(options, problem, d, values, w->outcome);
  free(values);
  if (failed) return failed;
  progress_begin("preparing multigrid");
  const double start = seconds_now();
  ts_multigrid_desc desc = options->multigrid;
  desc.rtol = options->rtol;
  desc.max_cycles = options->max_cycles;
  desc.progress = after_check;
  desc.progress_user = w;
  ts_status status = ts_multigrid_create(d->A, &desc, &d->multigrid);
  if (status >= 0) status = ts_multigrid_get_info(d->multigrid, &w->outcome->multigrid);
  if (status >= 0) status = ts_context_get_info(d->context, &w->outcome->context);
  /* Otherwise the solve time would include the wait for the upload. */
  if (status >= 0) status = ts_context_finish(d->context);
  w->outcome->seconds_setup += seconds_now() - start;
  return status < 0 ? failed_call(d->context, status, "multigrid") : 0;
}

int poisson_solve(const poisson_options *options, const poisson_problem *problem, ts_context *context,
                  poisson_outcome *outcome, double **x) {
  const size_t n = (size_t)options->width * (size_t)options->height;
  device_objects d = {.context = context};
  watcher w = {options, outcome, 0};
  int failed = set_up(options, problem, &d, &w);
  if (!failed) {
    progress_clear();
    poisson_report_start(options, problem, outcome);
    progress_begin("solving");
    interrupt_begin();
    const double start = seconds_now();
    outcome->status = options->cg ? solve_cg(options, &d, &w) : solve_cycles(&d, outcome);
    outcome->seconds_solve = seconds_now() - start;
    progress_begin("computing the residual");
    if (outcome->reason == TS_REASON_STOPPED)
      snprintf(outcome->message, sizeof outcome->message, "stopped after %d %s at a relative residual of %.3e",
               outcome->cycles, options->cg ? "iterations" : "cycles", outcome->solver_residual);
    if (outcome->status < 0) failed = failed_call(context, outcome->status, "multigrid");
  }
  if (!failed && !(*x = malloc(n * sizeof **x))) {
    message("out of memory for a solution of %zu numbers", n);
    failed = -1;
  }
  if (!failed) {
    const ts_status status = ts_vector_read(d.x, ts_host(*x, n));
    if (status < 0) failed = failed_call(context, status, "the solution");
    if (!failed && d.lacks_pairs)
      failed =
          poisson_residual(problem, *x, outcome->multigrid.null_space_components, &outcome->rounded_residual);
    for (size_t k = 0; k < n && problem->exponent; k++) (*x)[k] = ldexp((*x)[k], problem->exponent);
  }
  if (!failed) measure_errors(problem, *x, outcome);
  if (!failed) check_written(options, outcome);
  progress_clear();
  poisson_solve_destroy(&d);
  return failed;
}
