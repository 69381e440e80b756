/* `texsolve lcp`: solves a complementarity problem from files, with or without friction, by parallel
 * Gauss-Seidel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "commands.h"
#include "contact_file.h"
#include "interrupt.h"
#include "lcp.h"
#include "matrix_market.h"
#include "message.h"
#include "progress.h"
#include "text_file.h"
#include "ranks.h"

typedef struct device_objects {
  ts_context *context;
  ts_lcp *lcp;
  ts_vector *q, *z;
} device_objects;

static int device_failed(const device_objects *d, ts_status status, const char *what) {
  const char *text = ts_last_error(d->context);
  message("%s: %s", what, *text ? text : ts_status_text(status));
  return -1;
}

typedef struct watcher {
  double rtol, first; /* the first residual; 0: none yet */
} watcher;

static int after_check(const ts_progress *progress, void *user) {
  watcher *w = user;
  const int sweeps = progress->iteration, count = progress->count;
  const double *residual = progress->history;
  if (count && w->first == 0) w->first = residual[count - 1];
  if (count)
    progress_step(progress_of_residual(w->first, residual[count - 1], w->rtol),
                  "sweep %d, residual %.1e, target %.0e", sweeps, residual[count - 1], w->rtol);
  return interrupt_is_asked();
}

/* ---- On the device ---- */

static ts_status upload(const lcp_options *o, const lcp_problem *p, device_objects *d, const double *z,
                        ts_precision precision) {
  const ts_lcp_storage storage = o->storage ? o->storage : ts_lcp_scheme_storage(o->scheme);
  const ts_vector_desc vector = {.components = 1, .precision = precision};
  const size_t n = (size_t)p->size;
  ts_status status = lcp_problem_create(d->context, p, storage, precision, &d->lcp);
  if (status >= 0) status = ts_vector_create(ts_lcp_get_space(d->lcp), &vector, &d->q);
  if (status >= 0) status = ts_vector_create(ts_lcp_get_space(d->lcp), &vector, &d->z);
  if (status >= 0) status = ts_vector_write(d->q, ts_host(p->q, n));
  if (status >= 0) status = ts_vector_write(d->z, ts_host(z, n));
  return status >= 0 ? ts_context_finish(d->context) : status;
}

static void destroy_problem(device_objects *d) {
  ts_vector_destroy(&d->z);
  ts_vector_destroy(&d->q);
  ts_lcp_destroy(&d->lcp);
}

/* Solves once from z into z and w. Adds the sweeps and times to the outcome. */
static int solve_in(ts_precision precision, const lcp_options *o, const lcp_problem *p, device_objects *d,
                    lcp_outcome *outcome, double *z, double *w) {
  const ts_lcp_result before = outcome->result;
  watcher watching = {o->rtol, 0};
  const ts_lcp_settings settings = {.scheme = o->scheme,
                                    .local = o->local,
                                    .acceleration = o->acceleration,
                                    .rtol = o->rtol,
                                    .max_sweeps = o->max_sweeps - before.sweeps,
                                    .check_interval = o->check_interval,
                                    .progress = after_check,
                                    .progress_user = &watching};
  double start = seconds_now();
  outcome->precision = precision;
  progress_begin("storing %.50s", o->input);
  ts_status status = upload(o, p, d, z, precision);
  if (status < 0) return device_failed(d, status, o->input);
  outcome->seconds_setup += seconds_now() - start;
  interrupt_begin();
  progress_begin("solving");
  if (o->verbosity) message_note("solving in %s precision", ts_precision_name(precision));
  start = seconds_now();
  status = ts_lcp_solve(d->lcp, d->q, d->z, &settings, &outcome->result);
  if (status < 0) return device_failed(d, status, o->input);
  outcome->status = status;
  status = ts_vector_read(d->z, ts_host(z, (size_t)p->size));
  if (status < 0) return device_failed(d, status, o->input);
  outcome->seconds_solve += seconds_now() - start;
  outcome->result.sweeps += before.sweeps;
  outcome->result.host_synchronisations += before.host_synchronisations;
  lcp_multiply(p, z, w);
  outcome->residual = lcp_natural_map(p, z, w);
  if (outcome->norm_q > 0) outcome->residual /= outcome->norm_q;
  destroy_problem(d);
  return 0;
}

/* On the device M and z are rounded to floats. So the residual of the file's numbers decides. */
static void check_residual(const lcp_options *o, lcp_outcome *outcome) {
  ts_lcp_result *r = &outcome->result;
  if (outcome->status == TS_OK && outcome->residual <= o->rtol) return;
  if (outcome->status == TS_OK) {
    outcome->status = TS_NOT_CONVERGED;
    r->reason = TS_REASON_STAGNATED;
    snprintf(r->message, sizeof r->message, "stagnated after ");
  }
  if (r->reason == TS_REASON_STOPPED) snprintf(r->message, sizeof r->message, "stopped after ");
  char *rest = strstr(r->message, " after "); /* which counts only the sweeps of the last precision */
  if (rest)
    snprintf(rest, sizeof r->message - (size_t)(rest - r->message),
             " after %d sweeps: the residual is %.3g of ||q||", r->sweeps, outcome->residual);
}

static int cmd_lcp_solve(const lcp_options *o, const lcp_problem *p, device_objects *d, lcp_outcome *outcome,
                         double *z, double *w) {
  const int is_auto = o->precision == LCP_PRECISION_AUTO;
  ts_precision precision = o->precision == LCP_PRECISION_DOUBLE || (is_auto && o->rtol < 1e-6)
                               ? TS_PRECISION_DOUBLE
                               : TS_PRECISION_SINGLE;
  for (int32_t i = 0; i < p->size; i++) outcome->norm_q = hypot(outcome->norm_q, p->q[i]);
  if (p->z0) memcpy(z, p->z0, (size_t)p->size * sizeof *z);
  for (;;) {
    if (solve_in(precision, o, p, d, outcome, z, w)) return -1;
    check_residual(o, outcome);
    if (!is_auto || precision == TS_PRECISION_DOUBLE || outcome->result.reason != TS_REASON_STAGNATED ||
        outcome->result.sweeps >= o->max_sweeps)
      break;
    precision = TS_PRECISION_DOUBLE;
  }
  const ts_status status = ts_context_get_info(d->context, &outcome->context);
  return status < 0 ? device_failed(d, status, o->input) : 0;
}

/* Compares z with the file's solution. */
static int compare(const lcp_problem *p, const double *z, lcp_outcome *outcome) {
  outcome->solution_distance = outcome->solution_residual = NAN;
  if (!p->solution) return 0;
  double *w = calloc((size_t)p->size, sizeof *w);
  if (!w) {
    message("out of memory for %d numbers", (int)p->size);
    return -1;
  }
  double distance = 0, length = 0;
  for (int32_t i = 0; i < p->size; i++) {
    distance = hypot(distance, z[i] - p->solution[i]);
    length = hypot(length, p->solution[i]);
  }
  lcp_multiply(p, p->solution, w);
  const double residual = lcp_natural_map(p, p->solution, w);
  outcome->solution_distance = length > 0 ? distance / length : distance;
  outcome->solution_residual = outcome->norm_q > 0 ? residual / outcome->norm_q : residual;
  free(w);
  return 0;
}

/* ---- Outputs ---- */

static int is_hdf5(const char *path) {
  const char *dot = path ? strrchr(path, '.') : NULL;
  return dot && (!strcmp(dot, ".hdf5") || !strcmp(dot, ".h5"));
}

static int write_column(output_file *file, const char *path, const char *what, const lcp_options *o,
                        const lcp_problem *p, const lcp_outcome *outcome, const double *values) {
  char comment[300];
  if (!file->stream || !output_is_finite(path, values, (size_t)p->size)) return 0;
  snprintf(comment, sizeof comment, "texsolve %s lcp, backend %s: %s, %s, residual %.3g, asked for %.3g",
           ts_version(), outcome->context.backend, what, lcp_how_it_ended(outcome), outcome->residual, o->rtol);
  progress_begin("writing %.50s", path);
  mm_write_dense(file->stream, comment, p->size, 1, 1, values);
  return output_commit(file);
}

/* HDF5 opens files by name. So the copy is made first, under the temporary name. */
static int write_fclib(output_file *file, const lcp_options *o, const lcp_problem *p, const double *z,
                       const double *w) {
  text_file copied;
  mm_error error;
  if (!output_is_finite(o->output, z, (size_t)p->size)) return 0;
  if (text_open(&copied, o->input, "a problem of FCLIB", &error)) {
    message("%s", error.text);
    return -1;
  }
  const int failed =
      fwrite(copied.text, 1, copied.length, file->stream) != copied.length || fflush(file->stream);
  text_close(&copied);
  if (failed) {
    message("%s: the copy of %s was not written", o->output, o->input);
    return -1;
  }
  if (fclib_write_solution(file->temporary, p->size, z, w, &error)) {
    message("%s", error.text);
    return -1;
  }
  return output_commit(file);
}

static int write_outputs(const lcp_options *o, const lcp_problem *p, const lcp_outcome *outcome,
                         const double *z, const double *w, output_file files[2]) {
  if (is_hdf5(o->output) ? write_fclib(&files[0], o, p, z, w)
                         : write_column(&files[0], o->output, "z", o, p, outcome, z))
    return -1;
  if (write_column(&files[1], o->w, "w = M z + q", o, p, outcome, w)) return -1;
  progress_clear();
  if (o->json) return lcp_report_json(o, p, outcome);
  if (!o->quiet) lcp_report_text(o, p, outcome);
  return message_flush_stdout();
}

/* Suggests a remedy. */
static const char *hint(const lcp_outcome *outcome) {
  const ts_lcp_result *r = &outcome->result;
  if (r->scheme == TS_LCP_SCHEME_RELAXED) return " (hint: try --scheme auto)";
  if (r->reason == TS_REASON_MAX_ITERATIONS) return " (hint: try a larger --max-sweeps)";
  if (r->reason == TS_REASON_STAGNATED && outcome->precision == TS_PRECISION_SINGLE)
    return " (hint: try --precision double, or a larger --rtol)";
  if (r->reason == TS_REASON_STAGNATED || r->reason == TS_REASON_DIVERGED || r->reason == TS_REASON_CYCLING)
    return " (hint: the problem may have no solution, or M may be neither positive definite nor diagonally "
           "dominant)";
  return "";
}

/* ---- The command ---- */

static int open_outputs(const lcp_options *o, output_file files[2]) {
  const char *const inputs[] = {o->input, o->q, o->z0, o->lower, o->upper};
  if (output_is_input(o->output, inputs, 5) || output_is_input(o->w, inputs, 5)) return -1;
  if (output_is_input(o->w, &o->output, 1)) return -1;
  if (o->output && output_open(&files[0], o->output)) return -1;
  return o->w && output_open(&files[1], o->w) ? -1 : 0;
}

static int check_outputs(const lcp_options *o, const lcp_problem *p, const output_file *solution) {
  if (!is_hdf5(o->output)) return 0;
  if (p->form == LCP_FCLIB && solution->temporary) return 0;
  message(p->form == LCP_FCLIB ? "%s: not a regular file, expected one for a copy of %s"
                               : "%s: a copy of the problem, expected an FCLIB problem and not %s",
          o->output, o->input);
  return -1;
}

static int cmd_lcp_run(const lcp_options *o, device_objects *d, output_file files[2]) {
  static lcp_outcome outcome;
  lcp_problem problem = {0};
  int result = EXIT_ERROR;
  double *z = NULL, *w = NULL;
  const double start = seconds_now();
  if (lcp_read(o, &problem) || check_outputs(o, &problem, &files[0])) goto end;
  outcome.seconds_read = seconds_now() - start;
  z = calloc((size_t)problem.size, sizeof *z);
  w = calloc((size_t)problem.size, sizeof *w);
  if (!z || !w) {
    message("out of memory for %d numbers", (int)problem.size);
    goto end;
  }
  if (cmd_lcp_solve(o, &problem, d, &outcome, z, w) || compare(&problem, z, &outcome) ||
      write_outputs(o, &problem, &outcome, z, w, files))
    goto end;
  result = EXIT_CONVERGED;
  if (outcome.status != TS_OK) {
    const ts_lcp_result *r = &outcome.result;
    message("%s: %s%s%s", o->input, r->reason == TS_REASON_STOPPED ? "" : "not converged: ",
            r->message[0] ? r->message : ts_reason_text(r->reason), hint(&outcome));
    result = EXIT_NOT_CONVERGED;
  }
end:
  lcp_free(&problem);
  free(z);
  free(w);
  return result;
}

int cmd_lcp(int argc, char **argv) {
  lcp_options options;
  ranks_begin();
  lcp_parse(argc, argv, &options);
  if (ranks_are_several()) return ranks_refuse("lcp");
  message_set_quiet(options.quiet);
  progress_enable(!options.quiet);

  output_file files[2] = {{0}, {0}};
  device_objects device = {0};
  int result = EXIT_ERROR;
  if (open_outputs(&options, files)) goto end;
  const ts_context_desc desc = {.backend = options.backend, .threads = options.threads};
  result = backend_open(&desc, options.verbosity, &device.context);
  if (!result) result = cmd_lcp_run(&options, &device, files);
end:
  progress_clear();
  destroy_problem(&device);
  ts_context_destroy(&device.context);
  output_discard(&files[0]);
  output_discard(&files[1]);
  return interrupt_finish(result);
}
