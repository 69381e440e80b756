/* A fluid on a device with its scene, walls and parameters: what the window and the videos both run. Functions
 * return 0, or 1 with one line in `message`, in which case everything is as it was unless it says otherwise. */
#ifndef SIMULATION_H
#define SIMULATION_H

#include <stddef.h>

#include <texsolve/fluid.h>
#include <texsolve/gl.h>

#include "pressure.h"
#include "scene.h"

enum { SIMULATION_MESSAGE = 400, SIMULATION_HISTORY = 240 };

/* Parameters that a user gave and that go before a scene's own. NAN, -1, NULL: not given. */
typedef struct simulation_changes {
  double time_step, viscosity, reynolds, vorticity_confinement, buoyancy;
  ts_fluid_advection advection; /* auto: the scene's */
  int solver;                   /* of pressure.h */
  int iterations;               /* of the solver */
  int cold_start;
  ts_multigrid_desc multigrid; /* taken as it is */
} simulation_changes;

/* Nothing given. */
simulation_changes simulation_no_changes(void);

typedef struct simulation_options {
  const scene *scene;    /* NULL: the first one */
  int32_t width, height; /* cells; 0 x 0: the scene's own size */
  const char *backend;   /* NULL: auto */
  ts_gl_platform platform;
  ts_fluid_layout layout;
  const char *walls; /* a PNG file, dark where there are walls, instead of the scene's; NULL: none */
  int particles;     /* about so many; 0: none; -1: the scene's */
  simulation_changes changes;
} simulation_options;

/* The last steps, oldest first, for plots. What was not measured is 0. */
typedef struct simulation_history {
  int count; /* at most SIMULATION_HISTORY */
  float milliseconds[TS_FLUID_STAGE_COUNT][SIMULATION_HISTORY];
  float draw[SIMULATION_HISTORY];
  float divergence_before[SIMULATION_HISTORY], divergence_after[SIMULATION_HISTORY]; /* 1/s, root mean square */
} simulation_history;

/* To be read; what changes it are the functions below. */
typedef struct simulation {
  simulation_options options;
  ts_context *context;
  ts_context_info device;
  ts_fluid *fluid;
  ts_fluid_info info;
  scene_setup setup;
  ts_fluid_parameters parameters;
  unsigned char *solid; /* width * height flags, walls drawn included */
  char *walls_path;     /* the file they came from; NULL: none */
  int walls_changed;    /* since the device was told */
  int steps;
  int broken;             /* the flow is not finite any more */
  ts_fluid_result result; /* of the last step */
  simulation_history history;
  /* What is strange but not wrong: an outlet closed by walls, inflow without a way out. "": nothing. */
  char warning[SIMULATION_MESSAGE];
} simulation;

int simulation_create(const simulation_options *options, simulation **made, char message[SIMULATION_MESSAGE]);
void simulation_destroy(simulation **made);

/* speed * length / viscosity of the scene; NAN where there is none. */
double simulation_reynolds(const simulation *s);
/* "backward-step 513 x 129, gl: llvmpipe, 65.1 k cells, 2.4 MB" */
void simulation_describe(const simulation *s, char *text, size_t size);

/* ---- Changing it. All of them keep what a user gave in `changes`. ---- */

/* From the beginning again: fluid at rest, walls of the scene or of the file, drawn ones gone. */
int simulation_reset(simulation *s, char message[SIMULATION_MESSAGE]);
/* Another scene or size (0 x 0: the scene's own). A scene brings its own parameters; the choice of solver,
 * advection and multigrid stays. */
int simulation_set_scene(simulation *s, const scene *next, int32_t width, int32_t height,
                         char message[SIMULATION_MESSAGE]);
/* A wider or narrower domain, whose flow and walls stay, counted from the middle; particles and times begin
 * again. */
int simulation_set_width(simulation *s, int32_t width, char message[SIMULATION_MESSAGE]);
int simulation_set_layout(simulation *s, ts_fluid_layout layout, char message[SIMULATION_MESSAGE]);
/* Parameters that make no sense are refused, and the old ones stay. */
int simulation_set_parameters(simulation *s, const ts_fluid_parameters *parameters,
                              char message[SIMULATION_MESSAGE]);
/* About so many; 0: none. */
int simulation_set_particles(simulation *s, int count, char message[SIMULATION_MESSAGE]);
/* Of a scene, to what it was. */
int simulation_default_parameters(simulation *s, char message[SIMULATION_MESSAGE]);

/* Walls inside a disc appear or go (solid 0), in metres. They count from the next step or
 * simulation_apply_walls on, so that many of these calls are one change for the device. Returns 1 if a cell
 * changed. */
int simulation_brush(simulation *s, double x, double y, double radius, int solid);
int simulation_apply_walls(simulation *s, char message[SIMULATION_MESSAGE]);
int simulation_clear_walls(simulation *s, char message[SIMULATION_MESSAGE]);
/* The whole picture is the domain. */
int simulation_load_walls(simulation *s, const char *path, char message[SIMULATION_MESSAGE]);

int simulation_splat(simulation *s, const scene_splat *splat, char message[SIMULATION_MESSAGE]);

/* ---- Running it ---- */

/* One step. `measure`: flags of ts_fluid_step. `scripted`: with what a scene for the mouse adds by itself.
 * A flow that is not finite any more is an error too (`broken`); a reset helps. */
int simulation_step(simulation *s, int measure, int scripted, char message[SIMULATION_MESSAGE]);
/* Adds to the last step of the history what the program itself took to draw. */
void simulation_note_draw(simulation *s, double seconds);

/* ---- For its own files ---- */

int simulation_fail(char message[SIMULATION_MESSAGE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int simulation_fail_status(const ts_context *context, ts_status status, char message[SIMULATION_MESSAGE]);
/* Flags of a picture's dark cells; the caller frees them. */
int simulation_read_walls(const char *path, int32_t width, int32_t height, unsigned char **solid,
                          char message[SIMULATION_MESSAGE]);
/* Asks the fluid what has become of it, and what is strange about that. */
int simulation_look(simulation *s, char message[SIMULATION_MESSAGE]);
/* The beginning of a run: no history, no steps. */
void simulation_forget(simulation *s);

#endif
