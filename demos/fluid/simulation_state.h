/* What simulation.c, simulation_walls.c and simulation_run.c share. */
#ifndef SIMULATION_STATE_H
#define SIMULATION_STATE_H

#include "simulation.h"

struct simulation {
  simulation_options options;
  ts_context *context;
  ts_fluid *fluid;
  ts_context_info device;
  ts_fluid_info info;
  scene_setup setup;
  ts_fluid_parameters parameters;
  unsigned char *solid;
  char *walls_path;  /* the file they came from; NULL: none */
  int walls_changed; /* since the device was told */
  int steps, broken;
  ts_fluid_result result;
  simulation_history history;
  char warning[SIMULATION_MESSAGE];
};

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
