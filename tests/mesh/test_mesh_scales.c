/* The flow of meshes of any size in single precision: if lengths are scaled by s and times by s^2, the flow is
 * scaled too. An impossible computation is an error, and never a successful step that moves nothing. */
#include <float.h>

#include "common/core/core.h"
#include "helpers.h"
#include "mesh_run.h"

static ts_context *context;

static mesh_sample scaled(mesh_sample m, double size, double offset) {
  for (size_t i = 0; i < 3 * (size_t)m.vertices; i++) m.x[i] = (float)(size * ((double)m.x[i] + offset));
  return m;
}

/* ---- Powers of two: the same bits ---- */

static const int exponents[] = {-90, -47, 1, 48, 90};
enum { exponent_count = sizeof exponents / sizeof exponents[0] };

/* Three steps at every size. At the smallest size a device may replace subnormal numbers by 0, which affects
 * the change in each step and its remainder in the sum. */
static void check_bits(const char *name, mesh_sample (*make)(void), ts_mesh_boundary boundary, ts_format format,
                       double time_step, double offset) {
  const ts_mesh_flow_desc desc = {.boundary = boundary, .format = format};
  mesh_run unit = {0};
  test_context_label("%s, %s, boundary %d", name, ts_format_name(format), boundary);
  if (mesh_run_open(&unit, context, scaled(make(), 1, offset), desc) && mesh_run_steps(&unit, 3, time_step)) {
    const float *expected = mesh_run_look(&unit);
    CHECK(!mesh_run_is_at(&unit, unit.mesh.x));
    for (int k = 0; k < exponent_count; k++) {
      mesh_run r = {0};
      const double size = ldexp(1, exponents[k]);
      int differ = 0;
      if (test_is_brief() && k % 4) continue;
      test_context_label("%s, %s, boundary %d, times 2^%d", name, ts_format_name(format), boundary,
                         exponents[k]);
      if (mesh_run_open(&r, context, scaled(make(), size, offset), desc) &&
          mesh_run_steps(&r, 3, size * size * time_step)) {
        const float *x = mesh_run_look(&r);
        for (size_t i = 0; i < 3 * (size_t)r.mesh.vertices; i++)
          differ += fabs((double)x[i] / size - (double)expected[i]) > 6 * (double)FLT_MIN * ldexp(1, 90);
        CHECK_INT(differ, 0);
      }
      mesh_run_close(&r);
    }
  }
  mesh_run_close(&unit);
  test_context_label("%s", "");
}

static mesh_sample a_sphere(void) {
  return mesh_sphere(2);
}
static mesh_sample uneven(void) {
  return mesh_irregular(10, 0, 9);
}
static mesh_sample harmed(void) {
  return mesh_irregular(10, 1, 9);
}
static mesh_sample a_cone(void) { /* a row needs several stages if rows are drawn */
  return mesh_cone(600, 0.5);
}

static void powers_of_two(void) {
  ts_format formats[8];
  const int format_count = list_mesh_formats(context, formats);
  for (int f = 0; f < format_count; f++) {
    check_bits("uneven", uneven, TS_MESH_BOUNDARY_FLOW, formats[f], 1e-3, 0);
    if (test_is_brief()) continue;
    check_bits("cone", a_cone, TS_MESH_BOUNDARY_FIXED, formats[f], 1e-3, 0);
  }
  check_bits("sphere", a_sphere, TS_MESH_BOUNDARY_FIXED, TS_FORMAT_AUTO, 0.01, 0);
  check_bits("harmed", harmed, TS_MESH_BOUNDARY_FLOW, TS_FORMAT_AUTO, 10, 0);
  check_bits("far sphere", a_sphere, TS_MESH_BOUNDARY_FIXED, TS_FORMAT_AUTO, 0.01, 1000);
}

/* ---- Any size ---- */

/* The mean distance from (centre, centre, centre), computed without squares outside the range of doubles. */
static double mean_radius(const mesh_run *r, const float *x, double centre) {
  double mean = 0;
  for (int32_t v = 0; v < r->mesh.vertices; v++) {
    double sum = 0;
    for (size_t c = 0; c < 3; c++) sum += pow(((double)x[3 * (size_t)v + c] - centre) / centre, 2);
    mean += sqrt(sum) / r->mesh.vertices;
  }
  return mean * fabs(centre);
}

/* A sphere of radius r next to the origin, r^2 = r_0^2 - 2 t. */
static void sizes(void) {
  static const double radii[] = {1e-35, 1e-30, 1e-20, 1e-16, 1e-14, 1e-7, 1e7, 1e14, 1e20, 1e30, 1e37};
  static const double offsets[] = {3, 100}; /* in radii */
  for (size_t k = 0; k < sizeof radii / sizeof radii[0]; k++)
    for (int far = 0; far < 2; far++) {
      mesh_run r = {0};
      const double radius = radii[k], centre = radius * offsets[far];
      if (centre > 1e38 || (test_is_brief() && (k + (size_t)far) % 3)) continue;
      test_context_label("a radius of %g, %g away", radius, centre);
      if (mesh_run_open(&r, context, scaled(mesh_sphere(3), radius, offsets[far]), (ts_mesh_flow_desc){0}) &&
          mesh_run_steps(&r, 4, 0.025 * radius * radius)) {
        const double left = mean_radius(&r, mesh_run_look(&r), centre) / radius;
        CHECK_CLOSE(left, sqrt(1 - 2 * 0.1), 0.01);
      }
      mesh_run_close(&r);
    }
}

/* ---- Unsolvable problems ---- */

/* A successful step has moved the sphere, unless the time is so short that the movement is below rounding. */
static void never_silent(void) {
  static const double radii[] = {1e-43, 1e-39, 1e-37, 1e-20, 1, 1e20, 3e38};
  static const double steps[] = {1e-290, 1e-80, 1e-45, 1e-10, 0.1, 1e25, 1e70, 1e200};
  for (size_t k = 0; k < sizeof radii / sizeof radii[0]; k++)
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
      mesh_run r = {0};
      ts_mesh_flow_result result = {0};
      const double size = radii[k], relative = steps[s] / size / size;
      if (test_is_brief() && (k + s) % 3) continue;
      if (test_is_check() && (size > 1e6 || size < FLT_MIN || relative < 1e-30))
        continue; /* it reports that it cannot decide */
      test_context_label("a radius of %g, a step of %g", size, steps[s]);
      if (mesh_run_open(&r, context, scaled(mesh_sphere(1), size, 0),
                        (ts_mesh_flow_desc){.max_halvings = -1})) {
        const ts_status status = ts_mesh_flow_step(r.flow, r.x, steps[s], &result);
        if (status == TS_OK)
          CHECK(!mesh_run_is_at(&r, r.mesh.x) || relative < 1e-6);
        else if (status == TS_NOT_CONVERGED)
          CHECK(result.message[0] != 0);
        else
          CHECK(strstr(ts_last_error(context), "time_step is ") || strstr(ts_last_error(context), "x: "));
        if (size >= 1e-37 && relative > 1e-3 && relative < 1e3) CHECK_INT(status, TS_OK);
      }
      mesh_run_close(&r);
    }
}

TEST_MAIN(CASES_IN_CONTEXT(powers_of_two, sizes, never_silent))
