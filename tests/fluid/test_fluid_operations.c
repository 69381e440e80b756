/* Every operation of a fluid compared with the CPU, on random fields: prescribed velocities and walls anywhere,
 * and velocities that cross every boundary. */
#include "common/core/core.h"
#include "fluid/fluid.h"
#include "helpers.h"

enum { width = 37, height = 23, particles = 400 };

/* The objects that exist on both devices, with outputs first. */
typedef struct device {
  ts_context *context;
  ts_space *points, *cells, *faces_grid, *swarm;
  ts_vector *velocity_out, *cell_out, *dye_out, *particles_out, *component_out;
  ts_vector *velocity, *carried, *prescribed, *walls, *dye, *dye_carried, *pressure, *compatibility, *particles,
      *parts[2];
} device;

static tsi_fluid_domain domain;
static uint32_t state;

static float random_between(float low, float high) {
  state = tsi_fluid_hash(state + 0x9e3779b9U);
  return low + (high - low) * (float)(state >> 8) * 0x1p-24f;
}

static ts_space *make_grid(ts_context *context, int32_t w, int32_t h) {
  ts_space *grid = NULL;
  CHECK_OK(context, ts_grid_create(context, &(ts_grid_desc){.width = w, .height = h}, &grid));
  return grid;
}

/* ---- Contents of fields: one number of a sample ---- */

typedef float (*field_fn)(size_t sample, int component);

static float any(size_t sample, int component) {
  (void)sample, (void)component;
  return random_between(-1.5f, 1.5f);
}

/* With the staggered layout the last column has only horizontal velocities, and the last row only vertical
 * ones. With the collocated layout both have none. */
static float any_prescribed(size_t sample, int component) {
  const int last_column = sample % (width + 1) == width, last_row = sample / (width + 1) == height;
  if (domain.layout == TS_FLUID_LAYOUT_STAGGERED ? (component == 0 ? last_row : last_column)
                                                 : last_row || last_column)
    return 0;
  return random_between(0, 1) < 0.15f ? random_between(-1, 1) : TSI_FLUID_FREE;
}

static float any_walls(size_t sample, int component) {
  (void)sample;
  return component == 0 && random_between(0, 1) < 0.15f ? 1 : 0;
}

static float any_particle(size_t sample, int component) {
  (void)sample;
  if (component == 2) return random_between(0, 1);
  return random_between(0, domain.cell_size * (float)(component == 0 ? width : height));
}

static ts_vector *make_field(ts_space *space, int components, field_fn value) {
  float numbers[4 * (width + 1) * (height + 1)];
  ts_vector *v = make_vector(space, components, NULL);
  if (!v) return NULL;
  const size_t count = vector_count(v);
  for (size_t k = 0; k < count; k++)
    numbers[k] = value ? value(k / (size_t)components, (int)(k % (size_t)components)) : -7;
  CHECK_OK(space->context, ts_vector_write(v, ts_host(numbers, count)));
  return v;
}

static device make_device(ts_context *context) {
  device d = {.context = context};
  state = 1;
  d.points = make_grid(context, width + 1, height + 1);
  d.cells = make_grid(context, width, height);
  d.faces_grid = make_grid(context, width + !domain.periodic_x, height + !domain.periodic_y);
  d.swarm = make_grid(context, particles / 20, 20);
  if (!d.points || !d.cells || !d.faces_grid || !d.swarm) return d;
  d.velocity_out = make_field(d.points, 2, NULL);
  d.cell_out = make_field(d.cells, 1, NULL);
  d.dye_out = make_field(d.cells, 4, NULL);
  d.particles_out = make_field(d.swarm, 4, NULL);
  d.component_out = make_field(d.faces_grid, 1, NULL);
  d.velocity = make_field(d.points, 2, any);
  d.carried = make_field(d.points, 2, any);
  d.prescribed = make_field(d.points, 2, any_prescribed);
  d.walls = make_field(d.cells, 2, any_walls);
  d.dye = make_field(d.cells, 4, any);
  d.dye_carried = make_field(d.cells, 4, any);
  d.pressure = make_field(d.cells, 1, any);
  d.compatibility = make_field(d.cells, 1, any);
  d.particles = make_field(d.swarm, 4, any_particle);
  for (int c = 0; c < 2; c++) d.parts[c] = make_field(d.faces_grid, 1, any);
  return d;
}

static void destroy_device(device *d) {
  ts_vector **vectors[] = {&d->velocity_out,  &d->cell_out,  &d->dye_out,     &d->particles_out,
                           &d->component_out, &d->velocity,  &d->carried,     &d->prescribed,
                           &d->walls,         &d->dye,       &d->dye_carried, &d->pressure,
                           &d->compatibility, &d->particles, &d->parts[0],    &d->parts[1]};
  for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) ts_vector_destroy(vectors[k]);
  ts_space_destroy(&d->points);
  ts_space_destroy(&d->cells);
  ts_space_destroy(&d->faces_grid);
  ts_space_destroy(&d->swarm);
}

/* ---- Operations: velocities are up to 1.5 m/s and cells 0.1 m, so 0.15 s cover two cells ---- */

static const float dt = 0.15f;

static ts_status advect(const device *d) {
  return d->context->ops->fluid->advect(&domain, d->velocity_out, d->velocity, d->prescribed, dt);
}

static ts_status correct(const device *d) {
  return d->context->ops->fluid->correct(&domain, d->velocity_out, d->velocity, d->prescribed, d->carried, dt);
}

static ts_status forces(const device *d) {
  const tsi_fluid_forces f = {{0.25f, -0.5f}, 0.75f, 0.375f, 0};
  return d->context->ops->fluid->forces(&domain, d->velocity_out, d->velocity, d->prescribed, d->dye, NULL, &f);
}

static ts_status confinement(const device *d) {
  const tsi_fluid_forces f = {{0, 0}, 0.75f, 0.375f, 0.5f};
  return d->context->ops->fluid->forces(&domain, d->velocity_out, d->velocity, d->prescribed, d->dye,
                                        d->pressure, &f);
}

static ts_status project(const device *d) {
  return d->context->ops->fluid->project(&domain, d->velocity_out, d->velocity, d->prescribed, d->pressure, dt);
}

static ts_status merge(const device *d) {
  return d->context->ops->fluid->merge(&domain, d->velocity_out, d->parts[0], d->parts[1]);
}

static ts_status split(const device *d) {
  return d->context->ops->fluid->split(&domain, d->component_out, d->velocity, 1);
}

static ts_status divergence(const device *d) {
  return d->context->ops->fluid->divergence(&domain, d->cell_out, d->velocity, d->walls, d->compatibility,
                                            0.5f);
}

static ts_status divergence_without_compatibility(const device *d) {
  return d->context->ops->fluid->divergence(&domain, d->cell_out, d->velocity, d->walls, NULL, -0.5f);
}

static ts_status vorticity(const device *d) {
  return d->context->ops->fluid->vorticity(&domain, d->cell_out, d->velocity, d->walls);
}

static ts_status speed(const device *d) {
  return d->context->ops->fluid->speed(&domain, d->cell_out, d->velocity, d->walls);
}

static ts_status transport(const device *d) {
  const tsi_fluid_transport t = {dt, 0.75f, 0.5f};
  return d->context->ops->fluid->transport(&domain, d->dye_out, d->dye, d->velocity, d->walls, NULL, &t);
}

static ts_status transport_corrected(const device *d) {
  const tsi_fluid_transport t = {dt, 0.75f, 0.5f};
  return d->context->ops->fluid->transport(&domain, d->dye_out, d->dye, d->velocity, d->walls, d->dye_carried,
                                           &t);
}

static ts_status move_particles(const device *d) {
  const tsi_fluid_particles p = {0.05f, 1, 5};
  return d->context->ops->fluid->particles(&domain, d->particles_out, d->particles, d->velocity, d->walls, &p);
}

static ts_status boundary(const device *d) {
  return d->context->ops->fluid->boundary(&domain, d->velocity, d->prescribed);
}

static ts_status splat(const device *d) {
  const tsi_fluid_stamp s = {
      .x = 33.3f, .y = 5.2f, .half_width = 3.1f, .velocity = {1, -2}, .dye = {1, 2, 3, 4}};
  TSI_TRY(d->context->ops->fluid->stamp_velocity(&domain, d->velocity, d->prescribed, &s));
  return d->context->ops->fluid->stamp_dye(&domain, d->dye, &s);
}

static ts_status disc(const device *d) {
  const tsi_fluid_stamp s = {.sets = 1,
                             .sets_color = 1,
                             .x = 2.3f,
                             .y = 20.4f,
                             .half_width = 4.2f,
                             .velocity = {3},
                             .dye = {1, 2, 3, 4}};
  TSI_TRY(d->context->ops->fluid->stamp_velocity(&domain, d->velocity, d->prescribed, &s));
  return d->context->ops->fluid->stamp_dye(&domain, d->dye, &s);
}

static ts_status rectangle(const device *d) {
  const tsi_fluid_stamp s = {.sets = 1,
                             .sets_temperature = 1,
                             .x = 15.1f,
                             .y = 10.2f,
                             .half_width = 5.7f,
                             .half_height = 2.9f,
                             .velocity = {3, 4},
                             .dye = {1, 2, 3, 4}};
  TSI_TRY(d->context->ops->fluid->stamp_velocity(&domain, d->velocity, d->prescribed, &s));
  return d->context->ops->fluid->stamp_dye(&domain, d->dye, &s);
}

static const struct operation {
  const char *name;
  ts_status (*run)(const device *d);
  size_t outputs[2]; /* offsets in a device; 0 for none */
} operations[] = {
#define OPERATION(name, output)                                                                                \
  {                                                                                                            \
#name, name, {                                                                                             \
      offsetof(device, output), 0                                                                              \
    }                                                                                                          \
  }
    OPERATION(advect, velocity_out),
    OPERATION(correct, velocity_out),
    OPERATION(forces, velocity_out),
    OPERATION(confinement, velocity_out),
    OPERATION(project, velocity_out),
    OPERATION(merge, velocity_out),
    OPERATION(split, component_out),
    OPERATION(divergence, cell_out),
    OPERATION(divergence_without_compatibility, cell_out),
    OPERATION(vorticity, cell_out),
    OPERATION(speed, cell_out),
    OPERATION(transport, dye_out),
    OPERATION(transport_corrected, dye_out),
    OPERATION(move_particles, particles_out),
    OPERATION(boundary, velocity),
    {"splat", splat, {offsetof(device, velocity), offsetof(device, dye)}},
    {"disc", disc, {offsetof(device, velocity), offsetof(device, dye)}},
    {"rectangle", rectangle, {offsetof(device, velocity), offsetof(device, dye)}},
};

/* ---- Comparison ---- */

/* Positions differ by rounding, a few 1e-6 of a cell. If this leads into the next cell, a correction has other
 * limits, so very few numbers may differ. */
static void compare(const device *tested, const device *cpu, size_t output) {
  const ts_vector *there = *(ts_vector *const *)((const char *)tested + output);
  const ts_vector *here = *(ts_vector *const *)((const char *)cpu + output);
  float *actual = read_vector(there), *expected = read_vector(here);
  const size_t count = vector_count(here);
  size_t different = 0, first = 0;
  for (size_t k = 0; k < count; k++)
    if (!(fabsf(actual[k] - expected[k]) <= 1e-4f) && different++ == 0) first = k;
  CHECK_PADDING(there);
  if (different > 2)
    test_fail(__FILE__, __LINE__, "%zu of %zu numbers differ, the first one at %zu: %g instead of %g",
              different, count, first, (double)actual[first], (double)expected[first]);
  free(actual);
  free(expected);
}

static int run_operation(const device *d, const struct operation *o) {
  if (!CHECK_OK(d->context, tsi_enter(d->context))) return 0;
  return CHECK_OK(d->context, tsi_leave(d->context, o->run(d)));
}

static void compare_all(ts_context *context, ts_context *cpu_context) {
  device tested = make_device(context), cpu = make_device(cpu_context);
  for (size_t k = 0; k < sizeof operations / sizeof operations[0]; k++) {
    const struct operation *o = &operations[k];
    test_context_label("%s, layout %d, %s", o->name, domain.layout,
                       domain.periodic_x ? domain.periodic_y ? "periodic" : "half periodic" : "closed");
    if (!run_operation(&tested, o) || !run_operation(&cpu, o)) break;
    for (int output = 0; output < 2; output++)
      if (output == 0 || o->outputs[output]) compare(&tested, &cpu, o->outputs[output]);
  }
  destroy_device(&tested);
  destroy_device(&cpu);
}

static void set_domain(int periodic, ts_fluid_layout layout) {
  domain = (tsi_fluid_domain){.width = width,
                              .solid_columns = {0, width - 1},
                              .solid_rows = {0, height - 1},
                              .height = height,
                              .cell_size = 0.1f,
                              .layout = layout,
                              .periodic_x = periodic > 0,
                              .periodic_y = periodic > 1,
                              .boundaries = {{TS_FLUID_BOUNDARY_WALL, {0.5f, 0.25f}},
                                             {TS_FLUID_BOUNDARY_OUTLET, {0, 0}},
                                             {TS_FLUID_BOUNDARY_SLIP, {0, 0}},
                                             {TS_FLUID_BOUNDARY_WALL, {1, 0}}}};
  for (int side = 0; side < 2 * periodic; side++)
    domain.boundaries[side] = (ts_fluid_boundary){TS_FLUID_BOUNDARY_PERIODIC, {0, 0}};
}

static void as_on_the_cpu(void) {
  ts_context *context = test_open(), *cpu = NULL;
  if (!context) return;
  const ts_context_desc desc = {.backend = "cpu"};
  REQUIRE_OK(NULL, ts_context_create(&desc, &cpu));
  for (int periodic = 0; periodic < 3; periodic++)
    for (int layout = TS_FLUID_LAYOUT_STAGGERED; layout <= TS_FLUID_LAYOUT_COLLOCATED; layout++) {
      set_domain(periodic, (ts_fluid_layout)layout);
      compare_all(context, cpu);
    }
  ts_context_destroy(&cpu);
  test_close(&context);
}

TEST_MAIN(CASES(as_on_the_cpu))
