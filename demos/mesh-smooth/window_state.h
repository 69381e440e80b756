/* What the parts of the window share. */
#ifndef WINDOW_STATE_H
#define WINDOW_STATE_H

#include "first_time.h"
#include "overwrite.h"
#include "window.h"
#include "window_scene.h"

struct GLFWwindow;

enum { WINDOW_TIMES = 100 };

typedef struct window_state {
  struct GLFWwindow *handle;
  smoother **s;
  int keep_duplicates;
  window_scene scene;

  /* The controls. */
  int panel_hidden, keys_shown;
  double noise; /* in parts of the diagonal */
  uint64_t seed;
  char output[MESH_MESSAGE], screenshot[MESH_MESSAGE], name[MESH_MESSAGE];
  overwrite mesh_file, picture_file;

  /* Running. */
  int steps_to_make;         /* -1: until it is paused */
  step_report last;          /* number 0: no step yet */
  first_times compiled;      /* what has been stepped with */
  int compiling;             /* the next step is the first one of its kind */
  float times[WINDOW_TIMES]; /* of the last steps, in milliseconds */
  int time_count;
  char to_open[4 * MESH_MESSAGE]; /* a file that was dropped; "" for none */
  int to_open_shown;              /* the window says so already */

  /* What the user is told. */
  char note[OVERWRITE_QUESTION];
  int note_is_error;

  /* Control points of discrete smooth interpolation. */
  int32_t selected; /* the vertex of one; -1: none */
  int new_fixed;    /* what a new one is like */
  double new_weight;
  int following; /* frames that the solution goes on towards them */

  /* The pointer. */
  enum { DRAG_NONE, DRAG_ORBIT, DRAG_PAN, DRAG_SPLIT, DRAG_CONTROL } drag;
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
void window_take_mesh(window_state *w); /* the view is made for the smoother's mesh */
void window_run_or_pause(window_state *w);
void window_step(window_state *w); /* a single one */
void window_make_step(window_state *w);
/* Returns 1 once for what the next step uses and no step in this context has used: a frame says so before. */
int window_compiles(window_state *w);
void window_remember_time(window_state *w, double seconds); /* of a step or a frame */
void window_undo(window_state *w);
void window_redo(window_state *w);
void window_reset(window_state *w);
void window_add_noise(window_state *w);
void window_fit(window_state *w);
void window_save_picture(window_state *w);
void window_export(window_state *w);
void window_open_file(window_state *w); /* w->to_open */
void window_set_options(window_state *w, const smoother_options *options);
void window_name_files(window_state *w, const char *name, const window_options *options);

/* ---- window_controls.c ---- */
/* The control point under the pointer, or a new one for the vertex there; returns whether it can be dragged. */
int window_grab_control(window_state *w, int puts);
void window_drag_control(window_state *w, float x0, float y0, float x1, float y1, int width, int height);
const dsi_control *window_selected(const window_state *w); /* NULL: none */
void window_set_weight(window_state *w, double weight);    /* of the selected one */
void window_remove_control(window_state *w);               /* the selected one */
void window_remove_controls(window_state *w);
void window_mark_controls(window_state *w); /* they are others, or another is selected */
void window_follow_on(window_state *w);     /* something that the solution depends on has changed */
void window_follow(window_state *w);        /* a few iterations */
void window_settle(window_state *w);        /* what was followed becomes the mesh */

/* ---- window_panel.c ---- */
void window_panel_draw(window_state *w);

/* ---- window_input.c: pointer, keys, files that are dropped ---- */
void window_input_connect(window_state *w); /* before the controls connect theirs */
void window_switch_keys(window_state *w);
void window_keys_draw(window_state *w); /* the list of keys, where it is shown */
const char *window_key_of(void (*action)(window_state *w));

#endif
