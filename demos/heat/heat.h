/* What the parts of the program heat share: its options, its linear system on a device, and its messages. */
#ifndef HEAT_H
#define HEAT_H

#include <texsolve/solver.h>
#include <texsolve/gl.h>

#include "heat_plate.h"
#include "png_image.h"

typedef struct program_options {
  const char *backend, *output; /* output is NULL in a window when no picture is asked for */
  int size;
  int window, headless;
  int frames;    /* close the window after so many; 0: when the user does */
  int per_frame; /* iterations */
} program_options;

typedef struct heat_system {
  plate plate;
  ts_context *context;
  ts_matrix *matrix;
  ts_vector *b, *x; /* b is 0: no heat comes from within the plate */
  ts_solver *cg;
  double norm_start; /* of b - A x at the start */
} heat_system;

/* How a solve went. */
typedef struct heat_outcome {
  int converged, iterations, host_synchronisations;
  double seconds;    /* of the solve */
  char message[160]; /* why it did not converge */
} heat_outcome;

extern const double heat_tolerance; /* of ||b - A x|| relative to the start */

/* One line on standard error. Returns 1, the exit status of an error. */
int heat_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Opens the device that `device` describes and puts the plate's system on it. Returns 0, or 1 after a message.
 */
int heat_open(heat_system *system, const ts_context_desc *device, const ts_solver_desc *method, int size);
void heat_close(heat_system *system);

/* Draws the solution into a new picture, from its texture where it has one. Returns 0, or 1 after a message. */
int heat_draw(heat_system *system, image *picture);

/* Shows the solution in a window while it is computed. Returns 0, or 1 after a message. */
int heat_window_open(void);
int heat_window_run(heat_system *system, const program_options *options, heat_outcome *outcome);
void heat_window_close(void);

#endif
