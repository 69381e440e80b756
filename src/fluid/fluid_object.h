/* The private object of a fluid. */
#ifndef TSI_FLUID_OBJECT_H
#define TSI_FLUID_OBJECT_H

#include "fluid.h"

typedef struct tsi_fluid_pressure {
  ts_matrix *matrix;
  ts_solver_desc how;          /* resolved */
  ts_multigrid_desc hierarchy; /* of `multigrid` */
  ts_multigrid *multigrid;     /* cycles, or the preconditioner; NULL: none */
  ts_solver *krylov;           /* NULL: cycles only */
} tsi_fluid_pressure;

/* One system per velocity component. */
typedef struct tsi_fluid_viscosity {
  double factor; /* nu dt / h^2 of the present system; 0: none */
  ts_space *grid;
  ts_matrix *matrices[2];
  ts_multigrid *multigrids[2];
  ts_vector *unknowns[2], *walls[2]; /* walls: boundaries and solids, for the right-hand side */
  ts_vector *right;
} tsi_fluid_viscosity;

/* Slots of a step's measurements. */
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
  ts_vector *dye, *dye_next, *dye_third; /* third vectors: created for MacCormack */
  ts_vector *pressure, *right, *divergence, *walls, *prescribed;
  ts_vector *compatibility; /* the compatibility source: inflow without an outlet, per area; NULL if 0 */
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
/* Converts the fluid's walls and boundaries to `prescribed`, `walls`, `compatibility`, the matrices and the
 * info. Faces that become free are at rest. */
ts_status tsi_fluid_build(ts_fluid *fluid);
/* Sets the fluid at rest, with the prescribed velocities. */
ts_status tsi_fluid_set_at_rest(ts_fluid *fluid);
void tsi_fluid_copy_walls(ts_fluid *fluid, const unsigned char *solid, const float *solid_velocity);
void tsi_fluid_set_domain_boundaries(tsi_fluid_domain *d, const ts_fluid_boundary boundaries[4]);

/* ---- fluid_content.c: called between tsi_enter and tsi_leave ---- */
/* `velocity`: 1 applies the sources that set velocities, 0 those that set dye or temperature. */
ts_status tsi_fluid_apply_sources(ts_fluid *fluid, int velocity);

/* ---- fluid_pressure.c ---- */
/* Creates solvers for parameters that differ from `fluid->parameters`. On failure the old ones stay. */
ts_status tsi_fluid_pressure_change(ts_fluid *fluid, const ts_fluid_parameters *p);
void tsi_fluid_pressure_destroy(tsi_fluid_pressure *solver);
/* Updates the matrix for the present walls and boundaries. The first call also creates the solvers. */
ts_status tsi_fluid_pressure_update(ts_fluid *fluid);
ts_status tsi_fluid_pressure_solve(ts_fluid *fluid, ts_fluid_result *result);

/* ---- fluid_viscosity.c ---- */
void tsi_fluid_viscosity_destroy(tsi_fluid_viscosity *v);
ts_status tsi_fluid_viscosity_solve(ts_fluid *fluid);

#endif
