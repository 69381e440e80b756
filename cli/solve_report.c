/* The report of `texsolve solve`: a few lines, or one JSON object. */
#include "solve.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "ranks.h"
#include "reports.h"

/* "max_iterations" for TS_REASON_MAX_ITERATIONS. */
static const char *reason_name(ts_reason reason) {
  static char name[40];
  const char *constant = "TS_REASON_UNKNOWN";
  switch (reason) {
#define REASON_CASE(symbol, value, text)                                                                       \
  case symbol:                                                                                                 \
    constant = #symbol;                                                                                        \
    break;
    TS_REASON_LIST(REASON_CASE)
#undef REASON_CASE
  }
  snprintf(name, sizeof name, "%s", constant + strlen("TS_REASON_"));
  for (char *c = name; *c; c++) *c = (char)tolower((unsigned char)*c);
  return name;
}

static void print_hierarchy(const solve_hierarchy *h) {
  printf("hierarchy   level       rows      entries   a row  eigenvalue\n");
  for (int l = 0; l < h->info.levels; l++) {
    const ts_amg_level_info *level = &h->levels[l];
    printf("            %5d %10d %12lld %7.1f ", l, level->rows, (long long)level->entries,
           (double)level->entries / level->rows);
    if (level->eigenvalue > 0)
      printf("%11.3f\n", level->eigenvalue);
    else
      printf("%11s\n", "-"); /* solved exactly */
  }
  if (h->info.stalled)
    printf(
        "stalled     at level %d: few of its rows are strongly coupled (hint: try a smaller --amg-strength)\n",
        h->info.levels - 1);
  printf("complexity  operator %.3f, grid %.3f, %.2f MB on the device below the matrix\n",
         h->info.operator_complexity, h->info.grid_complexity, 1e-6 * (double)h->info.bytes_device);
}

/* Printed with -v: how the matrix is stored, and why. */
static void print_storage(const solve_outcome *o) {
  printf("format      %s: ", ts_format_name(o->matrix.format));
  if (o->matrix.blocks) printf("%d blocks, %.1f %% full, ", o->matrix.blocks, 100 * o->matrix.fill_ratio);
  printf("%lld stored entries, %.2f MB on the device%s\n", (long long)o->matrix.stored_entries,
         1e-6 * (double)o->matrix.bytes_device, ranks_are_several() ? " of rank 0" : "");
  if (!strstr(o->matrix.choice, ": asked for")) printf("choice      %s\n", o->matrix.choice);
}

static void print_method(const solve_options *options, const solve_outcome *o) {
  printf("method      %s", ts_method_name(o->method));
  if (o->method == TS_METHOD_GMRES) printf("(%d)", o->result.restart);
  if (o->method == TS_METHOD_MINRES && options->method == TS_METHOD_AUTO && o->stages <= 1)
    printf(" since the diagonal is not positive");
  const int is_auto = options->method == TS_METHOD_AUTO, is_square = o->matrix.rows == o->matrix.columns;
  if (is_auto && !is_square) printf(" since the matrix is %d x %d", o->matrix.rows, o->matrix.columns);
  if (is_auto && is_square && !o->matrix.symmetric && !o->factors && o->stages <= 1)
    printf(" since the matrix is not symmetric (entry %d %d)", o->matrix.unsymmetric_row + 1,
           o->matrix.unsymmetric_column + 1);
  printf(", preconditioner %s\n", ts_preconditioner_kind_name(o->preconditioner));
  if (o->factors)
    printf("factors     %s: %lld entries in %.3f s, %.1f times those of the matrix\n", o->factors,
           (long long)o->factor_entries, o->seconds_setup,
           (double)o->factor_entries / (double)o->matrix.nonzeros);
  if (!options->verbosity) return;
  if (o->preconditioner_choice[0]) printf("chosen      %s\n", o->preconditioner_choice);
  if (o->preconditioner == TS_PRECONDITIONER_AMG) print_hierarchy(&o->hierarchy);
}

const char *solve_unsolved(const solve_system *system, const solve_outcome *o) {
  static char text[200];
  size_t used = (size_t)snprintf(text, sizeof text, "column%s", o->unsolved == 1 ? "" : "s");
  for (int c = 0, end, shown = 0; c < system->columns; c = end) {
    end = c + 1;
    if (o->columns[c].is_solved) continue;
    while (end < system->columns && !o->columns[end].is_solved) end++;
    if (used + 60 > sizeof text) {
      snprintf(text + used, sizeof text - used, ", ...");
      break;
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "%s %d", shown++ ? "," : "", c + 1);
    if (end > c + 1)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s %d", end > c + 2 ? " to" : ",", end);
  }
  return text;
}

/* Methods that auto tried before the last one. */
static void print_stages(const solve_outcome *o) {
  for (int i = 0; i + 1 < o->stages; i++) {
    const solve_stage *stage = &o->stage[i];
    printf("%-11s %s, preconditioner %s: %d iterations to %.2g; %s\n", i ? "" : "tried",
           ts_method_name(stage->method), ts_preconditioner_kind_name(stage->preconditioner), stage->iterations,
           stage->relative_residual, stage->message);
  }
}

static void print_groups(const solve_system *system, const solve_outcome *o) {
  if (o->width < system->columns)
    printf("groups      %d of %s, at most %d iterations in one\n", (system->columns - 1) / o->width + 1,
           o->width > 1 ? "up to 4 columns" : "1 column", o->most_iterations);
  if (system->columns > 1 && o->unsolved)
    printf("unsolved    %s: %d of %d\n", solve_unsolved(system, o), o->unsolved, system->columns);
}

/* The column of the residual in a line, and the requested tolerance. */
static void print_target(const solve_options *options, const solve_system *system, const solve_outcome *o) {
  if (system->columns > 1) printf(" of column %d, the largest", o->worst + 1);
  if (options->stop == TS_STOP_DELTA)
    printf("; target sqrt(delta / delta_0) = %.9g", options->rtol);
  else
    printf(", target %.9g", options->rtol);
  if (options->verbosity) printf("; computed from the file's numbers on the host");
  putchar('\n');
}

/* For least squares: the criterion, and the maximum residual of all columns. */
static void print_left(const solve_options *options, const solve_system *system, const solve_outcome *o) {
  printf("gradient    %s = ||A^T (b - A x)|| / ||A^T b||",
         solve_residual_text(o->accuracy.residual, options->rtol));
  print_target(options, system, o);
  printf("left of b   %.3e = ||b - A x|| / ||b||", o->accuracy.left);
  if (system->columns > 1) printf(", the largest of %d columns", system->columns);
  putchar('\n');
}

static void print_result(const solve_options *options, const solve_system *system, const solve_outcome *o) {
  const ts_result *r = &o->result;
  printf("result      %s after ", solve_how_it_ended(o));
  report_plural(r->iterations, "iteration", "iterations");
  if (options->verbosity)
    printf("%s, %d host synchronisations", report_precisions(r->precision_iterations),
           r->host_synchronisations);
  putchar('\n');
  print_groups(system, o);
  if (system->is_least_squares) {
    print_left(options, system, o);
    return;
  }
  printf("residual    %s = ||b - A x|| / ||b||", solve_residual_text(o->accuracy.residual, options->rtol));
  print_target(options, system, o);
}

void solve_report_text(const solve_options *options, const solve_system *system, const solve_outcome *o) {
  printf("matrix      %s: %d rows, ", message_safe(options->matrix), o->matrix.rows);
  if (o->matrix.rows != o->matrix.columns) printf("%d columns, ", o->matrix.columns);
  printf("%lld nonzeros", (long long)o->matrix.nonzeros);
  if (system->columns > 1) printf("; %d right-hand sides", system->columns);
  printf("\nbackend     %s: %s\n", o->context.backend, o->context.device);
  if (options->verbosity) print_storage(o);
  if (options->reorder)
    printf("order       %s: bandwidth %d, %.1f in the mean, instead of %d and %.1f\n",
           reorder_names[options->reorder], o->bandwidth.maximum, o->bandwidth.mean,
           o->bandwidth_before.maximum, o->bandwidth_before.mean);
  print_stages(o);
  print_method(options, o);
  print_result(options, system, o);
  printf("seconds     read %.3f, ", o->seconds_read);
  if (options->verbosity) {
    printf("layout %.3f, upload %.3f, ", o->seconds_layout, o->seconds_upload);
    if (solve_has_setup(options)) printf("set-up %.3f, ", o->seconds_setup);
  } else {
    printf("set-up %.3f, ", o->seconds_layout + o->seconds_upload + o->seconds_setup);
  }
  printf("solve %.3f\n", o->seconds_solve);
  report_opengl(&o->context);
}

static json_t *level_object(const ts_amg_level_info *level) {
  return json_pack("{s:i, s:I, s:o}", "rows", (int)level->rows, "entries", (json_int_t)level->entries,
                   "eigenvalue", report_number(level->eigenvalue));
}

/* Returns NULL if memory is exhausted. */
static json_t *hierarchy_object(const solve_hierarchy *h) {
  json_t *levels = json_array();
  int lost = 0;
  for (int l = 0; l < h->info.levels; l++) lost |= json_array_append_new(levels, level_object(&h->levels[l]));
  if (lost) {
    json_decref(levels);
    levels = NULL;
  }
  return json_pack("{s:o, s:o, s:I, s:b, s:o}", "operator_complexity",
                   report_number(h->info.operator_complexity), "grid_complexity",
                   report_number(h->info.grid_complexity), "bytes_device", (json_int_t)h->info.bytes_device,
                   "stalled", h->info.stalled, "levels", levels);
}

/* Returns NULL if memory is exhausted. */
static json_t *stages_array(const solve_outcome *o) {
  json_t *const stages = json_array();
  for (int i = 0; i < o->stages; i++) {
    const solve_stage *s = &o->stage[i];
    json_t *const stage =
        json_pack("{s:s, s:s, s:i, s:o, s:s}", "method", ts_method_name(s->method), "preconditioner",
                  ts_preconditioner_kind_name(s->preconditioner), "iterations", s->iterations,
                  "relative_residual", report_number(s->relative_residual), "message", s->message);
    if (!json_array_append_new(stages, stage)) continue;
    json_decref(stages);
    return NULL;
  }
  return stages;
}

/* Columns are counted from 1, as in a Matrix Market file. */
static int put_columns(json_t *object, const solve_system *system, const solve_outcome *o) {
  json_t *const residuals = json_array(), *const unsolved = json_array();
  int lost = 0;
  for (int c = 0; c < system->columns; c++) {
    lost |= json_array_append_new(residuals, report_number(o->columns[c].left));
    if (!o->columns[c].is_solved) lost |= json_array_append_new(unsolved, json_integer(c + 1));
  }
  lost |= json_object_set_new(object, "relative_residuals", residuals);
  lost |= json_object_set_new(object, "unsolved_columns", unsolved);
  lost |= json_object_set_new(object, "worst_column", json_integer(o->worst + 1));
  return lost;
}

int solve_report_json(const solve_options *options, const solve_system *system, const solve_outcome *o) {
  const ts_result *r = &o->result;
  json_t *const object = json_object();
  json_t *const seconds = json_object();
  int lost = 0;
#define PUT(where, key, value) lost |= json_object_set_new(where, key, value)
  PUT(object, "backend", json_string(o->context.backend));
  PUT(object, "device", json_string(o->context.device));
  PUT(object, "format", json_string(ts_format_name(o->matrix.format)));
  PUT(object, "choice", json_string(o->matrix.choice));
  PUT(object, "rows", json_integer(o->matrix.rows));
  PUT(object, "columns", json_integer(o->matrix.columns));
  PUT(object, "nonzeros", json_integer(o->matrix.nonzeros));
  PUT(object, "duplicates", json_integer(system->A.duplicates));
  PUT(object, "stored_entries", json_integer(o->matrix.stored_entries));
  PUT(object, "blocks", json_integer(o->matrix.blocks));
  PUT(object, "fill_ratio", json_real(o->matrix.fill_ratio));
  PUT(object, "bytes_device", json_integer((json_int_t)o->matrix.bytes_device));
  PUT(object, "reorder", json_string(reorder_names[options->reorder]));
  PUT(object, "bandwidth", json_integer(o->bandwidth.maximum));
  PUT(object, "bandwidth_mean", json_real(o->bandwidth.mean));
  PUT(object, "bandwidth_before", json_integer(o->bandwidth_before.maximum));
  PUT(object, "bandwidth_mean_before", json_real(o->bandwidth_before.mean));
  PUT(object, "right_hand_sides", json_integer(system->columns));
  PUT(object, "method", json_string(ts_method_name(o->method)));
  PUT(object, "preconditioner", json_string(ts_preconditioner_kind_name(o->preconditioner)));
  PUT(object, "preconditioner_choice", json_string(o->preconditioner_choice));
  PUT(object, "factors", o->factors ? json_string(o->factors) : json_null());
  PUT(object, "factor_entries", o->factors ? json_integer((json_int_t)o->factor_entries) : json_null());
  PUT(object, "stages", stages_array(o));
  PUT(object, "hierarchy",
      o->preconditioner == TS_PRECONDITIONER_AMG ? hierarchy_object(&o->hierarchy) : json_null());
  PUT(object, "iterations", json_integer(r->iterations));
  PUT(object, "iterations_of_group", json_integer(o->most_iterations));
  PUT(object, "restarts", json_integer(r->restarts));
  PUT(object, "restart", json_integer(r->restart));
  PUT(object, "host_synchronisations", json_integer(r->host_synchronisations));
  PUT(object, "precision", json_string(ts_precision_name(r->precision)));
  PUT(object, "precision_iterations", report_precisions_object(r->precision_iterations));
  PUT(object, "converged", json_boolean(o->status == TS_OK));
  PUT(object, "at_limit_of_doubles", json_boolean(o->status != TS_OK && solve_is_done(o)));
  PUT(object, "reason", json_string(reason_name(r->reason)));
  PUT(object, "message", json_string(o->message));
  PUT(object, "relative_residual", report_number(o->accuracy.left));
  PUT(object, "relative_gradient",
      system->is_least_squares ? report_number(o->accuracy.residual) : json_null());
  lost |= put_columns(object, system, o);
  PUT(object, "rounding_residual", report_number(o->accuracy.rounding));
  PUT(object, "attainable_residual", report_number(r->attainable_residual));
  PUT(seconds, "read", report_number(o->seconds_read));
  PUT(seconds, "layout", report_number(o->seconds_layout));
  PUT(seconds, "upload", report_number(o->seconds_upload));
  PUT(seconds, "setup", report_number(o->seconds_setup));
  PUT(seconds, "solve", report_number(o->seconds_solve));
  PUT(object, "seconds", seconds);
#undef PUT
  return report_print(object, lost);
}
