/* Refusals of fluids: the status, a message that names the field and its value, and an unchanged state. */
#include "fluid_run.h"

static ts_context *context;

static void refuse(const ts_fluid_desc *desc, ts_status status, const char *a, const char *b) {
  ts_fluid *fluid = (ts_fluid *)(uintptr_t)1;
  const size_t before = context_info(context).bytes_device;
  CHECK_FAILS(context, ts_fluid_create(context, desc, &fluid), status, a, b);
  CHECK(fluid == NULL);
  CHECK_INT(context_info(context).bytes_device, before);
}

static void descriptors(void) {
  const ts_fluid_desc good = {.width = 8, .height = 8};
  ts_fluid_desc bad = good;
  bad.width = 3;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "width is 3", "4 x 4");
  bad = good, bad.height = -5;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "height is -5", "");
  bad = good, bad.width = bad.height = 1 << 30;
  refuse(&bad, TS_ERROR_LIMIT, "1073741824 x 1073741824", "too large");
  bad = good, bad.cell_size = -1;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "cell_size is -1", "");
  bad.cell_size = NAN;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "cell_size is nan", "");
  bad = good, bad.layout = (ts_fluid_layout)3;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "layout is 3", "");
  bad = good, bad.reserved[7] = 1;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "reserved[7] is 1", "");
  bad = good, bad.left.kind = (ts_fluid_boundary_kind)9;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "left.kind is 9", "");
  bad = good, bad.top.kind = TS_FLUID_BOUNDARY_PERIODIC;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "top is periodic and bottom is wall", "");
  bad = good, bad.right.velocity[1] = INFINITY;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "right.velocity[1] is inf", "");
  unsigned char solid[64];
  memset(solid, 1, sizeof solid);
  bad = good, bad.solid = solid;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "solid: all 8 x 8 cells are walls", "no fluid");
  solid[0] = 0;
  float velocity[128] = {0};
  velocity[2 * 19 + 1] = NAN;
  bad.solid_velocity = velocity;
  refuse(&bad, TS_ERROR_INVALID_ARGUMENT, "solid_velocity[1] of cell (3, 2) is nan", "");
  CHECK_FAILS(context, ts_fluid_create(context, NULL, &(ts_fluid *){NULL}), TS_ERROR_INVALID_ARGUMENT,
              "desc is NULL");
  CHECK_FAILS(context, ts_fluid_create(context, &good, NULL), TS_ERROR_INVALID_ARGUMENT, "out is NULL");
  CHECK_FAILS(NULL, ts_fluid_create(NULL, &good, NULL), TS_ERROR_INVALID_ARGUMENT, "context is NULL");
  /* A fluid may have a single cell. */
  ts_fluid *one = NULL;
  bad.solid_velocity = NULL;
  if (CHECK_OK(context, ts_fluid_create(context, &bad, &one)))
    CHECK_OK(context, ts_fluid_step(one, TS_FLUID_MEASURE_DIVERGENCE, NULL));
  ts_fluid_destroy(&one);
  ts_fluid_destroy(&one);
  ts_fluid_destroy(NULL);
}

static void parameters(void) {
  ts_fluid_parameters good;
  ts_fluid_default_parameters(&good);
  CHECK_CLOSE(good.time_step, 1.0 / 60, 1e-15);
  static double bytes[1]; /* must not be read */
  static const struct {
    ts_fluid_parameters p;
    const char *message;
  } bad[] = {
      {{.time_step = 0}, "time_step is 0 s"},
      {{.time_step = -0.1}, "time_step is -0.1 s"},
      {{.time_step = NAN}, "time_step is nan"},
      {{.time_step = 1001}, "time_step is 1001 s; it must be 1e-9 to 1000 s"},
      {{.time_step = 1, .viscosity = NAN}, "viscosity is nan"},
      {{.time_step = 1, .viscosity = -1}, "viscosity is -1"},
      {{.time_step = 1, .buoyancy = INFINITY}, "buoyancy is inf"},
      {{.time_step = 1, .smoke_weight = 1e300}, "smoke_weight is 1e+300"},
      {{.time_step = 1, .gravity = {0, NAN}}, "gravity[1] is nan"},
      {{.time_step = 1, .vorticity_confinement = NAN}, "vorticity_confinement is nan"},
      {{.time_step = 1, .dye_decay = -2}, "dye_decay is -2"},
      {{.time_step = 1, .temperature_decay = -2}, "temperature_decay is -2"},
      {{.time_step = 1, .advection = (ts_fluid_advection)5}, "advection is 5"},
      {{.time_step = 1, .advection = (ts_fluid_advection)-1}, "advection is -1"},
      {{.time_step = 1, .pressure.method = (ts_method)99}, "method is 99"},
      {{.time_step = 1, .pressure.method = TS_METHOD_CGLS}, "the method is cgls"},
      {{.time_step = 1, .pressure.preconditioner_kind = (ts_preconditioner_kind)99}, "kind is 99"},
      {{.time_step = 1, .pressure.preconditioner_kind = TS_PRECONDITIONER_CUSTOM}, "kind is custom"},
      {{.time_step = 1, .pressure.preconditioner = (ts_preconditioner *)bytes},
       "pressure.preconditioner is set"},
      {{.time_step = 1, .pressure.transposed = (ts_matrix *)bytes}, "pressure.transposed is set"},
      {{.time_step = 1, .pressure.fixed_iterations = 1001}, "pressure.fixed_iterations is 1001"},
      {{.time_step = 1, .pressure.fixed_iterations = -1}, "fixed_iterations is -1"},
      {{.time_step = 1, .pressure = {.fixed_iterations = 2, .rtol = 1e-3}}, "fixed_iterations is set"},
      {{.time_step = 1, .pressure.rtol = 1}, "rtol is 1"},
      {{.time_step = 1, .pressure.reductions = 2}, "reductions is set"},
      {{.time_step = 1, .pressure.reserved[3] = 5}, "pressure.reserved[3] is 5"},
      {{.time_step = 1, .multigrid.reserved[0] = 5}, "multigrid.reserved[0] is 5"},
      {{.time_step = 1, .reserved[2] = 5}, "parameters.reserved[2] is 5"},
      {{.time_step = 1, .multigrid.pre = 99}, "pre is 99"},
  };
  ts_fluid *fluid = NULL;
  const ts_fluid_desc desc = {.width = 8, .height = 8, .parameters = &good};
  REQUIRE_OK(context, ts_fluid_create(context, &desc, &fluid));
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    test_context_label("parameters %zu", k);
    const ts_fluid_desc refused = {.width = 8, .height = 8, .parameters = &bad[k].p};
    refuse(&refused, TS_ERROR_INVALID_ARGUMENT, bad[k].message, "");
    CHECK_FAILS(context, ts_fluid_set_parameters(fluid, &bad[k].p), TS_ERROR_INVALID_ARGUMENT, bad[k].message);
    ts_fluid_parameters now;
    CHECK_OK(context, ts_fluid_get_parameters(fluid, &now));
    CHECK(now.time_step == good.time_step && now.viscosity == 0 && now.multigrid.pre == 0);
    CHECK_OK(context, ts_fluid_step(fluid, 0, NULL));
  }
  test_context_label("%s", "");
  CHECK_FAILS(context, ts_fluid_step(fluid, 4, NULL), TS_ERROR_INVALID_ARGUMENT, "measure is 4");
  CHECK_FAILS(context, ts_fluid_set_parameters(fluid, NULL), TS_ERROR_INVALID_ARGUMENT, "parameters is NULL");
  ts_fluid_destroy(&fluid);
}

static void contents(void) {
  ts_fluid *fluid = NULL;
  const ts_fluid_desc desc = {.width = 8, .height = 8};
  REQUIRE_OK(context, ts_fluid_create(context, &desc, &fluid));
  const float nan2[2] = {0, NAN}, inf3[3] = {0, INFINITY, 0};
  CHECK_FAILS(context, ts_fluid_splat(fluid, NAN, 0, 1, NULL, NULL, 0), TS_ERROR_INVALID_ARGUMENT, "(nan, 0)");
  CHECK_FAILS(context, ts_fluid_splat(fluid, 0, 0, 0, NULL, NULL, 0), TS_ERROR_INVALID_ARGUMENT,
              "radius is 0 m");
  CHECK_FAILS(context, ts_fluid_splat(fluid, 0, 0, 1, nan2, NULL, 0), TS_ERROR_INVALID_ARGUMENT,
              "velocity is (0, nan)");
  CHECK_FAILS(context, ts_fluid_splat(fluid, 0, 0, 1, NULL, inf3, 0), TS_ERROR_INVALID_ARGUMENT,
              "dye is (0, inf, 0)");
  CHECK_FAILS(context, ts_fluid_splat(fluid, 0, 0, 1, NULL, NULL, NAN), TS_ERROR_INVALID_ARGUMENT,
              "temperature is nan");
  CHECK_OK(context,
           ts_fluid_splat(fluid, 1e9, -1e9, 1, NULL, (float[3]){1, 1, 1}, 1)); /* far away: no effect */
  ts_fluid_source source = {.half_width = 1};
  CHECK_FAILS(context, ts_fluid_set_sources(fluid, &source, 17), TS_ERROR_INVALID_ARGUMENT, "count is 17",
              "16");
  CHECK_FAILS(context, ts_fluid_set_sources(fluid, NULL, 1), TS_ERROR_INVALID_ARGUMENT, "sources is NULL");
  source.half_width = 0;
  CHECK_FAILS(context, ts_fluid_set_sources(fluid, &source, 1), TS_ERROR_INVALID_ARGUMENT,
              "half_width of source 0 is 0 m");
  source.half_width = 1, source.half_height = -1;
  CHECK_FAILS(context, ts_fluid_set_sources(fluid, &source, 1), TS_ERROR_INVALID_ARGUMENT,
              "half_height of source 0 is -1 m");
  source.half_height = 0, source.velocity[0] = NAN;
  CHECK_FAILS(context, ts_fluid_set_sources(fluid, &source, 1), TS_ERROR_INVALID_ARGUMENT,
              "source 0 is not finite");
  source.velocity[0] = 0, source.reserved[1] = 3;
  CHECK_FAILS(context, ts_fluid_set_sources(fluid, &source, 1), TS_ERROR_INVALID_ARGUMENT,
              "sources[0].reserved[1] is 3");
  CHECK_FAILS(context, ts_fluid_set_particles(fluid, 3, 0, 0), TS_ERROR_INVALID_ARGUMENT, "3 x 0 particles");
  CHECK_FAILS(context, ts_fluid_set_particles(fluid, 3, 3, -1), TS_ERROR_INVALID_ARGUMENT, "lifetime is -1 s");
  unsigned char solid[64];
  memset(solid, 1, sizeof solid);
  CHECK_FAILS(context, ts_fluid_set_walls(fluid, solid, NULL), TS_ERROR_INVALID_ARGUMENT, "all 8 x 8 cells");
  const ts_fluid_boundary periodic = {TS_FLUID_BOUNDARY_PERIODIC, {0}}, odd = {(ts_fluid_boundary_kind)-1, {0}};
  CHECK_FAILS(context, ts_fluid_set_boundaries(fluid, &odd, NULL, NULL, NULL), TS_ERROR_INVALID_ARGUMENT,
              "left.kind is -1");
  CHECK_FAILS(context, ts_fluid_set_boundaries(fluid, &periodic, NULL, NULL, NULL), TS_ERROR_INVALID_ARGUMENT,
              "left is periodic and right is wall");
  CHECK_FAILS(context, ts_fluid_set_boundaries(fluid, &periodic, &periodic, NULL, NULL), TS_ERROR_UNSUPPORTED,
              "periodic");
  CHECK_OK(context, ts_fluid_step(fluid, TS_FLUID_MEASURE_DIVERGENCE, NULL));
  ts_fluid_destroy(&fluid);
}

static void names(void) {
  for (int k = 0; k < 4; k++)
    CHECK_INT(ts_fluid_boundary_from_name(ts_fluid_boundary_name((ts_fluid_boundary_kind)k)), k);
  CHECK(!ts_fluid_boundary_name((ts_fluid_boundary_kind)4));
  CHECK(ts_fluid_boundary_from_name("lid") == -1 && ts_fluid_boundary_from_name(NULL) == -1);
  CHECK(strcmp(ts_fluid_stage_name(TS_FLUID_STAGE_PRESSURE), "pressure") == 0);
  CHECK(!ts_fluid_stage_name(TS_FLUID_STAGE_COUNT));
  CHECK(!ts_fluid_get_velocity(NULL) && !ts_fluid_get_dye(NULL) && !ts_fluid_get_particles(NULL));
  CHECK_FAILS(NULL, ts_fluid_step(NULL, 0, NULL), TS_ERROR_INVALID_ARGUMENT, "fluid is NULL");
  CHECK_FAILS(NULL, ts_fluid_reset(NULL), TS_ERROR_INVALID_ARGUMENT, "fluid is NULL");
}

TEST_MAIN(CASES_IN_CONTEXT(descriptors, parameters, contents, names))
