/* Declarations that the parts of the window share. */
#ifndef WINDOW_STATE_H
#define WINDOW_STATE_H

#include "mesh_smooth.h"
#include "mesh_window.h"
#include "positions.h"

enum { WINDOW_TIMES = 100 };

/* The picture. */
typedef struct window_scene {
  mesh_view *view;
  mesh_look look;
  int keep_range;      /* keep the colour range; otherwise it follows the mesh */
  double seconds_draw; /* for the last picture */
  double range_chosen; /* time of the last choice, in seconds */
  int range_stale;     /* the mesh has moved since then, or the colours are different */
  positions positions;
  int start_number; /* smoother_start.number of the start that is shown */
} window_scene;

enum { DRAG_SPLIT = APP_DRAG_OWN, DRAG_CONTROL };

struct window_state {
  app app;
  const program_options *options;
  smoother *s;
  program_input in;
  window_scene scene;
  mesh_window files;
  double noise; /* relative to the diagonal */
  uint64_t seed;

  /* Running. */
  int steps_to_make; /* -1: until paused */
  step_report last;  /* number 0: no step yet */
  app_times times;   /* of the last steps */

  /* Control points of discrete smooth interpolation. */
  int32_t selected; /* vertex of the selected one; -1: none */
  int new_fixed;    /* kind of new ones */
  double new_weight;
  int following; /* frames for which the solve will continue */
};

/* ---- window_actions.c: actions of buttons and keys; errors are shown as the note ---- */
void window_show_mesh(window_state *w); /* creates the view for the smoother's mesh */
void window_run_or_pause(window_state *w);
void window_step(window_state *w); /* a single step */
void window_make_step(window_state *w);
/* Returns 1 if the next step compiles shaders, see app_compiles. */
int window_compiles(window_state *w);
void window_undo(window_state *w);
void window_redo(window_state *w);
void window_reset(window_state *w);
void window_add_noise(window_state *w);
void window_export(window_state *w);
void window_open_file(window_state *w, const char *path);
void window_set_options(window_state *w, const smoother_options *options);

/* ---- window_scene.c ---- */
void window_open_scene(window_state *w); /* for another mesh: creates a view and fits the camera */
void window_close_scene(window_state *w);
void window_fit(window_state *w);
/* call after the mesh has moved, or is on another device, or has another start */
void window_moved(window_state *w);
void window_renew_range(window_state *w); /* of the colours, at intervals */
const char *window_draw_scene(window_state *w, int left, int width, int height);
const char *window_picture(window_state *w, int is_video, int width, int height, unsigned char *rgb);

/* ---- window_controls.c ---- */
/* Grabs the control point under the pointer, or with `puts` adds one for the vertex there. Returns 1 if it can
 * be dragged. */
int window_grab_control(window_state *w, int puts);
void window_drag_control(window_state *w, float x0, float y0, float x1, float y1, int width, int height);
const dsi_control *window_selected(const window_state *w); /* NULL: none */
void window_set_weight(window_state *w, double weight);    /* of the selected one */
void window_remove_control(window_state *w);               /* the selected one */
void window_remove_controls(window_state *w);
void window_mark_controls(window_state *w); /* call after the control points or the selection change */
void window_follow_on(window_state *w);     /* call after a change of anything that the solution depends on */
void window_follow(window_state *w);        /* makes a few iterations */
void window_commit(window_state *w);        /* makes the followed solution the mesh */

/* ---- window_panel.c ---- */
void window_panel_draw(window_state *w);

#endif
