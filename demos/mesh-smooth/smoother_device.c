/* The device of a smoother: context, flow, vectors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "smoother.h"

int smoother_fail_status(const ts_context *context, ts_status status, const char *what,
                         char message[MESH_MESSAGE]) {
  const char *text = ts_last_error(context);
  return mesh_fail(message, "%s: %s", what, *text ? text : ts_status_text(status));
}

/* Records the residuals of a solve. Iteration 1 begins a new record. */
int smoother_keep_residuals(const ts_progress *progress, void *user) {
  smoother *const s = user;
  if (progress->iteration - progress->count <= 0) s->residual_count = 0;
  for (int k = 0; k < progress->count && s->residual_count < SMOOTHER_RESIDUALS; k++)
    s->residuals[s->residual_count++] = (float)progress->history[k];
  return 0;
}

/* Each check of the residual costs a host synchronisation on a GPU, so long solves check it rarely. A step has
 * few iterations, and surplus ones would cost more than the synchronisations saved. */
enum { gpu_interval = 2, longest_interval = 16 };

ts_solver_desc smoother_solver(smoother *s, const smoother_options *options, const ts_context_info *device) {
  const int most = options->cg_iterations;
  ts_solver_desc desc = {
      .rtol = options->rtol, .max_iterations = most, .progress = smoother_keep_residuals, .progress_user = s};
  if (options->method == SMOOTHER_FLOW)
    desc.preconditioner_kind = smoother_preconditioner_kind(options->preconditioner);
  if (strstr(device->backend, "gl"))
    desc.check_interval = most && most <= longest_interval ? most : gpu_interval;
  return desc;
}

ts_status smoother_read(const smoother *s, const ts_vector *x) {
  return ts_vector_read(x, ts_host(s->host, 3 * (size_t)s->start->m.vertex_count));
}

ts_status smoother_write(const smoother *s, ts_vector *x) {
  return ts_vector_write(x, ts_host(s->host, 3 * (size_t)s->start->m.vertex_count));
}

/* Marks the vertices that a scaling of the mesh may move. */
static ts_status create_mobile(smoother *s, smoother_device *d, const ts_vector_desc *three) {
  const mesh *m = &s->start->m;
  ts_space *space = ts_mesh_flow_get_space(d->flow);
  ts_status status = ts_vector_create(space, three, &d->mobile);
  if (status == TS_OK) status = ts_vector_create(space, three, &d->change);
  if (status != TS_OK) return status;
  memset(s->host, 0, 3 * (size_t)m->vertex_count * sizeof *s->host);
  for (size_t k = 0; k < 3 * (size_t)m->triangle_count; k++) {
    const int32_t v = m->triangles[k];
    for (int c = 0; c < 3; c++) s->host[3 * (size_t)v + (size_t)c] = m->held && m->held[v] ? 0 : 1;
  }
  return smoother_write(s, d->mobile);
}

int smoother_device_open(smoother *s, const smoother_options *options, ts_context *context,
                         smoother_device *device, char message[MESH_MESSAGE]) {
  const mesh *m = &s->start->m;
  const ts_gl_desc gl = {.platform = options->platform};
  const ts_context_desc context_desc = {.backend = options->backend, .gl = &gl};
  ts_mesh_flow_desc flow_desc = {.vertices = m->vertex_count,
                                 .triangles = m->triangle_count,
                                 .triangle_vertices = m->triangles,
                                 .constrained = m->held,
                                 .boundary = options->boundary,
                                 .format = options->method == SMOOTHER_FLOW ? options->format : TS_FORMAT_AUTO};
  const ts_vector_desc three = {.components = 3};
  *device = (smoother_device){.context = context};
  if (!context) {
    const ts_status opened = ts_context_create(&context_desc, &device->context);
    if (opened != TS_OK) return smoother_fail_status(NULL, opened, options->backend, message);
  }
  ts_status status = ts_context_get_info(device->context, &device->info);
  flow_desc.solver = smoother_solver(s, options, &device->info);
  if (status == TS_OK) status = ts_mesh_flow_create(device->context, &flow_desc, &device->flow);
  ts_space *space = status == TS_OK ? ts_mesh_flow_get_space(device->flow) : NULL;
  if (status == TS_OK) status = ts_vector_create(space, &three, &device->x);
  if (status == TS_OK) status = create_mobile(s, device, &three);
  if (status == TS_OK) {
    memcpy(s->host, s->start->unit, 3 * (size_t)m->vertex_count * sizeof *s->host);
    status = smoother_write(s, device->x);
  }
  if (status == TS_OK) return 0;
  smoother_fail_status(device->context, status, options->backend, message);
  smoother_device_close(device, context != NULL);
  return 1;
}

void smoother_device_close(smoother_device *device, int keep_context) {
  ts_vector_destroy(&device->x);
  ts_vector_destroy(&device->before);
  ts_vector_destroy(&device->mobile);
  ts_vector_destroy(&device->change);
  ts_mesh_flow_destroy(&device->flow);
  if (!keep_context) ts_context_destroy(&device->context);
}
