/* Compares simulated bodies with analytical mechanics. Usage: test_bodies BACKEND. The CPU backend simulates
 * longer than a software rasterizer could. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation.h"

static int failures;
static char message[SIMULATION_MESSAGE];
static const char *backend;
static int is_cpu;

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
/* Checks that a value is within a relative tolerance of another. */
#define CHECK_NEAR(value, wanted, part)                                                                        \
  do {                                                                                                         \
    const double v_ = value, w_ = wanted;                                                                      \
    if (!(fabs(v_ - w_) <= (part)*fabs(w_))) {                                                                 \
      fprintf(stderr, "%s:%d: %s is %.9g, expected %.9g\n", __FILE__, __LINE__, #value, v_, w_);               \
      failures++;                                                                                              \
    }                                                                                                          \
  } while (0)

static simulation *open_scene(const char *name, double friction) {
  const simulation_options options = {
      .scene = scene_find(name), .backend = backend, .parameters = {.friction = friction, .restitution = NAN}};
  simulation *s;
  REQUIRE(!simulation_create(&options, &s, message));
  return s;
}

static void make_steps(simulation *s, int steps) {
  for (int k = 0; k < steps; k++) REQUIRE(!simulation_step(s, message));
}

static body *last_of(const simulation *s) {
  return &s->world.bodies[s->world.count - 1];
}

static double energy_of(const simulation *s) {
  return s->figures.energy.kinetic + s->figures.energy.potential;
}

/* ---- One body ---- */

/* Compares a wedge's mass and moments, about its centre of mass, with sums over slices. */
static void weights(void) {
  enum { slices = 20000 };
  body b = {.shape = BODY_WEDGE, .half = {0.5, 0.3, 0.4}, .taper = 0.6, .rotation = {1, 0, 0, 0}};
  double corners[8][3], mass = 0, first = 0, xx = 0, zz = 0;
  body_weigh(&b, 700);
  body_corners(&b, corners);
  const double low = corners[0][2], high = corners[4][2];
  for (int k = 0; k < slices; k++) {
    const double part = (k + 0.5) / slices, z = low + part * (high - low),
                 half = corners[1][0] + part * (corners[5][0] - corners[1][0]),
                 slice = 700 * 2 * half * 0.6 * (high - low) / slices;
    mass += slice;
    first += slice * z;
    zz += slice * z * z;
    xx += slice * half * half / 3;
  }
  CHECK_NEAR(b.mass, mass, 1e-6);
  CHECK(fabs(first / mass) < 1e-7);
  CHECK_NEAR(b.inertia[0], zz + mass * 0.03, 1e-6);
  CHECK_NEAR(b.inertia[1], zz + xx, 1e-6);
  CHECK_NEAR(b.inertia[2], xx + mass * 0.03, 1e-6);
}

/* A thrown body follows a parabola and keeps its energy. A brick that spins about its middle axis gains no
 * energy. */
static void flight(void) {
  simulation *s = open_scene("slide", NAN);
  const double from[3] = {0, 0, 5}, velocity[3] = {1, 2, 3}, half[3] = {0.1, 0.2, 0.4}, high[3] = {0, 4, 20};
  REQUIRE(!simulation_throw(s, from, velocity, 0.2, message));
  REQUIRE(world_add(&s->world, BODY_BOX, half, 1, high, 500));
  body *brick = last_of(s), *ball = brick - 1;
  brick->spin[1] = 6;
  brick->spin[0] = 0.1;
  s->world.bodies[1].velocity[0] = 0;
  make_steps(s, 1);
  const double energy = energy_of(s);
  make_steps(s, 59);
  CHECK_NEAR(ball->position[2], 5 + 3 - 0.5 * 9.81, 1e-9);
  CHECK_NEAR(ball->position[0], 1, 1e-9);
  CHECK(energy_of(s) <= energy * (1 + 1e-9) && energy_of(s) > energy * (1 - 1e-3));
  simulation_destroy(&s);
}

static void bounce(void) {
  simulation *s = open_scene("slide", NAN);
  const double from[3] = {3, 0, 1.2}, velocity[3] = {0, 0, 0};
  double highest = 0;
  s->parameters.restitution = 0.6;
  REQUIRE(!simulation_throw(s, from, velocity, 0.2, message));
  make_steps(s, 27); /* a fall of one metre takes 0.45 s */
  for (int k = 0; k < 30; k++) {
    make_steps(s, 1);
    highest = fmax(highest, last_of(s)->position[2] - 0.2);
  }
  CHECK_NEAR(highest, 0.36, 0.15); /* the discrete steps can miss the floor by up to 7 cm */
  simulation_destroy(&s);
}

/* ---- Coulomb's law ---- */

static void slide(double speed, double friction) {
  simulation *s = open_scene("slide", friction);
  body *b = last_of(s);
  const double from = b->position[0];
  b->velocity[0] = speed;
  make_steps(s, (int)(60 * speed / (friction * 9.81)) + 10);
  CHECK_NEAR(b->position[0] - from, speed * speed / (2 * friction * 9.81), 0.01);
  CHECK(fabs(b->velocity[0]) < 1e-3 && fabs(b->position[1]) < 1e-3 && fabs(b->position[2] - 0.15) < 1e-3);
  simulation_destroy(&s);
}

static void slope(void) {
  const double lean = 25 * 3.14159265358979323846 / 180;
  for (int k = 0; k < 2; k++) {
    const double friction = tan(lean) + (k ? -0.03 : 0.03);
    simulation *s = open_scene("slope", friction);
    const body *b = last_of(s);
    const double x = b->position[0], z = b->position[2];
    make_steps(s, 60);
    const double way = hypot(b->position[0] - x, b->position[2] - z);
    if (k)
      CHECK_NEAR(way, 0.5 * 9.81 * (sin(lean) - friction * cos(lean)), 0.02);
    else
      CHECK(way < 1e-3);
    simulation_destroy(&s);
  }
}

/* ---- Bodies at rest ---- */

/* Returns the largest distance of a body from its start. The energy must never exceed its initial value. At
 * rest velocities are solved to the tolerance only, so heights of metres may vary by micrometres. */
static double moved_most(simulation *s, int steps) {
  const double little = 1e-7, variation = 3e-6;
  const int count = s->world.count;
  double most = 0, least = INFINITY, grown = 0, highest = 0,
         (*const before)[3] = malloc((size_t)count * sizeof *before);
  REQUIRE(before);
  for (int k = 0; k < count; k++) memcpy(before[k], s->world.bodies[k].position, sizeof *before);
  const double start = world_energy_of(&s->world).potential;
  for (int k = 0; k < steps; k++) {
    make_steps(s, 1);
    highest = fmax(highest, energy_of(s));
    least = fmin(least, energy_of(s));
    grown = fmax(grown, energy_of(s) - least);
  }
  CHECK(highest / start - 1 < little);
  CHECK(grown / start < variation);
  for (int k = 0; k < count; k++)
    for (int i = 0; i < 3; i++) most = fmax(most, fabs(s->world.bodies[k].position[i] - before[k][i]));
  free(before);
  return most;
}

static void stands(const char *name, int steps, int steps_elsewhere, double at_most) {
  simulation *s = open_scene(name, NAN);
  const double most = moved_most(s, is_cpu ? steps : steps_elsewhere);
  if (!(most < at_most)) fprintf(stderr, "%s: a body moved by %g m\n", name, most);
  CHECK(most < at_most);
  CHECK(s->figures.energy.kinetic < 1e-6 * s->figures.energy.potential);
  simulation_destroy(&s);
}

/* ---- The solver ---- */

static int sweeps_of(simulation *s, int cold) {
  int sweeps = 0;
  REQUIRE(!simulation_reset(s, message));
  s->parameters.cold_start = cold;
  make_steps(s, 1); /* the first step has no previous forces */
  for (int k = 0; k < (is_cpu ? 20 : 4); k++) {
    make_steps(s, 1);
    sweeps += s->figures.sweeps;
  }
  return sweeps;
}

static void warm_start(void) {
  simulation *s = open_scene("cards", NAN);
  const int warm = sweeps_of(s, 0), cold = sweeps_of(s, 1);
  const double gain = is_cpu ? 2 : 1.5; /* less with colouring, and in the first steps */
  if (!(gain * warm < cold)) fprintf(stderr, "%d sweeps with a warm start, %d without\n", warm, cold);
  CHECK(gain * warm < cold);
  CHECK(s->missed_steps == 0);
  /* Missing the tolerance is not an error. */
  s->parameters.sweeps = 1;
  REQUIRE(!simulation_reset(s, message));
  make_steps(s, 5);
  CHECK(s->missed_steps > 0 && s->figures.missed && s->figures.residual > s->parameters.tolerance);
  simulation_destroy(&s);
}

/* Overlapping bodies separate without flying apart. */
static void overlap(void) {
  simulation *s = open_scene("slide", NAN);
  const double half[3] = {0.2, 0.2, 0.2}, places[2][3] = {{0, 3, 2}, {0.05, 3, 2.37}};
  last_of(s)->velocity[0] = 0;
  s->world.gravity = 0;
  for (int k = 0; k < 2; k++) REQUIRE(world_add(&s->world, BODY_BOX, half, 1, places[k], 500));
  make_steps(s, 1);
  CHECK(s->figures.penetration > 0.029 && s->figures.penetration < 0.031);
  make_steps(s, 59);
  CHECK(s->figures.penetration < 1e-3);
  CHECK(s->figures.energy.kinetic < 1e-9);
  CHECK_NEAR(last_of(s)->position[2] - last_of(s)[-1].position[2], 0.4, 0.01);
  simulation_destroy(&s);
}

/* In a collision of two balls momentum is conserved. With restitution 1 energy is conserved too. */
static void impact(void) {
  simulation *s = open_scene("slide", NAN);
  const double places[2][3] = {{0, 3, 4}, {1, 3, 4}}, velocities[2][3] = {{4, 0, 0}, {0, 0, 0}};
  last_of(s)->velocity[0] = 0;
  s->world.gravity = 0;
  s->parameters.restitution = 1;
  for (int k = 0; k < 2; k++) REQUIRE(!simulation_throw(s, places[k], velocities[k], 0.2, message));
  make_steps(s, 30);
  CHECK_NEAR(last_of(s)->velocity[0], 4, 1e-3);
  CHECK(fabs(last_of(s)[-1].velocity[0]) < 4e-3);
  simulation_destroy(&s);
}

/* ---- Pulling with the pointer ---- */

static void hand(void) {
  simulation *s = open_scene("slide", NAN);
  const double eye[3] = {-1, -5, 0.15}, forwards[3] = {0, 1, 0}, up[3] = {0, 0, 1}, down[3] = {0, 0, -1};
  double point[3];
  last_of(s)->velocity[0] = 0;
  make_steps(s, 1);
  CHECK(collision_pick(s->collision, eye, forwards, point) == 1);
  CHECK_NEAR(point[1], -0.3, 0.05);
  CHECK(collision_pick(s->collision, eye, up, point) < 0);
  CHECK(collision_pick(s->collision, eye, down, point) < 0); /* the floor is fixed */
  s->world.held = 1;
  body_local(last_of(s), point, s->world.grip);
  const double target[3] = {-1, -1, 1.5};
  memcpy(s->world.target, target, sizeof target);
  make_steps(s, 180);
  body_point(last_of(s), s->world.grip, point);
  for (int k = 0; k < 3; k++) CHECK(fabs(point[k] - target[k]) < 0.15);
  s->world.held = -1;
  make_steps(s, 60);
  CHECK(last_of(s)->position[2] < 0.5);
  simulation_destroy(&s);
}

static void life(void) {
  simulation *s = open_scene("stack", NAN);
  double first[3];
  CHECK(simulation_moving(s) == 10);
  REQUIRE(!simulation_set_scene(s, scene_find("boxes"), 12, message));
  CHECK(simulation_moving(s) == 12);
  make_steps(s, 40);
  CHECK(s->history.count == 40 && s->steps == 40);
  memcpy(first, last_of(s)->position, sizeof first);
  REQUIRE(!simulation_reset(s, message));
  CHECK(s->history.count == 0 && s->steps == 0 && s->world.time == 0);
  make_steps(s, 40);
  for (int k = 0; k < 3 && is_cpu; k++)
    CHECK(!(fabs(first[k] - last_of(s)->position[k]) > 0)); /* reproducible */
  for (int k = 0; k < scene_count(); k++) {
    REQUIRE(!simulation_set_scene(s, scene_at(k), 9, message));
    make_steps(s, 1);
    CHECK(simulation_moving(s) > 0);
  }
  const simulation_options options = {.backend = "none"};
  simulation *none;
  CHECK(simulation_create(&options, &none, message) == 1 && !none && strstr(message, "none"));
  simulation_destroy(&s);
}

int main(int argc, char **argv) {
  backend = argc > 1 ? argv[1] : "cpu";
  is_cpu = !strcmp(backend, "cpu");
  ts_context *context = NULL;
  const ts_context_desc desc = {.backend = backend};
  if (ts_context_create(&desc, &context) == TS_ERROR_UNAVAILABLE) {
    const char *required = getenv("TEXSOLVE_TEST_REQUIRE");
    fprintf(stderr, "%s\n", ts_last_error(NULL));
    return required && strstr(required, backend) ? 1 : 77;
  }
  ts_context_destroy(&context);
  weights();
  flight();
  bounce();
  slide(3, 0.3);
  if (is_cpu) slide(2, 0.5);
  slope();
  stands("stack", 3600, 3, 2e-3);
  stands("cards", 300, 5, 2e-3);
  if (is_cpu) stands("arch", 120, 0, 5e-3);
  warm_start();
  overlap();
  impact();
  hand();
  life();
  printf("%d failed\n", failures);
  return failures != 0;
}
