/* A simulation of bodies with contacts, solved on a device, for the window and for runs without one. Functions
 * return 0, or 1 with one line in `message`. */
#ifndef SIMULATION_H
#define SIMULATION_H

#include <texsolve/gl.h>
#include <texsolve/lcp.h>

#include "assembly.h"
#include "collision.h"
#include "scene.h"

enum { SIMULATION_MESSAGE = 400, SIMULATION_HISTORY = 240 };

/* Parameters that may change between steps. */
typedef struct simulation_parameters {
  double friction, restitution;
  double step;      /* seconds */
  double tolerance; /* of the residual, relative to ||q|| */
  int sweeps;       /* maximum per step */
  ts_lcp_scheme scheme;
  ts_lcp_acceleration acceleration; /* auto is momentum */
  int cold_start;                   /* start from reactions of 0 */
} simulation_parameters;

typedef struct simulation_options {
  const scene *scene;  /* NULL: the first scene */
  int bodies;          /* 0: the scene's default */
  const char *backend; /* NULL: auto */
  ts_gl_platform platform;
  int threads; /* for the CPU backend and for collision detection; 0: all */
  /* auto: single on OpenGL, which emulates double by pairs of floats, otherwise double */
  ts_precision precision;
  simulation_parameters parameters; /* NAN or 0: the defaults; friction has one per scene */
} simulation_options;

/* One step; times in seconds. */
typedef struct simulation_figures {
  double collision, assembly, solve; /* solve includes the transfers to and from the device */
  int contacts, sweeps, missed;      /* missed: steps that missed the tolerance */
  double residual;                   /* relative to ||q|| */
  double penetration;                /* the deepest, in metres */
  world_energy energy;
} simulation_figures;

/* The last steps, oldest first, for plots. */
typedef struct simulation_history {
  int count; /* at most SIMULATION_HISTORY */
  /* milliseconds */
  float collision[SIMULATION_HISTORY], assembly[SIMULATION_HISTORY], solve[SIMULATION_HISTORY];
  float draw[SIMULATION_HISTORY];
  float residual[SIMULATION_HISTORY], sweeps[SIMULATION_HISTORY], energy[SIMULATION_HISTORY];
} simulation_history;

/* Read-only for callers, except `parameters`, `world.held`, `world.grip` and `world.target`, which may be set
 * between steps. The functions below change the rest. */
typedef struct simulation {
  simulation_options options;
  simulation_parameters parameters;
  ts_context *context;
  ts_context_info device;
  const scene *scene;
  world world;
  workers *workers; /* for collision detection */
  collision *collision;
  assembly assembly;
  int steps, missed_steps;
  int broken;                 /* the positions diverged; a reset recovers */
  simulation_figures figures; /* of the last step */
  simulation_history history;
} simulation;

int simulation_create(const simulation_options *options, simulation **made, char message[SIMULATION_MESSAGE]);
void simulation_destroy(simulation **made);

/* Starts again with the current parameters. */
int simulation_reset(simulation *s, char message[SIMULATION_MESSAGE]);
/* Changes the scene, or the number of bodies (0: the scene's default). Friction is set to the scene's
 * default. */
int simulation_set_scene(simulation *s, const scene *next, int bodies, char message[SIMULATION_MESSAGE]);
/* Adds a ball with this position and velocity, and a density of 1 kg per litre. */
int simulation_throw(simulation *s, const double from[3], const double velocity[3], double radius,
                     char message[SIMULATION_MESSAGE]);
/* Makes one step of length parameters.step. A residual above the tolerance is counted and is not an error. */
int simulation_step(simulation *s, char message[SIMULATION_MESSAGE]);
/* Records in the history how long the program took to draw the last step. */
void simulation_note_draw(simulation *s, double seconds);
int simulation_moving(const simulation *s); /* number of bodies that are not fixed */
/* A line such as "wall, 214 bodies, cpu: 2 threads". */
void simulation_describe(const simulation *s, char *text, size_t size);

/* ---- Internal ---- */

int simulation_fail(char message[SIMULATION_MESSAGE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
