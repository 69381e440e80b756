/* Declarations that the parts of the window share. */
#ifndef WINDOW_STATE_H
#define WINDOW_STATE_H

#include "app.h"
#include "fluid.h"
#include "view.h"

/* ---- window_pointer.c ----
 * The pointer pushes the fluid and adds dye, and draws and erases walls; several buttons act together.
 * Movements are collected as they arrive, and applied once per frame. */

enum { POINTER_PUSH = 1, POINTER_WALL = 2, POINTER_ERASE = 4 };
enum { POINTER_PATH = 64, POINTER_BUTTONS = 8 };
/* Limits of `brush`. */
#define POINTER_SMALLEST 0.004
#define POINTER_LARGEST 0.25

typedef struct window_pointer {
  /* Settings. */
  double brush;     /* radius relative to the domain's height */
  double push;      /* velocity of the fluid relative to the pointer's */
  double dye;       /* brightness */
  double heat;      /* temperature of the added dye */
  int colour_fixed; /* otherwise the hue changes with time */
  float colour[3];

  /* State. */
  unsigned buttons; /* bits of the mouse buttons that are down; `does` has the action of each */
  unsigned does[POINTER_BUTTONS];
  double x, y; /* metres */
  struct {
    double x, y; /* metres; a segment goes from here to the next point */
    unsigned does;
  } path[POINTER_PATH];
  int path_count;
} window_pointer;

void pointer_set_up(window_pointer *p);
/* In metres. */
void pointer_press(window_pointer *p, int button, unsigned does);
void pointer_release(window_pointer *p, int button);
void pointer_move(window_pointer *p, double x, double y);

/* Applies the collected movements. `seconds` is the simulated time of the frame; `time` determines the colour.
 * Returns 0, or 1 with one line in `message`. */
int pointer_apply(window_pointer *p, simulation *s, double seconds, double time,
                  char message[SIMULATION_MESSAGE]);

/* ---- The window ---- */

struct window_state {
  app app;
  simulation *s;
  const program_options *options;
  fluid_view *view;
  fluid_look look;
  window_pointer pointer;

  /* Controls. */
  char size_text[32];
  int own_size;                     /* the user chose the number of cells, so it does not follow the window */
  int32_t next_width;               /* of the domain, for the new proportions of the window */
  double unfit_seconds;             /* time since they changed */
  int iterations[PRESSURE_SOLVERS]; /* chosen number for each solver */
  int particles;                    /* approximate number */
  int own_range;                    /* the user fixed the colour range; otherwise it follows the data */

  /* Running. */
  int touched; /* the user has pushed the fluid, which ends the script of a scene for the mouse */
  int steps_per_frame;
  int measure_divergence, measure_times;
  app_times times; /* time per step, for each of the last frames */
};

/* The area of the fluid in the window, right of the panel. */
fluid_area window_area(const window_state *w);

/* ---- window_actions.c: actions of buttons and keys; errors are shown as the note ---- */
void window_show_scene(window_state *w); /* adapts look, pace, title and file names to the scene */
void window_make_steps(window_state *w, double seconds);
void window_reset(window_state *w);
void window_clear_walls(window_state *w);
void window_load_walls(window_state *w, const char *path);
/* 0 x 0 cells: the scene's default size, or the size that fits the window. */
void window_set_scene(window_state *w, int index, int32_t width, int32_t height);
/* Width in cells of a domain of this height that fills the window; 0: the scene has a fixed width. */
int32_t window_fitting_width(const window_state *w, const scene *s, int32_t height);
void window_follow_size(window_state *w, double seconds); /* call once per frame */
void window_set_backend(window_state *w, const char *backend);
void window_set_layout(window_state *w, ts_fluid_layout layout);
void window_set_parameters(window_state *w, const ts_fluid_parameters *parameters);
void window_set_solver(window_state *w, int solver);
void window_set_particles(window_state *w, int count);
void window_default_parameters(window_state *w);

/* ---- window_panel.c ---- */
void window_panel_draw(window_state *w);

#endif
