/* What the parts of the window share. */
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
  int keep_range;      /* of the colours; else they follow the mesh */
  double seconds_draw; /* of the last drawing */
  double range_chosen; /* when: seconds */
  int range_stale;     /* it was chosen before the mesh moved, or for other colours */
  positions positions;
  int start_number; /* see smoother_start_number */
} window_scene;

enum { DRAG_SPLIT = APP_DRAG_OWN, DRAG_CONTROL };

struct window_state {
  app app;
  const program_options *options;
  smoother *s;
  program_input in;
  window_scene scene;
  mesh_window files;
  double noise; /* in parts of the diagonal */
  uint64_t seed;

  /* Running. */
  int steps_to_make; /* -1: until it is paused */
  step_report last;  /* number 0: no step yet */
  app_times times;   /* of the last steps */

  /* Control points of discrete smooth interpolation. */
  int32_t selected; /* the vertex of one; -1: none */
  int new_fixed;    /* what a new one is like */
  double new_weight;
  int following; /* frames that the solution goes on towards them */
};

/* ---- window_actions.c: what a button or a key does; errors become the note ---- */
void window_show_mesh(window_state *w); /* the view is made for the smoother's mesh */
void window_run_or_pause(window_state *w);
void window_step(window_state *w); /* a single one */
void window_make_step(window_state *w);
/* Returns 1 once for what the next step uses and no step in this context has used: a frame says so before. */
int window_compiles(window_state *w);
void window_undo(window_state *w);
void window_redo(window_state *w);
void window_reset(window_state *w);
void window_add_noise(window_state *w);
void window_export(window_state *w);
void window_open_file(window_state *w, const char *path);
void window_set_options(window_state *w, const smoother_options *options);

/* ---- window_scene.c ---- */
void window_open_scene(window_state *w); /* for another mesh: a new view, and the camera fitted */
void window_close_scene(window_state *w);
void window_fit(window_state *w);
void window_moved(window_state *w);       /* the mesh has; or is on another device, or has another start */
void window_renew_range(window_state *w); /* of the colours, now and then */
const char *window_draw_scene(window_state *w, int left, int width, int height);
const char *window_picture(window_state *w, int is_video, int width, int height, unsigned char *rgb);

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
void window_commit(window_state *w);        /* what was followed becomes the mesh */

/* ---- window_panel.c ---- */
void window_panel_draw(window_state *w);

#endif
