/* Steps of the mesh flow: known properties of the smooth flow, and invariants. */
#include "common/core/core.h"
#include "helpers.h"
#include "mesh_run.h"

static ts_context *context;

/* ---- The smooth flow ---- */

static double radius(const float *x, int32_t v) {
  const float *p = x + 3 * (size_t)v;
  return sqrt((double)p[0] * p[0] + (double)p[1] * p[1] + (double)p[2] * p[2]);
}

/* The difference between the mean radius of a sphere and sqrt(1 - 2 t) at t = 0.1. */
static double sphere_error(int level, int count) {
  mesh_run r = {0};
  double mean = 0;
  if (mesh_run_open(&r, context, mesh_sphere(level), (ts_mesh_flow_desc){.solver.rtol = 1e-6}) &&
      mesh_run_steps(&r, count, 0.1 / count)) {
    const float *x = mesh_run_look(&r);
    for (int32_t v = 0; v < r.mesh.vertices; v++) mean += radius(x, v) / r.mesh.vertices;
  }
  mesh_run_close(&r);
  return fabs(mean - sqrt(1 - 2 * 0.1));
}

/* There are two sources of error: triangles approximate the sphere, O(h^2), and a step uses the metric at its
 * start, O(dt). With dt proportional to h^2 both decrease by a factor of four per level: rate 2 in h. On the
 * finest mesh the error of the steps dominates: rate 1 in dt. */
static void sphere(void) {
  double h[3] = {0}, dt[3] = {0};
  const int rates = test_is_brief() ? 1 : 2;
  for (int k = 0; k <= rates; k++) h[k] = sphere_error(1 + k, 2 << (2 * k));
  for (int k = 0; k <= rates; k++) dt[k] = sphere_error(4, 2 << k);
  printf(
      "  radius: errors %.2e %.2e %.2e, rates in h %.2f %.2f; errors %.2e %.2e %.2e, rates in dt %.2f %.2f\n",
      h[0], h[1], h[2], log2(h[0] / h[1]), log2(h[1] / h[2]), dt[0], dt[1], dt[2], log2(dt[0] / dt[1]),
      log2(dt[1] / dt[2]));
  for (int k = 0; k < rates; k++) {
    CHECK_CLOSE(log2(h[k] / h[k + 1]), 2, 0.25);
    CHECK_CLOSE(log2(dt[k] / dt[k + 1]), 1, 0.25);
  }
}

/* A sphere at another speed equals a sphere at another time. */
static void speed(void) {
  mesh_run slow = {0}, fast = {0};
  if (mesh_run_open(&slow, context, mesh_sphere(2), (ts_mesh_flow_desc){.speed = 1.5f}) &&
      mesh_run_steps(&slow, 4, 0.02) &&
      mesh_run_open(&fast, context, mesh_sphere(2), (ts_mesh_flow_desc){.speed = 6}) &&
      mesh_run_steps(&fast, 4, 0.005)) {
    CHECK(mesh_run_is_at(&slow, mesh_run_look(&fast)));
    mesh_run_close(&fast);
  }
  mesh_run_close(&slow);
}

/* The boundary of a flat disk moves like a circle, r^2 = 1 - 2 t, and the disk stays flat. */
static double disk_error(int rings, int count) {
  mesh_run r = {0};
  double worst = 0;
  const ts_mesh_flow_desc desc = {.boundary = TS_MESH_BOUNDARY_FLOW, .solver.rtol = 1e-6};
  if (mesh_run_open(&r, context, mesh_disk(rings), desc) && mesh_run_steps(&r, count, 0.1 / count)) {
    const float *x = mesh_run_look(&r);
    for (int32_t v = 0; v < r.mesh.vertices; v++) {
      if (v >= r.mesh.vertices - 6 * rings) worst = fmax(worst, fabs(radius(x, v) - sqrt(1 - 2 * 0.1)));
      if (!CHECK(x[3 * (size_t)v + 2] == 0 && radius(x, v) < 0.93)) break;
    }
  }
  mesh_run_close(&r);
  return worst;
}

static void circle(void) {
  double e[3] = {0};
  const int rates = test_is_brief() ? 1 : 2;
  for (int k = 0; k <= rates; k++) e[k] = disk_error(8, 4 << k);
  printf("  circle: errors %.2e %.2e %.2e, rates in dt %.2f %.2f\n", e[0], e[1], e[2], log2(e[0] / e[1]),
         log2(e[1] / e[2]));
  for (int k = 0; k < rates; k++) CHECK_CLOSE(log2(e[k] / e[k + 1]), 1, 0.25);
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
  enum { n = 16 };
  mesh_run r = {0};
  const int steps = test_is_brief() ? 4 : 20; /* the same total time */
  if (mesh_run_open(&r, context, mesh_square(n), (ts_mesh_flow_desc){.boundary = TS_MESH_BOUNDARY_FLOW})) {
    double length = border_length(&r.mesh, r.mesh.x, n);
    CHECK_CLOSE(length, 4, 1e-6);
    for (int k = 0; k < steps && mesh_run_steps(&r, 1, 0.02 / steps); k++) {
      const double shorter = border_length(&r.mesh, mesh_run_look(&r), n);
      if (!CHECK(shorter < length)) break;
      length = shorter;
    }
    CHECK(length < 3.9);
  }
  mesh_run_close(&r);
}

/* ---- Invariants ---- */

/* A step minimises the Dirichlet energy of the old metric, which is an upper bound of the new area. So the area
 * decreases for any mesh and time step, up to rounding. */
static void area_falls(void) {
  static const double lengths[] = {1e-4, 1e-2, 10};
  const int side = test_is_brief() ? 12 : 24, steps = test_is_brief() ? 3 : 8;
  for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
    test_context_label("steps of %g", lengths[k]);
    mesh_run r = {0};
    if (mesh_run_open(&r, context, mesh_irregular(side, 0, 5), (ts_mesh_flow_desc){0})) {
      double area = mesh_area(&r.mesh, r.mesh.x);
      for (int step = 0; step < steps && mesh_run_steps(&r, 1, lengths[k]); step++) {
        const double smaller = mesh_area(&r.mesh, mesh_run_look(&r));
        if (!CHECK(smaller <= area * (1 + 1e-6)) || !CHECK(step > 0 || smaller < 0.999 * area)) break;
        area = smaller;
      }
    }
    mesh_run_close(&r);
  }
}

/* A flat patch with a fixed boundary is stationary. In exact arithmetic it does not move. Here the right-hand
 * side is the rounding of differences, 2^-24 of an edge's length. Boundary vertices keep their bits. */
static void flat_patch_stays(void) {
  static const double lengths[] = {1e-4, 1, 1e4};
  const int side = test_is_brief() ? 12 : 24, steps = test_is_brief() ? 3 : 10;
  for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
    test_context_label("steps of %g", lengths[k]);
    mesh_run r = {0};
    if (mesh_run_open(&r, context, mesh_square(side), (ts_mesh_flow_desc){0}) &&
        mesh_run_steps(&r, steps, lengths[k])) {
      const float *x = mesh_run_look(&r);
      unsigned char *boundary = mesh_boundary(&r.mesh);
      double farthest = 0;
      for (int32_t v = 0; v < r.mesh.vertices; v++)
        for (size_t c = 3 * (size_t)v; c < 3 * (size_t)v + 3; c++) {
          farthest = fmax(farthest, fabs((double)x[c] - (double)r.mesh.x[c]));
          if (boundary[v] && !CHECK(x[c] == r.mesh.x[c])) break;
        }
      printf("  flat patch, %d steps of %g: moved by %.1e\n", steps, lengths[k], farthest);
      CHECK(farthest <= 16 * EPSILON);
      free(boundary);
    }
    mesh_run_close(&r);
  }
}

/* Five steps on this backend and on the CPU. They may differ by one rounding of x per step, 5 2^-24, and by the
 * tolerance of the solves: rtol = 1e-6 of the change, which is at most 0.03. */
static void agrees_with_cpu(void) {
  const ts_context_desc cpu_desc = {.backend = "cpu"};
  ts_context *cpu = NULL;
  CHECK_OK(NULL, ts_context_create(&cpu_desc, &cpu));
  ts_format formats[8];
  const int format_count = list_mesh_formats(context, formats);
  for (int k = 0; k < 2 * format_count; k++) {
    const int flows = k & 1;
    if (test_is_brief() && (k / 2 + flows) % 2) continue;
    ts_mesh_flow_desc desc = {.boundary = flows ? TS_MESH_BOUNDARY_FLOW : TS_MESH_BOUNDARY_FIXED,
                              .solver.rtol = 1e-6};
    mesh_run here = {0}, there = {0};
    const int on_cpu =
        mesh_run_open(&there, cpu, mesh_irregular(24, 0, 6), desc) && mesh_run_steps(&there, 5, 2e-4);
    desc.format = formats[k / 2];
    if (mesh_run_open(&here, context, mesh_irregular(24, 0, 6), desc) && mesh_run_steps(&here, 5, 2e-4) &&
        on_cpu) {
      const float *x = mesh_run_look(&here), *y = mesh_run_look(&there);
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
    mesh_run_close(&here);
    mesh_run_close(&there);
  }
  ts_context_destroy(&cpu);
}

/* ---- Preconditioners that depend on values ---- */

static ts_solver_desc with(ts_preconditioner_kind kind) {
  return (ts_solver_desc){.preconditioner_kind = kind, .rtol = 1e-5, .check_interval = 1};
}

/* Steps of several lengths, each in one solve. Returns the iterations on the surface. */
static int count_iterations(mesh_run *r, ts_preconditioner_kind kind) {
  static const double lengths[] = {1e-3, 1e-3, 0.1, 0.1, 1e-5};
  int iterations = 0, setups = 0;
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
    ts_mesh_flow_result result;
    if (!CHECK_OK(context, ts_mesh_flow_step(r->flow, r->x, lengths[k], &result))) return 0;
    CHECK_INT(result.substeps, 1);
    const int is_made =
        kind != TS_PRECONDITIONER_JACOBI && kind != TS_PRECONDITIONER_AUTO; /* of a small mesh */
    CHECK((result.seconds_setup > 0) == is_made);
    CHECK(k > 0 || result.setups == is_made);
    iterations += result.surface.iterations;
    setups += result.setups;
  }
  printf("  %-12s %d iterations, %d set-ups\n", ts_preconditioner_kind_name(kind), iterations, setups);
  return iterations;
}

/* The same steps with each preconditioner. Positions differ by the tolerance of the solves. */
static void preconditioners(void) {
  static const ts_preconditioner_kind kinds[] = {
      TS_PRECONDITIONER_AMG,  TS_PRECONDITIONER_CHEBYSHEV,    TS_PRECONDITIONER_ISAI,
      TS_PRECONDITIONER_AUTO, TS_PRECONDITIONER_BLOCK_JACOBI,
  };
  const int side = test_is_brief() ? 28 : 48;
  for (int flows = 0; flows < 2; flows++) {
    const ts_mesh_boundary boundary = flows ? TS_MESH_BOUNDARY_FLOW : TS_MESH_BOUNDARY_FIXED;
    ts_mesh_flow_desc desc = {.boundary = boundary, .solver = with(TS_PRECONDITIONER_JACOBI)};
    mesh_run plain = {0};
    if (!mesh_run_open(&plain, context, mesh_irregular(side, 0, 7), desc)) continue;
    const int most = count_iterations(&plain, TS_PRECONDITIONER_JACOBI);
    const float *expected = mesh_run_look(&plain);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      test_context_label("%s, boundary %d", ts_preconditioner_kind_name(kinds[k]), flows);
      mesh_run r = {0};
      desc.solver = with(kinds[k]);
      if (mesh_run_open(&r, context, mesh_irregular(side, 0, 7), desc)) {
        const int iterations = count_iterations(&r, kinds[k]);
        CHECK(iterations <= (kinds[k] == TS_PRECONDITIONER_AMG ? most / 3 : most));
        const float *x = mesh_run_look(&r);
        double differ = 0;
        for (size_t c = 0; c < 3 * (size_t)r.mesh.vertices; c++)
          differ = fmax(differ, fabs((double)x[c] - (double)expected[c]));
        CHECK(differ < 2e-4);
      }
      mesh_run_close(&r);
    }
    mesh_run_close(&plain);
  }
}

/* Auto chooses Jacobi for a short step, and chooses again when a long one takes more iterations. Then it
 * chooses AMG. */
static void automatic(void) {
  CHECK_OK(context, ts_context_set_tuning(context, "amg_couplings", 100)); /* depends on the backend */
  mesh_run r = {0};
  const ts_mesh_flow_desc desc = {.boundary = TS_MESH_BOUNDARY_FLOW, .solver = with(TS_PRECONDITIONER_AUTO)};
  if (mesh_run_open(&r, context, mesh_irregular(95, 0, 7), desc)) {
    static const double lengths[] = {1e-7, 1e-7, 0.1, 0.1};
    ts_mesh_flow_result of[4] = {0};
    for (int k = 0; k < 4; k++) CHECK_OK(context, ts_mesh_flow_step(r.flow, r.x, lengths[k], &of[k]));
    CHECK_INT(of[0].setups, 1);
    CHECK_INT(of[1].setups + of[2].setups, 0);
    CHECK(of[1].seconds_setup == 0);
    CHECK_INT(of[3].setups, 1);
    CHECK(of[2].surface.iterations > 4 * of[3].surface.iterations);
  }
  mesh_run_close(&r);
}

/* A hierarchy from the values of another mesh: iterations increase, and it is set up again. */
static void worn(void) {
  mesh_run r = {0};
  ts_mesh_flow_result result = {0};
  if (mesh_run_open(&r, context, mesh_square(40), (ts_mesh_flow_desc){.solver = with(TS_PRECONDITIONER_AMG)})) {
    float *x = r.now;
    const size_t count = 3 * (size_t)r.mesh.vertices;
    memcpy(x, r.mesh.x, count * sizeof *x);
    for (size_t c = 0; c < count; c++) x[c] += c % 3 ? 0 : 1e-3f * (float)(c % 7);
    CHECK_OK(context, ts_vector_write(r.x, ts_host(x, count)));
    CHECK_OK(context, ts_mesh_flow_step(r.flow, r.x, 1e-6, &result));
    CHECK_INT(result.setups, 1);
    /* Stretched by 30 in one direction, with a time step that amplifies the effect. */
    for (size_t c = 0; c < count; c++) x[c] *= c % 3 == 0 ? 30 : 1;
    int setups = 0, most = 0;
    for (int k = 0; k < 3; k++) {
      CHECK_OK(context, ts_vector_write(r.x, ts_host(x, count)));
      CHECK_OK(context, ts_mesh_flow_step(r.flow, r.x, 10, &result));
      setups += result.setups;
      if (k == 0) most = result.iterations;
    }
    printf("  stretched: %d iterations, made again %d %d\n", most, setups, result.iterations);
    CHECK_INT(setups, 1);
    CHECK(result.iterations <= most);
    /* NaNs end with the same reason as with Jacobi. */
    x[5] = NAN;
    CHECK_OK(context, ts_vector_write(r.x, ts_host(x, count)));
    CHECK(ts_mesh_flow_step(r.flow, r.x, 10, &result) == TS_NOT_CONVERGED);
    CHECK(strstr(result.message, "NaN") != NULL);
  }
  mesh_run_close(&r);
}

TEST_MAIN(CASES_IN_CONTEXT(preconditioners, automatic, worn, sphere, speed, circle, border_of_a_square,
                           area_falls, flat_patch_stays, agrees_with_cpu))
