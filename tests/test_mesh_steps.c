/* Steps of the mesh flow: what is known of the smooth flow, what must never happen, and steps that fail. */
#include <texsolve/mesh.h>

#include "common.h"
#include "helpers.h"
#include "mesh_samples.h"

static ts_context *context;

typedef struct run {
  mesh_sample mesh;
  ts_mesh_flow *flow;
  ts_vector *x;
  float *now; /* positions on the host, as of the last look */
} run;

static int open_run_in(run *r, ts_context *where, mesh_sample mesh, ts_mesh_flow_desc desc) {
  *r = (run){.mesh = mesh, .now = malloc(3 * (size_t)mesh.vertices * sizeof(float))};
  desc.vertices = mesh.vertices, desc.triangles = mesh.triangles, desc.triangle_vertices = mesh.t;
  CHECK_OK(where, ts_mesh_flow_create(where, &desc, &r->flow));
  if (r->flow) r->x = make_vector(ts_mesh_flow_space(r->flow), 3, mesh.x);
  return r->x != NULL;
}

static int open_run(run *r, mesh_sample mesh, ts_mesh_flow_desc desc) {
  return open_run_in(r, context, mesh, desc);
}

static void close_run(run *r) {
  ts_vector_destroy(&r->x);
  ts_mesh_flow_destroy(&r->flow);
  free(r->now);
  mesh_free(&r->mesh);
}

static const float *look(run *r) {
  CHECK_OK(r->x->context, ts_vector_read(r->x, r->now, 3 * (size_t)r->mesh.vertices));
  return r->now;
}

/* Steps that succeed at their full length. */
static int steps(run *r, int count, double time_step) {
  for (int k = 0; k < count; k++) {
    ts_mesh_flow_result result;
    const uint64_t waits = context_info(r->x->context).waits;
    if (!CHECK_OK(r->x->context, ts_mesh_flow_step(r->flow, r->x, time_step, &result))) return 0;
    CHECK_INT(result.waits, context_info(r->x->context).waits - waits);
    CHECK_INT(result.substeps, 1);
    CHECK(result.message[0] == 0);
    CHECK(result.smallest_time_step == time_step);
    CHECK_INT(result.iterations, result.cg.iterations + result.boundary_cg.iterations);
  }
  return 1;
}

/* ---- The smooth flow ---- */

static double radius(const float *x, int32_t v) {
  const float *p = x + 3 * (size_t)v;
  return sqrt((double)p[0] * p[0] + (double)p[1] * p[1] + (double)p[2] * p[2]);
}

/* How far the mean radius of a sphere is from sqrt(1 - 2 t) at t = 0.1. */
static double sphere_error(int level, int count) {
  run r;
  double mean = 0;
  if (open_run(&r, mesh_sphere(level), (ts_mesh_flow_desc){.cg.rtol = 1e-6}) && steps(&r, count, 0.1 / count)) {
    const float *x = look(&r);
    for (int32_t v = 0; v < r.mesh.vertices; v++) mean += radius(x, v) / r.mesh.vertices;
  }
  close_run(&r);
  return fabs(mean - sqrt(1 - 2 * 0.1));
}

/* Two sources of error: triangles stand for the sphere, O(h^2), and a step takes the metric at its start,
 * O(dt). With dt in proportion to h^2 both fall by four a level: rate 2 in h. On the finest mesh the steps
 * dominate: rate 1 in dt. */
static void sphere(void) {
  context = test_open();
  if (!context) return;
  double h[3], dt[3];
  for (int k = 0; k < 3; k++) h[k] = sphere_error(1 + k, 2 << (2 * k));
  for (int k = 0; k < 3; k++) dt[k] = sphere_error(4, 2 << k);
  printf(
      "  radius: errors %.2e %.2e %.2e, rates in h %.2f %.2f; errors %.2e %.2e %.2e, rates in dt %.2f %.2f\n",
      h[0], h[1], h[2], log2(h[0] / h[1]), log2(h[1] / h[2]), dt[0], dt[1], dt[2], log2(dt[0] / dt[1]),
      log2(dt[1] / dt[2]));
  for (int k = 0; k < 2; k++) {
    CHECK_CLOSE(log2(h[k] / h[k + 1]), 2, 0.25);
    CHECK_CLOSE(log2(dt[k] / dt[k + 1]), 1, 0.25);
  }
  test_close(&context);
}

/* A sphere at another speed is a sphere at another time. */
static void speed(void) {
  context = test_open();
  if (!context) return;
  run slow, fast;
  if (open_run(&slow, mesh_sphere(2), (ts_mesh_flow_desc){.speed = 1.5f}) && steps(&slow, 4, 0.02) &&
      open_run(&fast, mesh_sphere(2), (ts_mesh_flow_desc){.speed = 6}) && steps(&fast, 4, 0.005)) {
    CHECK(memcmp(look(&slow), look(&fast), 3 * (size_t)slow.mesh.vertices * sizeof(float)) == 0);
    close_run(&fast);
  }
  close_run(&slow);
  test_close(&context);
}

/* The boundary of a flat disk flows like a circle, r^2 = 1 - 2 t, and the disk stays flat. */
static double disk_error(int rings, int count) {
  run r;
  double worst = 0;
  const ts_mesh_flow_desc desc = {.boundary = TS_MESH_BOUNDARY_FLOW, .cg.rtol = 1e-6};
  if (open_run(&r, mesh_disk(rings), desc) && steps(&r, count, 0.1 / count)) {
    const float *x = look(&r);
    for (int32_t v = 0; v < r.mesh.vertices; v++) {
      if (v >= r.mesh.vertices - 6 * rings) worst = fmax(worst, fabs(radius(x, v) - sqrt(1 - 2 * 0.1)));
      if (!CHECK(x[3 * (size_t)v + 2] == 0 && radius(x, v) < 0.93)) break;
    }
  }
  close_run(&r);
  return worst;
}

static void circle(void) {
  context = test_open();
  if (!context) return;
  double e[3];
  for (int k = 0; k < 3; k++) e[k] = disk_error(8, 4 << k);
  printf("  circle: errors %.2e %.2e %.2e, rates in dt %.2f %.2f\n", e[0], e[1], e[2], log2(e[0] / e[1]),
         log2(e[1] / e[2]));
  for (int k = 0; k < 2; k++) CHECK_CLOSE(log2(e[k] / e[k + 1]), 1, 0.25);
  test_close(&context);
}

static double border_length(const mesh_sample *m, const float *x, int n) {
  double length = 0;
  for (int side = 0; side < 4; side++)
    for (int k = 0; k < n; k++) {
      const int row = n + 1;
      const int a = side == 0 ? k : side == 1 ? n + k * row : side == 2 ? n * row + k : k * row;
      const int b = a + (side & 1 ? row : 1);
      double sum = 0;
      for (int c = 0; c < 3; c++) sum += pow((double)x[3 * a + c] - (double)x[3 * b + c], 2);
      length += sqrt(sum);
    }
  (void)m;
  return length;
}

static void border_of_a_square(void) {
  context = test_open();
  if (!context) return;
  enum { n = 16 };
  run r;
  if (open_run(&r, mesh_square(n), (ts_mesh_flow_desc){.boundary = TS_MESH_BOUNDARY_FLOW})) {
    double length = border_length(&r.mesh, r.mesh.x, n);
    CHECK_CLOSE(length, 4, 1e-6);
    for (int k = 0; k < 20 && steps(&r, 1, 1e-3); k++) {
      const double shorter = border_length(&r.mesh, look(&r), n);
      if (!CHECK(shorter < length)) break;
      length = shorter;
    }
    CHECK(length < 3.9);
  }
  close_run(&r);
  test_close(&context);
}

/* ---- What must never happen ---- */

/* A step minimises the Dirichlet energy of the old metric, which bounds the new area from above, so the area
 * falls whatever the mesh and the time step; up to rounding. */
static void area_falls(void) {
  context = test_open();
  if (!context) return;
  static const double lengths[] = {1e-4, 1e-2, 10};
  for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
    test_context_label("steps of %g", lengths[k]);
    run r;
    if (open_run(&r, mesh_irregular(24, 0, 5), (ts_mesh_flow_desc){0})) {
      double area = mesh_area(&r.mesh, r.mesh.x);
      for (int step = 0; step < 8 && steps(&r, 1, lengths[k]); step++) {
        const double smaller = mesh_area(&r.mesh, look(&r));
        if (!CHECK(smaller <= area * (1 + 1e-6)) || !CHECK(step > 0 || smaller < 0.999 * area)) break;
        area = smaller;
      }
    }
    close_run(&r);
  }
  test_close(&context);
}

/* A flat patch with a fixed boundary is where it wants to be. In exact arithmetic it does not move at all; here
 * the right-hand side is the rounding of differences, 2^-24 of an edge's length. Boundary vertices keep their
 * bits. */
static void flat_patch_stays(void) {
  context = test_open();
  if (!context) return;
  static const double lengths[] = {1e-4, 1, 1e4};
  for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
    test_context_label("steps of %g", lengths[k]);
    run r;
    if (open_run(&r, mesh_square(24), (ts_mesh_flow_desc){0}) && steps(&r, 10, lengths[k])) {
      const float *x = look(&r);
      unsigned char *boundary = mesh_boundary(&r.mesh);
      double farthest = 0;
      for (int32_t v = 0; v < r.mesh.vertices; v++)
        for (size_t c = 3 * (size_t)v; c < 3 * (size_t)v + 3; c++) {
          farthest = fmax(farthest, fabs((double)x[c] - (double)r.mesh.x[c]));
          if (boundary[v] && !CHECK(x[c] == r.mesh.x[c])) break;
        }
      printf("  flat patch, ten steps of %g: moved by %.1e\n", lengths[k], farthest);
      CHECK(farthest <= 16 * EPSILON);
      free(boundary);
    }
    close_run(&r);
  }
  test_close(&context);
}

/* Five steps on this backend and on the CPU. They may differ by one rounding of x a step, 5 2^-24, and by what
 * the solves leave: rtol = 1e-6 of the change, which is 0.03 at most. */
static void agrees_with_cpu(void) {
  context = test_open();
  if (!context) return;
  const ts_context_desc cpu_desc = {.backend = "cpu"};
  ts_context *cpu = NULL;
  CHECK_OK(NULL, ts_context_create(&cpu_desc, &cpu));
  ts_format formats[8];
  const int format_count = list_formats(context, formats);
  for (int k = 0; k < 2 * format_count; k++) {
    const int flows = k & 1;
    ts_mesh_flow_desc desc = {.boundary = flows ? TS_MESH_BOUNDARY_FLOW : TS_MESH_BOUNDARY_FIXED,
                              .cg.rtol = 1e-6};
    run here, there;
    const int on_cpu = open_run_in(&there, cpu, mesh_irregular(24, 0, 6), desc) && steps(&there, 5, 2e-4);
    desc.format = formats[k / 2];
    if (open_run(&here, mesh_irregular(24, 0, 6), desc) && steps(&here, 5, 2e-4) && on_cpu) {
      const float *x = look(&here), *y = look(&there);
      double differ = 0, moved = 0;
      for (size_t c = 0; c < 3 * (size_t)here.mesh.vertices; c++) {
        differ = fmax(differ, fabs((double)x[c] - (double)y[c]));
        moved = fmax(moved, fabs((double)x[c] - (double)here.mesh.x[c]));
      }
      printf("  five steps, %s, boundary %d: moved by %.3f, differ by %.1e\n", ts_format_name(desc.format),
             flows, moved, differ);
      CHECK(moved > 0.01);
      CHECK(differ <= 5 * (EPSILON + 1e-6 * 0.03));
    }
    close_run(&here);
    close_run(&there);
  }
  ts_context_destroy(&cpu);
  test_close(&context);
}

/* ---- The halves, and the paper's few iterations ---- */

static void assemble_and_solve(void) {
  context = test_open();
  if (!context) return;
  for (int flows = 0; flows < 2; flows++) {
    const ts_mesh_flow_desc desc = {.boundary = flows ? TS_MESH_BOUNDARY_FLOW : TS_MESH_BOUNDARY_FIXED};
    run whole, halves;
    if (open_run(&whole, mesh_irregular(16, 1, 8), desc) && steps(&whole, 2, 1e-3) &&
        open_run(&halves, mesh_irregular(16, 1, 8), desc)) {
      for (int k = 0; k < 2; k++) {
        ts_mesh_flow_result result;
        CHECK_OK(context, ts_mesh_flow_assemble(halves.flow, halves.x, 1e-3));
        CHECK_OK(context, ts_mesh_flow_solve(halves.flow, halves.x, &result));
        CHECK_INT(result.substeps, 1);
        CHECK(result.iterations > 0 && result.waits > 0 && result.smallest_time_step == 1e-3);
        CHECK((result.boundary_cg.iterations > 0) == flows);
      }
      CHECK(memcmp(look(&whole), look(&halves), 3 * (size_t)whole.mesh.vertices * sizeof(float)) == 0);
      close_run(&halves);
    }
    close_run(&whole);
  }
  test_close(&context);
}

static void few_iterations(void) {
  context = test_open();
  if (!context) return;
  run r;
  if (open_run(&r, mesh_irregular(24, 0, 9), (ts_mesh_flow_desc){.cg.max_iterations = 5})) {
    ts_mesh_flow_result result;
    CHECK_OK(context, ts_mesh_flow_step(r.flow, r.x, 1e-3, &result));
    CHECK_INT(result.cg.reason, TS_REASON_MAX_ITERATIONS);
    CHECK_INT(result.iterations, 5);
    CHECK(result.cg.delta_ratio < 0.5 && result.message[0] == 0);
    /* Other options from now on; then the defaults. */
    const ts_cg_desc two = {.max_iterations = 2};
    CHECK_OK(context, ts_mesh_flow_set_cg(r.flow, &two));
    CHECK_OK(context, ts_mesh_flow_step(r.flow, r.x, 1e-3, &result));
    CHECK_INT(result.iterations, 2);
    CHECK_OK(context, ts_mesh_flow_set_cg(r.flow, NULL));
    CHECK_OK(context, ts_mesh_flow_step(r.flow, r.x, 1e-3, &result));
    CHECK_INT(result.cg.reason, TS_REASON_CONVERGED);
  }
  close_run(&r);
  test_close(&context);
}

/* ---- Steps that fail ---- */

/* From now on assemblies with a factor above the limit give a matrix that no solver can use. */
static tsi_ops limited_ops;
static const tsi_ops *whole_ops;
static float factor_limit;

static ts_status limited_assemble(tsi_mesh_operator *op, const ts_vector *x, float factor, float shortest) {
  return whole_ops->mesh_assemble(op, x, factor > factor_limit ? NAN : factor, shortest);
}

static void limit_steps(double longest) {
  whole_ops = context->ops;
  limited_ops = *whole_ops;
  limited_ops.mesh_assemble = limited_assemble;
  factor_limit = (float)(3 * longest * 1.001);
  context->ops = &limited_ops;
}

static void cut_steps(void) {
  context = test_open();
  if (!context) return;
  if (test_is_check()) { /* which would report the NaN itself */
    test_close(&context);
    return;
  }
  for (int flows = 0; flows < 2; flows++) {
    const ts_mesh_flow_desc desc = {.boundary = flows ? TS_MESH_BOUNDARY_FLOW : TS_MESH_BOUNDARY_FIXED};
    run cut, by_hand, none;
    ts_mesh_flow_result result;
    if (open_run(&cut, mesh_irregular(16, 0, 8), desc) && open_run(&by_hand, mesh_irregular(16, 0, 8), desc)) {
      CHECK(steps(&by_hand, 8, 1e-3 / 8));
      limit_steps(1e-3 / 8);
      CHECK_OK(context, ts_mesh_flow_step(cut.flow, cut.x, 1e-3, &result));
      context->ops = whole_ops;
      CHECK_INT(result.substeps, 8);
      CHECK(result.smallest_time_step == 1e-3 / 8);
      CHECK_CONTAINS(result.message, "the matrix made of them, hold a NaN");
      const size_t bytes = 3 * (size_t)cut.mesh.vertices * sizeof(float);
      CHECK(memcmp(look(&cut), look(&by_hand), bytes) == 0);

      /* Too short to be reached: x keeps its bits, whether or not something had succeeded meanwhile. */
      limit_steps(1e-9);
      CHECK_INT(ts_mesh_flow_step(cut.flow, cut.x, 1e-3, &result), TS_NOT_CONVERGED);
      CHECK_INT(result.substeps, 0);
      CHECK_CLOSE(result.smallest_time_step, 1e-3 / 64, 1e-12);
      CHECK_CONTAINS(result.message, "the matrix made of them, hold a NaN");
      context->ops = whole_ops;
      CHECK(memcmp(look(&cut), by_hand.now, bytes) == 0);
      /* Nothing is broken. */
      CHECK(steps(&cut, 1, 1e-3));
    }
    close_run(&by_hand);
    close_run(&cut);
    ts_mesh_flow_desc never = desc;
    never.max_halvings = -1;
    if (open_run(&none, mesh_irregular(16, 0, 8), never)) {
      limit_steps(1e-3 / 2);
      CHECK_INT(ts_mesh_flow_step(none.flow, none.x, 1e-3, &result), TS_NOT_CONVERGED);
      CHECK_INT(ts_mesh_flow_step(none.flow, none.x, 1e-3, NULL), TS_NOT_CONVERGED);
      context->ops = whole_ops;
      CHECK_INT(result.substeps, 0);
      CHECK(result.smallest_time_step == 1e-3);
      CHECK(memcmp(look(&none), none.mesh.x, 3 * (size_t)none.mesh.vertices * sizeof(float)) == 0);
    }
    close_run(&none);
  }
  test_close(&context);
}

/* The third substep and all after it fail: the two before are taken back. */
static int assemblies;

static ts_status tiring_assemble(tsi_mesh_operator *op, const ts_vector *x, float factor, float shortest) {
  return whole_ops->mesh_assemble(op, x, ++assemblies == 1 || assemblies > 2 ? NAN : factor, shortest);
}

static void taken_back(void) {
  context = test_open();
  if (!context) return;
  run r;
  if (!test_is_check() && open_run(&r, mesh_irregular(16, 0, 8), (ts_mesh_flow_desc){0})) {
    ts_mesh_flow_result result;
    whole_ops = context->ops;
    limited_ops = *whole_ops;
    limited_ops.mesh_assemble = tiring_assemble;
    context->ops = &limited_ops;
    assemblies = 0;
    CHECK_INT(ts_mesh_flow_step(r.flow, r.x, 1e-3, &result), TS_NOT_CONVERGED);
    context->ops = whole_ops;
    CHECK_INT(result.substeps, 0);
    CHECK(assemblies > 3);
    CHECK(memcmp(look(&r), r.mesh.x, 3 * (size_t)r.mesh.vertices * sizeof(float)) == 0);
    close_run(&r);
  }
  test_close(&context);
}

static int stop_at_once(int iteration, const double *history, int count, void *user) {
  (void)iteration, (void)history, (void)count;
  ++*(int *)user;
  return 1;
}

/* A user who stops a step does not want it in halves; positions that are no numbers stay as they are. */
static void stopped_or_broken(void) {
  context = test_open();
  if (!context) return;
  run r;
  int calls = 0;
  const ts_mesh_flow_desc desc = {.cg = {.progress = stop_at_once, .progress_user = &calls, .rtol = 1e-7}};
  if (open_run(&r, mesh_irregular(16, 0, 8), desc)) {
    ts_mesh_flow_result result;
    const size_t floats = 3 * (size_t)r.mesh.vertices;
    CHECK_INT(ts_mesh_flow_step(r.flow, r.x, 1e-2, &result), TS_NOT_CONVERGED);
    CHECK_INT(calls, 1);
    CHECK_CONTAINS(result.message, "stopped");
    CHECK(memcmp(look(&r), r.mesh.x, floats * sizeof(float)) == 0);
    float *broken = malloc(floats * sizeof *broken);
    memcpy(broken, r.mesh.x, floats * sizeof *broken);
    broken[3 * 40 + 1] = NAN;
    CHECK_OK(context, ts_vector_write(r.x, broken, floats));
    CHECK_INT(ts_mesh_flow_step(r.flow, r.x, 1e-2, &result), TS_NOT_CONVERGED);
    CHECK_CONTAINS(result.message, "NaN");
    CHECK_INT(calls, 1);
    CHECK(memcmp(look(&r), broken, floats * sizeof(float)) == 0);
    free(broken);
  }
  close_run(&r);
  test_close(&context);
}

static const test_case cases[] = {
    {"sphere", sphere},
    {"speed", speed},
    {"circle", circle},
    {"border_of_a_square", border_of_a_square},
    {"area_falls", area_falls},
    {"flat_patch_stays", flat_patch_stays},
    {"agrees_with_cpu", agrees_with_cpu},
    {"assemble_and_solve", assemble_and_solve},
    {"few_iterations", few_iterations},
    {"cut_steps", cut_steps},
    {"taken_back", taken_back},
    {"stopped_or_broken", stopped_or_broken},
};
TEST_MAIN(cases, 0)
