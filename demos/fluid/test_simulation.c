/* Tests walls, scenes, parameters and the history of a simulation. Usage: test_simulation BACKEND */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "png_image.h"
#include "simulation.h"

static int failures;
static char message[SIMULATION_MESSAGE];
static const char *backend;

#define CHECK(condition)                                                                                       \
  do {                                                                                                         \
    if (!(condition)) {                                                                                        \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                          \
      failures++;                                                                                              \
    }                                                                                                          \
  } while (0)
/* For conditions that the rest of a test needs. */
#define REQUIRE(condition)                                                                                     \
  do {                                                                                                         \
    if (!(condition)) {                                                                                        \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, message);                             \
      exit(1);                                                                                                 \
    }                                                                                                          \
  } while (0)

static simulation_options options_of(const char *scene_name, int width, int height) {
  return (simulation_options){.scene = scene_find(scene_name),
                              .width = width,
                              .height = height,
                              .backend = backend,
                              .particles = -1,
                              .changes = simulation_no_changes()};
}

static simulation *open_simulation(const char *scene_name, int width, int height) {
  const simulation_options options = options_of(scene_name, width, height);
  simulation *s;
  REQUIRE(!simulation_create(&options, &s, message));
  return s;
}

static int solid_cells(const simulation *s) {
  const ts_fluid_info *info = &s->info;
  int count = 0;
  for (int k = 0; k < info->width * info->height; k++) count += s->solid[k];
  return count;
}

static int is_solid(const simulation *s, int i, int j) {
  return s->solid[(size_t)j * (size_t)s->info.width + (size_t)i];
}

static int fluid_cells(const simulation *s) {
  return s->info.fluid_cells;
}

static void walls_by_brush(void) {
  simulation *s = open_simulation("splat", 40, 20);
  const double h = 1.0 / 20;
  CHECK(fluid_cells(s) == 800);
  CHECK(simulation_brush(s, 10.5 * h, 5.5 * h, 0.6 * h, 1) == 1);
  CHECK(simulation_brush(s, 10.5 * h, 5.5 * h, 0.6 * h, 1) == 0);
  CHECK(solid_cells(s) == 1 && is_solid(s, 10, 5));
  CHECK(fluid_cells(s) == 800); /* the device does not have the walls yet */
  REQUIRE(!simulation_apply_walls(s, message));
  CHECK(fluid_cells(s) == 799);
  /* Discs outside the domain, and across its edge. */
  CHECK(simulation_brush(s, -5, 0.5, 0.2, 1) == 0);
  CHECK(simulation_brush(s, 0, 0, 1.1 * h, 1) == 1);
  REQUIRE(!simulation_step(s, 0, 0, message));
  CHECK(fluid_cells(s) == 800 - solid_cells(s) && solid_cells(s) > 1);
  CHECK(simulation_brush(s, 10.5 * h, 5.5 * h, 0.6 * h, 0) == 1);
  REQUIRE(!simulation_reset(s, message));
  CHECK(solid_cells(s) == 0 && fluid_cells(s) == 800);
  /* Walls everywhere are refused, and the previous walls remain. */
  CHECK(simulation_brush(s, 0.5, 0.5, 0.1, 1) == 1);
  REQUIRE(!simulation_apply_walls(s, message));
  const int before = solid_cells(s);
  CHECK(simulation_brush(s, 1, 0.5, 10, 1) == 1);
  CHECK(simulation_step(s, 0, 0, message) == 1 && *message);
  CHECK(solid_cells(s) == before);
  REQUIRE(!simulation_step(s, 0, 0, message));
  REQUIRE(!simulation_clear_walls(s, message));
  CHECK(solid_cells(s) == 0);
  simulation_destroy(&s);
  CHECK(!s);
}

static void walls_of_scenes(void) {
  simulation *s = open_simulation("cylinder", 120, 40);
  const double area = solid_cells(s) / (40.0 * 40.0);
  CHECK(fabs(area - 0.25 * acos(-1.0) * 0.01) < 0.2 * area);
  CHECK(simulation_brush(s, 2, 0.5, 0.2, 1) == 1);
  const int drawn = solid_cells(s);
  REQUIRE(!simulation_reset(s, message));
  CHECK(solid_cells(s) < drawn && solid_cells(s) > 0);
  CHECK(!*s->warning);
  /* A wall that closes the outlet. */
  for (int j = 0; j < 40; j++) simulation_brush(s, 3 - 0.5 / 40, (j + 0.5) / 40, 0.6 / 40, 1);
  REQUIRE(!simulation_apply_walls(s, message));
  CHECK(strstr(s->warning, "every outlet is closed"));
  simulation_destroy(&s);
}

static void walls_from_picture(const char *path) {
  image picture;
  REQUIRE(!image_create(&picture, 8, 4));
  memset(picture.rgb, 255, (size_t)8 * 4 * 3);
  memset(picture.rgb, 0, (size_t)8 * 3); /* the top row */
  REQUIRE(!png_image_save(path, &picture, message, sizeof message));
  image_destroy(&picture);
  simulation *s = open_simulation("splat", 16, 8);
  REQUIRE(!simulation_load_walls(s, path, message));
  CHECK(solid_cells(s) == 32 && is_solid(s, 0, 7) && is_solid(s, 0, 6) && !is_solid(s, 0, 5));
  CHECK(fluid_cells(s) == 96);
  simulation_brush(s, 1, 0.2, 0.1, 1);
  REQUIRE(!simulation_reset(s, message));
  CHECK(solid_cells(s) == 32);
  REQUIRE(!simulation_set_scene(s, s->options.scene, 32, 16, message));
  CHECK(solid_cells(s) == 128);
  CHECK(simulation_load_walls(s, "/nowhere/walls.png", message) == 1 && strstr(message, "/nowhere/walls.png"));
  CHECK(solid_cells(s) == 128);
  /* Another scene has its own walls. */
  REQUIRE(!simulation_set_scene(s, scene_find("cavity"), 32, 16, message));
  CHECK(solid_cells(s) == 0);
  simulation_destroy(&s);
  remove(path);
}

static void parameters(void) {
  simulation *s = open_simulation("cavity", 16, 16);
  CHECK(fabs(simulation_reynolds(s) - 1000) < 1e-6);
  ts_fluid_parameters p = s->parameters;
  pressure_set(&p.pressure, &(pressure_choice){.solver = PRESSURE_JACOBI, .iterations = 33});
  p.viscosity = 0.5;
  REQUIRE(!simulation_set_parameters(s, &p, message));
  CHECK(fabs(simulation_reynolds(s) - 2) < 1e-6);
  p.time_step = -1;
  CHECK(simulation_set_parameters(s, &p, message) == 1 && *message);
  p.time_step = 1000;
  CHECK(simulation_set_parameters(s, &p, message) == 1 && strstr(message, "1000 s"));
  CHECK(s->parameters.time_step < 1);
  /* Another scene keeps the solver and has its own viscosity. */
  REQUIRE(!simulation_set_scene(s, scene_find("backward-step"), 32, 16, message));
  pressure_choice pressure = pressure_of(&s->parameters.pressure);
  CHECK(pressure.solver == PRESSURE_JACOBI && pressure.iterations == 33);
  CHECK(s->parameters.viscosity < 0.1);
  REQUIRE(!simulation_default_parameters(s, message));
  pressure = pressure_of(&s->parameters.pressure);
  CHECK(pressure.solver == PRESSURE_MULTIGRID && pressure.iterations == 2);
  REQUIRE(!simulation_set_layout(s, TS_FLUID_LAYOUT_COLLOCATED, message));
  CHECK(s->info.layout == TS_FLUID_LAYOUT_COLLOCATED && s->info.width == 32);
  /* An invalid size changes nothing. */
  ts_fluid *const fluid = s->fluid;
  CHECK(simulation_set_scene(s, s->options.scene, 2, 2, message) == 1 && *message);
  CHECK(s->fluid == fluid);
  REQUIRE(!simulation_step(s, 0, 0, message));
  simulation_destroy(&s);
}

static void first_changes(void) {
  simulation_options options = options_of("splat", 16, 16);
  simulation *s;
  options.changes.reynolds = 100;
  CHECK(simulation_create(&options, &s, message) == 1 && strstr(message, "Reynolds") && !s);
  options.scene = scene_find("cylinder");
  REQUIRE(!simulation_create(&options, &s, message));
  CHECK(fabs(simulation_reynolds(s) - 100) < 1e-6);
  REQUIRE(!simulation_set_scene(s, scene_find("splat"), 16, 16, message));
  CHECK(isnan(simulation_reynolds(s)));
  simulation_destroy(&s);
  options.backend = "none";
  CHECK(simulation_create(&options, &s, message) == 1 && strstr(message, "none"));
}

static void past(void) {
  simulation *s = open_simulation("splat", 12, 12);
  const simulation_history *h = &s->history;
  const scene_splat splat = {.x = 0.3, .y = 0.5, .radius = 0.2, .velocity = {1, 0.5F}, .dye = {1, 0, 0}};
  CHECK(h->count == 0);
  REQUIRE(!simulation_splat(s, &splat, message));
  for (int k = 0; k < SIMULATION_HISTORY + 5; k++) {
    REQUIRE(!simulation_step(s, k == SIMULATION_HISTORY + 4 ? TS_FLUID_MEASURE_DIVERGENCE : 0, 0, message));
    if (k == 9) {
      simulation_note_draw(s, 0.125);
      CHECK(h->count == 10 && h->draw[9] == 125);
    }
  }
  CHECK(h->count == SIMULATION_HISTORY);
  CHECK(h->draw[4] == 125 && h->draw[9] == 0);
  CHECK(h->divergence_before[SIMULATION_HISTORY - 1] > 0 && h->divergence_before[SIMULATION_HISTORY - 2] == 0);
  CHECK(s->result.iterations > 0);
  CHECK(s->result.steps == SIMULATION_HISTORY + 5);
  REQUIRE(!simulation_reset(s, message));
  CHECK(h->count == 0 && s->result.steps == 0);
  simulation_destroy(&s);
}

/* Without a script a fluid at rest stays at rest. */
static void script(void) {
  simulation *s = open_simulation("splat", 16, 16);
  REQUIRE(!simulation_step(s, TS_FLUID_MEASURE_DIVERGENCE, 0, message));
  CHECK(s->result.largest_speed == 0);
  REQUIRE(!simulation_step(s, TS_FLUID_MEASURE_DIVERGENCE, 1, message));
  CHECK(s->result.largest_speed > 0);
  simulation_destroy(&s);
}

int main(int argc, char **argv) {
  char path[64];
  backend = argc > 1 ? argv[1] : "cpu";
  ts_context *context = NULL;
  const ts_context_desc desc = {.backend = backend};
  if (ts_context_create(&desc, &context) == TS_ERROR_UNAVAILABLE) {
    const char *required = getenv("TEXSOLVE_TEST_REQUIRE");
    fprintf(stderr, "%s\n", ts_last_error(NULL));
    return required && strstr(required, backend) ? 1 : 77;
  }
  ts_context_destroy(&context);
  snprintf(path, sizeof path, "test_simulation.%s.png", backend);
  walls_by_brush();
  walls_of_scenes();
  walls_from_picture(path);
  parameters();
  first_changes();
  past();
  script();
  printf("%d failed\n", failures);
  return failures != 0;
}
