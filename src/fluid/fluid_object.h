/* A fluid as src/common has it. */
#ifndef TSI_FLUID_OBJECT_H
#define TSI_FLUID_OBJECT_H

#include "fluid.h"

typedef struct tsi_fluid_pressure {
  ts_matrix *matrix;
  ts_solver_desc how;          /* resolved */
  ts_multigrid_desc hierarchy; /* of `multigrid` */
  ts_multigrid *multigrid;     /* cycles, also as a preconditioner; NULL: none */
  ts_solver *krylov;           /* NULL: cycles alone */
} tsi_fluid_pressure;

/* One system for each component of the velocity. */
typedef struct tsi_fluid_viscosity {
  double factor; /* nu dt / h^2 of what is made; 0: nothing */
  ts_space *grid;
  ts_matrix *matrices[2];
  ts_multigrid *multigrids[2];
  ts_vector *unknowns[2], *walls[2]; /* walls: what the boundaries' and solids' velocities add to the right */
  ts_vector *right;
} tsi_fluid_viscosity;

/* What a step measures, in slots. */
enum {
  TSI_FLUID_NORM_BEFORE,
  TSI_FLUID_LARGEST_BEFORE,
  TSI_FLUID_NORM_AFTER,
  TSI_FLUID_LARGEST_AFTER,
  TSI_FLUID_NORM_SPEED,
  TSI_FLUID_LARGEST_SPEED,
  TSI_FLUID_NORM_DYE,
  TSI_FLUID_SLOTS
};

struct ts_fluid {
  ts_context *context;
  tsi_fluid_domain domain;
  double cell_size;
  ts_fluid_parameters parameters; /* as given */
  unsigned char *solid;           /* per cell; never NULL */
  float *solid_velocity;          /* two per cell */
  float *prescribed_host;
  ts_fluid_source sources[TS_FLUID_MAX_SOURCES];
  int source_count;
  ts_space *cells, *points; /* of the pressure, of the velocity */
  ts_vector *velocity, *velocity_next, *velocity_third;
  ts_vector *dye, *dye_next, *dye_third; /* third ones: made for MacCormack */
  ts_vector *pressure, *right, *divergence, *walls, *prescribed;
  ts_vector *compatibility; /* the compatibility source: what flows in without a way out, per area; NULL where
                               that is 0 */
  ts_vector *vorticity;
  ts_vector *particles, *particles_next;
  double lifetime;
  ts_scalars *slots;
  tsi_fluid_pressure solver;
  tsi_fluid_viscosity viscosity;
  double time;
  int steps;
  uint32_t seed;
  ts_fluid_info info;
};

/* ---- fluid_parameters.c ---- */
ts_status tsi_fluid_check_parameters(ts_context *context, const ts_fluid_parameters *p);

/* ---- fluid_walls.c ---- */
ts_status tsi_fluid_check_boundaries(ts_context *context, const ts_fluid_boundary boundaries[4]);
ts_status tsi_fluid_check_walls(ts_context *context, const tsi_fluid_domain *d, const unsigned char *solid,
                                const float *solid_velocity);
/* Walls and boundaries as they are in the fluid, to `prescribed`, `walls`, `compatibility`, the matrices and
 * the info. Faces that were given and are free now are at rest. */
ts_status tsi_fluid_build(ts_fluid *fluid);
/* At rest, with the velocities that are given. */
ts_status tsi_fluid_rest(ts_fluid *fluid);
void tsi_fluid_copy_walls(ts_fluid *fluid, const unsigned char *solid, const float *solid_velocity);
void tsi_fluid_set_domain_boundaries(tsi_fluid_domain *d, const ts_fluid_boundary boundaries[4]);

/* ---- fluid_content.c: between tsi_enter and tsi_leave ---- */
/* `velocity`: those that set it; else those that set dye or temperature. */
ts_status tsi_fluid_apply_sources(ts_fluid *fluid, int velocity);

/* ---- fluid_pressure.c ---- */
/* Solvers for other parameters than `fluid->parameters`; on failure the old ones stay. */
ts_status tsi_fluid_pressure_change(ts_fluid *fluid, const ts_fluid_parameters *p);
void tsi_fluid_pressure_destroy(tsi_fluid_pressure *solver);
/* The matrix of the walls and boundaries as they are; at the first time, the solvers of fluid->parameters too.
 */
ts_status tsi_fluid_pressure_update(ts_fluid *fluid);
ts_status tsi_fluid_pressure_solve(ts_fluid *fluid, ts_fluid_result *result);

/* ---- fluid_viscosity.c ---- */
void tsi_fluid_viscosity_destroy(tsi_fluid_viscosity *v);
ts_status tsi_fluid_viscosity_solve(ts_fluid *fluid);

#endif
