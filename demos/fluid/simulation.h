/* A fluid on a device with its scene, walls and parameters, for the window and for runs without one. Functions
 * return 0, or 1 with one line in `message`. After a failure the simulation is unchanged, unless the function
 * documents otherwise. */
#ifndef SIMULATION_H
#define SIMULATION_H

#include <stddef.h>

#include <texsolve/fluid.h>
#include <texsolve/gl.h>

#include "pressure.h"
#include "scene.h"

enum { SIMULATION_MESSAGE = 400, SIMULATION_HISTORY = 240 };

/* Parameters from the user, which override the scene's. Not given: NAN, -1 or NULL. */
typedef struct simulation_changes {
  double time_step, viscosity, reynolds, vorticity_confinement, buoyancy;
  ts_fluid_advection advection; /* auto: the scene's */
  int solver;                   /* see pressure.h */
  int iterations;               /* of the solver */
  int cold_start;
  ts_multigrid_desc multigrid; /* always used */
} simulation_changes;

/* All parameters not given. */
simulation_changes simulation_no_changes(void);

typedef struct simulation_options {
  const scene *scene;    /* NULL: the first scene */
  int32_t width, height; /* in cells; 0 x 0: the scene's default size */
  const char *backend;   /* NULL: auto */
  ts_gl_platform platform;
  ts_fluid_layout layout;
  const char *walls; /* a PNG file with dark walls, which replace the scene's; NULL: none */
  int particles;     /* approximate number; 0: none; -1: the scene's default */
  simulation_changes changes;
} simulation_options;

/* The last steps, oldest first, for plots. Values that were not measured are 0. */
typedef struct simulation_history {
  int count; /* at most SIMULATION_HISTORY */
  float milliseconds[TS_FLUID_STAGE_COUNT][SIMULATION_HISTORY];
  float draw[SIMULATION_HISTORY];
  /* root mean square, in 1/s */
  float divergence_before[SIMULATION_HISTORY], divergence_after[SIMULATION_HISTORY];
} simulation_history;

/* Read-only for callers. The functions below change it. */
typedef struct simulation {
  simulation_options options;
  ts_context *context;
  ts_context_info device;
  ts_fluid *fluid;
  ts_fluid_info info;
  scene_setup setup;
  ts_fluid_parameters parameters;
  unsigned char *solid; /* width * height flags, including drawn walls */
  char *walls_path;     /* the file of the walls; NULL: none */
  int walls_changed;    /* the device does not have the last changes yet */
  int steps;
  int broken;             /* the flow is infinite or NaN */
  ts_fluid_result result; /* of the last step */
  simulation_history history;
  /* A condition that is unusual but valid: walls close all outlets, or an inflow has no outlet. "": none. */
  char warning[SIMULATION_MESSAGE];
} simulation;

int simulation_create(const simulation_options *options, simulation **made, char message[SIMULATION_MESSAGE]);
void simulation_destroy(simulation **made);

/* speed * length / viscosity of the scene; NAN if undefined. */
double simulation_reynolds(const simulation *s);
/* A line such as "backward-step 513 x 129, gl: llvmpipe, 65.1 k cells, 2.4 MB". */
void simulation_describe(const simulation *s, char *text, size_t size);

/* ---- Changes. The parameters in `changes` persist. ---- */

/* Starts again: the fluid at rest, the walls of the scene or the file, without drawn walls. */
int simulation_reset(simulation *s, char message[SIMULATION_MESSAGE]);
/* Changes the scene or its size (0 x 0: the scene's default). Parameters become the scene's; solver, advection
 * and multigrid are kept. */
int simulation_set_scene(simulation *s, const scene *next, int32_t width, int32_t height,
                         char message[SIMULATION_MESSAGE]);
/* Makes the domain wider or narrower. The flow and the walls are kept and stay centred. Particles and times
 * start again. */
int simulation_set_width(simulation *s, int32_t width, char message[SIMULATION_MESSAGE]);
int simulation_set_layout(simulation *s, ts_fluid_layout layout, char message[SIMULATION_MESSAGE]);
/* Refuses invalid parameters and keeps the old ones. */
int simulation_set_parameters(simulation *s, const ts_fluid_parameters *parameters,
                              char message[SIMULATION_MESSAGE]);
/* `count` is approximate; 0: none. */
int simulation_set_particles(simulation *s, int count, char message[SIMULATION_MESSAGE]);
/* Restores the scene's parameters. */
int simulation_default_parameters(simulation *s, char message[SIMULATION_MESSAGE]);

/* Draws walls inside a disc, or erases them (solid 0); lengths in metres. The device gets the changes of many
 * calls together, with the next step or simulation_apply_walls. Returns 1 if a cell changed. */
int simulation_brush(simulation *s, double x, double y, double radius, int solid);
int simulation_apply_walls(simulation *s, char message[SIMULATION_MESSAGE]);
int simulation_clear_walls(simulation *s, char message[SIMULATION_MESSAGE]);
/* The picture is scaled to the domain. */
int simulation_load_walls(simulation *s, const char *path, char message[SIMULATION_MESSAGE]);

int simulation_splat(simulation *s, const scene_splat *splat, char message[SIMULATION_MESSAGE]);

/* ---- Steps ---- */

/* Makes one step. `measure` has the flags of ts_fluid_step. With `scripted` a scene for the mouse adds its own
 * blobs. If the flow becomes infinite or NaN that is an error, and `broken` is set; a reset recovers. */
int simulation_step(simulation *s, int measure, int scripted, char message[SIMULATION_MESSAGE]);
/* Records in the history how long the program took to draw the last step. */
void simulation_note_draw(simulation *s, double seconds);

/* ---- Internal ---- */

int simulation_fail(char message[SIMULATION_MESSAGE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int simulation_fail_status(const ts_context *context, ts_status status, char message[SIMULATION_MESSAGE]);
/* Returns flags of the dark cells in *solid, which the caller frees. */
int simulation_read_walls(const char *path, int32_t width, int32_t height, unsigned char **solid,
                          char message[SIMULATION_MESSAGE]);
/* Updates `info` and `warning`. */
int simulation_look(simulation *s, char message[SIMULATION_MESSAGE]);
/* Clears the history and the count of steps. */
void simulation_forget(simulation *s);

#endif
