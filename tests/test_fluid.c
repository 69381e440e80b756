/* Fluids: what must hold at every step, whatever flows. */
#include "common.h"
#include "fluid_run.h"

static ts_context *context;

/* ---- Divergence ---- */

static void divergence(void) {
  context = test_open();
  if (!context) return;
  for (int layout = 0; layout < 2; layout++) {
    fluid_run run = fluid_make((ts_fluid_desc){.width = 65, .height = 33, .layout = (ts_fluid_layout)layout});
    run.parameters.iterations = 12;
    if (fluid_open(&run, context)) {
      const float v[2] = {3, 1};
      CHECK_OK(context, ts_fluid_splat(run.fluid, 0.7, 0.4, 0.1, v, NULL, 0));
      for (int k = 0; k < 3 && fluid_steps(&run, 1, 3); k++)
        printf("  %s: %.3e -> %.3e, largest %.3e -> %.3e, speed %.3f\n", layout ? "collocated" : "staggered",
               run.result.divergence_before, run.result.divergence_after, run.result.largest_before,
               run.result.largest_after, run.result.largest_speed);
    }
    fluid_close(&run);
  }
  test_close(&context);
}

/* ---- Backends ---- */

static double largest_difference(const ts_vector *x, const ts_vector *y) {
  float *a = read_vector(x), *b = read_vector(y);
  double most = 0;
  for (size_t k = 0; k < vector_count(x); k++) {
    const double d = fabs((double)a[k] - (double)b[k]);
    if (!(d <= most)) most = d;
  }
  free(a);
  free(b);
  return most;
}

typedef struct scene {
  const char *name;
  ts_fluid_side sides[4];
  int solids, moving;
} scene;

static const scene scenes[] = {
    {"closed", {{0}, {0}, {0}, {TS_FLUID_WALL, {1, 0}}}, 0, 0},
    {"channel",
     {{TS_FLUID_WALL, {1, 0.1f}}, {TS_FLUID_OUTLET, {0}}, {TS_FLUID_SLIP, {0}}, {TS_FLUID_WALL, {0.3f, 0}}},
     1,
     0},
    {"periodic",
     {{TS_FLUID_PERIODIC, {0}}, {TS_FLUID_PERIODIC, {0}}, {TS_FLUID_PERIODIC, {0}}, {TS_FLUID_PERIODIC, {0}}},
     1,
     1},
    {"half periodic",
     {{TS_FLUID_OUTLET, {0}}, {TS_FLUID_WALL, {-1, 0}}, {TS_FLUID_PERIODIC, {0}}, {TS_FLUID_PERIODIC, {0}}},
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
                                    .left = s->sides[0],
                                    .right = s->sides[1],
                                    .bottom = s->sides[2],
                                    .top = s->sides[3],
                                    .solid = s->solids ? solid : NULL,
                                    .solid_velocity = s->solids ? solid_velocity : NULL});
  run->parameters.advection = (ts_fluid_advection)advection;
  run->parameters.solver = TS_FLUID_CG;
  run->parameters.iterations = 150;
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

/* The same on this backend and on the CPU: rounding, and what the solves make of it, is all that differs. */
static void agrees_with_cpu(void) {
  context = test_open();
  if (!context) return;
  const ts_context_desc cpu_desc = {.backend = "cpu"};
  ts_context *cpu = NULL;
  CHECK_OK(NULL, ts_context_create(&cpu_desc, &cpu));
  for (int k = 0; k < 16; k++) {
    const scene *s = &scenes[k / 4];
    const int layout = k & 1, advection = k >> 1 & 1;
    test_context_label("%s, layout %d, advection %d", s->name, layout, advection);
    fluid_run here = {0}, there = {0};
    if (open_scene(&here, context, s, layout, advection) && open_scene(&there, cpu, s, layout, advection) &&
        fluid_steps(&here, 4, TS_FLUID_MEASURE_DIVERGENCE) &&
        fluid_steps(&there, 4, TS_FLUID_MEASURE_DIVERGENCE)) {
      const double velocity = largest_difference(ts_fluid_velocity(here.fluid), ts_fluid_velocity(there.fluid));
      const double dye = largest_difference(ts_fluid_dye(here.fluid), ts_fluid_dye(there.fluid));
      const double particles =
          largest_difference(ts_fluid_particles(here.fluid), ts_fluid_particles(there.fluid));
      printf("  %-14s %d %d: velocity %.1e of %.2f, dye %.1e, particles %.1e\n", s->name, layout, advection,
             velocity, here.result.largest_speed, dye, particles);
      CHECK(velocity < 1e-3 && dye < 1e-3 && particles < 1e-3);
    }
    fluid_close(&here);
    fluid_close(&there);
  }
  test_context_label("%s", "");
  ts_context_destroy(&cpu);
  test_close(&context);
}

static const test_case cases[] = {{"divergence", divergence}, {"agrees_with_cpu", agrees_with_cpu}};
TEST_MAIN(cases, 0)
