/* What the parts of the program fluid share: its options, its exit statuses, its ways of running. */
#ifndef FLUID_H
#define FLUID_H

#include "drawing.h"
#include "simulation.h"

enum { EXIT_MADE = 0, EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_NOT_MADE = 3 };

typedef struct program_options {
  simulation_options simulation;
  fluid_look look;
  int field_given;
  const char *screenshot, *frames_dir, *video, *profile; /* NULL: none */
  double probe[2];                                       /* m; NAN: none */
  int picture_width, picture_height;                     /* 0: the cells times a whole number */
  int frames, steps_per_frame;                           /* -1, 0: not said */
  double ui_scale;
  int headless, bench, json, quiet, verbosity;
} program_options;

/* Ends the program with EXIT_USAGE on bad ones. */
void options_parse(int argc, char **argv, program_options *options);

/* The ways to run, which return an exit status after a message. */
int run_headless(const program_options *options);
int run_bench(const program_options *options);
int run_window(const program_options *options);

/* ---- names.c: of enumerations, a name for 0, 1, ... until NULL ---- */

const char *scene_names(int k);
const char *field_names(int k);
const char *solver_names(int k);
const char *smoother_names(int k);
const char *storage_names(int k);
const char *interpolation_names(int k);
const char *cycle_names(int k);

#endif
