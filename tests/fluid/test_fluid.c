/* Fluids: properties that hold at every step of any flow. */
#include "common/core/core.h"
#include "fluid_run.h"

static ts_context *context;

static double rounding(fluid_run *run) {
  const size_t count = (size_t)run->desc.width * (size_t)run->desc.height;
  float *p = read_vector(ts_fluid_get_pressure(run->fluid));
  double largest = 0;
  for (size_t k = 0; k < count; k++) largest = fmax(largest, fabs((double)p[k]));
  free(p);
  return 5 * EPSILON * (run->result.largest_speed + run->parameters.time_step / run->h * largest) / run->h;
}

/* Staggered: cycles reduce the divergence to 1e-6 of its start or to rounding. Collocated: the five-point
 * Laplacian is not the divergence of the gradient, so no number of cycles removes it. */
static void divergence(void) {
  for (int layout = TS_FLUID_LAYOUT_STAGGERED; layout <= TS_FLUID_LAYOUT_COLLOCATED; layout++) {
    fluid_run run = fluid_make((ts_fluid_desc){.width = 65, .height = 33, .layout = (ts_fluid_layout)layout});
    run.parameters.pressure.fixed_iterations = 12;
    if (fluid_open(&run, context)) {
      const float v[2] = {3, 1};
      CHECK_OK(context, ts_fluid_splat(run.fluid, 0.7, 0.4, 0.1, v, NULL, 0));
      for (int k = 0; k < 2 && fluid_steps(&run, 1, TS_FLUID_MEASURE_DIVERGENCE); k++) {
        const ts_fluid_result *r = &run.result;
        printf("  %s: divergence %.1e -> %.1e, largest %.1e -> %.1e; rounding %.1e\n",
               layout == TS_FLUID_LAYOUT_COLLOCATED ? "collocated" : "staggered", r->divergence_before,
               r->divergence_after, r->largest_before, r->largest_after, rounding(&run));
        CHECK(r->divergence_before > 0.1 && r->largest_before >= r->divergence_before);
        CHECK(r->largest_after >= r->divergence_after && r->largest_speed > 1 && r->largest_speed < 3);
        if (layout == TS_FLUID_LAYOUT_STAGGERED)
          CHECK(r->divergence_after <= fmax(1e-6 * r->divergence_before, rounding(&run)));
        else
          CHECK(r->divergence_after > 0.05 * r->divergence_before);
      }
    }
    fluid_close(&run);
  }
}

static double divergence_left(int solver, ts_solver_desc how, ts_fluid_result *result) {
  fluid_run run = fluid_make((ts_fluid_desc){.width = 64, .height = 64});
  run.desc.right.kind = TS_FLUID_BOUNDARY_OUTLET;
  run.parameters.pressure = how;
  run.parameters.pressure.zero_start = 1;
  if (solver >= 0) fluid_use(&run, solver);
  const float v[2] = {1, 1};
  if (fluid_open(&run, context) && CHECK_OK(context, ts_fluid_splat(run.fluid, 0.5, 0.5, 0.2, v, NULL, 0)))
    fluid_steps(&run, 1, TS_FLUID_MEASURE_DIVERGENCE);
  *result = run.result;
  fluid_close(&run);
  return result->divergence_after / result->divergence_before;
}

/* Plain Jacobi hardly reduces smooth parts. */
static void solvers(void) {
  const ts_solver_desc defaults = {0};
  const int iterations[FLUID_SOLVERS] = {2, 4, 50, 20};
  ts_fluid_result r;
  double left[FLUID_SOLVERS];
  for (int k = 0; k < FLUID_SOLVERS; k++) {
    left[k] = divergence_left(k, defaults, &r);
    printf("  left of the divergence by %s: %.1e\n", fluid_solvers[k].name, left[k]);
    CHECK_INT(r.iterations, iterations[k]);
    CHECK_INT(r.pressure_reason, TS_REASON_FIXED_ITERATIONS);
  }
  CHECK(left[FLUID_MULTIGRID_CG] < 1e-3 && left[FLUID_MULTIGRID] < 1e-2);
  CHECK(left[FLUID_CG] < left[FLUID_JACOBI] && left[FLUID_JACOBI] > 0.5 && left[FLUID_JACOBI] < 1);
  CHECK(divergence_left(FLUID_JACOBI, (ts_solver_desc){.fixed_iterations = 5}, &r) > left[FLUID_JACOBI]);
  CHECK_INT(r.iterations, 5);
  /* A descriptor of zeros selects multigrid. */
  CHECK(divergence_left(-1, defaults, &r) == left[FLUID_MULTIGRID]);
  CHECK_INT(r.iterations, 2);
}

/* With a tolerance, iterations end when it is met. */
static void tolerances(void) {
  static const struct {
    ts_method method;
    ts_preconditioner_kind kind;
    int most;
  } tested[] = {
      {TS_METHOD_AUTO, TS_PRECONDITIONER_AUTO, 15},       {TS_METHOD_CG, TS_PRECONDITIONER_AUTO, 15},
      {TS_METHOD_CG, TS_PRECONDITIONER_NONE, 1000},       {TS_METHOD_CG, TS_PRECONDITIONER_CHEBYSHEV, 1000},
      {TS_METHOD_GMRES, TS_PRECONDITIONER_MULTIGRID, 15}, {TS_METHOD_BICGSTAB, TS_PRECONDITIONER_JACOBI, 1000}};
  ts_fluid_result r;
  for (size_t k = 0; k < sizeof tested / sizeof tested[0]; k++) {
    ts_solver_desc how = {.method = tested[k].method, .preconditioner_kind = tested[k].kind, .rtol = 1e-4};
    test_context_label("%s, %s", ts_method_name(how.method),
                       ts_preconditioner_kind_name(how.preconditioner_kind));
    const double left = divergence_left(-1, how, &r);
    printf("  %s, %s: %.1e left after %d iterations\n", ts_method_name(how.method),
           ts_preconditioner_kind_name(how.preconditioner_kind), left, r.iterations);
    CHECK(left < 1e-3);
    CHECK_INT(r.pressure_reason, TS_REASON_CONVERGED);
    CHECK(r.iterations > 1 && r.iterations < tested[k].most);
    how.max_iterations = 1;
    CHECK(divergence_left(-1, how, &r) > left);
    CHECK_INT(r.pressure_reason, TS_REASON_MAX_ITERATIONS);
  }
  test_context_label("%s", "");
  /* Walls that are added later are part of the preconditioner. */
  fluid_run run = fluid_make((ts_fluid_desc){.width = 32, .height = 32});
  unsigned char walls[32 * 32] = {0};
  memset(walls + 32 * 10, 1, 20);
  run.parameters.pressure = (ts_solver_desc){.rtol = 1e-4, .max_iterations = 50};
  const float v[2] = {1, 1};
  if (fluid_open(&run, context) && CHECK_OK(context, ts_fluid_set_walls(run.fluid, walls, NULL)) &&
      CHECK_OK(context, ts_fluid_splat(run.fluid, 0.5, 0.5, 0.2, v, NULL, 0)) &&
      fluid_steps(&run, 1, TS_FLUID_MEASURE_DIVERGENCE)) {
    CHECK_INT(run.result.pressure_reason, TS_REASON_CONVERGED);
    CHECK(run.result.iterations < 20 && run.result.divergence_after < 1e-3 * run.result.divergence_before);
  }
  fluid_close(&run);
}

/* Fields that are left 0 get their documented defaults. */
static void defaults(void) {
  fluid_run run = fluid_make((ts_fluid_desc){.width = 16, .height = 16});
  ts_fluid_info info;
  if (fluid_open(&run, context) && CHECK_OK(context, ts_fluid_get_info(run.fluid, &info)))
    CHECK_INT(info.layout, TS_FLUID_LAYOUT_STAGGERED);
  fluid_close(&run);
}

/* ---- Invariants ---- */

static int all_zero(const ts_vector *v) {
  float *values = read_vector(v);
  size_t k = 0;
  while (k < vector_count(v) && values[k] == 0) k++;
  free(values);
  return k == vector_count(v);
}

static double pattern(double x, double y, int component) {
  return sin(9 * x + component) * cos(7 * y) + 1;
}

/* A fluid at rest stays at rest exactly, and so does its dye. */
static void still(void) {
  for (int k = 0; k < 8; k++) {
    test_context_label("layout %d, advection %d, %s", 1 + (k & 1), 1 + (k >> 1 & 1),
                       k & 4 ? "periodic" : "closed");
    fluid_run run =
        fluid_make((ts_fluid_desc){.width = 19, .height = 12, .layout = (ts_fluid_layout)(1 + (k & 1))});
    run.parameters.advection = (ts_fluid_advection)(1 + (k >> 1 & 1));
    run.parameters.viscosity = 0.01;
    run.parameters.vorticity_confinement = 3;
    if (k & 4) {
      run.desc.left.kind = run.desc.right.kind = TS_FLUID_BOUNDARY_PERIODIC;
      run.desc.top.kind = TS_FLUID_BOUNDARY_SLIP;
    }
    if (fluid_open(&run, context)) {
      fluid_write_dye(&run, pattern);
      float *before = read_vector(ts_fluid_get_dye(run.fluid));
      if (fluid_steps(&run, 3, TS_FLUID_MEASURE_DIVERGENCE)) {
        CHECK(all_zero(ts_fluid_get_velocity(run.fluid)) && all_zero(ts_fluid_get_pressure(run.fluid)));
        float *after = read_vector(ts_fluid_get_dye(run.fluid));
        int differ = 0;
        for (size_t n = 0; n < vector_count(ts_fluid_get_dye(run.fluid)); n++) differ += before[n] != after[n];
        CHECK_INT(differ, 0);
        free(after);
        CHECK(run.result.divergence_after == 0 && run.result.largest_speed == 0);
      }
      free(before);
    }
    fluid_close(&run);
  }
}

/* Mirror symmetry is preserved up to the order of additions. */
static void symmetric(void) {
  enum { width = 40, height = 30 };
  for (int layout = TS_FLUID_LAYOUT_STAGGERED; layout <= TS_FLUID_LAYOUT_COLLOCATED; layout++) {
    fluid_run run =
        fluid_make((ts_fluid_desc){.width = width, .height = height, .layout = (ts_fluid_layout)layout});
    run.parameters.advection = TS_FLUID_ADVECTION_MACCORMACK;
    run.parameters.buoyancy = 5;
    run.parameters.vorticity_confinement = 2;
    run.parameters.pressure.fixed_iterations = 8;
    const float up[2] = {0, 1};
    if (fluid_open(&run, context) &&
        CHECK_OK(context, ts_fluid_splat(run.fluid, 20 * run.h, 8 * run.h, 4 * run.h, up, NULL, 1)) &&
        fluid_steps(&run, test_is_brief() ? 4 : 8, TS_FLUID_MEASURE_DIVERGENCE)) {
      float *v = read_vector(ts_fluid_get_velocity(run.fluid));
      double worst = 0;
      for (int j = 0; j < height; j++)
        for (int i = 0; i < width; i++) {
          const int row = j * (width + 1),
                    u_at = layout == TS_FLUID_LAYOUT_COLLOCATED ? width - 1 - i : width - i;
          worst = fmax(worst, fabs((double)v[2 * (row + i)] + (double)v[2 * (row + u_at)]));
          worst = fmax(worst, fabs((double)v[2 * (row + i) + 1] - (double)v[2 * (row + width - 1 - i) + 1]));
        }
      printf("  layout %d: off by %.1e of %.2f\n", layout, worst, run.result.largest_speed);
      CHECK(worst < 2e-5 && run.result.largest_speed > 0.5);
      free(v);
    }
    fluid_close(&run);
  }
}

/* ---- Host synchronisations and bits ---- */

static void host_synchronisations(void) {
  for (int k = 0; k < FLUID_SOLVERS; k++) {
    fluid_run run = fluid_make((ts_fluid_desc){.width = 24, .height = 24});
    fluid_use(&run, k);
    test_context_label("%s", fluid_solvers[k].name);
    const unsigned each = k == FLUID_MULTIGRID_CG; /* the mean of the right-hand side in a closed domain */
    run.parameters.viscosity = 0.01;
    run.parameters.advection = TS_FLUID_ADVECTION_MACCORMACK;
    run.parameters.vorticity_confinement = 1;
    if (fluid_open(&run, context) && CHECK_OK(context, ts_fluid_set_particles(run.fluid, 5, 5, 1)) &&
        fluid_steps(&run, 1, 0)) { /* allocates missing objects */
      const uint64_t before = context_info(context).host_synchronisations;
      if (fluid_steps(&run, 3, 0)) {
        CHECK_INT(run.result.host_synchronisations, each);
        CHECK_INT(context_info(context).host_synchronisations, before + 3 * each);
        CHECK(isnan(run.result.divergence_after) && run.result.seconds[TS_FLUID_STAGE_PRESSURE] == 0);
      }
      if (fluid_steps(&run, 1, TS_FLUID_MEASURE_DIVERGENCE))
        CHECK_INT(run.result.host_synchronisations, 1 + each);
      if (fluid_steps(&run, 1, TS_FLUID_MEASURE_TIMES)) {
        CHECK(run.result.host_synchronisations > TS_FLUID_STAGE_COUNT);
        for (int stage = 0; stage < TS_FLUID_STAGE_COUNT; stage++) CHECK(run.result.seconds[stage] >= 0);
        CHECK(run.result.seconds[TS_FLUID_STAGE_PRESSURE] > 0);
      }
      CHECK_INT(run.result.steps, 6);
      CHECK_CLOSE(run.result.time, 6.0 / 60, 1e-9);
    }
    fluid_close(&run);
  }
  test_context_label("%s", "");
}

static void not_a_number(void) {
  for (int which = 0; which < 2; which++) {
    fluid_run run = fluid_make((ts_fluid_desc){.width = 16, .height = 16});
    if (fluid_open(&run, context)) {
      ts_vector *v = which ? ts_fluid_get_dye(run.fluid) : ts_fluid_get_velocity(run.fluid);
      float *values = read_vector(v);
      values[which ? 4 * (16 * 8 + 8) : 2 * (17 * 8 + 8)] = which ? INFINITY : NAN;
      CHECK_OK(context, ts_vector_write(v, ts_host(values, vector_count(v))));
      free(values);
      /* The check backend distinguishes NaNs of the fluid from its own. */
      CHECK_INT(ts_fluid_step(run.fluid, TS_FLUID_MEASURE_DIVERGENCE, &run.result), TS_NOT_CONVERGED);
      CHECK_OK(context, ts_fluid_reset(run.fluid));
      fluid_steps(&run, 1, TS_FLUID_MEASURE_DIVERGENCE);
    }
    fluid_close(&run);
  }
}

/* ---- Backends ---- */

static double largest_difference(const ts_vector *x, const ts_vector *y) {
  float *a = read_vector(x), *b = read_vector(y);
  double most = 0;
  for (size_t k = 0; k < vector_count(x); k++) {
    const double d = fabs((double)a[k] - (double)b[k]);
    if (!(d <= most) && !isnan(most)) most = d;
  }
  free(a);
  free(b);
  return most;
}

typedef struct scene {
  const char *name;
  ts_fluid_boundary boundaries[4];
  int solids, moving;
} scene;

static const scene scenes[] = {
    {"closed", {{0}, {0}, {0}, {TS_FLUID_BOUNDARY_WALL, {1, 0}}}, 0, 0},
    {"channel",
     {{TS_FLUID_BOUNDARY_WALL, {1, 0.1f}},
      {TS_FLUID_BOUNDARY_OUTLET, {0}},
      {TS_FLUID_BOUNDARY_SLIP, {0}},
      {TS_FLUID_BOUNDARY_WALL, {0.3f, 0}}},
     1,
     0},
    {"periodic",
     {{TS_FLUID_BOUNDARY_PERIODIC, {0}},
      {TS_FLUID_BOUNDARY_PERIODIC, {0}},
      {TS_FLUID_BOUNDARY_PERIODIC, {0}},
      {TS_FLUID_BOUNDARY_PERIODIC, {0}}},
     1,
     1},
    {"half periodic",
     {{TS_FLUID_BOUNDARY_OUTLET, {0}},
      {TS_FLUID_BOUNDARY_WALL, {-1, 0}},
      {TS_FLUID_BOUNDARY_PERIODIC, {0}},
      {TS_FLUID_BOUNDARY_PERIODIC, {0}}},
     1,
     0},
};

enum { wide = 45, high = 30 };
static unsigned char solid[wide * high];
static float solid_velocity[2 * wide * high];

static void fill_solids(int moving) {
  for (int j = 0; j < high; j++)
    for (int i = 0; i < wide; i++) {
      const int k = j * wide + i;
      solid[k] = (i - 15) * (i - 15) + (j - 12) * (j - 12) < 20 || (i > 30 && i < 34 && j < 5);
      solid_velocity[2 * k] = moving ? 0.5f : 0;
      solid_velocity[2 * k + 1] = moving ? -0.25f : 0;
    }
}

static int open_scene(fluid_run *run, ts_context *c, const scene *s, int layout, int advection) {
  fill_solids(s->moving);
  *run = fluid_make((ts_fluid_desc){.width = wide,
                                    .height = high,
                                    .layout = (ts_fluid_layout)layout,
                                    .left = s->boundaries[0],
                                    .right = s->boundaries[1],
                                    .bottom = s->boundaries[2],
                                    .top = s->boundaries[3],
                                    .solid = s->solids ? solid : NULL,
                                    .solid_velocity = s->solids ? solid_velocity : NULL});
  run->parameters.advection = (ts_fluid_advection)advection;
  run->parameters.pressure.fixed_iterations = 6;
  run->parameters.viscosity = 0.002;
  run->parameters.buoyancy = 2;
  run->parameters.smoke_weight = 0.5;
  run->parameters.gravity[0] = 0.3;
  run->parameters.vorticity_confinement = 1;
  run->parameters.dye_decay = 0.5;
  run->parameters.temperature_decay = 1;
  if (!fluid_open(run, c)) return 0;
  const float v[2] = {1.5f, -0.5f}, dye[3] = {1, 0.5f, 0.25f};
  const ts_fluid_source sources[2] = {
      {.x = 0.1f, .y = 0.5f, .half_width = 0.1f, .half_height = 0.05f, .dye = {0, 1, 0}, .sets_dye = 1},
      {.x = 1.2f,
       .y = 0.3f,
       .half_width = 0.08f,
       .temperature = 1,
       .velocity = {0, 1},
       .sets_temperature = 1,
       .sets_velocity = 1}};
  return CHECK_OK(c, ts_fluid_set_sources(run->fluid, sources, 2)) &&
         CHECK_OK(c, ts_fluid_splat(run->fluid, 1.45, 0.8, 0.15, v, dye, 0.5f)) &&
         CHECK_OK(c, ts_fluid_set_particles(run->fluid, 20, 10, 0.2));
}

/* Returns 1 if a field is equal on both devices after `steps`, and reports the place of a difference. */
static int agrees(const char *name, const ts_vector *here, const ts_vector *there, int steps) {
  float *a = read_vector(here), *b = read_vector(there);
  const size_t components = (size_t)here->components, width = (size_t)here->space->grid.width;
  double most = 0;
  size_t at = 0;
  for (size_t k = 0; k < vector_count(here); k++) {
    const double d = fabs((double)a[k] - (double)b[k]);
    if (d <= most || isnan(most)) continue;
    most = d;
    at = k;
  }
  const int same = CHECK_CLOSE(most, 0, 1e-4);
  if (!same)
    printf("  %s differs most after %d steps, in component %zu at (%zu, %zu): %g here, %g on the CPU\n", name,
           steps, at % components, at / components % width, at / components / width, (double)a[at],
           (double)b[at]);
  free(a);
  free(b);
  return same;
}

/* This backend and the CPU differ only by rounding and its effect on the solves. */
static void agrees_with_cpu(void) {
  const ts_context_desc cpu_desc = {.backend = "cpu"};
  ts_context *cpu = NULL;
  CHECK_OK(NULL, ts_context_create(&cpu_desc, &cpu));
  const int steps = test_is_brief() ? 2 : 4;
  for (int k = 0; k < 16; k++) {
    if (test_is_brief() && k % 4 != k / 4) continue;
    const scene *s = &scenes[k / 4];
    const int layout = 1 + (k & 1), advection = 1 + (k >> 1 & 1);
    test_context_label("%s, layout %d, advection %d", s->name, layout, advection);
    fluid_run here = {0}, there = {0};
    int same =
        open_scene(&here, context, s, layout, advection) && open_scene(&there, cpu, s, layout, advection);
    for (int step = 1; same && step <= steps; step++)
      same = fluid_steps(&here, 1, TS_FLUID_MEASURE_DIVERGENCE) &&
             fluid_steps(&there, 1, TS_FLUID_MEASURE_DIVERGENCE) &&
             agrees("velocity", ts_fluid_get_velocity(here.fluid), ts_fluid_get_velocity(there.fluid), step) &&
             agrees("dye", ts_fluid_get_dye(here.fluid), ts_fluid_get_dye(there.fluid), step) &&
             agrees("particles", ts_fluid_get_particles(here.fluid), ts_fluid_get_particles(there.fluid), step);
    fluid_close(&here);
    fluid_close(&there);
  }
  test_context_label("%s", "");
  ts_context_destroy(&cpu);
}

/* The same input gives the same bits. */
static void same_bits(void) {
  const int steps = test_is_brief() ? 2 : 5;
  for (int k = 0; k < 4; k++) {
    fluid_run first = {0}, second = {0};
    if (open_scene(&first, context, &scenes[k], 1 + (k & 1), TS_FLUID_ADVECTION_MACCORMACK) &&
        open_scene(&second, context, &scenes[k], 1 + (k & 1), TS_FLUID_ADVECTION_MACCORMACK) &&
        fluid_steps(&first, steps, 0) && fluid_steps(&second, steps, TS_FLUID_MEASURE_DIVERGENCE)) {
      CHECK(largest_difference(ts_fluid_get_velocity(first.fluid), ts_fluid_get_velocity(second.fluid)) == 0);
      CHECK(largest_difference(ts_fluid_get_dye(first.fluid), ts_fluid_get_dye(second.fluid)) == 0);
      CHECK(largest_difference(ts_fluid_get_particles(first.fluid), ts_fluid_get_particles(second.fluid)) == 0);
    }
    fluid_close(&first);
    fluid_close(&second);
  }
}

TEST_MAIN(CASES_IN_CONTEXT(divergence, solvers, tolerances, defaults, still, symmetric, host_synchronisations,
                           not_a_number, agrees_with_cpu, same_bits))
