/* What the parts of the window share. */
#ifndef WINDOW_STATE_H
#define WINDOW_STATE_H

#include "app.h"
#include "fluid.h"
#include "view.h"

/* ---- window_pointer.c ----
 * What the pointer does to the fluid: pushes it and adds dye, draws walls, erases them; all at once where
 * several buttons are down. Movements are collected as they come and carried out once a frame. */

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

/* ---- The window ---- */

struct window_state {
  app app;
  simulation *s;
  const program_options *options;
  fluid_view *view;
  fluid_look look;
  window_pointer pointer;

  /* The controls. */
  char size_text[32];
  int own_size;         /* the user has chosen the number of cells, so that it does not follow the window */
  int32_t next_width;   /* of the domain, for the window's new proportions */
  double unfit_seconds; /* how long it is due */
  int iterations[PRESSURE_SOLVERS]; /* that each solver had or will have */
  int particles;                    /* about so many */
  int own_range;                    /* of the colours; else they follow the data */

  /* Running. */
  int touched; /* the user has pushed the fluid: a scene for the mouse does nothing by itself any more */
  int steps_per_frame;
  int measure_divergence, measure_times;
  app_times times; /* of a step in each of the last frames */
};

/* Where the fluid is drawn; the panel is left of it. */
fluid_area window_area(const window_state *w);

/* ---- window_actions.c: what a button or a key does; errors become the note ---- */
void window_show_scene(window_state *w); /* look, pace, title and file names become those of the scene */
void window_make_steps(window_state *w, double seconds);
void window_reset(window_state *w);
void window_clear_walls(window_state *w);
void window_load_walls(window_state *w, const char *path);
/* 0 x 0 cells: as the scene has it, or as the window wants it. */
void window_set_scene(window_state *w, int index, int32_t width, int32_t height);
/* The width in cells with which a domain of this height fills the window; 0: the scene has a width of its own.
 */
int32_t window_fitting_width(const window_state *w, const scene *s, int32_t height);
void window_follow_size(window_state *w, double seconds); /* once a frame */
void window_set_backend(window_state *w, const char *backend);
void window_set_layout(window_state *w, ts_fluid_layout layout);
void window_set_parameters(window_state *w, const ts_fluid_parameters *parameters);
void window_set_solver(window_state *w, int solver);
void window_set_particles(window_state *w, int count);
void window_default_parameters(window_state *w);

/* ---- window_panel.c ---- */
void window_panel_draw(window_state *w);

#endif
