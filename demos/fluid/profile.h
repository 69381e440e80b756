/* Velocities at places, read from the fluid. Return 0, or 1 with one line in `message`. */
#ifndef PROFILE_H
#define PROFILE_H

#include <stdio.h>

#include "simulation.h"

/* Interpolated at (x, y) in metres. Synchronises and reads the whole field. */
int profile_probe(const simulation *s, const double at[2], double velocity[2],
                  char message[SIMULATION_MESSAGE]);

/* As CSV: u along the vertical centre line and v along the horizontal one, at each cell's middle. */
int profile_write(const simulation *s, FILE *file, char message[SIMULATION_MESSAGE]);

#endif
