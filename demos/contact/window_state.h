/* Declarations that the parts of the window share. */
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
  double seconds_draw; /* for the last picture */

  /* The pointer. */
  float target[3]; /* of the pull, in world coordinates */
  float moved;     /* in pixels, since the button was pressed */
  /* seconds since the press; a frame adds at most 0.1, because a slow frame delays the release */
  double pressed;
  double throw_speed, throw_radius;

  double speed; /* simulated time relative to real time */
};

/* ---- window_actions.c: actions of buttons and keys; errors are shown as the note ---- */
void window_show_scene(window_state *w); /* adapts camera, title and file names to the scene */
void window_make_steps(window_state *w, double seconds);
void window_reset(window_state *w);
void window_fit(window_state *w);
void window_set_scene(window_state *w, int index, int bodies); /* bodies 0: the scene's default */
void window_set_backend(window_state *w, const char *backend);
int window_scene_index(const window_state *w);

/* ---- window_pointer.c ---- */
void window_press(window_state *w, int button, int modifiers);
void window_release(window_state *w, int button);
void window_move(window_state *w, double x, double y);
void window_throw(window_state *w); /* throws a ball at the pointer */

/* ---- window_panel.c ---- */
void window_panel_draw(window_state *w);

#endif
