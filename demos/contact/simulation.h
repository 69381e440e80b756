/* Bodies with their contacts, solved on a device: what the window and the runs without one share. Functions
 * return 0, or 1 with one line in `message`. */
#ifndef SIMULATION_H
#define SIMULATION_H

#include <texsolve/gl.h>
#include <texsolve/lcp.h>

#include "assembly.h"
#include "collision.h"
#include "scene.h"

enum { SIMULATION_MESSAGE = 400, SIMULATION_HISTORY = 240 };

/* What may change between steps. */
typedef struct simulation_parameters {
  double friction, restitution;
  double step;      /* s */
  double tolerance; /* of the residual, by ||q|| */
  int sweeps;       /* at most */
  ts_lcp_scheme scheme;
  ts_lcp_acceleration acceleration; /* auto: momentum */
  int cold_start;                   /* from reactions of 0 */
} simulation_parameters;

typedef struct simulation_options {
  const scene *scene;  /* NULL: the first one */
  int bodies;          /* 0: the scene's */
  const char *backend; /* NULL: auto */
  ts_gl_platform platform;
  int threads;            /* of the CPU backend and of collision detection; 0: all */
  ts_precision precision; /* auto: single on OpenGL, which makes doubles of pairs, and double elsewhere */
  simulation_parameters parameters; /* NAN, 0: the defaults, friction the scene's */
} simulation_options;

/* Of one step; times in s. */
typedef struct simulation_figures {
  double collision, assembly, solve; /* the last with the copies to and from the device */
  int contacts, sweeps, missed;      /* missed: the tolerance was not reached */
  double residual;                   /* by ||q|| */
  double penetration;                /* deepest, m */
  world_energy energy;
} simulation_figures;

/* The last steps, oldest first, for plots. */
typedef struct simulation_history {
  int count; /* at most SIMULATION_HISTORY */
  float collision[SIMULATION_HISTORY], assembly[SIMULATION_HISTORY], solve[SIMULATION_HISTORY]; /* ms */
  float draw[SIMULATION_HISTORY];
  float residual[SIMULATION_HISTORY], sweeps[SIMULATION_HISTORY], energy[SIMULATION_HISTORY];
} simulation_history;

/* To be read, and `parameters`, `world.held`, `world.grip` and `world.target` to be set between steps; what
 * else changes it are the functions below. */
typedef struct simulation {
  simulation_options options;
  simulation_parameters parameters;
  ts_context *context;
  ts_context_info device;
  const scene *scene;
  world world;
  workers *workers; /* of collision detection */
  collision *collision;
  assembly assembly;
  int steps, missed_steps;
  int broken;                 /* the bodies are nowhere any more; a reset helps */
  simulation_figures figures; /* of the last step */
  simulation_history history;
} simulation;

int simulation_create(const simulation_options *options, simulation **made, char message[SIMULATION_MESSAGE]);
void simulation_destroy(simulation **made);

/* From the beginning again, with the parameters as they are. */
int simulation_reset(simulation *s, char message[SIMULATION_MESSAGE]);
/* Another scene, or another number of bodies (0: the scene's own). It brings its own friction. */
int simulation_set_scene(simulation *s, const scene *next, int bodies, char message[SIMULATION_MESSAGE]);
/* A ball that flies from a point, for the hand that throws it: 1 kg for each litre. */
int simulation_throw(simulation *s, const double from[3], const double velocity[3], double radius,
                     char message[SIMULATION_MESSAGE]);
/* One step of the parameters' length. A residual above the tolerance is no error, it is counted. */
int simulation_step(simulation *s, char message[SIMULATION_MESSAGE]);
/* Adds to the last step of the history what the program itself took to draw. */
void simulation_note_draw(simulation *s, double seconds);
int simulation_moving(const simulation *s); /* bodies that are not fixed */
/* "wall, 214 bodies, cpu: 2 threads" */
void simulation_describe(const simulation *s, char *text, size_t size);

/* ---- For its own files ---- */

int simulation_fail(char message[SIMULATION_MESSAGE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
