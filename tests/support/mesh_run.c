#include "mesh_run.h"

#include "common/core/core.h"
#include "helpers.h"

int mesh_run_open(mesh_run *r, ts_context *context, mesh_sample mesh, ts_mesh_flow_desc desc) {
  *r = (mesh_run){.mesh = mesh, .now = malloc(3 * (size_t)mesh.vertices * sizeof(float))};
  desc.vertices = mesh.vertices, desc.triangles = mesh.triangles, desc.triangle_vertices = mesh.t;
  CHECK_OK(context, ts_mesh_flow_create(context, &desc, &r->flow));
  if (r->flow) r->x = make_vector(ts_mesh_flow_get_space(r->flow), 3, mesh.x);
  return r->x != NULL;
}

void mesh_run_close(mesh_run *r) {
  ts_vector_destroy(&r->x);
  ts_mesh_flow_destroy(&r->flow);
  free(r->now);
  mesh_free(&r->mesh);
}

const float *mesh_run_look(mesh_run *r) {
  CHECK_OK(r->x->context, ts_vector_read(r->x, ts_host(r->now, 3 * (size_t)r->mesh.vertices)));
  return r->now;
}

int mesh_run_is_at(mesh_run *r, const float *positions) {
  return memcmp(mesh_run_look(r), positions, 3 * (size_t)r->mesh.vertices * sizeof *positions) == 0;
}

int mesh_run_steps(mesh_run *r, int count, double time_step) {
  for (int k = 0; k < count; k++) {
    ts_mesh_flow_result result;
    const uint64_t before = context_info(r->x->context).host_synchronisations;
    if (!CHECK_OK(r->x->context, ts_mesh_flow_step(r->flow, r->x, time_step, &result))) {
      test_fail(__FILE__, __LINE__, "%s", result.message);
      return 0;
    }
    CHECK_INT(result.host_synchronisations, context_info(r->x->context).host_synchronisations - before);
    CHECK_INT(result.substeps, 1);
    CHECK(result.message[0] == 0);
    CHECK(result.smallest_time_step == time_step);
    CHECK_INT(result.iterations, result.surface.iterations + result.boundary.iterations);
  }
  return 1;
}
