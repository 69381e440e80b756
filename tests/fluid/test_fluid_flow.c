/* Fluids compared with exact solutions, and orders of accuracy. */
#include "fluid_run.h"

static ts_context *context;

static const double pi = 3.14159265358979323846;

/* ---- Advection ---- */

/* A rotation about the centre of a unit square. */
static double turn(double x, double y, int component) {
  return component == 0 ? -2 * pi * (y - 0.5) : 2 * pi * (x - 0.5);
}

static double blob(double x, double y, int component) {
  (void)component;
  return exp(-(pow(x - 0.5, 2) + pow(y - 0.7, 2)) / (0.12 * 0.12));
}

/* The dye after a quarter turn: its value at (x, y) is that of the blob at (y, 1 - x). */
static double turned_blob(double x, double y, int component) {
  return blob(1 - (1 - y), 1 - x, component);
}

/* A quarter turn. The velocity is rewritten before every step, and the boundaries are outlets. The projection
 * changes a divergence-free flow only a little compared with the measured error. */
static double rotation_error(ts_fluid_advection advection, int size) {
  fluid_run run = fluid_make((ts_fluid_desc){.width = size, .height = size});
  run.desc.left.kind = run.desc.right.kind = TS_FLUID_BOUNDARY_OUTLET;
  run.desc.bottom.kind = run.desc.top.kind = TS_FLUID_BOUNDARY_OUTLET;
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

/* The step covers the same number of cells at every size. The error of semi-Lagrangian advection decreases with
 * h, and that of MacCormack with h^2. */
static void rotation(void) {
  const int sizes = test_is_brief() ? 1 : test_is_gl() ? 2 : 3; /* a software rasterizer is slow */
  for (int maccormack = 0; maccormack < 2; maccormack++) {
    const ts_fluid_advection advection =
        maccormack ? TS_FLUID_ADVECTION_MACCORMACK : TS_FLUID_ADVECTION_SEMI_LAGRANGIAN;
    double e[3] = {0, 0, 0};
    printf("  rotation, %s: errors", maccormack ? "maccormack" : "semi-lagrangian");
    for (int k = 0; k < sizes; k++) printf(" %.2e", e[k] = rotation_error(advection, 32 << k));
    printf("\n");
    CHECK(e[0] < (maccormack ? 0.05 : 0.2));
    for (int k = 0; k + 1 < sizes; k++)
      CHECK(e[k] / e[k + 1] > (maccormack ? 3 : 1.6) && e[k] / e[k + 1] < (maccormack ? 5 : 2.2));
  }
}

/* ---- Taylor-Green ---- */

static double decay = 1;

static double vortices(double x, double y, int component) {
  return decay * (component == 0 ? sin(2 * pi * x) * cos(2 * pi * y) : -cos(2 * pi * x) * sin(2 * pi * y));
}

static double taylor_green_error(ts_fluid_layout layout, int size) {
  fluid_run run = fluid_make((ts_fluid_desc){.width = size, .height = size, .layout = layout});
  run.desc.left.kind = run.desc.right.kind = TS_FLUID_BOUNDARY_PERIODIC;
  run.desc.bottom.kind = run.desc.top.kind = TS_FLUID_BOUNDARY_PERIODIC;
  run.parameters.time_step = 0.5 / size;
  run.parameters.viscosity = 0.01;
  run.parameters.advection = TS_FLUID_ADVECTION_MACCORMACK;
  run.parameters.pressure.fixed_iterations = 4;
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

/* exp(-2 nu k^2 t). The splitting is first order in dt, which decreases with h here. */
static void taylor_green(void) {
  const int sizes = test_is_brief() ? 1 : test_is_gl() ? 2 : 3;
  for (int layout = TS_FLUID_LAYOUT_STAGGERED; layout <= TS_FLUID_LAYOUT_COLLOCATED; layout++) {
    double e[3] = {0, 0, 0};
    printf("  taylor-green, %s: errors", layout == TS_FLUID_LAYOUT_COLLOCATED ? "collocated" : "staggered");
    for (int k = 0; k < sizes; k++)
      printf(" %.2e", e[k] = taylor_green_error((ts_fluid_layout)layout, 16 << k));
    printf(" of %.2f\n", 0.5 * exp(-2 * 0.01 * 4 * pi * pi * 0.5));
    for (int k = 0; k + 1 < sizes; k++) CHECK(e[k] / e[k + 1] > 1.6);
    CHECK(e[sizes - 1] < (sizes == 3 ? 0.01 : sizes == 2 ? 0.02 : 0.05));
  }
}

/* ---- The lid-driven cavity ---- */

/* u on the vertical centre line at Re 100: Ghia, Ghia and Shin 1982, table I. */
static const double ghia[][2] = {{0.9766, 0.84123},  {0.9688, 0.78871},  {0.9609, 0.73722},  {0.9531, 0.68717},
                                 {0.8516, 0.23151},  {0.7344, 0.00332},  {0.6172, -0.13641}, {0.5, -0.20581},
                                 {0.4531, -0.21090}, {0.2813, -0.15662}, {0.1719, -0.10150}, {0.1016, -0.06434},
                                 {0.0703, -0.04775}, {0.0625, -0.04192}, {0.0547, -0.03717}};
enum { ghia_count = sizeof ghia / sizeof ghia[0] };

/* u at the middle faces of the rows, extended by the lid and the floor. */
static double centre_line(const float *v, int size, double y) {
  const double at = y * size - 0.5;
  const int below = (int)floor(at);
  const double low = below < 0 ? 0 : (double)v[2 * (below * (size + 1) + size / 2)];
  if (below + 1 == size) return low + (1 - low) * 2 * (at - below);
  const double high = (double)v[2 * ((below + 1) * (size + 1) + size / 2)];
  return low + (high - low) * (below < 0 ? 2 * (at + 0.5) : at - below);
}

static void cavity(void) {
  const int brief = test_is_brief(), size = brief ? 16 : test_is_gl() ? 32 : 64;
  const int steps = brief ? 2 * size : 15 * size; /* far from the steady state in a brief run */
  const double wanted = brief ? 0.5 : test_is_gl() ? 0.015 : 0.005;
  fluid_run run =
      fluid_make((ts_fluid_desc){.width = size, .height = size, .top = {TS_FLUID_BOUNDARY_WALL, {1, 0}}});
  run.parameters.time_step = 1.0 / size;
  run.parameters.viscosity = 0.01;
  run.parameters.advection = TS_FLUID_ADVECTION_MACCORMACK;
  if (fluid_open(&run, context) && fluid_steps(&run, steps, 0)) {
    float *v = read_vector(ts_fluid_get_velocity(run.fluid));
    double largest = 0;
    for (int k = 0; k < ghia_count; k++)
      largest = fmax(largest, fabs(centre_line(v, size, ghia[k][0]) - ghia[k][1]));
    printf("  cavity of %d x %d at Re 100: u on the centre line is at most %.4f off\n", size, size, largest);
    CHECK(largest < wanted);
    free(v);
  }
  fluid_close(&run);
}

TEST_MAIN(CASES_IN_CONTEXT(rotation, taylor_green, cavity))
