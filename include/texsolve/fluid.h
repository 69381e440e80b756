/* Incompressible flow in two dimensions: Stam's stable fluids (1999) with the pressure solved by multigrid
 * (Bolz et al. 2003, section 4.1), on any backend.
 *
 * The domain is a rectangle of width x height square cells of size h. One step of length dt:
 *
 *   advection    u* = u carried along itself (semi-Lagrangian, or MacCormack: Selle et al. 2008)
 *   forces       buoyancy of the temperature, vorticity confinement (Fedkiw et al. 2001), gravity, splats
 *   viscosity    (I - nu dt laplace) u** = u*, by multigrid (only where nu > 0)
 *   projection   -laplace p = -(1 / dt) div u**,  u = u** - dt grad p   (density 1)
 *   transport    dye, temperature and particles are carried by u
 *
 * STAGGERED, the default: horizontal velocities at the middles of vertical faces, vertical ones at those of
 * horizontal faces (Harlow and Welch 1965). There the five-point Laplacian is the divergence of the gradient,
 * so that the divergence vanishes as far as the solver goes. COLLOCATED is the paper's: velocities at the
 * samples of the pressure, central differences; there the divergence that the projection leaves is not 0
 * whatever the solver does.
 *
 * Units: lengths in metres, velocities in m/s, times in s. The lower left corner of the domain is (0, 0).
 *
 * Threads, errors and ownership are as in texsolve.h.
 */
#ifndef TEXSOLVE_FLUID_H
#define TEXSOLVE_FLUID_H

#include <texsolve/grid.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ts_fluid_layout { TS_FLUID_STAGGERED = 0, TS_FLUID_COLLOCATED = 1 } ts_fluid_layout;

/* What a side of the domain is.
 *
 * WALL: the fluid has the side's velocity: a wall at rest (0), one that moves along itself (the lid of a
 * cavity), an inlet (with a velocity into the domain). SLIP: nothing passes, and nothing is held back along it.
 * OUTLET: the pressure is 0, the velocity is free.
 * PERIODIC: with the opposite side. */
#define TS_FLUID_SIDE_LIST(X)                                                                                  \
  X(TS_FLUID_WALL, 0, "wall")                                                                                  \
  X(TS_FLUID_SLIP, 1, "slip")                                                                                  \
  X(TS_FLUID_OUTLET, 2, "outlet")                                                                              \
  X(TS_FLUID_PERIODIC, 3, "periodic")

typedef enum ts_fluid_side_kind {
#define TS_FLUID_SIDE_ENUM(name, value, text) name = value,
  TS_FLUID_SIDE_LIST(TS_FLUID_SIDE_ENUM)
#undef TS_FLUID_SIDE_ENUM
} ts_fluid_side_kind;

typedef struct ts_fluid_side {
  ts_fluid_side_kind kind;
  float velocity[2]; /* of a WALL */
} ts_fluid_side;

typedef enum ts_fluid_advection { TS_FLUID_SEMI_LAGRANGIAN = 0, TS_FLUID_MACCORMACK = 1 } ts_fluid_advection;

/* How the pressure is solved. */
#define TS_FLUID_SOLVER_LIST(X)                                                                                \
  X(TS_FLUID_MULTIGRID, 0, "multigrid")       /* `iterations` cycles */                                        \
  X(TS_FLUID_MULTIGRID_CG, 1, "multigrid-cg") /* CG with one cycle as preconditioner */                        \
  X(TS_FLUID_CG, 2, "cg")                     /* CG with Jacobi's preconditioner */                            \
  X(TS_FLUID_JACOBI, 3, "jacobi")             /* plain Jacobi iterations */

typedef enum ts_fluid_solver {
#define TS_FLUID_SOLVER_ENUM(name, value, text) name = value,
  TS_FLUID_SOLVER_LIST(TS_FLUID_SOLVER_ENUM)
#undef TS_FLUID_SOLVER_ENUM
} ts_fluid_solver;

TS_API const char *ts_fluid_side_name(ts_fluid_side_kind kind); /* NULL, -1 if there is none; any thread */
TS_API int ts_fluid_side_from_name(const char *name);
TS_API const char *ts_fluid_solver_name(ts_fluid_solver solver);
TS_API int ts_fluid_solver_from_name(const char *name);

/* What may change between any two steps. Make one with ts_fluid_default_parameters. */
typedef struct ts_fluid_parameters {
  double time_step;                    /* dt in s, positive; default: 1/60 */
  double viscosity;                    /* nu in m^2/s, not negative; default: 0 */
  double buoyancy;                     /* upward acceleration in m/s^2 of temperature 1; default: 0 */
  double smoke_weight;                 /* downward acceleration in m/s^2 of dye of brightness 1; default: 0 */
  double gravity[2];                   /* m/s^2; default: 0 */
  double vorticity_confinement;        /* epsilon in 1/s: acceleration epsilon h (N x omega); default: 0 */
  double dye_decay, temperature_decay; /* 1/s: what is left after t is exp(-decay t); default: 0 */
  ts_fluid_advection advection;        /* default: semi-Lagrangian with the midpoint rule */
  ts_fluid_solver solver;              /* default: multigrid */
  int iterations;                      /* cycles, or iterations of CG and Jacobi, a step; default: 2 cycles,
                                          multigrid-cg 4, cg 50, jacobi 20 */
  double tolerance;            /* of the CG solvers, relative to the right-hand side; they end at it or at
                                  `iterations`; default: 0, always `iterations` */
  int cold_start;              /* the pressure starts from 0 and not from that of the last step; default: 0 */
  ts_multigrid_desc multigrid; /* of the pressure: smoother, storage, cycle, pre, post, ... ; progress, rtol
                                  and max_cycles do not matter */
} ts_fluid_parameters;

TS_API void ts_fluid_default_parameters(ts_fluid_parameters *parameters);

/* Where dye, temperature or motion enter at every step, inside a disc or a rectangle. What enters through an
 * inlet or an outlet has no dye: a source of dye at an inlet should be as long as the fluid moves in a step. */
typedef struct ts_fluid_source {
  float x, y;                    /* centre, m */
  float half_width, half_height; /* m; a rectangle. half_height 0: a disc of radius half_width */
  float dye[3];                  /* what the dye there becomes, r, g, b */
  float temperature;             /* what the temperature there becomes */
  float velocity[2];             /* what the velocity there becomes */
  int sets_dye, sets_temperature, sets_velocity; /* which of them */
} ts_fluid_source;

enum { TS_FLUID_MAX_SOURCES = 16 };

typedef struct ts_fluid_desc {
  int32_t width, height; /* cells, at least 4 each */
  double cell_size;      /* h in m; default: 1 / height */
  ts_fluid_layout layout;
  ts_fluid_side left, right, bottom, top;
  const unsigned char *solid;  /* width * height flags: cells that are walls; default: none */
  const float *solid_velocity; /* 2 * width * height: how fast they move, for solid cells; default: at rest */
  const ts_fluid_parameters *parameters; /* NULL: the defaults */
} ts_fluid_desc;

typedef struct ts_fluid ts_fluid;

/* A fluid at rest without dye. Nothing of `desc` is kept.
 * Errors: TS_ERROR_INVALID_ARGUMENT (a size, a time step, a side without its opposite, everything solid: field
 * and value are named), TS_ERROR_UNSUPPORTED, TS_ERROR_LIMIT, memory. */
TS_API ts_status ts_fluid_create(ts_context *context, const ts_fluid_desc *desc, ts_fluid **fluid);
TS_API void ts_fluid_destroy(ts_fluid **fluid);

/* Other parameters from the next step on. TS_ERROR_INVALID_ARGUMENT names a value that makes no sense, and the
 * old ones stay. */
TS_API ts_status ts_fluid_set_parameters(ts_fluid *fluid, const ts_fluid_parameters *parameters);
TS_API ts_status ts_fluid_get_parameters(const ts_fluid *fluid, ts_fluid_parameters *parameters);

/* Other walls; NULL: none. Cells that become fluid are at rest. The pressure's matrices are computed anew.
 * Walls that leave no fluid cell are refused. An outlet may be closed by them: the pressure is then that of a
 * closed domain, and what flows in without a way out is taken off evenly (ts_fluid_info tells). */
TS_API ts_status ts_fluid_set_walls(ts_fluid *fluid, const unsigned char *solid, const float *solid_velocity);
/* Other sides; NULL: as it is. TS_ERROR_UNSUPPORTED for one that becomes periodic or ceases to be. */
TS_API ts_status ts_fluid_set_sides(ts_fluid *fluid, const ts_fluid_side *left, const ts_fluid_side *right,
                                    const ts_fluid_side *bottom, const ts_fluid_side *top);
/* Other sources, which are copied: 0 to TS_FLUID_MAX_SOURCES. TS_ERROR_INVALID_ARGUMENT names the source. */
TS_API ts_status ts_fluid_set_sources(ts_fluid *fluid, const ts_fluid_source *sources, int count);

/* Fields back to the beginning: at rest, no dye, particles spread evenly. Walls, sides, sources and parameters
 * stay. */
TS_API ts_status ts_fluid_reset(ts_fluid *fluid);

/* Adds a Gaussian of radius `radius` (m) at (x, y): `velocity` (m/s), `dye` (r, g, b), `temperature`. NULL: 0.
 */
TS_API ts_status ts_fluid_splat(ts_fluid *fluid, double x, double y, double radius, const float velocity[2],
                                const float dye[3], float temperature);

/* Particles that the flow carries: width x height of them, spread evenly; one that leaves through a side or
 * gets into a wall, and every one after about `lifetime` seconds (0: never), begins anew at an arbitrary place.
 * 0 x 0: none. Errors: TS_ERROR_INVALID_ARGUMENT, TS_ERROR_LIMIT (a texture's largest size), memory. */
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
      TS_FLUID_STAGES
} ts_fluid_stage;

/* A stage's name, NULL if there is no such stage. Any thread. */
TS_API const char *ts_fluid_stage_name(ts_fluid_stage stage);

/* What a step measures for its result. Both wait for the device; without them a step with the solvers multigrid
 * and jacobi does not wait at all. */
enum {
  TS_FLUID_MEASURE_DIVERGENCE = 1, /* one wait */
  TS_FLUID_MEASURE_TIMES = 2       /* waits after every stage, which takes time itself */
};

typedef struct ts_fluid_result {
  double time;    /* of the fluid after the step */
  int steps;      /* since the beginning or the last reset */
  int iterations; /* of the pressure's solver: cycles or iterations */
  int waits;
  ts_reason pressure_reason; /* of a CG solver; TS_REASON_MAX_ITERATIONS where `iterations` ended it. Else
                                TS_REASON_CONVERGED */
  /* With MEASURE_DIVERGENCE, in 1/s: root of the mean square over fluid cells, and largest magnitude, of what
   * the divergence was before and after the projection. Else NaN. Of what flows into a closed domain without a
   * way out the mean is left out. */
  double divergence_before, divergence_after, largest_before, largest_after;
  double largest_speed;            /* m/s; with MEASURE_DIVERGENCE, else NaN */
  double seconds[TS_FLUID_STAGES]; /* with MEASURE_TIMES, else 0 */
} ts_fluid_result;

/* One step of parameters.time_step. `measure`: flags from above. `result` may be NULL.
 * Returns TS_OK, also where a CG solver ended before its tolerance (`pressure_reason` tells); or an error,
 * fields undefined. Where a field holds a NaN or an infinity and divergence was measured: TS_NOT_CONVERGED. */
TS_API ts_status ts_fluid_step(ts_fluid *fluid, int measure, ts_fluid_result *result);

typedef struct ts_fluid_info {
  int32_t width, height;
  double cell_size;
  ts_fluid_layout layout;
  int32_t fluid_cells;
  int closed;          /* parts of the domain without an outlet */
  int outlet_closed;   /* 1: there is an outlet side, and walls close all of it */
  double inflow;       /* m^2/s through walls that are inlets */
  double incompatible; /* m^2/s of it that has no way out */
  int levels;          /* of the pressure's multigrid */
  size_t bytes_device;
} ts_fluid_info;

TS_API ts_status ts_fluid_get_info(const ts_fluid *fluid, ts_fluid_info *info);

/* The fields, borrowed, valid until the next call that changes the fluid (a step exchanges them). Waits for
 * nothing.
 *
 * velocity     2 components over a grid of (width + 1) x (height + 1). Staggered: the first is the velocity
 *              through the left face of cell (i, j), at (i h, (j + 1/2) h), the second that through its lower
 *              face, at ((i + 1/2) h, j h). Collocated: both at the centre of cell (i, j); the last column and
 *              row are not used.
 * pressure     p / density in m^2/s^2, 1 component over width x height, at centres; as are all below
 * divergence   1/s after the last step that measured it; 0 in walls
 * dye          4 components: r, g, b, temperature
 * walls        2 components: 1 in solid cells, else 0; the second is free for later
 * particles    4 components over a grid: x, y (m), age in s, speed in m/s; NULL without particles */
TS_API ts_vector *ts_fluid_velocity(ts_fluid *fluid);
TS_API ts_vector *ts_fluid_pressure(ts_fluid *fluid);
TS_API ts_vector *ts_fluid_divergence(ts_fluid *fluid);
TS_API ts_vector *ts_fluid_dye(ts_fluid *fluid);
TS_API ts_vector *ts_fluid_walls(ts_fluid *fluid);
TS_API ts_vector *ts_fluid_particles(ts_fluid *fluid);

#ifdef __cplusplus
}
#endif
#endif
