/* `texsolve solve`: a system from files, solved on a device, its solution to a file. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "commands.h"
#include "message.h"
#include "output_file.h"
#include "progress.h"
#include "solve.h"

/* ---- What the library says while it works ---- */

static int after_check(int iteration, const double *history, int count, void *user) {
  output_file *file = user;
  progress_show("solving: iteration %d, sqrt(delta / delta_0) %.2e", iteration,
                count ? history[count - 1] : 1.0);
  if (file->stream)
    for (int k = 0; k < count; k++) fprintf(file->stream, "%d,%.9g\n", iteration - count + 1 + k, history[k]);
  return 0;
}

/* ---- On the device ---- */

typedef struct device_objects {
  ts_context *context;
  ts_matrix *A;
  ts_vector *b, *x;
  ts_cg *cg;
} device_objects;

static int device_failed(const device_objects *d, ts_status status, const char *what) {
  const char *text = ts_last_error(d->context);
  message("%s: %s", what, *text ? text : ts_status_text(status));
  return -1;
}

static float *to_float(const double *values, size_t count) {
  float *floats = malloc(count ? count * sizeof *floats : 1);
  if (!floats) message("out of memory for %zu numbers", count);
  for (size_t i = 0; floats && i < count; i++) floats[i] = (float)values[i];
  return floats;
}

static int upload_matrix(const solve_options *o, const solve_system *system, device_objects *d,
                         solve_outcome *outcome) {
  const mm_csr *A = &system->A;
  float *values = to_float(A->values, (size_t)A->nonzeros);
  if (!values) return -1;
  const ts_matrix_desc desc = {.csr = {A->rows, A->columns, A->row_offsets, A->column_indices, values},
                               .format = o->format};
  progress_show("storing %.50s", o->matrix);
  ts_status status = ts_matrix_create(d->context, &desc, &d->A);
  free(values);
  if (status >= 0) status = ts_matrix_get_info(d->A, &outcome->matrix);
  if (status < 0) return device_failed(d, status, o->matrix);
  outcome->seconds_layout = outcome->matrix.seconds_layout;
  outcome->seconds_upload = outcome->matrix.seconds_upload;
  return 0;
}

static int upload_vector(device_objects *d, const char *what, const double *values, int components,
                         ts_vector **v) {
  ts_space *space = ts_matrix_row_space(d->A);
  const size_t count = (size_t)ts_space_size(space) * (size_t)components;
  ts_status status = ts_vector_create(space, &(ts_vector_desc){.components = components}, v);
  if (status >= 0 && values) {
    float *floats = to_float(values, count);
    if (!floats) return -1;
    status = ts_vector_write(*v, floats, count);
    free(floats);
  }
  return status < 0 ? device_failed(d, status, what) : 0;
}

/* The solution into a new array. */
static int solve(const solve_options *o, const solve_system *system, device_objects *d, output_file *history,
                 solve_outcome *outcome, float **x) {
  const size_t count = (size_t)system->A.rows * (size_t)system->components;
  if (upload_matrix(o, system, d, outcome)) return -1;
  double start = seconds_now();
  if (upload_vector(d, o->b ? o->b : "right-hand side", system->b, system->components, &d->b)) return -1;
  if (upload_vector(d, o->x0 ? o->x0 : "solution", system->x0, system->components, &d->x)) return -1;
  /* Without this the solve would wait for the upload and be charged for it. */
  ts_status status = ts_context_finish(d->context);
  if (status < 0) return device_failed(d, status, o->matrix);
  outcome->seconds_upload += seconds_now() - start;

  start = seconds_now();
  const ts_cg_desc desc = {.preconditioner = o->preconditioner,
                           .stop = o->stop,
                           .rtol = o->rtol,
                           .max_iterations = o->max_iterations,
                           .check_interval = o->check_interval,
                           .progress = after_check,
                           .progress_user = history};
  status = ts_cg_create(d->A, &desc, &d->cg);
  if (status >= 0) status = ts_cg_solve(d->cg, d->b, d->x, &outcome->result);
  if (status < 0) return device_failed(d, status, o->matrix);
  outcome->status = status;
  *x = malloc(count * sizeof **x);
  if (!*x) {
    message("out of memory for a solution of %zu numbers", count);
    return -1;
  }
  status = ts_vector_read(d->x, *x, count);
  outcome->seconds_solve = seconds_now() - start;
  if (status >= 0) status = ts_context_get_info(d->context, &outcome->context);
  if (status < 0) return device_failed(d, status, o->matrix);
  progress_clear();
  return solve_relative_residual(system, *x, &outcome->relative_residual);
}

static void destroy(device_objects *d) {
  ts_cg_destroy(&d->cg);
  ts_vector_destroy(&d->x);
  ts_vector_destroy(&d->b);
  ts_matrix_destroy(&d->A);
  ts_context_destroy(&d->context);
}

/* ---- Outputs ---- */

/* Refuses to write over what is read: the input would be gone when the answer is wrong. */
static int check_outputs(const solve_options *o) {
  const char *const inputs[] = {o->matrix, o->b, o->x0};
  const char *const outputs[] = {o->output, o->history};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      if (outputs[i] && inputs[j] && same_file(outputs[i], inputs[j])) {
        message("%s: this output is also an input, expected another file", outputs[i]);
        return -1;
      }
  return 0;
}

static int write_outputs(const solve_options *o, const solve_system *system, const solve_outcome *outcome,
                         const float *x, output_file *solution, output_file *history) {
  if (solution->stream) {
    char comment[300];
    snprintf(comment, sizeof comment, "texsolve %s, backend %s: %s, relative residual %.3g", ts_version(),
             outcome->context.backend, outcome->status == TS_OK ? "converged" : "not converged",
             outcome->relative_residual);
    mm_write_dense(solution->stream, comment, system->A.rows, system->components, x);
    if (output_commit(solution)) return -1;
  }
  if (history->stream && output_commit(history)) return -1;
  if (o->json) return solve_report_json(o, system, outcome);
  if (!o->quiet) solve_report_text(o, system, outcome);
  return message_flush_stdout();
}

/* The library counts rows from 0, a Matrix Market file from 1. */
static void say_not_converged(const solve_options *o, const solve_outcome *outcome) {
  const ts_cg_result *r = &outcome->result;
  if (r->reason == TS_REASON_NOT_SYMMETRIC && outcome->matrix.unsymmetric_row >= 0)
    message("%s: not converged: %s: entry %d %d differs from its mirror", o->matrix, ts_reason_text(r->reason),
            outcome->matrix.unsymmetric_row + 1, outcome->matrix.unsymmetric_column + 1);
  else
    message("%s: not converged: %s", o->matrix, r->message[0] ? r->message : ts_reason_text(r->reason));
}

int cmd_solve(int argc, char **argv) {
  solve_options options;
  solve_parse(argc, argv, &options);
  message_set_quiet(options.quiet);
  progress_enable(!options.quiet);

  output_file solution = {0}, history = {0};
  solve_system system = {0};
  device_objects device = {0};
  solve_outcome outcome = {0};
  float *x = NULL;
  int result = EXIT_ERROR;
  if (check_outputs(&options)) goto end;
  if (options.output && output_open(&solution, options.output)) goto end;
  if (options.history && output_open(&history, options.history)) goto end;
  if (history.stream) fputs("iteration,sqrt_delta_ratio\n", history.stream);

  const ts_context_desc desc = {.backend = options.backend,
                                .threads = options.threads,
                                .rectangle_width = options.rectangle_width,
                                .rectangle_height = options.rectangle_height};
  result = backend_open(&desc, options.verbosity, &device.context);
  if (result) goto end;
  result = EXIT_ERROR;
  const double start = seconds_now();
  if (solve_read(&options, &system)) goto end;
  outcome.seconds_read = seconds_now() - start;
  if (solve(&options, &system, &device, &history, &outcome, &x)) goto end;
  if (write_outputs(&options, &system, &outcome, x, &solution, &history)) goto end;
  result = EXIT_CONVERGED;
  if (outcome.status != TS_OK) {
    say_not_converged(&options, &outcome);
    result = EXIT_NOT_CONVERGED;
  }
end:
  progress_clear();
  destroy(&device);
  solve_free(&system);
  free(x);
  output_discard(&solution);
  output_discard(&history);
  return result;
}
