/* `texsolve solve`: solves a system from files on a device, and writes the solution to a file. */
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

/* ---- Progress reports of the library ---- */

typedef struct watcher {
  const solve_options *options;
  FILE *history;             /* NULL: not requested */
  int first, width, columns; /* first column of a group, width of a group, number of columns */
  int is_least_squares;
  double start; /* first residual reported for the group; 0: none yet */
} watcher;

static void show_progress(watcher *w, const ts_progress *progress) {
  const solve_options *o = w->options;
  const int is_delta = isnan(progress->relative_residual);
  const double now = is_delta ? progress->history[progress->count - 1] : progress->relative_residual;
  const char *const what = is_delta ? "sqrt(delta / delta_0)" : w->is_least_squares ? "gradient" : "residual";
  if (w->start == 0) w->start = now;
  const double part = progress_of_residual(w->start, now, o->rtol);
  const int groups = (w->columns - 1) / w->width + 1, group = w->first / w->width;
  if (groups > 1)
    progress_step((group + fmax(part, 0)) / groups, "group %d of %d, iteration %d, %s %.1e", group + 1, groups,
                  progress->iteration, what, now);
  else
    progress_step(part, "iteration %d, %s %.1e, target %.0e", progress->iteration, what, now, o->rtol);
}

static int after_check(const ts_progress *progress, void *user) {
  watcher *w = user;
  if (progress->count > 0) show_progress(w, progress);
  for (int k = 0; k < progress->count && w->history; k++) {
    fprintf(w->history, "%d,%.9g", progress->iteration - progress->count + 1 + k, progress->history[k]);
    if (w->width < w->columns) fprintf(w->history, ",%d", w->first + 1);
    fputc('\n', w->history);
  }
  return interrupt_is_asked();
}

/* ---- On the device ---- */

typedef struct device_objects {
  ts_context *context;
  ts_matrix *A;
  ts_preconditioner *M; /* NULL: jacobi or none */
  ts_solver *solver;
  ts_vector *b, *x;
  double *part;   /* a group of columns, to or from the device */
  int32_t *order; /* order of the unknowns on the device; NULL: the file's */
  rank_rows rows; /* when ranks have runs of rows */
} device_objects;

static int device_failed(const device_objects *d, ts_status status, const char *what) {
  const char *text = ts_last_error(d->context);
  message("%s: %s", what, *text ? text : ts_status_text(status));
  ranks_agreed();
  return -1;
}

/* Reorders the matrix as the options request. The arrays of `csr` become those of `other`. */
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
  const double *values = other->values;
  *csr = ts_host_csr(csr->rows, csr->columns, other->row_offsets, other->column_indices, values);
  ts_csr_bandwidth(NULL, csr, &outcome->bandwidth);
  return 0;
}

/* Converts row numbers of the device to those of the file. */
static void name_rows_of_the_file(const device_objects *d, ts_matrix_info *info) {
  int32_t *const rows[] = {&info->unsymmetric_row, &info->unsymmetric_column, &info->zero_diagonal_row};
  for (int i = 0; i < 3; i++)
    if (d->order && *rows[i] >= 0) *rows[i] = d->order[*rows[i]];
}

/* Whether ranks have whole nodes in the file's order, because AMG uses data per node. */
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

/* Sets the sizes of the whole matrix, as rank 0 read it. */
static ts_status count_all_ranks(const ts_matrix *A, ts_matrix_info *info) {
  ts_ranks_matrix_info all;
  const ts_status status = ts_ranks_matrix_get_info(A, &all);
  if (status < 0) return status;
  info->rows = info->columns = (int32_t)all.rows;
  info->nonzeros = all.nonzeros;
  return status;
}

/* Vectors have at most 4 components. */
static int group_width(const solve_system *system) {
  return system->columns < 4 ? system->columns : 4;
}

static int upload_matrix(const solve_options *o, const solve_system *system, device_objects *d,
                         solve_outcome *outcome) {
  const mm_csr *A = &system->A;
  ts_matrix_desc desc = {.csr = ts_host_csr(A->rows, A->columns, A->row_offsets, A->column_indices, A->values),
                         .format = o->format,
                         .precision =
                             o->precision == TS_PRECISION_SINGLE ? TS_PRECISION_SINGLE : TS_PRECISION_AUTO,
                         .keep_host_copy = solve_host_copy(o),
                         .components = group_width(system)};
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

/* Distributes data that rank 0 read: coordinates, one number per row because a node has one row per coordinate,
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
  const int64_t *first = d->rows.first + d->rows.rank;
  const ts_array numbers = ts_host(mine, (size_t)(first[1] - first[0]) * (size_t)per_row);
  amg->coordinates = system->dimensions ? numbers : (ts_array){0};
  amg->near_null = system->near_null_vectors ? numbers : (ts_array){0};
  return status < 0 ? device_failed(d, status, o->coordinates ? o->coordinates : o->near_null) : 0;
}

/* Copies the near-null space to `ordered` in the device's order. Coordinates stay in the file's order. */
static int describe_amg(const solve_options *o, const solve_system *system, const device_objects *d,
                        double **ordered, ts_amg_desc *amg) {
  *amg = o->amg;
  const size_t rows = (size_t)system->A.rows, count = rows * (size_t)system->near_null_vectors;
  amg->coordinates = ts_host(system->coordinates, rows);
  amg->dimensions = system->dimensions;
  amg->near_null = ts_host(system->near_null, count);
  amg->near_null_vectors = system->near_null_vectors;
  if (!system->near_null || !d->order) return 0;
  *ordered = malloc(count * sizeof **ordered);
  if (!*ordered) {
    message("out of memory for a near-null space of %zu numbers", count);
    return -1;
  }
  const size_t vectors = (size_t)system->near_null_vectors;
  for (size_t i = 0; i < count; i++)
    (*ordered)[i] = system->near_null[(size_t)d->order[i / vectors] * vectors + i % vectors];
  amg->near_null = ts_host(*ordered, count);
  return 0;
}

/* The text after the number in "row 17 is ...". */
static const char *after_row(const char *text) {
  const char *number = strchr(text, ' ');
  const char *rest = number ? strchr(number + 1, ' ') : NULL;
  return rest ? rest : "";
}

/* Converts the library's row number, from 0 and in the device's order, to the file's. */
static int preconditioner_failed(const solve_options *o, const device_objects *d, ts_status status) {
  const int64_t row = ts_last_error_row(d->context);
  if (row < 0) return device_failed(d, status, o->matrix);
  const long long line = (d->order ? d->order[row] : row) + 1;
  if (o->preconditioner == TS_PRECONDITIONER_DIRECT)
    message("%s: row %lld%s", o->matrix, line, after_row(ts_last_error(d->context)));
  else
    message(
        "%s: the block of row %lld is singular; block Jacobi must invert it (hint: try --preconditioner none)",
        o->matrix, line);
  ranks_agreed();
  return -1;
}

static int make_preconditioner(const solve_options *o, const solve_system *system, device_objects *d,
                               solve_outcome *outcome) {
  const ts_matrix_info *info = &outcome->matrix;
  outcome->preconditioner = o->preconditioner;
  if (solve_is_least_squares(outcome->method)) solve_choose_of_least_squares(o, system, outcome);
  if (!solve_has_setup(o) || solve_is_least_squares(outcome->method) || solve_is_open(o, outcome)) return 0;
  if (o->preconditioner == TS_PRECONDITIONER_AUTO && outcome->method == TS_METHOD_CG && !info->symmetric) {
    outcome->preconditioner = info->zero_diagonal_row < 0 ? TS_PRECONDITIONER_JACOBI : TS_PRECONDITIONER_NONE;
    return 0;
  }
  if (o->preconditioner == TS_PRECONDITIONER_AMG && !info->symmetric && d->rows.first) {
    message(
        "%s: entry %d %d differs from its mirror, expected a symmetric matrix for --preconditioner amg over "
        "several ranks",
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

/* ---- Groups of columns ---- */

/* Uses single precision if the device has nothing else. */
static ts_status create_vector(const solve_options *o, const device_objects *d, int components, ts_vector **v) {
  ts_space *space = v == &d->x ? ts_matrix_get_column_space(d->A) : ts_matrix_get_row_space(d->A);
  ts_vector_desc desc = {.components = components, .precision = TS_PRECISION_SINGLE};
  ts_vector_destroy(v);
  if (o->precision != TS_PRECISION_SINGLE) desc.precision = TS_PRECISION_DOUBLE;
  const ts_status status = ts_vector_create(space, &desc, v);
  if (status != TS_ERROR_UNSUPPORTED || o->precision != TS_PRECISION_AUTO) return status;
  desc.precision = TS_PRECISION_SINGLE;
  return ts_vector_create(space, &desc, v);
}

static int create_vectors(const solve_options *o, device_objects *d, int components) {
  ts_status status = create_vector(o, d, components, &d->b);
  if (status >= 0) status = create_vector(o, d, components, &d->x);
  return status < 0 ? device_failed(d, status, o->matrix) : 0;
}

/* Creates vectors for groups as wide as the device and the format allow, and host memory for one group. */
static int prepare_groups(const solve_options *o, const solve_system *system, device_objects *d,
                          solve_outcome *outcome) {
  outcome->width = group_width(system);
  /* With blocked formats OpenGL supports one component only. */
  if (create_vector(o, d, outcome->width, &d->b) == TS_ERROR_UNSUPPORTED) outcome->width = 1;
  if (create_vectors(o, d, outcome->width)) return -1;
  if (!ranks_is_root()) return 0;
  const mm_csr *A = &system->A;
  const size_t count = (size_t)(A->rows > A->columns ? A->rows : A->columns) * (size_t)outcome->width;
  d->part = malloc((count + 1) * sizeof *d->part);
  outcome->columns = calloc((size_t)system->columns, sizeof *outcome->columns);
  if (d->part && outcome->columns) return 0;
  message("out of memory for %zu numbers", count);
  return -1;
}

/* The place in a file, with columns of this length, of a row on the device. */
static size_t place_in_file(const device_objects *d, int32_t length, int column, int32_t row) {
  return (size_t)column * (size_t)length + (size_t)(d->order ? d->order[row] : row);
}

/* The host array of a group. Like system->A it is empty except on rank 0. */
static ts_array part_of(const device_objects *d, int32_t length, int width) {
  return d->part ? ts_host(d->part, (size_t)length * (size_t)width) : (ts_array){0};
}

/* Writes columns first to end - 1 of `values`. */
static int write_group(const solve_system *system, const device_objects *d, const char *what,
                       const double *values, int first, int end, ts_vector *v) {
  const int32_t length = v == d->x ? system->A.columns : system->A.rows;
  double *number = d->part;
  for (int32_t row = 0; row < length; row++)
    for (int c = first; c < end; c++) *number++ = values[place_in_file(d, length, c, row)];
  const ts_array part = part_of(d, length, end - first);
  const ts_status status = ranks_are_several() ? ts_ranks_vector_from(v, 0, part) : ts_vector_write(v, part);
  return status < 0 ? device_failed(d, status, what) : 0;
}

/* Reads the device's x in the file's order and range. */
static int read_group(const solve_options *o, const solve_system *system, const device_objects *d, int first,
                      int end, solve_outcome *group, double *x) {
  const int32_t length = system->A.columns;
  const double *number = d->part;
  const ts_array part = part_of(d, length, end - first);
  const ts_status status = ranks_are_several() ? ts_ranks_vector_to(d->x, 0, part) : ts_vector_read(d->x, part);
  if (status < 0) return device_failed(d, status, o->matrix);
  for (int32_t row = 0; row < length; row++)
    for (int c = first; c < end; c++, number++) {
      const double value = ldexp(*number, system->exponents[c].x);
      x[place_in_file(d, length, c, row)] = value;
      if (isfinite(*number) && isinf(value)) group->out_of_range = 1;
      if (*number != 0 && fabs(value) < DBL_MIN && !group->out_of_range) group->out_of_range = -1;
    }
  return 0;
}

/* Solves columns first to end - 1 into x, and stores the results in `group`. */
static int solve_group(const solve_options *o, const solve_system *system, device_objects *d, int first,
                       int end, solve_outcome *group, double *x) {
  double start = seconds_now();
  if (end - first < ts_vector_get_components(d->x) && create_vectors(o, d, end - first)) return -1;
  if (write_group(system, d, o->b ? o->b : "right-hand side", system->b, first, end, d->b)) return -1;
  if (o->x0 && write_group(system, d, o->x0, system->x0, first, end, d->x)) return -1;
  /* Otherwise the solve time would include the wait for the upload. */
  ts_status status = ts_context_finish(d->context);
  group->seconds_upload = seconds_now() - start;
  start = seconds_now();
  if (status >= 0) status = ts_solver_solve(d->solver, d->b, d->x, &group->result);
  if (status < 0) return device_failed(d, status, o->matrix);
  group->status = status;
  if (read_group(o, system, d, first, end, group, x)) return -1;
  group->seconds_solve = seconds_now() - start;
  return 0;
}

/* The start, which remains in columns that are not started. */
static double *create_solution(const solve_system *system) {
  const size_t length = (size_t)system->A.columns, count = length * (size_t)system->columns;
  double *x = calloc(count + 1, sizeof *x);
  if (!x) message("out of memory for a solution of %zu numbers", count);
  for (size_t i = 0; i < count && x && system->x0; i++)
    x[i] = ldexp(system->x0[i], system->exponents[i / length].x);
  return x;
}

/* `x`: NULL except on rank 0, which decides. */
static int solve_groups(const solve_options *o, const solve_system *system, device_objects *d, watcher *w,
                        solve_outcome *outcome, double *x) {
  int end = 0, stopped = 0;
  for (int first = 0; first < w->columns && !stopped; first = end) {
    solve_outcome group = *outcome;
    end = w->columns - first < w->width ? w->columns : first + w->width;
    w->first = first;
    w->start = 0;
    if (solve_group(o, system, d, first, end, &group, x)) return -1;
    outcome->seconds_upload += group.seconds_upload;
    outcome->seconds_solve += group.seconds_solve;
    if (!x) continue;
    if (w->width == w->columns) progress_begin("computing the residual");
    solve_add_group(o, system, x, first, end, &group, outcome);
    stopped = group.result.reason == TS_REASON_STOPPED;
  }
  if (x && end < w->columns) solve_add_remaining(o, system, x, end, outcome);
  return 0;
}

/* ---- The command ---- */

/* Includes the preconditioner if the library chooses it. */
static int create_solver(const solve_options *o, device_objects *d, watcher *w, solve_outcome *outcome) {
  const double start = seconds_now();
  ts_status status = solve_create_solver(o, d->M, d->A, after_check, w, outcome, &d->solver);
  const int is_open = solve_is_open(o, outcome);
  if (status >= 0 && is_open)
    status = solve_record_preconditioner(ts_solver_get_preconditioner(d->solver), outcome);
  if (status < 0) return device_failed(d, status, o->matrix);
  *(is_open ? &outcome->seconds_setup : &outcome->seconds_solve) = seconds_now() - start;
  if (o->verbosity)
    message_note("solving by %s, preconditioner %s", ts_method_name(outcome->method),
                 ts_preconditioner_kind_name(outcome->preconditioner));
  return 0;
}

/* Solves into a new array. */
static int solve(const solve_options *o, const solve_system *system, device_objects *d, output_file *history,
                 solve_outcome *outcome, double **x) {
  if (upload_matrix(o, system, d, outcome) || prepare_groups(o, system, d, outcome)) return -1;
  outcome->method = solve_choose(o, &outcome->matrix);
  if (outcome->method != TS_METHOD_CG && o->stop == TS_STOP_DELTA) {
    message("%s: --stop delta is a rule of cg, and the method is %s%s", o->matrix,
            ts_method_name(outcome->method),
            o->method != TS_METHOD_AUTO ? ""
            : outcome->matrix.symmetric ? ", since the matrix is not positive definite"
                                        : ", since the matrix is not symmetric");
    return -1;
  }
  if (make_preconditioner(o, system, d, outcome)) return -1;
  if (ranks_is_root()) {
    *x = create_solution(system);
    if (!*x) return -1;
  }
  watcher w = {.options = o,
               .history = history->stream,
               .width = outcome->width,
               .columns = system->columns,
               .is_least_squares = solve_is_least_squares(outcome->method)};
  if (w.history)
    fprintf(w.history, "iteration,sqrt_delta_ratio%s\n", w.width < w.columns ? ",first_column" : "");
  if (!ranks_are_several()) interrupt_begin(); /* one rank cannot stop the others */
  progress_begin("solving");
  if (create_solver(o, d, &w, outcome)) return -1;
  if (solve_groups(o, system, d, &w, outcome, *x)) return -1;
  if (!*x) return 0;
  solve_record_stages(d->solver, outcome);
  const ts_status status = ts_context_get_info(d->context, &outcome->context);
  if (status < 0) return device_failed(d, status, o->matrix);
  progress_clear();
  return 0;
}

static void cmd_solve_destroy(device_objects *d) {
  ts_solver_destroy(&d->solver);
  ts_vector_destroy(&d->x);
  ts_vector_destroy(&d->b);
  ts_preconditioner_destroy(&d->M);
  ts_matrix_destroy(&d->A);
  ts_context_destroy(&d->context);
  free(d->part);
  free(d->order);
  rank_rows_free(&d->rows);
}

/* ---- Outputs ---- */

static int write_outputs(const solve_options *o, const solve_system *system, const solve_outcome *outcome,
                         const double *x, output_file *solution, output_file *history) {
  const int32_t length = system->A.columns;
  const size_t count = (size_t)length * (size_t)system->columns;
  if (solution->stream && output_is_finite(o->output, x, count)) {
    char comment[300];
    snprintf(comment, sizeof comment, "texsolve %s, backend %s: %s, %s %s", ts_version(),
             outcome->context.backend, solve_how_it_ended(outcome),
             solve_is_least_squares(outcome->method) ? "||A^T r|| / ||A^T b|| =" : "relative residual",
             solve_residual_text(outcome->accuracy.residual, o->rtol));
    progress_begin("writing %.50s", o->output);
    mm_write_dense(solution->stream, comment, length, system->columns, 1, x);
    if (output_commit(solution)) return -1;
  }
  if (history->stream && output_commit(history)) return -1;
  progress_clear();
  if (o->json) return solve_report_json(o, system, outcome);
  if (!o->quiet) solve_report_text(o, system, outcome);
  return message_flush_stdout();
}

/* The library counts rows from 0, a Matrix Market file from 1. */
static void say_not_converged(const solve_options *o, const solve_system *system,
                              const solve_outcome *outcome) {
  const ts_result *r = &outcome->result;
  char which[300] = "";
  if (outcome->unsolved > 1)
    snprintf(which, sizeof which, "%s of %d, the worst is %d: ", solve_unsolved(system, outcome),
             system->columns, outcome->worst + 1);
  else if (system->columns > 1 && outcome->unsolved)
    snprintf(which, sizeof which, "%s of %d: ", solve_unsolved(system, outcome), system->columns);
  if (r->reason == TS_REASON_NOT_SYMMETRIC && outcome->matrix.unsymmetric_row >= 0)
    message("%s: not converged: %s%s: entry %d %d differs from its mirror (hint: try --solver bicgstab, idr or "
            "gmres)",
            o->matrix, which, ts_reason_text(r->reason), outcome->matrix.unsymmetric_row + 1,
            outcome->matrix.unsymmetric_column + 1);
  else if (r->reason == TS_REASON_STOPPED && outcome->width < system->columns)
    message("%s: %s in the group of column %d; not solved: %s of %d", o->matrix, outcome->message,
            outcome->first + 1, solve_unsolved(system, outcome), system->columns);
  else if (r->reason == TS_REASON_STOPPED)
    message("%s: %s", o->matrix, outcome->message);
  else
    message("%s: not converged: %s%s", o->matrix, which, outcome->message);
}

/* One of several processes reads. It sends the others the facts that the options do not determine. */
static int read_system(const solve_options *o, ts_context *context, solve_system *system) {
  if (!ranks_are_several()) return solve_read(o, system);
  const int failed = ranks_is_root() && solve_read(o, system);
  const ts_status status = ts_ranks_agree(context, failed ? TS_ERROR_INVALID_ARGUMENT : TS_OK, o->matrix);
  if (status < 0) {
    if (!failed) message("%s: %s", o->matrix, ts_last_error(context));
    ranks_agreed();
    return -1;
  }
  int shared[3] = {system->columns, system->dimensions, system->near_null_vectors};
  if (ts_ranks_broadcast(context, 0, shared, sizeof shared) < 0) {
    message("%s: %s", o->matrix, ts_last_error(context));
    return -1;
  }
  system->columns = shared[0];
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
  if (solve_is_done(&outcome) && outcome.status != TS_OK)
    message_note("%s: solved to a relative residual of %s, the limit of doubles; the target %.3g is below it",
                 options.matrix, solve_residual_text(outcome.accuracy.residual, options.rtol), options.rtol);
  if (!solve_is_done(&outcome)) {
    say_not_converged(&options, &system, &outcome);
    result = EXIT_NOT_CONVERGED;
  }
end:
  progress_clear();
  cmd_solve_destroy(&device);
  solve_free(&system);
  free(outcome.columns);
  free(x);
  output_discard(&solution);
  output_discard(&history);
  ranks_end(result == EXIT_ERROR);
  return interrupt_finish(result);
}
