/* The report of `texsolve poisson`: a line per cycle and a summary, or one JSON object. */
#include <math.h>
#include <stdio.h>

#include "poisson.h"
#include "progress.h"
#include "reports.h"

static int is_text(const poisson_options *o) {
  return !o->json && !o->quiet;
}

const char *poisson_how_it_ended(const poisson_outcome *outcome) {
  return outcome->status == TS_OK               ? "converged"
         : outcome->reason == TS_REASON_STOPPED ? "stopped"
                                                : "not converged";
}

static const char *centring_name(const poisson_options *o) {
  return o->centring == TS_CENTRING_CELL ? "cell" : "vertex";
}

static void print_method(const poisson_options *o, const ts_multigrid_info *m) {
  printf("method      %s%s(%d,%d), %s smoother, %s interpolation%s%s; relative residual to %.3g\n",
         o->cg ? "cg with " : "", ts_cycle_name(m->cycle), m->pre, m->post, ts_smoother_name(m->smoother),
         ts_interpolation_name(m->interpolation), o->multigrid.symmetric && !o->cg ? ", symmetric" : "",
         o->multigrid.full ? ", full multigrid first" : "", o->rtol);
}

void poisson_report_start(const poisson_options *o, const poisson_problem *problem,
                          const poisson_outcome *outcome) {
  const ts_multigrid_info *m = &outcome->multigrid;
  if (!is_text(o)) return;
  printf("problem     %s, %dx%d %s-centred, h %.6g, sigma %.6g\n",
         o->rhs ? "right-hand side of a file" : poisson_problem_names[o->problem], o->width, o->height,
         centring_name(o), problem->desc.spacing, o->sigma);
  printf("boundaries  left %s, right %s, bottom %s, top %s\n", ts_boundary_name(o->left),
         ts_boundary_name(o->right), ts_boundary_name(o->bottom), ts_boundary_name(o->top));
  printf("backend     %s: %s\n", outcome->context.backend, outcome->context.device);
  if (o->verbosity)
    printf("storage     %s: %d level%s down to %dx%d, %.2f MB on the device\n",
           ts_grid_storage_name(m->storage), m->levels, m->levels == 1 ? "" : "s", m->coarsest_width,
           m->coarsest_height, 1e-6 * (double)m->bytes_device);
  print_method(o, m);
  if (m->null_space_components)
    printf("singular    %d part%s of the grid, where u is known up to a constant: its mean is 0 there\n",
           m->null_space_components, m->null_space_components == 1 ? "" : "s");
  if (m->grounded_points)
    printf("grounded    %d points, one in each further null-space component\n", m->grounded_points);
  printf("\n%5s  %-12s %s\n", o->cg ? "iter" : "cycle", o->cg ? "sqrt(delta)" : "residual", "factor");
  fflush(stdout);
}

void poisson_report_cycle(const poisson_options *o, const poisson_outcome *outcome, int cycle) {
  if (!is_text(o)) return;
  progress_clear();
  const int last = outcome->history_count - 1;
  printf("%5d  %-12.4e", cycle, outcome->history[last]);
  if (last > 0 && outcome->history[last - 1] > 0)
    printf(" %.3f", outcome->history[last] / outcome->history[last - 1]);
  putchar('\n');
  fflush(stdout);
}

void poisson_report_text(const poisson_options *o, const poisson_problem *problem,
                         const poisson_outcome *outcome) {
  const double h = problem->desc.spacing;
  const char *unit = o->cg ? "iterations" : "cycles";
  printf("\nresult      %s after %d %s", poisson_how_it_ended(outcome), outcome->cycles, unit);
  if (o->verbosity)
    printf("%s, %d host synchronisations", report_precisions(outcome->precision_iterations),
           outcome->host_synchronisations);
  printf("\nresidual    %.3e = ||b - A x|| / ||b|| of x as it is written, target %.3g",
         outcome->rounded_residual, o->rtol);
  if (o->verbosity) printf("; %.3e on the device", outcome->solver_residual);
  putchar('\n');
  if (isfinite(outcome->factor)) printf("factor      %.3f, mean of the last %s\n", outcome->factor, unit);
  if (outcome->incompatible > 1e-7)
    printf("right side  %.3e of it was removed: no u reaches it in a null-space component\n",
           outcome->incompatible);
  if (isfinite(outcome->error_max))
    printf("error       %.3e largest, %.3e root mean square; %.3f h^2 and %.3f h^2\n", outcome->error_max,
           outcome->error_rms, outcome->error_max / (h * h), outcome->error_rms / (h * h));
  printf("seconds     problem %.3f, set-up %.3f, solve %.3f\n", outcome->seconds_make, outcome->seconds_setup,
         outcome->seconds_solve);
  report_opengl(&outcome->context);
}

/* ---- JSON ---- */

static json_t *boundaries_object(const poisson_options *o) {
  return json_pack("[ssss]", ts_boundary_name(o->left), ts_boundary_name(o->right), ts_boundary_name(o->bottom),
                   ts_boundary_name(o->top));
}

static json_t *history_array(const poisson_outcome *outcome) {
  json_t *const array = json_array();
  for (int k = 0; k < outcome->history_count; k++)
    json_array_append_new(array, report_number(outcome->history[k]));
  return array;
}

int poisson_report_json(const poisson_options *o, const poisson_problem *problem,
                        const poisson_outcome *outcome) {
  const ts_multigrid_info *m = &outcome->multigrid;
  json_t *const object = json_object();
  json_t *const seconds = json_object();
  int lost = 0;
#define PUT(where, key, value) lost |= json_object_set_new(where, key, value)
  PUT(object, "backend", json_string(outcome->context.backend));
  PUT(object, "device", json_string(outcome->context.device));
  PUT(object, "problem", json_string(o->rhs ? "file" : poisson_problem_names[o->problem]));
  PUT(object, "width", json_integer(o->width));
  PUT(object, "height", json_integer(o->height));
  PUT(object, "centring", json_string(centring_name(o)));
  PUT(object, "boundaries", boundaries_object(o));
  PUT(object, "spacing", report_number(problem->desc.spacing));
  PUT(object, "sigma", report_number(o->sigma));
  PUT(object, "method", json_string(o->cg ? "cg" : "multigrid"));
  PUT(object, "smoother", json_string(ts_smoother_name(m->smoother)));
  PUT(object, "storage", json_string(ts_grid_storage_name(m->storage)));
  PUT(object, "interpolation", json_string(ts_interpolation_name(m->interpolation)));
  PUT(object, "cycle", json_string(ts_cycle_name(m->cycle)));
  PUT(object, "pre", json_integer(m->pre));
  PUT(object, "post", json_integer(m->post));
  PUT(object, "full", json_boolean(o->multigrid.full));
  PUT(object, "levels", json_integer(m->levels));
  PUT(object, "null_space_components", json_integer(m->null_space_components));
  PUT(object, "grounded_points", json_integer(m->grounded_points));
  PUT(object, "bytes_device", json_integer((json_int_t)m->bytes_device));
  PUT(object, "cycles", json_integer(outcome->cycles));
  PUT(object, "precision", json_string(ts_precision_name(outcome->precision)));
  PUT(object, "precision_iterations", report_precisions_object(outcome->precision_iterations));
  PUT(object, "host_synchronisations", json_integer(outcome->host_synchronisations));
  PUT(object, "converged", json_boolean(outcome->status == TS_OK));
  PUT(object, "reason", json_string(ts_reason_text(outcome->reason)));
  PUT(object, "message", json_string(outcome->message[0] ? outcome->message : ts_reason_text(outcome->reason)));
  PUT(object, "relative_residual", report_number(outcome->solver_residual));
  PUT(object, "rounded_relative_residual", report_number(outcome->rounded_residual));
  PUT(object, "factor", report_number(outcome->factor));
  PUT(object, "history", history_array(outcome));
  PUT(object, "incompatible", report_number(outcome->incompatible));
  PUT(object, "error_max", report_number(outcome->error_max));
  PUT(object, "error_rms", report_number(outcome->error_rms));
  PUT(seconds, "problem", report_number(outcome->seconds_make));
  PUT(seconds, "setup", report_number(outcome->seconds_setup));
  PUT(seconds, "solve", report_number(outcome->seconds_solve));
  PUT(object, "seconds", seconds);
#undef PUT
  return report_print(object, lost);
}
