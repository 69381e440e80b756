/* Declarations that the parts of the window share. */
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
  /* hidden window for the solver; its context shares the window's objects. NULL: none */
  struct GLFWwindow *shared;
  program_options options; /* device, system and look are those of the controls */
  char backend[40];
  mesh_window files;

  /* Solving. */
  worker *solver;
  worker_progress progress;
  worker_state state;
  int wanted;              /* something has changed since the last start: solve when idle */
  conformal_result solved; /* result of the last solve */
  int has_ended;           /* 1 if this mesh has been solved */

  /* Pins that were picked or moved. None: automatic pins. */
  flattening_pin *pins;
  int32_t pin_count;
  int32_t grabbed; /* flat vertex of the pin that is held but has not moved yet; -1 */
  int32_t dragged; /* index of the pin that is being moved; -1 */
  pin_lists past, future;

  /* the mesh is closed or has handles: the cut exists, but is neither shown nor solved until the user agrees */
  int asks_cut;

  flat_view *view;
  flat_window window;
};

/* ---- window_actions.c: actions of buttons and keys; errors are shown as the note ---- */
void window_show_mesh(window_state *w); /* creates the view for the mesh and starts a solve */
void window_image_changed(window_state *w, const flat_source *source); /* `source` as in flat_view_update */
void window_solve_or_stop(window_state *w);
/* call once per frame; takes the solver's result, and starts a solve if one is wanted */
void window_solve(window_state *w);
void window_fit(window_state *w);
const char *window_picture(window_state *w, int is_video, int width, int height, unsigned char *rgb);
void window_export(window_state *w);
void window_open_file(window_state *w, const char *path);
/* Returns 1, after a note to the user, if the mesh must not be cut yet. */
int window_asks(window_state *w);
/* toggles the box: cuts the mesh that waits for it, and meshes that are opened later */
void window_cut(window_state *w);

/* ---- window_pins.c ---- */
/* The pin near a position in the scene, or -1; includes automatic pins. */
int32_t window_find_pin(const window_state *w, double x, double y);
/* The flat vertex near a position in the scene, or -1: in the UV map the nearest one, on the mesh the nearest
 * in front. */
int32_t window_find_vertex(const window_state *w, double x, double y);
void window_add_pin(window_state *w, int32_t flat);
void window_remove_pin(window_state *w, int32_t flat);
void window_grab_pin(window_state *w, int32_t flat);
void window_move_pin(window_state *w, double x, double y);
void window_automatic_pins(window_state *w);
int window_use_pins(window_state *w); /* uses the pins and starts a solve. Returns 1 if they are refused */

/* ---- window_past.c ---- */
void window_remember(window_state *w); /* call before the pins change */
void window_forget(window_state *w);   /* clears both lists, for another mesh */
void window_undo(window_state *w);
void window_redo(window_state *w);

/* ---- window_panel.c ---- */
void window_panel_draw(window_state *w);

#endif
