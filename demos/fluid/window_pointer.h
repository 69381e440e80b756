/* What the pointer does to the fluid: pushes it and adds dye, draws walls, erases them; all at once where
 * several buttons are down. Movements are collected as they come and carried out once a frame. */
#ifndef WINDOW_POINTER_H
#define WINDOW_POINTER_H

#include "simulation.h"

enum { POINTER_PUSH = 1, POINTER_WALL = 2, POINTER_ERASE = 4 };
enum { POINTER_PATH = 64, POINTER_BUTTONS = 8 };
/* Of the brush. */
#define POINTER_SMALLEST 0.004
#define POINTER_LARGEST 0.25

typedef struct window_pointer {
  /* Set by the user. */
  double brush;     /* its radius, in parts of the domain's height */
  double push;      /* how much of the pointer's velocity the fluid takes */
  double dye;       /* brightness */
  double heat;      /* temperature that comes with the dye */
  int colour_fixed; /* else it goes round the colours with time */
  float colour[3];

  /* Now. */
  unsigned buttons; /* those of the mouse that are down, by number, with what each does: */
  unsigned does[POINTER_BUTTONS];
  double x, y; /* m */
  struct {
    double x, y; /* m, from here to the next one */
    unsigned does;
  } path[POINTER_PATH];
  int path_count;
} window_pointer;

void pointer_set_up(window_pointer *p);
/* In metres. */
void pointer_press(window_pointer *p, int button, unsigned does);
void pointer_release(window_pointer *p, int button);
void pointer_move(window_pointer *p, double x, double y);

/* Carries out what was collected while `seconds` passed for the fluid; at `time`, in seconds, for the colour.
 * Returns 0, or 1 with one line in `message`. */
int pointer_apply(window_pointer *p, simulation *s, double seconds, double time,
                  char message[SIMULATION_MESSAGE]);

#endif
