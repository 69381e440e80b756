/* Incompressible flow in two dimensions: Stam's stable fluids (1999) with multigrid for the pressure (Bolz et
 * al. 2003, section 4.1), on any backend. In this example smoke rises for one second:
 *
 *   ts_fluid_parameters parameters;
 *   ts_fluid_default_parameters(&parameters);
 *   parameters.buoyancy = 2;
 *   ts_fluid_desc desc = {.width = 64, .height = 64, .parameters = &parameters};
 *   ts_fluid_source source = {.x = 0.5f, .y = 0.1f, .half_width = 0.05f, .dye = {1, 1, 1}, .temperature = 1};
 *   source.sets_dye = source.sets_temperature = 1;
 *   ts_fluid *fluid;
 *   ts_fluid_create(context, &desc, &fluid);
 *   ts_fluid_set_sources(fluid, &source, 1);
 *   for (int step = 0; step < 60; step++)
 *     ts_fluid_step(fluid, 0, NULL);
 *   static float colours[64 * 64 * 4];
 *   ts_vector_read(ts_fluid_get_dye(fluid), ts_host(colours, 64 * 64 * 4)); // or draw it: gl.h
 *   ts_fluid_destroy(&fluid);
 *
 * The domain is a rectangle of width x height square cells of size h. One step of length dt:
 *
 *   advection    u* = u advected by u (semi-Lagrangian, or MacCormack: Selle et al. 2008)
 *   forces       buoyancy of the temperature, vorticity confinement (Fedkiw et al. 2001), gravity, sources
 *   viscosity    (I - nu dt laplace) u** = u*, by multigrid (only if nu > 0)
 *   projection   -laplace p = -(1 / dt) div u**,  u = u** - dt grad p   (density 1)
 *   transport    u advects dye, temperature and particles
 *
 * STAGGERED, the default: horizontal velocities are at the midpoints of vertical faces, vertical ones at those
 * of horizontal faces (Harlow and Welch 1965). The five-point Laplacian is then the divergence of the gradient,
 * so the divergence decreases as far as the solver's residual. COLLOCATED, as in Bolz et al. 2003: velocities
 * are at the cell centres, with central differences. The projection then leaves a divergence that does not
 * depend on the solver.
 *
 * Units: lengths in metres, velocities in m/s, times in s. The lower left corner of the domain is (0, 0).
 *
 * Threads, version, common errors and ownership are as in texsolve.h: the thread that uses the context may call
 * all functions; any thread may call the name functions. */
#ifndef TEXSOLVE_FLUID_H
#define TEXSOLVE_FLUID_H

#include <texsolve/grid.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ts_fluid_layout {
  TS_FLUID_LAYOUT_AUTO = 0, /* staggered */
  TS_FLUID_LAYOUT_STAGGERED = 1,
  TS_FLUID_LAYOUT_COLLOCATED = 2
} ts_fluid_layout;

/* Boundary conditions of the domain. Name, value, text.
 *
 * WALL: prescribed velocity: a wall at rest (0), a moving wall (the lid of a cavity), or an inlet (a velocity
 * into the domain). SLIP: no flow through the boundary, no friction along it. OUTLET: the pressure is 0, the
 * velocity is free. PERIODIC: together with the opposite boundary. */
#define TS_FLUID_BOUNDARY_LIST(X)                                                                              \
  X(TS_FLUID_BOUNDARY_WALL, 0, "wall")                                                                         \
  X(TS_FLUID_BOUNDARY_SLIP, 1, "slip")                                                                         \
  X(TS_FLUID_BOUNDARY_OUTLET, 2, "outlet")                                                                     \
  X(TS_FLUID_BOUNDARY_PERIODIC, 3, "periodic")

typedef enum ts_fluid_boundary_kind {
#define TS_FLUID_BOUNDARY_ENUM(name, value, text) name = value,
  TS_FLUID_BOUNDARY_LIST(TS_FLUID_BOUNDARY_ENUM)
#undef TS_FLUID_BOUNDARY_ENUM
} ts_fluid_boundary_kind;

typedef struct ts_fluid_boundary {
  ts_fluid_boundary_kind kind;
  float velocity[2]; /* velocity of a WALL, m/s */
} ts_fluid_boundary;

typedef enum ts_fluid_advection {
  TS_FLUID_ADVECTION_AUTO = 0, /* semi-Lagrangian */
  TS_FLUID_ADVECTION_SEMI_LAGRANGIAN = 1,
  TS_FLUID_ADVECTION_MACCORMACK = 2
} ts_fluid_advection;

/* Return the name of a boundary condition, or NULL for other values; and the condition with that name, or -1.
 * Any thread. */
TS_API const char *ts_fluid_boundary_name(ts_fluid_boundary_kind kind);
TS_API int ts_fluid_boundary_from_name(const char *name);

/* Parameters, which may change between steps. Initialise them with ts_fluid_default_parameters. */
typedef struct ts_fluid_parameters {
  double time_step;                    /* dt in s, positive. Default: 1/60 */
  double viscosity;                    /* nu in m^2/s, not negative. Default: 0 */
  double buoyancy;                     /* upward acceleration at temperature 1, m/s^2. Default: 0 */
  double smoke_weight;                 /* downward acceleration at dye of brightness 1, m/s^2. Default: 0 */
  double gravity[2];                   /* m/s^2. Default: 0 */
  double vorticity_confinement;        /* epsilon in 1/s: acceleration epsilon h (N x omega). Default: 0 */
  double dye_decay, temperature_decay; /* 1/s: exp(-decay t) remains after time t. Default: 0 */
  ts_fluid_advection advection;        /* default: semi-Lagrangian with the midpoint rule */
  ts_solver_desc pressure;             /* as for ts_solver_create, but with other defaults; see below */
  ts_multigrid_desc multigrid; /* multigrid of the pressure: smoother, storage, cycle, pre, post, ...; progress,
                                  rtol and max_cycles are ignored */
  uint64_t reserved[8];        /* 0 */
} ts_fluid_parameters;

/* The pressure's solver, ts_fluid_parameters.pressure, has defaults of its own:
 *
 * - method: richardson;
 * - preconditioner_kind: multigrid; jacobi, chebyshev and none are also supported;
 * - precision: single;
 * - fixed_iterations, up to 1000: 2 for richardson with multigrid, 20 for richardson with another kind, 4 for
 *   other methods with multigrid, 50 with another kind. The default is 0 if rtol, atol, max_iterations, stop,
 *   check_interval or progress is set: a test then ends the iterations.
 *
 * Iterations start from the pressure of the last step, or from 0 with zero_start. `preconditioner` and
 * `transposed` must be NULL.
 *
 * richardson with multigrid runs cycles of ts_fluid_parameters.multigrid; richardson with jacobi is Jacobi's
 * method. In single precision with fixed iterations both run without a ts_solver, in fewer passes, and cycles
 * are symmetric only if ts_multigrid_desc.symmetric is set. */

/* Sets all parameters to their defaults. Any thread. */
TS_API void ts_fluid_default_parameters(ts_fluid_parameters *parameters);

/* A source sets dye, temperature or velocity inside a disc or a rectangle in every step. Fluid that enters
 * through an inlet or an outlet has no dye. A source of dye at an inlet should be as long as the distance that
 * the fluid moves in a step. */
typedef struct ts_fluid_source {
  float x, y;                    /* centre, m */
  float half_width, half_height; /* m; half_height 0: a disc of radius half_width */
  float dye[3];                  /* r, g, b */
  float temperature;
  float velocity[2];                             /* m/s */
  int sets_dye, sets_temperature, sets_velocity; /* flags: the fields to set */
  uint64_t reserved[8];                          /* 0 */
} ts_fluid_source;

enum { TS_FLUID_MAX_SOURCES = 16 };

typedef struct ts_fluid_desc {
  int32_t width, height;  /* cells, at least 4 each */
  double cell_size;       /* h in m; default: 1 / height */
  ts_fluid_layout layout; /* default: staggered */
  ts_fluid_boundary left, right, bottom, top;
  const unsigned char *solid;  /* width * height flags: solid cells. Default: none */
  const float *solid_velocity; /* 2 * width * height numbers: velocity of solid cells, m/s. Default: at rest */
  const ts_fluid_parameters *parameters; /* default: NULL, the default parameters */
  uint64_t reserved[8];                  /* 0 */
} ts_fluid_desc;

typedef struct ts_fluid ts_fluid;

/* Creates a fluid at rest without dye. `desc` and its arrays are not kept. Destroy the fluid before its
 * context.
 * Errors: TS_ERROR_INVALID_ARGUMENT (an invalid field, which is named; a periodic boundary without its
 * opposite; a domain without fluid cells), TS_ERROR_UNSUPPORTED (also that of ts_solver_create for the
 * pressure), TS_ERROR_LIMIT, memory. */
TS_API ts_status ts_fluid_create(ts_context *context, const ts_fluid_desc *desc, ts_fluid **fluid);
TS_API void ts_fluid_destroy(ts_fluid **fluid);

/* Set the parameters of later steps, and return a copy of the current ones. On failure the old parameters are
 * kept.
 * Errors: TS_ERROR_INVALID_ARGUMENT (an invalid value, which is named), TS_ERROR_UNSUPPORTED (that of
 * ts_solver_create for the pressure), memory. */
TS_API ts_status ts_fluid_set_parameters(ts_fluid *fluid, const ts_fluid_parameters *parameters);
TS_API ts_status ts_fluid_get_parameters(const ts_fluid *fluid, ts_fluid_parameters *parameters);

/* Replaces the walls; NULL: none. The arrays are as in ts_fluid_desc, and are copied. Cells that become fluid
 * are at rest. The pressure's matrices are rebuilt. If walls close every outlet, the pressure is that of a
 * closed domain. A compatibility source then removes the inflow without a way out, evenly over the domain
 * (ts_fluid_info reports both).
 * Errors: TS_ERROR_INVALID_ARGUMENT (no fluid cells are left), memory. */
TS_API ts_status ts_fluid_set_walls(ts_fluid *fluid, const unsigned char *solid, const float *solid_velocity);
/* Replaces the boundary conditions; NULL: unchanged.
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_UNSUPPORTED (a boundary that becomes periodic or ceases to
 * be). */
TS_API ts_status ts_fluid_set_boundaries(ts_fluid *fluid, const ts_fluid_boundary *left,
                                         const ts_fluid_boundary *right, const ts_fluid_boundary *bottom,
                                         const ts_fluid_boundary *top);
/* Replaces the sources, which are copied: 0 to TS_FLUID_MAX_SOURCES.
 * Errors: TS_ERROR_INVALID_ARGUMENT (the message names the source). */
TS_API ts_status ts_fluid_set_sources(ts_fluid *fluid, const ts_fluid_source *sources, int count);

/* Resets the fields: fluid at rest, no dye, particles spread evenly, time 0. Walls, boundary conditions,
 * sources and parameters are kept. */
TS_API ts_status ts_fluid_reset(ts_fluid *fluid);

/* Adds a Gaussian of radius `radius` (m) at (x, y) to the fields: `velocity` (m/s), `dye` (r, g, b),
 * `temperature`. NULL means 0.
 * Errors: TS_ERROR_INVALID_ARGUMENT. */
TS_API ts_status ts_fluid_splat(ts_fluid *fluid, double x, double y, double radius, const float velocity[2],
                                const float dye[3], float temperature);

/* Creates width x height particles, spread evenly, which the flow advects. A particle restarts at an arbitrary
 * place when it leaves the domain, enters a wall, or after about `lifetime` seconds (0: never). 0 x 0: none.
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_LIMIT (the maximum texture size), memory. */
TS_API ts_status ts_fluid_set_particles(ts_fluid *fluid, int32_t width, int32_t height, double lifetime);

/* The stages of a step. */
#define TS_FLUID_STAGE_LIST(X)                                                                                 \
  X(TS_FLUID_STAGE_ADVECTION, "advection")                                                                     \
  X(TS_FLUID_STAGE_FORCES, "forces")                                                                           \
  X(TS_FLUID_STAGE_VISCOSITY, "viscosity")                                                                     \
  X(TS_FLUID_STAGE_PRESSURE, "pressure")                                                                       \
  X(TS_FLUID_STAGE_PROJECTION, "projection") /* divergence and gradient */                                     \
  X(TS_FLUID_STAGE_TRANSPORT, "transport")

typedef enum ts_fluid_stage {
#define TS_FLUID_STAGE_ENUM(name, text) name,
  TS_FLUID_STAGE_LIST(TS_FLUID_STAGE_ENUM)
#undef TS_FLUID_STAGE_ENUM
      TS_FLUID_STAGE_COUNT
} ts_fluid_stage;

/* Returns a stage's name, or NULL for other values. Any thread. */
TS_API const char *ts_fluid_stage_name(ts_fluid_stage stage);

/* Measurements of a step for its result. Both synchronise with the device. Steps without measurements do not
 * synchronise if the iterations of the pressure are fixed, with two exceptions: gmres; and multigrid as the
 * preconditioner of a method other than richardson, if a part of the domain has no outlet. */
enum {
  TS_FLUID_MEASURE_DIVERGENCE = 1, /* one synchronisation */
  TS_FLUID_MEASURE_TIMES = 2       /* one synchronisation after every stage, which takes time itself */
};

typedef struct ts_fluid_result {
  double time;    /* simulated time after the step, s */
  int steps;      /* steps since creation or the last reset */
  int iterations; /* iterations of the pressure's solver */
  int host_synchronisations;
  ts_reason pressure_reason; /* as in ts_result; TS_REASON_FIXED_ITERATIONS without a test */
  /* With MEASURE_DIVERGENCE, in 1/s: divergence before and after the projection, as the root mean square over
   * fluid cells and as the largest magnitude. The compatibility source of closed domains is excluded. Otherwise
   * NaN. */
  double divergence_before, divergence_after, largest_before, largest_after;
  double largest_speed;                 /* m/s, with MEASURE_DIVERGENCE; otherwise NaN */
  double seconds[TS_FLUID_STAGE_COUNT]; /* wall-clock time, with MEASURE_TIMES; otherwise 0 */
  uint64_t reserved[8];
} ts_fluid_result;

/* Makes one step of parameters.time_step. `measure`: flags from above. `result` may be NULL. Returns TS_OK even
 * if the pressure did not reach its tolerance (see `pressure_reason`). Returns TS_NOT_CONVERGED if divergence
 * is measured and a field contains a NaN or infinity. After an error the fields are undefined. */
TS_API ts_status ts_fluid_step(ts_fluid *fluid, int measure, ts_fluid_result *result);

typedef struct ts_fluid_info {
  int32_t width, height;
  double cell_size;
  ts_fluid_layout layout; /* staggered or collocated */
  int32_t fluid_cells;
  int closed;          /* connected components of the domain without an outlet */
  int outlet_closed;   /* 1: the domain has an outlet, but walls close all of it */
  double inflow;       /* flow through inlets, m^2/s */
  double incompatible; /* inflow without a way out, m^2/s */
  int levels;          /* levels of the pressure's multigrid; otherwise 0 */
  size_t bytes_device;
  uint64_t reserved[8];
} ts_fluid_info;

/* Returns sizes and the consequences of walls and boundary conditions. */
TS_API ts_status ts_fluid_get_info(const ts_fluid *fluid, ts_fluid_info *info);

/* Return the fields, which the fluid owns. A pointer is valid until the next call that changes the fluid (a
 * step swaps the fields). No host synchronisation.
 *
 *   velocity     2 components over a grid of (width + 1) x (height + 1), m/s. Staggered: the first is the
 *                velocity through the left face of cell (i, j), at (i h, (j + 1/2) h), the second that through
 *                its lower face, at ((i + 1/2) h, j h). Collocated: both are at the centre of cell (i, j), the
 *                last column and row are unused
 *   pressure     p / density in m^2/s^2, 1 component over width x height, cell-centred, like all fields below
 *   divergence   1/s after the last step that measured it, 0 in walls
 *   dye          4 components: r, g, b, temperature
 *   walls        2 components: 1 in solid cells, otherwise 0 (the second is reserved)
 *   particles    4 components over a grid: x, y (m), age (s), speed (m/s). NULL without particles
 */
TS_API ts_vector *ts_fluid_get_velocity(ts_fluid *fluid);
TS_API ts_vector *ts_fluid_get_pressure(ts_fluid *fluid);
TS_API ts_vector *ts_fluid_get_divergence(ts_fluid *fluid);
TS_API ts_vector *ts_fluid_get_dye(ts_fluid *fluid);
TS_API ts_vector *ts_fluid_get_walls(ts_fluid *fluid);
TS_API ts_vector *ts_fluid_get_particles(ts_fluid *fluid);

#ifdef __cplusplus
}
#endif
#endif
