/* What the parts of the window share. */
#ifndef WINDOW_STATE_H
#define WINDOW_STATE_H

#include "app.h"
#include "contact.h"
#include "view.h"

enum { DRAG_PULL = APP_DRAG_OWN };

struct window_state {
  app app;
  simulation *s;
  const program_options *options;
  contact_view *view;
  contact_look look;
  double seconds_draw; /* of the last drawing */

  /* The pointer. */
  float target[3]; /* of a pull */
  float moved;     /* pixels since the button was pressed */
  double pressed; /* how long, in seconds, of which a frame counts 0.1 at most: a slow one delays the release */
  double throw_speed, throw_radius;

  double speed; /* of time; 1: as it is */
};

/* ---- window_actions.c: what a button or a key does; errors become the note ---- */
void window_show_scene(window_state *w); /* camera, title and file names become those of the scene */
void window_make_steps(window_state *w, double seconds);
void window_reset(window_state *w);
void window_fit(window_state *w);
void window_set_scene(window_state *w, int index, int bodies); /* 0: the scene's own number */
void window_set_backend(window_state *w, const char *backend);
int window_scene_index(const window_state *w);

/* ---- window_pointer.c ---- */
void window_press(window_state *w, int button, int modifiers);
void window_release(window_state *w, int button);
void window_move(window_state *w, double x, double y);
void window_throw(window_state *w); /* a ball at where the pointer is */

/* ---- window_panel.c ---- */
void window_panel_draw(window_state *w);

#endif
