/* Refusals of the mesh flow: the status, and a message that names the fault. */
#include "common/core/core.h"
#include "helpers.h"
#include "mesh/mesh_operator.h"
#include "mesh_samples.h"

static ts_context *context;

static ts_mesh_flow_desc desc_of(const mesh_sample *m) {
  const ts_mesh_flow_desc desc = {
      .vertices = m->vertices, .triangles = m->triangles, .triangle_vertices = m->t};
  return desc;
}

static ts_mesh_flow *make_flow(const ts_mesh_flow_desc *desc) {
  ts_mesh_flow *flow = NULL;
  CHECK_OK(context, ts_mesh_flow_create(context, desc, &flow));
  return flow;
}

static void refuse(const ts_mesh_flow_desc *desc, ts_status status, const char *a, const char *b) {
  ts_mesh_flow *flow = (ts_mesh_flow *)(uintptr_t)1;
  const size_t before = context_info(context).bytes_device;
  CHECK_FAILS(context, ts_mesh_flow_create(context, desc, &flow), status, a, b);
  CHECK(flow == NULL);
  CHECK_INT(context_info(context).bytes_device, before);
}

static void refuse_triangles(int32_t vertices, const int32_t *t, int32_t triangles,
                             const unsigned char *constrained, const char *message) {
  const ts_mesh_flow_desc desc = {
      .vertices = vertices, .triangles = triangles, .triangle_vertices = t, .constrained = constrained};
  refuse(&desc, TS_ERROR_INVALID_ARGUMENT, message, "");
}

static void bad_triangles(void) {
  const int32_t outside[] = {0, 1, 2, 0, 2, 4}, below[] = {0, 1, -2}, twice[] = {0, 1, 2, 1, 3, 1};
  refuse_triangles(4, outside, 2, NULL, "triangle 1 has vertex 4; it must be 0 to 3");
  refuse_triangles(4, below, 1, NULL, "triangle 0 has vertex -2");
  refuse_triangles(4, twice, 2, NULL, "triangle 1 has vertex 1 twice");
  const int32_t fan[] = {0, 1, 2, 1, 0, 3, 4, 0, 1}, same[] = {0, 1, 2, 0, 1, 3};
  refuse_triangles(5, fan, 3, NULL, "edge 0-1 has 3 triangles: 0, 1, 2");
  refuse_triangles(4, same, 2, NULL, "triangles 0 and 1 traverse edge 0-1 in the same direction");
  /* One constrained vertex is not enough, but two are. */
  const unsigned char one[5] = {1}, both[5] = {1, 1};
  refuse_triangles(5, fan, 3, one, "edge 0-1 has 3 triangles");
  refuse_triangles(4, same, 2, one, "triangles 0 and 1 traverse edge 0-1");
  for (int k = 0; k < 2; k++) {
    const ts_mesh_flow_desc held = {
        .vertices = 5, .triangles = k ? 2 : 3, .triangle_vertices = k ? same : fan, .constrained = both};
    ts_mesh_flow *flow = make_flow(&held);
    ts_mesh_flow_destroy(&flow);
  }
  int32_t book[21];
  for (int32_t k = 0; k < 7; k++) book[3 * k] = k & 1, book[3 * k + 1] = 1 - (k & 1), book[3 * k + 2] = k + 2;
  refuse_triangles(9, book, 7, NULL, "edge 0-1 has 7 triangles: 0, 1, 2, 3, 4, ...;");
}

static void bad_fields(void) {
  mesh_sample m = mesh_disk(2);
  const ts_mesh_flow_desc good = desc_of(&m);
  ts_mesh_flow_desc bad = good;
  bad.vertices = 2;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "vertices is 2", "3");
  bad = good, bad.triangles = 0;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "triangles is 0", "1");
  bad = good, bad.triangles = INT32_MAX;
  refuse(&bad, TS_ERROR_LIMIT, "triangles is 2147483647", "715827882");
  bad = good, bad.vertices = INT32_MAX;
  refuse(&bad, TS_ERROR_LIMIT, "vertices is 2147483647", "2147482624");
  bad = good, bad.triangle_vertices = NULL;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "triangle_vertices is NULL", "");
  bad = good, bad.boundary = (ts_mesh_boundary)7;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "boundary is 7", "");
  bad = good, bad.speed = -1;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "speed is -1", "");
  bad = good, bad.speed = NAN;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "speed is nan", "");
  bad = good, bad.max_halvings = -2;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "max_halvings is -2", "-1 to 30");
  bad = good, bad.max_halvings = 31;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "max_halvings is 31", "");
  bad = good, bad.format = missing_format(context);
  if (bad.format) refuse(&bad, TS_ERROR_UNSUPPORTED, "does not store matrices as", "");
  bad = good, bad.format = TS_FORMAT_BCRS4;
  refuse(&bad, TS_ERROR_UNSUPPORTED, "format is bcrs4", "a block format");
  bad = good, bad.solver.rtol = 2;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "rtol is 2", "");
  const tsi_ops *whole = context->ops;
  tsi_ops without = *whole;
  without.mesh = NULL;
  context->ops = &without;
  refuse(&good, TS_ERROR_UNSUPPORTED, context_info(context).backend, "does not support meshes");
  context->ops = whole;
  ts_mesh_flow *flow = NULL;
  CHECK_FAILS(context, ts_mesh_flow_create(context, NULL, &flow), TS_ERROR_INVALID_ARGUMENT, "desc");
  CHECK_FAILS(context, ts_mesh_flow_create(context, &good, NULL), TS_ERROR_INVALID_ARGUMENT, "out");
  CHECK_FAILS(NULL, ts_mesh_flow_create(NULL, &good, &flow), TS_ERROR_INVALID_ARGUMENT, "context");
  ts_mesh_flow_destroy(&flow);
  ts_mesh_flow_destroy(NULL);
  CHECK(ts_mesh_flow_get_space(NULL) == NULL && ts_mesh_flow_get_matrix(NULL) == NULL &&
        ts_mesh_flow_get_boundary_matrix(NULL) == NULL);
  mesh_free(&m);
}

static void bad_calls(void) {
  mesh_sample m = mesh_disk(2);
  const ts_mesh_flow_desc desc = desc_of(&m);
  ts_mesh_flow *flow = make_flow(&desc);
  ts_space *other = make_space(context, m.vertices);
  ts_vector *x = make_vector(ts_mesh_flow_get_space(flow), 3, m.x),
            *flat = make_vector(ts_mesh_flow_get_space(flow), 2, NULL),
            *elsewhere = make_vector(other, 3, NULL);
  ts_mesh_flow_info info;
#define INVALID(call, ...) CHECK_FAILS(context, call, TS_ERROR_INVALID_ARGUMENT, __VA_ARGS__)
#define INCOMPATIBLE(call, ...) CHECK_FAILS(context, call, TS_ERROR_INCOMPATIBLE, __VA_ARGS__)
  INVALID(ts_mesh_flow_solve(flow, x, NULL), "nothing is assembled");
  INVALID(ts_mesh_flow_step(flow, NULL, 1, NULL), "x is NULL");
  INVALID(ts_mesh_flow_assemble(flow, NULL, 1), "x is NULL");
  INVALID(ts_mesh_flow_get_info(flow, NULL), "info");
  INCOMPATIBLE(ts_mesh_flow_step(flow, flat, 1, NULL), "2 components", "3");
  INCOMPATIBLE(ts_mesh_flow_assemble(flow, elsewhere, 1), "ts_mesh_flow_get_space");
  INCOMPATIBLE(ts_mesh_flow_solve(flow, elsewhere, NULL), "ts_mesh_flow_get_space");
  static const double steps[] = {0, -1, NAN, INFINITY, 1e300, 1e-300};
  for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
    INVALID(ts_mesh_flow_step(flow, x, steps[k], NULL), "time_step is ");
    INVALID(ts_mesh_flow_assemble(flow, x, steps[k]), "time_step is ");
  }
  const ts_solver_desc cg = {.rtol = 2};
  INVALID(ts_mesh_flow_set_solver(flow, &cg), "rtol is 2");
  CHECK_FAILS(NULL, ts_mesh_flow_get_info(NULL, &info), TS_ERROR_INVALID_ARGUMENT, "flow");
  CHECK_FAILS(NULL, ts_mesh_flow_step(NULL, x, 1, NULL), TS_ERROR_INVALID_ARGUMENT, "flow");
  CHECK_FAILS(NULL, ts_mesh_flow_set_solver(NULL, NULL), TS_ERROR_INVALID_ARGUMENT, "flow");
  const ts_solver_desc amg = {.preconditioner_kind = TS_PRECONDITIONER_AMG};
  CHECK_FAILS(context, ts_mesh_flow_set_solver(flow, &amg), TS_ERROR_INVALID_ARGUMENT,
              "preconditioner_kind is amg", "set it in ts_mesh_flow_desc.solver");
  ts_context_desc cpu = {.backend = "cpu"};
  ts_context *second = NULL;
  CHECK_OK(NULL, ts_context_create(&cpu, &second));
  ts_space *foreign = make_space(second, m.vertices);
  ts_vector *stranger = make_vector(foreign, 3, NULL);
  INCOMPATIBLE(ts_mesh_flow_step(flow, stranger, 1, NULL), "different contexts");
  ts_vector_destroy(&stranger);
  ts_space_destroy(&foreign);
  ts_context_destroy(&second);
  /* The flow works after all these errors. */
  CHECK_OK(context, ts_mesh_flow_step(flow, x, 0.01, NULL));
  ts_vector_destroy(&x);
  ts_vector_destroy(&flat);
  ts_vector_destroy(&elsewhere);
  ts_space_destroy(&other);
  ts_mesh_flow_destroy(&flow);
  mesh_free(&m);
}

TEST_MAIN(CASES_IN_CONTEXT(bad_triangles, bad_fields, bad_calls))
