/* What the parts of the window share. */
#ifndef WINDOW_STATE_H
#define WINDOW_STATE_H

#include "flat_view.h"
#include "overwrite.h"
#include "view_gl.h"
#include "window.h"
#include "worker.h"

struct GLFWwindow;

typedef struct window_state {
  struct GLFWwindow *handle;
  flattening *f;
  program_options options; /* device, system and look are those of the controls */
  char backend[40];

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
  int32_t dragged; /* which one of them; -1 */

  /* The picture. It is drawn off the screen, and only when something in it has changed. */
  flat_view *view;
  camera camera;
  flat_window window;
  view_gl_canvas many, picture;
  int width, height, stale;

  /* The controls. */
  int panel_hidden, keys_shown;
  char output[MESH_MESSAGE], screenshot[MESH_MESSAGE], name[MESH_MESSAGE];
  overwrite mesh_file, picture_file;
  char to_open[4 * MESH_MESSAGE]; /* a file that was dropped; "" for none */
  int to_open_shown;              /* the window says so already */

  /* What the user is told. */
  char note[OVERWRITE_QUESTION];
  int note_is_error;

  /* The pointer. */
  enum { DRAG_NONE, DRAG_ORBIT, DRAG_PAN, DRAG_IMAGE, DRAG_PIN } drag;
  double pointer_x, pointer_y; /* in pixels of the framebuffer, from the scene's upper left */
} window_state;

/* The scene's place in the framebuffer; the panel is left of it. */
int window_panel_width(const window_state *w);
float window_scale(const window_state *w);
void window_scene_size(const window_state *w, int *width, int *height);

/* ---- window_actions.c: what a button or a key does; errors become the note ---- */
void window_tell(window_state *w, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
void window_tell_error(window_state *w, const char *text);
void window_take_mesh(window_state *w); /* the view is made for the mesh, and it is solved for */
void window_image_changed(window_state *w, const flat_source *source); /* as in flat_view_update */
void window_solve_or_stop(window_state *w);
void window_work(window_state *w); /* once a frame: takes what the solver has found, starts what is wanted */
void window_fit(window_state *w);
void window_save_picture(window_state *w);
void window_export(window_state *w);
void window_open_file(window_state *w); /* w->to_open */
void window_name_files(window_state *w, const char *name, const program_options *options);

/* ---- window_pins.c ---- */
/* The pin near a place of the scene, or -1; of automatic ones too. */
int32_t window_find_pin(const window_state *w, double x, double y);
/* The flat vertex near a place of the scene, or -1: in the image the nearest, on the mesh the nearest that
 * faces the camera. */
int32_t window_find_vertex(const window_state *w, double x, double y);
void window_add_pin(window_state *w, int32_t flat);
void window_remove_pin(window_state *w, int32_t flat);
void window_grab_pin(window_state *w, int32_t flat);
void window_move_pin(window_state *w, double x, double y);
void window_automatic_pins(window_state *w);

/* ---- window_panel.c ---- */
void window_panel_draw(window_state *w);

/* ---- window_input.c: pointer, keys, files that are dropped ---- */
void window_input_connect(window_state *w); /* before the controls connect theirs */
void window_switch_keys(window_state *w);
void window_keys_draw(window_state *w); /* the list of keys, where it is shown */
const char *window_key_of(void (*action)(window_state *w));

#endif
