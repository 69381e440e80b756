/* What the parts of the window share. */
#ifndef WINDOW_STATE_H
#define WINDOW_STATE_H

#include "flat_view.h"
#include "mesh_param.h"
#include "mesh_window.h"
#include "worker.h"

typedef struct pin_list {
  flattening_pin *pins;
  int32_t count;
} pin_list;

enum { PIN_LISTS = 100 };
typedef struct pin_lists { /* oldest first */
  pin_list list[PIN_LISTS];
  int count;
} pin_lists;

enum { DRAG_IMAGE = APP_DRAG_OWN, DRAG_PIN };

struct window_state {
  app app;
  load_report report; /* of the first mesh */
  flattening f;
  struct GLFWwindow *shared; /* hidden, the solver's: its context shares the window's objects. NULL: none */
  program_options options;   /* device, system and look are those of the controls */
  char backend[40];
  mesh_window files;

  /* Solving. */
  worker *solver;
  worker_progress progress;
  worker_state state;
  int wanted;              /* something has changed since the last start: solve when idle */
  conformal_result solved; /* of the last one that ended */
  int has_ended;           /* whether one has, with this mesh */

  /* Pins that were picked or moved; none: automatic. */
  flattening_pin *pins;
  int32_t pin_count;
  int32_t grabbed; /* the flat vertex of the pin that is held and was not moved yet; -1 */
  int32_t dragged; /* which pin is moved; -1 */
  pin_lists past, future;

  int asks_cut; /* the mesh is closed or has handles: it is cut, but neither shown nor solved before the user
                   agrees */

  flat_view *view;
  flat_window window;
};

/* ---- window_actions.c: what a button or a key does; errors become the note ---- */
void window_show_mesh(window_state *w); /* the view is made for the mesh, and it is solved for */
void window_image_changed(window_state *w, const flat_source *source); /* as in flat_view_update */
void window_solve_or_stop(window_state *w);
void window_solve(window_state *w); /* once a frame: takes what the solver has found, starts what is wanted */
void window_fit(window_state *w);
const char *window_picture(window_state *w, int is_video, int width, int height, unsigned char *rgb);
void window_export(window_state *w);
void window_open_file(window_state *w, const char *path);
/* Whether the mesh may not be cut yet, which the user is told then. */
int window_asks(window_state *w);
void window_cut(window_state *w); /* the box: cuts the mesh that asks, and those opened from now on */

/* ---- window_pins.c ---- */
/* The pin near a place of the scene, or -1; of automatic ones too. */
int32_t window_find_pin(const window_state *w, double x, double y);
/* The flat vertex near a place of the scene, or -1: in the UV map the nearest, on the mesh the nearest that
 * faces the camera. */
int32_t window_find_vertex(const window_state *w, double x, double y);
void window_add_pin(window_state *w, int32_t flat);
void window_remove_pin(window_state *w, int32_t flat);
void window_grab_pin(window_state *w, int32_t flat);
void window_move_pin(window_state *w, double x, double y);
void window_automatic_pins(window_state *w);
int window_use_pins(window_state *w); /* solves for them. Returns 1 if they cannot be used */

/* ---- window_past.c ---- */
void window_remember(window_state *w); /* before the pins change */
void window_forget(window_state *w);   /* everything: another mesh */
void window_undo(window_state *w);
void window_redo(window_state *w);

/* ---- window_panel.c ---- */
void window_panel_draw(window_state *w);

#endif
