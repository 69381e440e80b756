/* A fluid under test, with its fields read to the host. */
#ifndef FLUID_RUN_H
#define FLUID_RUN_H

#include <texsolve/fluid.h>

#include "helpers.h"

typedef struct fluid_run {
  ts_context *context;
  ts_fluid *fluid;
  ts_fluid_desc desc; /* `parameters` points to the next field */
  ts_fluid_parameters parameters;
  double h;
  ts_fluid_result result; /* of the last step */
} fluid_run;

/* If `desc->parameters` is NULL, it uses `run->parameters`, which the caller has filled. Reports failures. */
int fluid_open(fluid_run *run, ts_context *context);
int fluid_steps(fluid_run *run, int count, int measure);
void fluid_close(fluid_run *run);
/* Returns a run with the default parameters. */
fluid_run fluid_make(ts_fluid_desc desc);

/* Solvers of the pressure, which have different default numbers of iterations. */
enum { FLUID_MULTIGRID, FLUID_MULTIGRID_CG, FLUID_CG, FLUID_JACOBI, FLUID_SOLVERS };

typedef struct fluid_solver {
  const char *name;
  ts_method method;
  ts_preconditioner_kind preconditioner_kind;
} fluid_solver;

extern const fluid_solver fluid_solvers[FLUID_SOLVERS];

void fluid_use(fluid_run *run, int solver);

typedef double (*fluid_function)(double x, double y, int component);

/* Sets velocities (two components) and dye (one number for all four components) from functions of the position
 * in metres. Faces with a fixed velocity keep it. */
void fluid_write_velocity(fluid_run *run, fluid_function f);
void fluid_write_dye(fluid_run *run, fluid_function f);

/* The root mean square of the difference, over existing faces or over cells (dye: the first component). */
double fluid_velocity_error(fluid_run *run, fluid_function f);
double fluid_dye_error(fluid_run *run, fluid_function f);

/* The position in metres of component c at (i, j) of the velocity's grid. Returns 0 if nothing exists there. */
int fluid_place(const fluid_run *run, int i, int j, int c, double *x, double *y);

#endif
