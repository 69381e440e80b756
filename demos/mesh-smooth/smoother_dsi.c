/* Discrete smooth interpolation for the model of mesh-smooth: a complete step, and following dragged control
 * points. */
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "smoother.h"

void smoother_dsi_forget(smoother *s) {
  dsi_destroy(&s->interpolation);
  s->live = NULL;
}

static int prepare(smoother *s, char message[MESH_MESSAGE]) {
  const smoother_options *o = &s->options;
  const dsi_options options = {.weights = o->weights,
                               .fit = o->fit,
                               .free_boundary = o->boundary == TS_MESH_BOUNDARY_FLOW,
                               .format = o->format};
  int failed = 0;
  if (!s->interpolation)
    failed = dsi_create(s->device.context, &s->start->m, &s->measures, &options, &s->interpolation, message);
  if (!failed) failed = dsi_set_options(s->interpolation, &options, message);
  return failed || dsi_set_controls(s->interpolation, &s->controls, message);
}

int smoother_set_controls(smoother *s, const dsi_controls *controls, char message[MESH_MESSAGE]) {
  if (dsi_controls_copy(controls, &s->controls, message)) return 1;
  return s->options.method == SMOOTHER_DSI && prepare(s, message);
}

/* Reads to s->host. */
static int read_solution(smoother *s, char message[MESH_MESSAGE]) {
  return dsi_get_positions(s->interpolation, s->host, message);
}

/* Takes the positions from s->host. */
static int make_it_the_mesh(smoother *s, char message[MESH_MESSAGE]) {
  if (smoother_past_prepare(s, message)) return 1;
  const ts_status status = smoother_write(s, s->device.x);
  if (status != TS_OK) return smoother_fail_status(s->device.context, status, "positions", message);
  smoother_past_commit(s, s->start, s->steps++);
  s->live = NULL;
  return 0;
}

/* AMG requires formed normal equations. */
static ts_system_solve_desc solve_with(const smoother_options *o) {
  const int is_amg = o->preconditioner == SMOOTHER_AMG;
  return (ts_system_solve_desc){
      .solver = {.preconditioner_kind = smoother_preconditioner_kind(o->preconditioner), .rtol = o->rtol},
      .normal = is_amg ? TS_NORMAL_FORMED : TS_NORMAL_AUTO};
}

/* There is only one solve, so Ctrl+C must interrupt it. */
static int watch(const ts_progress *progress, void *user) {
  smoother_keep_residuals(progress, user);
  return interrupt_is_asked();
}

/* Single precision is fastest. If it cannot reach the tolerance or stagnates, the library continues in a higher
 * precision. */
static int solve_step(smoother *s, ts_status *status, char message[MESH_MESSAGE]) {
  static const double easy = 1e-6;
  const smoother_options *o = &s->options;
  ts_system_result *result = &s->dsi_result;
  ts_system_solve_desc how = solve_with(o);
  how.solver.precision = o->rtol < easy ? TS_PRECISION_AUTO : TS_PRECISION_SINGLE;
  how.solver.max_iterations = o->cg_iterations;
  how.solver.progress = watch;
  how.solver.progress_user = s;
  if (dsi_solve(s->interpolation, &how, result, status, message)) return 1;
  if (how.solver.precision == TS_PRECISION_AUTO || result->reason != TS_REASON_STAGNATED) return 0;
  const ts_system_result first = *result;
  how.solver.precision = TS_PRECISION_AUTO;
  const int failed = dsi_solve(s->interpolation, &how, result, status, message);
  result->iterations += first.iterations;
  result->seconds_setup += first.seconds_setup;
  return failed;
}

int smoother_dsi_step(smoother *s, int measured, step_report *report, char message[MESH_MESSAGE]) {
  ts_status status;
  if (prepare(s, message)) return 1;
  if (measured) report->roughness_before = dsi_roughness(s->interpolation, s->start->unit);
  if (solve_step(s, &status, message) || read_solution(s, message)) return 1;
  const ts_system_result *r = &s->dsi_result;
  report->converged = status == TS_OK;
  report->iterations = r->iterations;
  report->substeps = 1;
  report->relative_residual = r->normal_residual;
  report->seconds_matrix = r->seconds_build + r->seconds_layout;
  report->setups = r->seconds_setup > 0;
  report->seconds_setup = r->seconds_setup;
  report->seconds_solve = r->seconds_solve;
  memcpy(report->message, r->message, sizeof report->message - 1);
  if (measured) report->roughness = dsi_roughness(s->interpolation, s->host);
  if (make_it_the_mesh(s, message)) return 1;
  if (!measured) return 0;
  status = smoother_measure(s, &report->area, &report->volume);
  const double size = s->measures.diagonal;
  report->area *= size * size;
  report->volume *= size * size * size;
  return status == TS_OK ? 0 : smoother_fail_status(s->device.context, status, "the step failed", message);
}

int smoother_follow(smoother *s, int iterations, int *converged, char message[MESH_MESSAGE]) {
  ts_status status;
  *converged = 0;
  if (prepare(s, message)) return 1;
  /* Check the residual once, after all iterations, because each check is a host synchronisation. */
  ts_system_solve_desc how = solve_with(&s->options);
  how.solver.precision = TS_PRECISION_SINGLE;
  how.solver.max_iterations = iterations;
  how.solver.check_interval = iterations < 1024 ? iterations : 1024;
  how.leave_on_device = 1;
  if (dsi_solve(s->interpolation, &how, &s->dsi_result, &status, message)) return 1;
  *converged = status == TS_OK;
  return dsi_show(s->interpolation, &s->live, message);
}

int smoother_commit(smoother *s, char message[MESH_MESSAGE]) {
  if (!s->live) return 0;
  return read_solution(s, message) || make_it_the_mesh(s, message);
}
