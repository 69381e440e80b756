/* Incompressible flow in two dimensions: Stam's stable fluids (1999) with multigrid for the pressure (Bolz et
 * al. 2003, section 4.1), on any backend. Smoke that rises for a second:
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
 * STAGGERED, the default: horizontal velocities at the midpoints of vertical faces, vertical ones at those of
 * horizontal faces (Harlow and Welch 1965). There the five-point Laplacian is the divergence of the gradient,
 * so that the divergence falls as far as the solver's residual. COLLOCATED is the paper's: velocities at the
 * cell centres, central differences; there the projection leaves a divergence whatever the solver does.
 *
 * Units: lengths in metres, velocities in m/s, times in s. The lower left corner of the domain is (0, 0).
 *
 * Threads, version, common errors and ownership are as in texsolve.h: the thread that uses the context may call
 * all functions; those of names may be called by any thread.
 */
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

/* Boundary conditions of the domain.
 *
 * WALL: prescribed velocity: a wall at rest (0), a moving wall (the lid of a cavity), an inlet (a velocity into
 * the domain). SLIP: no flow through the boundary, no friction along it. OUTLET: the pressure is 0, the
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
  float velocity[2]; /* of a WALL, m/s */
} ts_fluid_boundary;

typedef enum ts_fluid_advection {
  TS_FLUID_ADVECTION_AUTO = 0, /* semi-Lagrangian */
  TS_FLUID_ADVECTION_SEMI_LAGRANGIAN = 1,
  TS_FLUID_ADVECTION_MACCORMACK = 2
} ts_fluid_advection;

/* The name of a boundary condition, NULL for other values; the value of a name, -1 if there is none. Any
 * thread. */
TS_API const char *ts_fluid_boundary_name(ts_fluid_boundary_kind kind);
TS_API int ts_fluid_boundary_from_name(const char *name);

/* Parameters, which may change between any two steps. Initialise with ts_fluid_default_parameters. */
typedef struct ts_fluid_parameters {
  double time_step;                    /* dt in s, positive; default: 1/60 */
  double viscosity;                    /* nu in m^2/s, not negative; default: 0 */
  double buoyancy;                     /* upward acceleration of temperature 1, m/s^2; default: 0 */
  double smoke_weight;                 /* downward acceleration of dye of brightness 1, m/s^2; default: 0 */
  double gravity[2];                   /* m/s^2; default: 0 */
  double vorticity_confinement;        /* epsilon in 1/s: acceleration epsilon h (N x omega); default: 0 */
  double dye_decay, temperature_decay; /* 1/s: exp(-decay t) remains after t; default: 0 */
  ts_fluid_advection advection;        /* default: semi-Lagrangian with the midpoint rule */
  ts_solver_desc pressure;             /* as for ts_solver_create, but with other defaults; see below */
  ts_multigrid_desc multigrid; /* of the pressure: smoother, storage, cycle, pre, post, ...; progress, rtol and
                                  max_cycles are ignored */
  uint64_t reserved[8];        /* 0 */
} ts_fluid_parameters;

/* The solver of the pressure, ts_fluid_parameters.pressure, differs from that of ts_solver_create in its
 * defaults:
 *
 * - method: richardson;
 * - preconditioner_kind: multigrid; jacobi, chebyshev and none are the alternatives;
 * - precision: single;
 * - fixed_iterations, at most 1000: 2 for richardson with multigrid, 20 for richardson with another kind, 4 for
 *   other methods with multigrid, 50 with another kind. The default is 0 if one of rtol, atol, max_iterations,
 *   stop, check_interval and progress is set: then a test ends the iterations.
 *
 * Iterations start from the pressure of the last step, or from 0 with zero_start. `preconditioner` and
 * `transposed` must be NULL.
 *
 * richardson with multigrid runs cycles of ts_fluid_parameters.multigrid, richardson with jacobi is Jacobi's
 * method. In single precision with fixed iterations both run without a ts_solver: in fewer passes, and cycles
 * are symmetric only if ts_multigrid_desc.symmetric is set. */

/* Sets all parameters to their defaults. Any thread. */
TS_API void ts_fluid_default_parameters(ts_fluid_parameters *parameters);

/* A source: in every step it sets dye, temperature or velocity inside a disc or a rectangle. Fluid that enters
 * through an inlet or an outlet has no dye: a source of dye at an inlet should be as long as the fluid moves in
 * a step. */
typedef struct ts_fluid_source {
  float x, y;                    /* centre, m */
  float half_width, half_height; /* m; half_height 0: a disc of radius half_width */
  float dye[3];                  /* r, g, b */
  float temperature;
  float velocity[2];                             /* m/s */
  int sets_dye, sets_temperature, sets_velocity; /* which of them to set */
  uint64_t reserved[8];                          /* 0 */
} ts_fluid_source;

enum { TS_FLUID_MAX_SOURCES = 16 };

typedef struct ts_fluid_desc {
  int32_t width, height;  /* cells, at least 4 each */
  double cell_size;       /* h in m; default: 1 / height */
  ts_fluid_layout layout; /* default: staggered */
  ts_fluid_boundary left, right, bottom, top;
  const unsigned char *solid;            /* width * height flags: solid cells; default: none */
  const float *solid_velocity;           /* 2 * width * height: m/s of solid cells; default: at rest */
  const ts_fluid_parameters *parameters; /* NULL: the defaults */
  uint64_t reserved[8];                  /* 0 */
} ts_fluid_desc;

typedef struct ts_fluid ts_fluid;

/* Creates a fluid at rest without dye. Nothing of `desc` is kept; destroy the fluid before its context.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a size, a time step, a periodic boundary without its opposite, everything
 * solid: field and value are named), TS_ERROR_UNSUPPORTED (also those of ts_solver_create for the pressure),
 * TS_ERROR_LIMIT, memory. */
TS_API ts_status ts_fluid_create(ts_context *context, const ts_fluid_desc *desc, ts_fluid **fluid);
TS_API void ts_fluid_destroy(ts_fluid **fluid);

/* Sets the parameters from the next step on; returns a copy of the current ones.
 * Errors, after which the old ones are kept: TS_ERROR_INVALID_ARGUMENT (an invalid value, which is named),
 * TS_ERROR_UNSUPPORTED (of ts_solver_create for the pressure), memory. */
TS_API ts_status ts_fluid_set_parameters(ts_fluid *fluid, const ts_fluid_parameters *parameters);
TS_API ts_status ts_fluid_get_parameters(const ts_fluid *fluid, ts_fluid_parameters *parameters);

/* Replaces the walls; NULL: none. Arrays as in ts_fluid_desc, copied. Cells that become fluid are at rest. The
 * pressure's matrices are rebuilt. If walls close every outlet the pressure is that of a closed domain, and a
 * compatibility source removes the inflow without a way out evenly (ts_fluid_info has both).
 * Errors: TS_ERROR_INVALID_ARGUMENT (no fluid cell is left), memory. */
TS_API ts_status ts_fluid_set_walls(ts_fluid *fluid, const unsigned char *solid, const float *solid_velocity);
/* Replaces the boundary conditions; NULL: unchanged.
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_UNSUPPORTED (one that becomes periodic or ceases to be). */
TS_API ts_status ts_fluid_set_boundaries(ts_fluid *fluid, const ts_fluid_boundary *left,
                                         const ts_fluid_boundary *right, const ts_fluid_boundary *bottom,
                                         const ts_fluid_boundary *top);
/* Replaces the sources, which are copied: 0 to TS_FLUID_MAX_SOURCES.
 * Errors: TS_ERROR_INVALID_ARGUMENT (names the source). */
TS_API ts_status ts_fluid_set_sources(ts_fluid *fluid, const ts_fluid_source *sources, int count);

/* Resets the fields: at rest, no dye, particles spread evenly, time 0. Walls, boundary conditions, sources and
 * parameters are kept. */
TS_API ts_status ts_fluid_reset(ts_fluid *fluid);

/* Adds a Gaussian of radius `radius` (m) at (x, y) to the fields: `velocity` (m/s), `dye` (r, g, b),
 * `temperature`. NULL: 0. Errors: TS_ERROR_INVALID_ARGUMENT. */
TS_API ts_status ts_fluid_splat(ts_fluid *fluid, double x, double y, double radius, const float velocity[2],
                                const float dye[3], float temperature);

/* Creates width x height particles, spread evenly, which the flow advects. A particle restarts at an arbitrary
 * place when it leaves the domain, enters a wall, or after about `lifetime` seconds (0: never). 0 x 0: none.
 * Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_LIMIT (a texture's largest size), memory. */
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

/* Returns a stage's name, NULL if there is no such stage. Any thread. */
TS_API const char *ts_fluid_stage_name(ts_fluid_stage stage);

/* What a step measures for its result. Both synchronise with the device. Other steps do not synchronise if the
 * iterations of the pressure are fixed. Two exceptions: gmres, and multigrid as the preconditioner of another
 * method than richardson if a part of the domain has no outlet. */
enum {
  TS_FLUID_MEASURE_DIVERGENCE = 1, /* one synchronisation */
  TS_FLUID_MEASURE_TIMES = 2       /* one after every stage, which costs time itself */
};

typedef struct ts_fluid_result {
  double time;    /* simulated time after the step, s */
  int steps;      /* since creation or the last reset */
  int iterations; /* of the pressure's solver */
  int host_synchronisations;
  ts_reason pressure_reason; /* as in ts_result: TS_REASON_FIXED_ITERATIONS without a test */
  /* With MEASURE_DIVERGENCE, 1/s: root mean square over fluid cells, and largest magnitude, of the divergence
   * before and after the projection, without the compatibility source of closed domains. Else NaN. */
  double divergence_before, divergence_after, largest_before, largest_after;
  double largest_speed;                 /* m/s; with MEASURE_DIVERGENCE, else NaN */
  double seconds[TS_FLUID_STAGE_COUNT]; /* wall-clock, with MEASURE_TIMES; else 0 */
  uint64_t reserved[8];
} ts_fluid_result;

/* Makes one step of parameters.time_step. `measure`: flags from above. `result` may be NULL.
 * Returns TS_OK, even if the pressure did not reach its tolerance (see `pressure_reason`); TS_NOT_CONVERGED if
 * divergence is measured and a field holds a NaN or an infinity; or an error, fields undefined. */
TS_API ts_status ts_fluid_step(ts_fluid *fluid, int measure, ts_fluid_result *result);

typedef struct ts_fluid_info {
  int32_t width, height;
  double cell_size;
  ts_fluid_layout layout; /* staggered or collocated */
  int32_t fluid_cells;
  int closed;          /* connected components of the domain without an outlet */
  int outlet_closed;   /* 1: there is an outlet, and walls close all of it */
  double inflow;       /* m^2/s through inlets */
  double incompatible; /* m^2/s of it without a way out */
  int levels;          /* of the pressure's multigrid; 0 without */
  size_t bytes_device;
  uint64_t reserved[8];
} ts_fluid_info;

/* Returns sizes and what walls and boundary conditions imply. */
TS_API ts_status ts_fluid_get_info(const ts_fluid *fluid, ts_fluid_info *info);

/* The fields. The fluid owns them; a pointer is valid until the next call that changes the fluid (a step swaps
 * them). No host synchronisation.
 *
 * velocity     2 components over a grid of (width + 1) x (height + 1), m/s. Staggered: the first is the
 * velocity through the left face of cell (i, j), at (i h, (j + 1/2) h), the second that through its lower face,
 * at ((i + 1/2) h, j h). Collocated: both at the centre of cell (i, j); the last column and row are unused.
 * pressure     p / density in m^2/s^2, 1 component over width x height, cell-centred; as are all below
 * divergence   1/s after the last step that measured it; 0 in walls
 * dye          4 components: r, g, b, temperature
 * walls        2 components: 1 in solid cells, else 0; the second is reserved
 * particles    4 components over a grid: x, y (m), age (s), speed (m/s); NULL without particles */
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
