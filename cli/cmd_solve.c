/* `texsolve solve`: a system from files, solved on a device, its solution to a file. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "commands.h"
#include "interrupt.h"
#include "message.h"
#include "output_file.h"
#include "progress.h"
#include "rank_rows.h"
#include "ranks.h"
#include "solve.h"

/* ---- What the library says while it works ---- */

typedef struct watcher {
  const solve_options *options;
  const ts_result *result; /* in which the library keeps the recurrence's residual during the call */
  FILE *history;           /* NULL: not wanted */
  double first;            /* residual that was seen; 0: none yet */
} watcher;

static void show_progress(watcher *w, int iteration, double ratio) {
  const solve_options *o = w->options;
  const int is_delta = isnan(w->result->relative_residual);
  const double now = is_delta ? ratio : w->result->relative_residual;
  if (w->first == 0) w->first = now;
  progress_step(progress_of_residual(w->first, now, o->rtol), "iteration %d, %s %.1e, target %.0e", iteration,
                is_delta ? "sqrt(delta / delta_0)" : "residual", now, o->rtol);
}

static int after_check(int iteration, const double *history, int count, void *user) {
  watcher *w = user;
  if (count > 0) show_progress(w, iteration, history[count - 1]);
  for (int k = 0; k < count && w->history; k++)
    fprintf(w->history, "%d,%.9g\n", iteration - count + 1 + k, history[k]);
  return interrupt_is_asked();
}

/* ---- On the device ---- */

typedef struct device_objects {
  ts_context *context;
  ts_matrix *A;
  ts_preconditioner *M; /* NULL: jacobi or none */
  ts_vector *b, *x;
  int32_t *order; /* of the unknowns on the device; NULL: the file's */
  rank_rows rows; /* of ranks that have runs of rows */
} device_objects;

static int device_failed(const device_objects *d, ts_status status, const char *what) {
  const char *text = ts_last_error(d->context);
  message("%s: %s", what, *text ? text : ts_status_text(status));
  ranks_agreed();
  return -1;
}

/* The matrix in the order of the options. The arrays of `csr` become those of `other`. */
static int reorder(const solve_options *o, device_objects *d, ts_csr *csr, reorder_matrix *other,
                   solve_outcome *outcome) {
  char error[256] = "";
  ts_csr_bandwidth(NULL, csr, &outcome->bandwidth_before);
  outcome->bandwidth = outcome->bandwidth_before;
  if (o->reorder == REORDER_NONE) return 0;
  progress_begin("ordering %.50s", o->matrix);
  d->order = reorder_compute(o->reorder, csr, error);
  if (!d->order || reorder_permute(csr, d->order, other, error)) {
    message("%s: %s", o->matrix, error);
    return -1;
  }
  csr->row_offsets = other->row_offsets;
  csr->column_indices = other->column_indices;
  csr->double_values = other->double_values;
  ts_csr_bandwidth(NULL, csr, &outcome->bandwidth);
  return 0;
}

/* Rows of the device as rows of the file. */
static void name_rows_of_the_file(const device_objects *d, ts_matrix_info *info) {
  int32_t *const rows[] = {&info->unsymmetric_row, &info->unsymmetric_column, &info->zero_diagonal_row};
  for (int i = 0; i < 3; i++)
    if (d->order && *rows[i] >= 0) *rows[i] = d->order[*rows[i]];
}

/* Whether ranks have whole nodes in the file's order, since AMG is told of each. */
static int has_nodes(const solve_options *o) {
  return o->near_null || o->coordinates || o->amg.unknowns > 1;
}

static ts_status create_matrix(const solve_options *o, const solve_system *system, device_objects *d,
                               const ts_matrix_desc *desc) {
  const int unknowns = system->dimensions ? system->dimensions : o->amg.unknowns ? o->amg.unknowns : 1;
  if (!ranks_are_several()) return ts_matrix_create(d->context, desc, &d->A);
  if (has_nodes(o)) return rank_rows_create(d->context, desc, unknowns, &d->rows, &d->A);
  return ts_ranks_matrix_from(d->context, 0, desc, &d->A);
}

/* The matrix that rank 0 has read is that of all ranks. */
static ts_status count_all_ranks(const ts_matrix *A, ts_matrix_info *info) {
  ts_ranks_matrix_info all;
  const ts_status status = ts_ranks_matrix_get_info(A, &all);
  if (status < 0) return status;
  info->rows = info->columns = (int32_t)all.rows;
  info->nonzeros = all.nonzeros;
  return status;
}

static int upload_matrix(const solve_options *o, const solve_system *system, device_objects *d,
                         solve_outcome *outcome) {
  const mm_csr *A = &system->A;
  ts_matrix_desc desc = {.csr = {A->rows, A->columns, A->row_offsets, A->column_indices, NULL, A->values},
                         .format = o->format,
                         .precision =
                             o->precision == TS_PRECISION_SINGLE ? TS_PRECISION_SINGLE : TS_PRECISION_AUTO,
                         .keep_host_copy = solve_needs_host_copy(o),
                         .components = system->components};
  reorder_matrix other = {0};
  ts_status status = TS_OK;
  const int failed = ranks_is_root() && reorder(o, d, &desc.csr, &other, outcome);
  if (!failed) {
    progress_begin("storing %.50s", o->matrix);
    status = create_matrix(o, system, d, &desc);
  }
  reorder_free(&other);
  if (failed) return -1;
  if (status >= 0) status = ts_matrix_get_info(d->A, &outcome->matrix);
  if (status >= 0 && ranks_are_several()) status = count_all_ranks(d->A, &outcome->matrix);
  if (status < 0) return device_failed(d, status, o->matrix);
  name_rows_of_the_file(d, &outcome->matrix);
  outcome->seconds_layout = outcome->matrix.seconds_layout;
  outcome->seconds_upload = outcome->matrix.seconds_upload;
  return 0;
}

/* Where the file has the i-th number of a vector on the device. */
static size_t place_in_file(const device_objects *d, size_t i, int components) {
  const size_t row = i / (size_t)components;
  return d->order ? (size_t)d->order[row] * (size_t)components + i % (size_t)components : i;
}

/* This rank's part of the numbers that rank 0 read: coordinates, one for each row as nodes have as many rows,
 * or vectors in the device's order. */
static int share_nodes(const solve_options *o, const solve_system *system, const device_objects *d,
                       double **ordered, ts_amg_desc *amg) {
  const double *all = system->coordinates ? system->coordinates : *ordered ? *ordered : system->near_null;
  const int per_row = system->near_null_vectors ? system->near_null_vectors : 1;
  double *mine = NULL;
  if (!system->near_null_vectors && !system->dimensions) return 0;
  const ts_status status = rank_rows_share(d->context, &d->rows, all, per_row, &mine);
  free(*ordered);
  *ordered = mine;
  amg->coordinates = system->dimensions ? mine : NULL;
  amg->near_null = system->near_null_vectors ? mine : NULL;
  return status < 0 ? device_failed(d, status, o->coordinates ? o->coordinates : o->near_null) : 0;
}

/* The near-null space in the device's order into `ordered`; coordinates are in the file's. */
static int describe_amg(const solve_options *o, const solve_system *system, const device_objects *d,
                        double **ordered, ts_amg_desc *amg) {
  *amg = o->amg;
  amg->coordinates = system->coordinates;
  amg->dimensions = system->dimensions;
  amg->near_null = system->near_null;
  amg->near_null_vectors = system->near_null_vectors;
  if (!system->near_null || !d->order) return 0;
  const size_t count = (size_t)system->A.rows * (size_t)system->near_null_vectors;
  *ordered = malloc(count * sizeof **ordered);
  if (!*ordered) {
    message("out of memory for a near-null space of %zu numbers", count);
    return -1;
  }
  for (size_t i = 0; i < count; i++)
    (*ordered)[i] = system->near_null[place_in_file(d, i, system->near_null_vectors)];
  amg->near_null = *ordered;
  return 0;
}

/* A row that the library names, from 0 and in the device's order, in the words of the file. */
static int preconditioner_failed(const solve_options *o, const device_objects *d, ts_status status) {
  const int64_t row = ts_last_error_row(d->context);
  if (row < 0) return device_failed(d, status, o->matrix);
  const long long line = (d->order ? d->order[row] : row) + 1;
  if (o->preconditioner == TS_PRECONDITIONER_ISAI)
    message(
        "%s: row %lld has no approximate inverse: the part of the matrix on its pattern is singular (hint: try "
        "--preconditioner none)",
        o->matrix, line);
  else
    message(
        "%s: the block of row %lld is singular, which block Jacobi has to invert (hint: try --preconditioner "
        "none)",
        o->matrix, line);
  ranks_agreed();
  return -1;
}

static int make_preconditioner(const solve_options *o, const solve_system *system, device_objects *d,
                               solve_outcome *outcome) {
  const ts_matrix_info *info = &outcome->matrix;
  outcome->preconditioner = o->preconditioner;
  if (!solve_has_setup(o)) return 0;
  if (o->preconditioner == TS_PRECONDITIONER_AMG && !info->symmetric) {
    message("%s: entry %d %d differs from its mirror, expected a symmetric matrix for --preconditioner amg",
            o->matrix, info->unsymmetric_row + 1, info->unsymmetric_column + 1);
    return -1;
  }
  progress_begin("preparing the preconditioner");
  double *ordered = NULL;
  ts_amg_desc amg;
  if (describe_amg(o, system, d, &ordered, &amg)) return -1;
  if (d->rows.first && share_nodes(o, system, d, &ordered, &amg)) {
    free(ordered);
    return -1;
  }
  const double start = seconds_now();
  ts_status status = solve_make_preconditioner(o, &amg, d->A, &d->M, outcome);
  if (status == TS_OK) status = ts_context_finish(d->context);
  outcome->seconds_setup = seconds_now() - start;
  free(ordered);
  return status < 0 ? preconditioner_failed(o, d, status) : 0;
}

static int write_vector(const device_objects *d, const char *what, const double *values, int32_t rows,
                        int components, ts_vector *v) {
  if (!values) { /* rank 0 has them */
    const ts_status status = ts_ranks_vector_from(v, 0, NULL);
    return status < 0 ? device_failed(d, status, what) : 0;
  }
  const size_t count = (size_t)rows * (size_t)components;
  double *ordered = malloc(count * sizeof *ordered);
  if (!ordered) {
    message("out of memory for %zu numbers", count);
    return -1;
  }
  for (size_t i = 0; i < count; i++) ordered[i] = values[place_in_file(d, i, components)];
  const ts_status status =
      ranks_are_several() ? ts_ranks_vector_from(v, 0, ordered) : ts_vector_write_double(v, ordered, count);
  free(ordered);
  return status < 0 ? device_failed(d, status, what) : 0;
}

/* In single precision where a device has nothing else. */
static int upload_vector(const solve_options *o, device_objects *d, const char *what, int given,
                         const double *values, int components, solve_outcome *outcome, ts_vector **v) {
  ts_space *space = ts_matrix_row_space(d->A);
  ts_vector_desc desc = {.components = components, .precision = TS_PRECISION_SINGLE};
  if (o->precision != TS_PRECISION_SINGLE) desc.precision = TS_PRECISION_DOUBLE;
  ts_status status = ts_vector_create(space, &desc, v);
  if (status == TS_ERROR_UNSUPPORTED && o->precision == TS_PRECISION_AUTO) {
    desc.precision = TS_PRECISION_SINGLE;
    status = ts_vector_create(space, &desc, v);
  }
  if (status < 0) return device_failed(d, status, what);
  outcome->precision = desc.precision;
  return given ? write_vector(d, what, values, outcome->matrix.rows, components, *v) : 0;
}

/* The device's x in the file's order and range. */
static int download(const solve_options *o, const solve_system *system, const device_objects *d,
                    solve_outcome *outcome, double *x) {
  const size_t components = (size_t)system->components, count = (size_t)system->A.rows * components;
  double *const values = malloc((count + 1) * sizeof *values);
  if (!values) {
    message("out of memory for a solution of %zu numbers", count);
    return -1;
  }
  const ts_status status =
      ranks_are_several() ? ts_ranks_vector_to(d->x, 0, values) : ts_vector_read_double(d->x, values, count);
  for (size_t i = 0; i < count && status >= 0; i++) {
    const double value = ldexp(values[i], system->x_exponents[i % components]);
    x[place_in_file(d, i, system->components)] = value;
    if (isfinite(values[i]) && isinf(value)) outcome->out_of_range = 1;
    if (values[i] != 0 && fabs(value) < DBL_MIN && !outcome->out_of_range) outcome->out_of_range = -1;
  }
  free(values);
  return status < 0 ? device_failed(d, status, o->matrix) : 0;
}

/* ---- The whole of it ---- */

/* The solution into a new array. */
static int solve(const solve_options *o, const solve_system *system, device_objects *d, output_file *history,
                 solve_outcome *outcome, double **x) {
  const size_t count = (size_t)system->A.rows * (size_t)system->components;
  if (upload_matrix(o, system, d, outcome)) return -1;
  double start = seconds_now();
  if (upload_vector(o, d, o->b ? o->b : "right-hand side", 1, system->b, system->components, outcome, &d->b) ||
      upload_vector(o, d, o->x0 ? o->x0 : "solution", o->x0 != NULL, system->x0, system->components, outcome,
                    &d->x))
    return -1;
  /* Without this the solve would wait for the upload and be charged for it. */
  ts_status status = ts_context_finish(d->context);
  if (status < 0) return device_failed(d, status, o->matrix);
  outcome->seconds_upload += seconds_now() - start;

  outcome->method = solve_choose(o, &outcome->matrix);
  if (outcome->method != TS_METHOD_CG && o->stop == TS_STOP_DELTA) {
    message("%s: --stop delta is a rule of cg, and the method is %s%s", o->matrix,
            ts_method_name(outcome->method),
            o->method == TS_METHOD_AUTO ? ", since the matrix is not symmetric" : "");
    return -1;
  }
  if (make_preconditioner(o, system, d, outcome)) return -1;
  watcher w = {o, &outcome->result, history->stream, 0};
  if (!ranks_are_several()) interrupt_begin(); /* one rank alone cannot stop the others */
  progress_begin("solving");
  if (o->verbosity)
    message_note("solving by %s, preconditioner %s", ts_method_name(outcome->method),
                 ts_preconditioner_kind_name(outcome->preconditioner));
  start = seconds_now();
  status = solve_by_method(o, d->M, d->A, d->b, d->x, after_check, &w, outcome);
  if (status < 0) return device_failed(d, status, o->matrix);
  outcome->status = status;
  if (!ranks_is_root()) { /* which has the last word */
    status = ts_ranks_vector_to(d->x, 0, NULL);
    return status < 0 ? device_failed(d, status, o->matrix) : 0;
  }
  *x = calloc(count + 1, sizeof **x);
  if (!*x) {
    message("out of memory for a solution of %zu numbers", count);
    return -1;
  }
  if (download(o, system, d, outcome, *x)) return -1;
  outcome->seconds_solve = seconds_now() - start;
  progress_begin("computing the residual");
  outcome->accuracy = solve_residual(system, *x);
  solve_conclude(o, outcome);
  status = ts_context_get_info(d->context, &outcome->context);
  if (status < 0) return device_failed(d, status, o->matrix);
  progress_clear();
  return 0;
}

static void destroy(device_objects *d) {
  ts_vector_destroy(&d->x);
  ts_vector_destroy(&d->b);
  ts_preconditioner_destroy(&d->M);
  ts_matrix_destroy(&d->A);
  ts_context_destroy(&d->context);
  free(d->order);
  rank_rows_free(&d->rows);
}

/* ---- Outputs ---- */

static int write_outputs(const solve_options *o, const solve_system *system, const solve_outcome *outcome,
                         const double *x, output_file *solution, output_file *history) {
  const size_t count = (size_t)system->A.rows * (size_t)system->components;
  if (solution->stream && output_is_finite(o->output, x, count)) {
    char comment[300];
    snprintf(comment, sizeof comment, "texsolve %s, backend %s: %s, relative residual %s", ts_version(),
             outcome->context.backend, solve_how_it_ended(outcome),
             solve_residual_text(outcome->accuracy.residual, o->rtol));
    progress_begin("writing %.50s", o->output);
    mm_write_dense(solution->stream, comment, system->A.rows, system->components, x);
    if (output_commit(solution)) return -1;
  }
  if (history->stream && output_commit(history)) return -1;
  progress_clear();
  if (o->json) return solve_report_json(o, system, outcome);
  if (!o->quiet) solve_report_text(o, system, outcome);
  return message_flush_stdout();
}

/* The library counts rows from 0, a Matrix Market file from 1. */
static void say_not_converged(const solve_options *o, const solve_outcome *outcome) {
  const ts_result *r = &outcome->result;
  if (r->reason == TS_REASON_NOT_SYMMETRIC && outcome->matrix.unsymmetric_row >= 0)
    message("%s: not converged: %s: entry %d %d differs from its mirror (hint: try --solver bicgstab or gmres)",
            o->matrix, ts_reason_text(r->reason), outcome->matrix.unsymmetric_row + 1,
            outcome->matrix.unsymmetric_column + 1);
  else if (r->reason == TS_REASON_STOPPED)
    message("%s: %s", o->matrix, outcome->message);
  else
    message("%s: not converged: %s", o->matrix, outcome->message);
}

/* Of several processes one reads; the others learn what they cannot tell from the options. */
static int read_system(const solve_options *o, ts_context *context, solve_system *system) {
  if (!ranks_are_several()) return solve_read(o, system);
  const int failed = ranks_is_root() && solve_read(o, system);
  const ts_status status = ts_ranks_agree(context, failed ? TS_ERROR_INVALID_ARGUMENT : TS_OK, o->matrix);
  if (status < 0) {
    if (!failed) message("%s: %s", o->matrix, ts_last_error(context));
    ranks_agreed();
    return -1;
  }
  int shared[3] = {system->components, system->dimensions, system->near_null_vectors};
  if (ts_ranks_broadcast(context, 0, shared, sizeof shared) < 0) {
    message("%s: %s", o->matrix, ts_last_error(context));
    return -1;
  }
  system->components = shared[0];
  system->dimensions = shared[1];
  system->near_null_vectors = shared[2];
  return 0;
}

int cmd_solve(int argc, char **argv) {
  solve_options options;
  ranks_begin();
  solve_parse(argc, argv, &options);
  message_set_quiet(options.quiet);
  progress_enable(!options.quiet);

  output_file solution = {0}, history = {0};
  solve_system system = {0};
  device_objects device = {0};
  solve_outcome outcome = {0};
  double *x = NULL;
  int result = EXIT_ERROR;
  const char *const inputs[] = {options.matrix, options.b, options.x0, options.near_null, options.coordinates};
  if (output_is_input(options.output, inputs, 5) || output_is_input(options.history, inputs, 5)) goto end;
  const int writes = ranks_is_root();
  if (writes && options.output && output_open(&solution, options.output)) goto end;
  if (writes && options.history && output_open(&history, options.history)) goto end;
  if (history.stream) fputs("iteration,sqrt_delta_ratio\n", history.stream);

  const ts_gl_desc gl = {.rectangle_width = options.rectangle_width,
                         .rectangle_height = options.rectangle_height};
  const ts_context_desc desc = {
      .backend = options.backend, .threads = options.threads, .partition = options.partition, .gl = &gl};
  result = backend_open(&desc, options.verbosity, &device.context);
  if (result) goto end;
  result = EXIT_ERROR;
  const double start = seconds_now();
  if (read_system(&options, device.context, &system)) goto end;
  outcome.seconds_read = seconds_now() - start;
  if (solve(&options, &system, &device, &history, &outcome, &x)) goto end;
  if (!ranks_is_root()) {
    result = EXIT_CONVERGED;
    goto end;
  }
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
  ranks_end(result == EXIT_ERROR);
  return interrupt_finish(result);
}
