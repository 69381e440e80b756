/* What the parts of the window share. */
#ifndef WINDOW_STATE_H
#define WINDOW_STATE_H

#include "app_files.h"
#include "contact.h"
#include "view.h"
#include "view_gl.h"

struct window_state {
  app app;
  simulation *s;
  const program_options *options;

  /* The picture. */
  contact_view *view;
  camera camera;
  contact_look look;
  view_gl_screen screen;
  double seconds_draw; /* of the last drawing */

  /* The pointer. */
  enum { DRAG_NONE, DRAG_ORBIT, DRAG_PAN, DRAG_PULL } drag;
  float target[3]; /* of a pull */
  float moved;     /* pixels since the button was pressed */
  double pressed; /* how long, in seconds, of which a frame counts 0.1 at most: a slow one delays the release */
  double throw_speed, throw_radius;

  /* Running. */
  int paused, single_step;
  double speed;             /* of time; 1: as it is */
  double steps_due;         /* those that time has passed for */
  app_first_times compiled; /* what has been stepped with */
  int compiling;            /* the next step is the first one of its kind */
  double frame_seconds;     /* on average */

  int video_steps; /* since the video's last frame */
  app_files files;
  int report_due; /* at the end of the frame's work, so that it tells what all events before have done */
};

/* ---- window_actions.c: what a button or a key does; errors become the note ---- */
void window_take_scene(window_state *w); /* camera, title and file names become those of the scene */
void window_run_or_pause(window_state *w);
void window_step(window_state *w); /* a single one */
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
void window_scroll(window_state *w, double amount);
void window_throw(window_state *w); /* a ball at where the pointer is */

/* ---- window_files.c ---- */
void window_name_files(window_state *w);
void window_save_picture(window_state *w);
void window_save_report(window_state *w);            /* at the end of this frame's work */
void window_write_report(window_state *w);           /* if it is due */
void window_video(window_state *w);                  /* begins one, or ends it */
void window_video_frame(window_state *w, int steps); /* where there is one: after so many steps */

/* ---- window_panel.c ---- */
void window_panel_draw(window_state *w);

#endif
