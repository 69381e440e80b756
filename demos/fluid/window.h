/* The window of fluid: push the fluid with the mouse, draw walls, change anything. */
#ifndef WINDOW_H
#define WINDOW_H

#include "simulation.h"
#include "view.h"

typedef struct fluid_window_options {
  const fluid_look *look; /* at first; NULL: the scene's */
  int steps_per_frame;    /* 0: the scene's */
  int paused;             /* at first */
  const char *screenshot; /* where files go; NULL: names made from the scene's */
  const char *film;
} fluid_window_options;

/* Opens the window, whose OpenGL context is the current one from then on: create the simulation with
 * TS_GL_PLATFORM_CURRENT. Functions return 0, or 1 with one line in `message`. */
int fluid_window_open(int width, int height, char message[SIMULATION_MESSAGE]); /* 0 x 0: 1280 x 800 */
/* Until the user closes it. Another backend replaces the simulation. */
int fluid_window_run(simulation **s, const fluid_window_options *options, char message[SIMULATION_MESSAGE]);
void fluid_window_close(void); /* after the simulation is destroyed */

#endif
