/* Fluids and their surroundings: walls, inlets, outlets, sources and transport. */
#include "fluid_run.h"

static ts_context *context;

enum { width = 32, height = 20 };
static unsigned char solid[width * height];
static float solid_velocity[2 * width * height];

static ts_fluid_info info_of(const fluid_run *run) {
  ts_fluid_info info = {0};
  CHECK_OK(context, ts_fluid_get_info(run->fluid, &info));
  return info;
}

static fluid_run channel(void) {
  fluid_run run = fluid_make((ts_fluid_desc){.width = width, .height = height});
  run.desc.left = (ts_fluid_boundary){TS_FLUID_BOUNDARY_WALL, {1, 0}};
  run.desc.right.kind = TS_FLUID_BOUNDARY_OUTLET;
  run.parameters.pressure.fixed_iterations = 8;
  return run;
}

static void fill(int left, int right, int bottom, int top) {
  for (int j = 0; j < height; j++)
    for (int i = 0; i < width; i++) solid[j * width + i] |= i >= left && i < right && j >= bottom && j < top;
}

static void clear(void) {
  memset(solid, 0, sizeof solid);
  memset(solid_velocity, 0, sizeof solid_velocity);
}

static float u_at(const float *v, int i, int j) {
  return v[2 * (j * (width + 1) + i)];
}
static float v_at(const float *v, int i, int j) {
  return v[2 * (j * (width + 1) + i) + 1];
}

/* Nothing passes a wall: velocities through the faces of solids and boundaries have exactly the given
 * values. */
static int walls_hold(fluid_run *run, float moving_x, float moving_y) {
  float *v = read_vector(ts_fluid_get_velocity(run->fluid));
  int wrong = 0;
  for (int j = 0; j < height; j++)
    for (int i = 0; i < width; i++) {
      if (!solid[j * width + i]) continue;
      wrong += u_at(v, i, j) != moving_x || u_at(v, i + 1, j) != moving_x;
      wrong += v_at(v, i, j) != moving_y || v_at(v, i, j + 1) != moving_y;
    }
  for (int j = 0; j < height; j++) wrong += !solid[j * width] && u_at(v, 0, j) != 1;
  for (int i = 0; i < width; i++) wrong += v_at(v, i, 0) != 0 || v_at(v, i, height) != 0;
  free(v);
  return CHECK_INT(wrong, 0);
}

static void walls(void) {
  for (int moving = 0; moving < 2; moving++) {
    clear();
    fill(8, 13, 6, 12);
    for (int k = 0; k < width * height; k++) {
      solid_velocity[2 * k] = moving ? 0.25f : 0;
      solid_velocity[2 * k + 1] = moving ? 0.5f : 0;
    }
    fluid_run run = channel();
    run.desc.solid = solid;
    run.desc.solid_velocity = solid_velocity;
    run.parameters.viscosity = 0.01;
    run.parameters.advection = TS_FLUID_ADVECTION_MACCORMACK;
    if (fluid_open(&run, context)) {
      const float push[2] = {-3, 5};
      const int steps = test_is_brief() ? 2 : 5;
      for (int k = 0; k < steps && fluid_steps(&run, 1, TS_FLUID_MEASURE_DIVERGENCE); k++) {
        if (!walls_hold(&run, moving ? 0.25f : 0, moving ? 0.5f : 0)) break;
        CHECK(run.result.divergence_after < 2e-3);
        CHECK_OK(context, ts_fluid_splat(run.fluid, 0.5, 0.5, 0.3, push, NULL, 0));
      }
    }
    fluid_close(&run);
  }
}

/* Outflow equals inflow. */
static void through_flow(void) {
  clear();
  fill(0, 10, 0, 8); /* a step */
  fluid_run run = channel();
  run.desc.solid = solid;
  run.parameters.pressure.fixed_iterations = 10;
  if (fluid_open(&run, context) && fluid_steps(&run, 10, TS_FLUID_MEASURE_DIVERGENCE)) {
    const ts_fluid_info info = info_of(&run);
    CHECK_CLOSE(info.inflow, 12.0 / height, 1e-6);
    CHECK_INT(info.fluid_cells, width * height - 80);
    CHECK(info.closed == 0 && info.outlet_closed == 0 && info.incompatible == 0);
    float *v = read_vector(ts_fluid_get_velocity(run.fluid));
    double out = 0;
    for (int j = 0; j < height; j++) out += (double)u_at(v, width, j) * run.h;
    CHECK_CLOSE(out, info.inflow, 1e-4);
    free(v);
  }
  fluid_close(&run);
}

/* An outlet closed by walls: the inflow is subtracted evenly, and all values stay finite. */
static void closed_outlet(void) {
  for (int layout = TS_FLUID_LAYOUT_STAGGERED; layout <= TS_FLUID_LAYOUT_COLLOCATED; layout++) {
    clear();
    fluid_run run = channel();
    run.desc.layout = (ts_fluid_layout)layout;
    if (fluid_open(&run, context) && fluid_steps(&run, 3, 0)) {
      fill(28, 29, 0, height);
      CHECK_OK(context, ts_fluid_set_walls(run.fluid, solid, NULL));
      ts_fluid_info info = info_of(&run);
      /* The part behind the wall still has the outlet. */
      CHECK(info.closed == 1 && info.outlet_closed == 0);
      CHECK_CLOSE(info.incompatible, 1, 1e-6);
      fill(28, 32, 0, height);
      CHECK_OK(context, ts_fluid_set_walls(run.fluid, solid, NULL));
      info = info_of(&run);
      CHECK(info.closed == 1 && info.outlet_closed == 1);
      CHECK_CLOSE(info.incompatible, 1, 1e-6);
      if (fluid_steps(&run, 5, TS_FLUID_MEASURE_DIVERGENCE)) {
        CHECK(run.result.largest_speed < 20);
        if (layout == TS_FLUID_LAYOUT_STAGGERED) CHECK(run.result.divergence_after < 2e-3);
      }
      CHECK_OK(context, ts_fluid_set_walls(run.fluid, NULL, NULL));
      CHECK_INT(info_of(&run).incompatible, 0);
      fluid_steps(&run, 2, TS_FLUID_MEASURE_DIVERGENCE);
    }
    fluid_close(&run);
  }
}

/* Closed pockets next to a flow, some of a single cell, with all solvers. */
static void pockets(void) {
  for (int solver = 0; solver < FLUID_SOLVERS; solver++) {
    clear();
    fill(4, 28, 4, 16);
    for (int k = 0; k < 10; k++) {
      const int i = 5 + 2 * k;
      solid[6 * width + i] = 0; /* ten single cells */
      for (int n = 0; n < 4; n++) solid[(9 + n / 2) * width + i + n % 2 * (k & 1)] = 0;
    }
    fluid_run run = channel();
    run.desc.solid = solid;
    run.parameters.pressure.fixed_iterations = 0;
    fluid_use(&run, solver);
    const float push[2] = {2, 2};
    if (fluid_open(&run, context) &&
        CHECK_OK(context, ts_fluid_splat(run.fluid, 0.8, 0.5, 0.5, push, NULL, 0)) &&
        fluid_steps(&run, test_is_brief() ? 2 : 10, TS_FLUID_MEASURE_DIVERGENCE)) {
      CHECK(info_of(&run).closed >= 10);
      CHECK(run.result.largest_speed < 20 && run.result.divergence_after < run.result.divergence_before);
      walls_hold(&run, 0, 0);
    }
    fluid_close(&run);
  }
}

/* Walls that are removed leave fluid at rest, and changed boundaries take effect. */
static void changes(void) {
  clear();
  fill(8, 16, 5, 15);
  for (int k = 0; k < width * height; k++) solid_velocity[2 * k] = 0.5f;
  fluid_run run = channel();
  run.desc.left.velocity[0] = 0;
  run.desc.solid = solid;
  run.desc.solid_velocity = solid_velocity;
  if (fluid_open(&run, context)) {
    float *v = read_vector(ts_fluid_get_velocity(run.fluid));
    CHECK(u_at(v, 12, 10) == 0.5f && u_at(v, 2, 10) == 0);
    free(v);
    CHECK_OK(context, ts_fluid_set_walls(run.fluid, NULL, NULL));
    v = read_vector(ts_fluid_get_velocity(run.fluid));
    CHECK(u_at(v, 12, 10) == 0);
    free(v);
    const ts_fluid_boundary inlet = {TS_FLUID_BOUNDARY_WALL, {2, 0}}, slip = {TS_FLUID_BOUNDARY_SLIP, {0}};
    CHECK_OK(context, ts_fluid_set_boundaries(run.fluid, &inlet, NULL, &slip, &slip));
    CHECK_CLOSE(info_of(&run).inflow, 2, 1e-6);
    if (fluid_steps(&run, 3, TS_FLUID_MEASURE_DIVERGENCE)) {
      /* Between frictionless boundaries the flow is uniform. */
      v = read_vector(ts_fluid_get_velocity(run.fluid));
      for (int j = 0; j < height; j++)
        if (!CHECK_CLOSE((double)u_at(v, 17, j), 2, 1e-3)) break;
      free(v);
    }
  }
  fluid_close(&run);
}

/* ---- Forces and sources ---- */

static double sideways(double x, double y, int component) {
  (void)x, (void)y;
  return component == 0 ? 0.375 : 0;
}

static double stripe(double x, double y, int component) {
  (void)y;
  return 1 + sin(2 * 3.14159265358979323846 * x / 1.6 + component);
}

static double moved_stripe(double x, double y, int component) {
  return exp(-2 * 0.4) * stripe(x - 0.375 * 0.4, y, component);
}

static fluid_run periodic(void) {
  fluid_run run = fluid_make((ts_fluid_desc){.width = width, .height = height});
  run.desc.left.kind = run.desc.right.kind = TS_FLUID_BOUNDARY_PERIODIC;
  run.desc.bottom.kind = run.desc.top.kind = TS_FLUID_BOUNDARY_PERIODIC;
  return run;
}

/* A uniform flow in a periodic domain continues. Dye circulates and decays, and gravity accelerates. */
static void uniform_flow(void) {
  for (int layout = TS_FLUID_LAYOUT_STAGGERED; layout <= TS_FLUID_LAYOUT_COLLOCATED; layout++) {
    fluid_run run = periodic();
    run.desc.layout = (ts_fluid_layout)layout;
    run.parameters.time_step = 0.04;
    run.parameters.advection = TS_FLUID_ADVECTION_MACCORMACK;
    run.parameters.viscosity = 0.01;
    run.parameters.dye_decay = 2;
    if (fluid_open(&run, context)) {
      fluid_write_velocity(&run, sideways);
      fluid_write_dye(&run, stripe);
      if (fluid_steps(&run, 10, 0)) {
        const double velocity = fluid_velocity_error(&run, sideways), dye = fluid_dye_error(&run, moved_stripe);
        printf("  layout %d: velocity off by %.1e, dye by %.1e\n", layout, velocity, dye);
        CHECK(velocity < 1e-6 && dye < 5e-3);
      }
      run.parameters.gravity[0] = 0.5;
      run.parameters.gravity[1] = -1;
      CHECK_OK(context, ts_fluid_set_parameters(run.fluid, &run.parameters));
      if (fluid_steps(&run, 5, 0)) {
        float *v = read_vector(ts_fluid_get_velocity(run.fluid));
        CHECK_CLOSE((double)u_at(v, 7, 9), 0.375 + 0.5 * 0.2, 1e-5);
        CHECK_CLOSE((double)v_at(v, 7, 9), -0.2, 1e-5);
        free(v);
      }
    }
    fluid_close(&run);
  }
}

/* Warm fluid rises, smoke sinks, sources keep their values, splats add. */
static void contents(void) {
  clear();
  for (int layout = TS_FLUID_LAYOUT_STAGGERED; layout <= TS_FLUID_LAYOUT_COLLOCATED; layout++) {
    fluid_run run =
        fluid_make((ts_fluid_desc){.width = width, .height = height, .layout = (ts_fluid_layout)layout});
    run.parameters.buoyancy = 2;
    run.parameters.smoke_weight = 3;
    const float dye[3] = {0.5f, 0.25f, 0.75f};
    const ts_fluid_source source = {
        .x = 0.4f, .y = 0.4f, .half_width = 0.1f, .half_height = 0.1f, .temperature = 1, .sets_temperature = 1};
    if (fluid_open(&run, context) && CHECK_OK(context, ts_fluid_set_sources(run.fluid, &source, 1)) &&
        CHECK_OK(context, ts_fluid_splat(run.fluid, 1.2, 0.5, 0.1, NULL, dye, 0)) && fluid_steps(&run, 5, 0)) {
      float *v = read_vector(ts_fluid_get_velocity(run.fluid)), *c = read_vector(ts_fluid_get_dye(run.fluid));
      CHECK(v_at(v, 8, 9) > 0.01f && v_at(v, 24, 10) < -0.01f);
      CHECK(c[4 * (8 * width + 8) + 3] == 1);
      CHECK(c[4 * (10 * width + 24)] > 0.3f && c[4 * (10 * width + 24)] < 0.5f);
      free(v);
      free(c);
    }
    if (run.fluid) {
      CHECK_OK(context, ts_fluid_reset(run.fluid));
      float *c = read_vector(ts_fluid_get_dye(run.fluid));
      CHECK(c[4 * (10 * width + 24)] == 0);
      free(c);
      CHECK_OK(context, ts_fluid_set_sources(run.fluid, NULL, 0));
      if (fluid_steps(&run, 1, 0)) CHECK_INT(run.result.steps, 1);
    }
    fluid_close(&run);
  }
}

/* Particles follow the flow, stay in it, and restart at the end of their life. */
static void particles(void) {
  clear();
  fluid_run run = periodic();
  run.parameters.time_step = 0.04;
  if (fluid_open(&run, context) && CHECK_OK(context, ts_fluid_set_particles(run.fluid, 8, 4, 0))) {
    fluid_write_velocity(&run, sideways);
    float *before = read_vector(ts_fluid_get_particles(run.fluid));
    if (fluid_steps(&run, 10, 0)) {
      float *after = read_vector(ts_fluid_get_particles(run.fluid));
      for (int k = 0; k < 32; k++) {
        const double x = fmod((double)before[4 * k] + 0.375 * 0.4, 1.6);
        if (!CHECK_CLOSE((double)after[4 * k], x, 1e-4) ||
            !CHECK_CLOSE((double)after[4 * k + 1], (double)before[4 * k + 1], 1e-4) ||
            !CHECK_CLOSE((double)after[4 * k + 2], 0.4, 1e-5) ||
            !CHECK_CLOSE((double)after[4 * k + 3], 0.375, 1e-5))
          break;
      }
      free(after);
    }
    free(before);
  }
  fluid_close(&run);
  run = channel();
  const int turns = test_is_brief() ? 10 : 60;
  const float life = test_is_brief() ? 0.0625f : 0.5f; /* all reach their end in these steps of 1/60 */
  fill(10, 20, 5, 15);
  run.desc.solid = solid;
  if (fluid_open(&run, context) && CHECK_OK(context, ts_fluid_set_particles(run.fluid, 30, 20, life)) &&
      fluid_steps(&run, turns, 0)) {
    float *p = read_vector(ts_fluid_get_particles(run.fluid));
    int in_wall = 0;
    for (int k = 0; k < 600; k++) {
      const double x = (double)p[4 * k] / run.h, y = (double)p[4 * k + 1] / run.h;
      if (!CHECK(x >= 0 && x <= width && y >= 0 && y <= height && p[4 * k + 2] <= 1.4f * life)) break;
      in_wall += solid[(int)fmin(y, height - 1) * width + (int)fmin(x, width - 1)];
    }
    CHECK(in_wall < 6); /* a position is chosen at most four times */
    free(p);
    CHECK_OK(context, ts_fluid_set_particles(run.fluid, 0, 0, 0));
    CHECK(ts_fluid_get_particles(run.fluid) == NULL);
  }
  fluid_close(&run);
}

TEST_MAIN(CASES_IN_CONTEXT(walls, through_flow, closed_outlet, pockets, changes, uniform_flow, contents,
                           particles))
