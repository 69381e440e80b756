/* Fluids against exact solutions, and orders of accuracy. */
#include "fluid_run.h"

static ts_context *context;

static const double pi = 3.14159265358979323846;

/* ---- Advection ---- */

/* A turn around the middle of a unit square. */
static double turn(double x, double y, int component) {
  return component == 0 ? -2 * pi * (y - 0.5) : 2 * pi * (x - 0.5);
}

static double blob(double x, double y, int component) {
  (void)component;
  return exp(-(pow(x - 0.5, 2) + pow(y - 0.7, 2)) / (0.08 * 0.08));
}

/* The dye after a quarter of a turn: along x the blob is where it was along y. */
static double turned_blob(double x, double y, int component) {
  return blob(1 - (1 - y), 1 - x, component);
}

/* Dye is carried by a velocity that is written anew at every step, with no step changing it much: walls are
 * all around, so the velocity is that of a solid body only until it is projected. */
static double rotation_error(ts_fluid_advection advection, int size) {
  fluid_run run = fluid_make((ts_fluid_desc){.width = size, .height = size});
  run.desc.left.kind = run.desc.right.kind = TS_FLUID_OUTLET;
  run.desc.bottom.kind = run.desc.top.kind = TS_FLUID_OUTLET;
  const int steps = size / 2;
  run.parameters.time_step = 0.25 / steps;
  run.parameters.advection = advection;
  double error = NAN;
  if (fluid_open(&run, context)) {
    fluid_write_dye(&run, blob);
    int k = 0;
    for (; k < steps; k++) {
      fluid_write_velocity(&run, turn);
      if (!fluid_steps(&run, 1, 0)) break;
    }
    error = fluid_dye_error(&run, turned_blob);
  }
  fluid_close(&run);
  return error;
}

static void rotation(void) {
  context = test_open();
  if (!context) return;
  for (int a = 0; a < 2; a++) {
    double e[3];
    for (int k = 0; k < 3; k++) e[k] = rotation_error((ts_fluid_advection)a, 32 << k);
    printf("  rotation, %s: errors %.2e %.2e %.2e\n", a ? "maccormack" : "semi-lagrangian", e[0], e[1], e[2]);
  }
  test_close(&context);
}

/* ---- Taylor-Green ---- */

static double decay = 1;

static double vortices(double x, double y, int component) {
  return decay * (component == 0 ? sin(2 * pi * x) * cos(2 * pi * y) : -cos(2 * pi * x) * sin(2 * pi * y));
}

static double taylor_green_error(ts_fluid_layout layout, int size) {
  fluid_run run = fluid_make((ts_fluid_desc){.width = size, .height = size, .layout = layout});
  run.desc.left.kind = run.desc.right.kind = TS_FLUID_PERIODIC;
  run.desc.bottom.kind = run.desc.top.kind = TS_FLUID_PERIODIC;
  run.parameters.time_step = 0.5 / size;
  run.parameters.viscosity = 0.01;
  run.parameters.advection = TS_FLUID_MACCORMACK;
  run.parameters.iterations = 4;
  double error = NAN;
  if (fluid_open(&run, context)) {
    decay = 1;
    fluid_write_velocity(&run, vortices);
    if (fluid_steps(&run, size, 0)) {
      decay = exp(-2 * 0.01 * 4 * pi * pi * 0.5);
      error = fluid_velocity_error(&run, vortices);
    }
  }
  fluid_close(&run);
  return error;
}

static void taylor_green(void) {
  context = test_open();
  if (!context) return;
  for (int layout = 0; layout < 2; layout++) {
    double e[3];
    for (int k = 0; k < 3; k++) e[k] = taylor_green_error((ts_fluid_layout)layout, 16 << k);
    printf("  taylor-green, %s: errors %.2e %.2e %.2e\n", layout ? "collocated" : "staggered", e[0], e[1],
           e[2]);
  }
  test_close(&context);
}

static const test_case cases[] = {{"rotation", rotation}, {"taylor_green", taylor_green}};
TEST_MAIN(cases, 0)
