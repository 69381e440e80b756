/* The model of mesh-smooth: options, steps, and the present mesh. */
#include "smoother.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh_generate.h"
#include "progress.h"

/* ---- Options ---- */

const char *smoother_preconditioner_name(smoother_preconditioner preconditioner) {
  return ts_preconditioner_kind_name(smoother_preconditioner_kind(preconditioner));
}

ts_preconditioner_kind smoother_preconditioner_kind(smoother_preconditioner preconditioner) {
  return preconditioner == SMOOTHER_AMG ? TS_PRECONDITIONER_AMG : TS_PRECONDITIONER_JACOBI;
}

/* Fills in the defaults, copies the backend's name, and refuses invalid options. */
static int resolve_options(smoother *s, const smoother_options *in, smoother_options *out, char backend[64],
                           char message[MESH_MESSAGE]) {
  *out = *in;
  snprintf(backend, 64, "%s", in->backend ? in->backend : "auto");
  out->backend = backend;
  if (out->time_step == 0) out->time_step = 1e-5;
  if (out->rtol == 0) out->rtol = out->method == SMOOTHER_DSI ? 1e-5 : 1e-4;
  if (!(out->time_step > 0 && out->time_step <= 1))
    return mesh_fail(message,
                     "the time step is %g; it must be positive and at most 1, in squares of the bounding "
                     "box's diagonal",
                     out->time_step);
  if (!(out->rtol > 0 && out->rtol < 1))
    return mesh_fail(message, "the tolerance is %g; it must be between 0 and 1", out->rtol);
  if (!(out->fit >= 0 && isfinite(out->fit)))
    return mesh_fail(message, "the weight of fit is %g; it must be a number of at least 0", out->fit);
  if (out->cg_iterations < 0)
    return mesh_fail(message, "%d iterations; it must be at least 1, or 0 to iterate to the tolerance",
                     out->cg_iterations);
  if (out->preserve_volume && !s->measures.closed)
    return mesh_fail(message, "the mesh encloses no volume to preserve: it has %d boundary edges",
                     (int)s->measures.boundary_edges);
  return 0;
}

/* The format of the flow's matrix. */
static ts_format flow_format(const smoother_options *o) {
  return o->method == SMOOTHER_FLOW ? o->format : TS_FORMAT_AUTO;
}

/* The preconditioner of the flow. With AMG the flow keeps a copy of the mesh on the host. */
static smoother_preconditioner flow_preconditioner(const smoother_options *o) {
  return o->method == SMOOTHER_FLOW ? o->preconditioner : SMOOTHER_JACOBI;
}

int smoother_needs_other_device(const smoother_options *a, const smoother_options *b) {
  return strcmp(a->backend, b->backend) != 0 || a->platform != b->platform ||
         flow_format(a) != flow_format(b) || a->boundary != b->boundary ||
         flow_preconditioner(a) != flow_preconditioner(b);
}

/* Moves positions and the undo history. The old device is released only after everything has been copied. */
static int change_device(smoother *s, const smoother_options *options, char message[MESH_MESSAGE]) {
  const int same_context =
      !strcmp(s->options.backend, options->backend) && s->options.platform == options->platform;
  smoother_device device;
  ts_vector **moved;
  if (smoother_device_open(s, options, same_context ? s->device.context : NULL, &device, message)) return 1;
  ts_status status = smoother_read(s, s->device.x);
  if (status == TS_OK) status = smoother_write(s, device.x);
  if (status != TS_OK)
    smoother_fail_status(device.context, status, options->backend, message);
  else if (!smoother_past_move(s, &device, &moved, message)) {
    smoother_past_move_done(s, moved);
    smoother_dsi_forget(s);
    smoother_device_close(&s->device, same_context);
    s->device = device;
    return 0;
  }
  smoother_device_close(&device, same_context);
  return 1;
}

int smoother_set_options(smoother *s, const smoother_options *options, char message[MESH_MESSAGE]) {
  smoother_options resolved;
  char backend[64];
  if (resolve_options(s, options, &resolved, backend, message)) return 1;
  if (smoother_needs_other_device(&s->options, &resolved)) {
    if (change_device(s, &resolved, message)) return 1;
  } else {
    const ts_solver_desc solver = smoother_solver(s, &resolved, &s->device.info);
    const ts_status status = ts_mesh_flow_set_solver(s->device.flow, &solver);
    if (status != TS_OK) return smoother_fail_status(s->device.context, status, "options", message);
  }
  memcpy(s->backend, backend, sizeof backend);
  s->options = resolved;
  s->options.backend = s->backend;
  return 0;
}

/* ---- Creation ---- */

int smoother_create(mesh *m, const smoother_options *options, smoother **out, char message[MESH_MESSAGE]) {
  char backend[64];
  *out = NULL;
  smoother *s = calloc(1, sizeof *s);
  if (!s) {
    mesh_destroy(m);
    return mesh_fail(message, "out of memory");
  }
  int failed = mesh_measure(m, &s->measures, message); /* refuses a mesh without triangles or of size 0 */
  if (!failed) failed = resolve_options(s, options, &s->options, backend, message);
  if (failed) {
    mesh_destroy(m);
    free(s);
    return 1;
  }
  memcpy(s->backend, backend, sizeof backend);
  s->options.backend = s->backend;
  s->host = malloc(3 * (size_t)m->vertex_count * sizeof *s->host);
  if (!s->host) {
    failed = mesh_fail(message, "out of memory for %d vertices", (int)m->vertex_count);
    mesh_destroy(m);
  } else {
    smoother_start *start = smoother_start_create(s, m, message);
    if (start) smoother_set_start(s, start);
    failed = !start || smoother_device_open(s, &s->options, NULL, &s->device, message);
  }
  if (failed) {
    smoother_destroy(&s);
    return 1;
  }
  *out = s;
  return 0;
}

void smoother_destroy(smoother **out) {
  if (!out || !*out) return;
  smoother *s = *out;
  smoother_past_forget(s);
  smoother_dsi_forget(s);
  dsi_controls_free(&s->controls);
  smoother_start_release(s->start);
  smoother_device_close(&s->device, 0);
  free(s->host);
  free(s);
  *out = NULL;
}

ts_vector *smoother_positions(const smoother *s) {
  return s->live ? s->live : s->device.x;
}

/* ---- Steps ---- */

ts_status smoother_measure(const smoother *s, double *area, double *volume) {
  static const double centre[3];
  const ts_status status = smoother_read(s, s->device.x);
  if (status == TS_OK) mesh_area_volume(&s->start->m, s->host, 3, centre, area, volume);
  return status;
}

/* Computes x = x + (scale - 1) x for movable vertices; the box's centre is at 0. One scaling is enough if no
 * vertex is held. */
static ts_status restore_volume(smoother *s, double *area, double *volume) {
  enum { most_scalings = 4 };
  const smoother_device *d = &s->device;
  const double size = s->measures.diagonal, wanted = s->start->volume / (size * size * size);
  ts_status status = TS_OK;
  for (int k = 0; k < most_scalings && status == TS_OK; k++) {
    const double ratio = wanted / *volume;
    if (!(ratio > 0 && isfinite(ratio))) return TS_OK; /* the mesh no longer encloses a volume */
    if (k > 0 && fabs(ratio - 1) < 1e-6) return TS_OK;
    status = ts_vector_multiply(d->change, d->mobile, d->x);
    if (status == TS_OK)
      status = ts_vector_axpby(d->x, ts_constant((float)(cbrt(ratio) - 1)), d->change, ts_constant(1));
    if (status == TS_OK) status = smoother_measure(s, area, volume);
  }
  return status;
}

/* Makes the two halves of a step, with a host synchronisation after each. If that fails ts_mesh_flow_step makes
 * the step. */
static ts_status timed_step(smoother *s, ts_mesh_flow_result *result, step_report *report) {
  const smoother_device *d = &s->device;
  const double begin = seconds_now();
  ts_status status = ts_mesh_flow_assemble(d->flow, d->x, s->options.time_step);
  if (status == TS_OK) status = ts_context_finish(d->context);
  const double assembled = seconds_now();
  if (status == TS_OK) status = ts_mesh_flow_solve(d->flow, d->x, result);
  if (status >= 0 && ts_context_finish(d->context) != TS_OK) return TS_ERROR_DEVICE;
  report->seconds_matrix = assembled - begin;
  return status == TS_NOT_CONVERGED ? ts_mesh_flow_step(d->flow, d->x, s->options.time_step, result) : status;
}

static ts_status whole_step(const smoother *s, ts_mesh_flow_result *result) {
  const smoother_device *d = &s->device;
  const ts_status status = ts_mesh_flow_step(d->flow, d->x, s->options.time_step, result);
  return status >= 0 && ts_context_finish(d->context) != TS_OK ? TS_ERROR_DEVICE : status;
}

int smoother_step(smoother *s, int measured, int timed, step_report *report, char message[MESH_MESSAGE]) {
  ts_mesh_flow_result result = {0};
  *report = (step_report){.number = s->steps + 1, .area = NAN, .volume = NAN, .seconds_draw = NAN};
  report->roughness_before = report->roughness = NAN;
  s->residual_count = 0;
  if (s->options.method == SMOOTHER_DSI) return smoother_dsi_step(s, measured, report, message);
  if (smoother_past_prepare(s, message)) return 1;
  ts_status status = ts_context_finish(s->device.context); /* exclude earlier work from the time */
  const double begin = seconds_now();
  if (status == TS_OK) status = timed ? timed_step(s, &result, report) : whole_step(s, &result);
  const double whole = seconds_now() - begin;
  if (status < 0) return smoother_fail_status(s->device.context, status, "the step failed", message);
  /* A failed attempt counts towards the step. */
  report->setups = result.setups;
  report->seconds_setup = result.seconds_setup;
  report->seconds_solve = whole - report->seconds_matrix - report->seconds_setup;
  const int made = status == TS_OK;
  report->converged = made && result.surface.reason != TS_REASON_MAX_ITERATIONS &&
                      result.boundary.reason != TS_REASON_MAX_ITERATIONS;
  report->iterations = result.iterations;
  report->substeps = made ? result.substeps : 0;
  report->relative_residual = result.surface.relative_residual;
  snprintf(report->message, sizeof report->message, "%s", result.message);

  status = TS_OK;
  double area = NAN, volume = NAN;
  if (measured || (made && s->options.preserve_volume)) {
    status = smoother_measure(s, &area, &volume);
    if (status == TS_OK && made && s->options.preserve_volume) status = restore_volume(s, &area, &volume);
    const double size = s->measures.diagonal;
    report->area = size * size * area;
    report->volume = size * size * size * volume;
  }
  if (status != TS_OK) return smoother_fail_status(s->device.context, status, "the step failed", message);
  if (made) smoother_past_commit(s, s->start, s->steps++);
  return 0;
}

/* ---- Noise, reset, export ---- */

static int put_to_start(smoother *s, smoother_start *start, char message[MESH_MESSAGE]) {
  const size_t bytes = 3 * (size_t)start->m.vertex_count * sizeof *s->host;
  memcpy(s->host, start->unit, bytes);
  const ts_status status = smoother_write(s, s->device.x);
  return status == TS_OK ? 0 : smoother_fail_status(s->device.context, status, "positions", message);
}

int smoother_reset(smoother *s, char message[MESH_MESSAGE]) {
  if (smoother_past_prepare(s, message) || put_to_start(s, s->start, message)) return 1;
  smoother_past_commit(s, s->start, s->steps);
  s->steps = 0;
  return 0;
}

int smoother_add_noise(smoother *s, double amount, uint64_t seed, char message[MESH_MESSAGE]) {
  mesh m;
  if (smoother_current_mesh(s, &m, message)) return 1;
  if (mesh_add_noise(&m, amount, seed, message)) {
    mesh_destroy(&m);
    return 1;
  }
  smoother_start *start = smoother_start_create(s, &m, message);
  if (!start) return 1;
  if (smoother_past_prepare(s, message) || put_to_start(s, start, message)) {
    smoother_start_release(start);
    return 1;
  }
  smoother_past_commit(s, s->start, s->steps);
  smoother_start_release(s->start); /* the history owns it now */
  smoother_set_start(s, start);
  s->steps = 0;
  return 0;
}

static int copy_mesh(const mesh *from, mesh *to, char message[MESH_MESSAGE]) {
  if (mesh_create(from->vertex_count, from->triangle_count, to, message)) return 1;
  memcpy(to->positions, from->positions, 3 * (size_t)from->vertex_count * sizeof *to->positions);
  memcpy(to->triangles, from->triangles, 3 * (size_t)from->triangle_count * sizeof *to->triangles);
  memcpy(to->origin, from->origin, sizeof to->origin);
  if (!from->held) return 0;
  to->held = malloc((size_t)from->vertex_count);
  if (!to->held) {
    mesh_destroy(to);
    return mesh_fail(message, "out of memory for %d vertices", (int)from->vertex_count);
  }
  memcpy(to->held, from->held, (size_t)from->vertex_count);
  return 0;
}

/* Gives a vertex all digits of its fixed control point, if the two agree in single precision. */
static void copy_exactly(const smoother *s, const dsi_control *point, mesh *m) {
  const double size = s->measures.diagonal;
  double *position = m->positions + 3 * (size_t)point->vertex;
  if (!isinf(point->weight)) return;
  for (int c = 0; c < 3; c++) {
    const double centre = 0.5 * (s->measures.low[c] + s->measures.high[c]);
    const double stands = (double)s->host[3 * (size_t)point->vertex + (size_t)c];
    if (fabs(stands - (point->place[c] - centre) / size) > 1.2e-7 * fmax(1, fabs(stands))) return;
  }
  memcpy(position, point->place, sizeof point->place);
}

int smoother_current_mesh(const smoother *s, mesh *m, char message[MESH_MESSAGE]) {
  const ts_status status = smoother_read(s, s->device.x);
  if (status != TS_OK) return smoother_fail_status(s->device.context, status, "positions", message);
  if (copy_mesh(&s->start->m, m, message)) return 1;
  mesh_from_unit(&s->start->m, &s->measures, s->start->unit, s->host, m->positions);
  for (int k = 0; k < s->controls.count; k++) copy_exactly(s, &s->controls.points[k], m);
  return 0;
}
