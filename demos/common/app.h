/* The window of a program: controls at the left and a scene right of them, keys, the pointer, files that are
 * dropped, opened or written, and what the user is told. A program has a window_state of its own, which begins
 * with an app, and an app_program with what is different. Sizes and places are in pixels of the framebuffer. */
#ifndef APP_H
#define APP_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "camera.h"
#include "png_image.h"
#include "run_options.h"
#include "ui.h"
#include "video.h"
#include "view_gl.h"

struct GLFWwindow;
typedef struct window_state window_state; /* a program's own */
typedef struct app app;

typedef struct app_key {
  int key;     /* GLFW's, or a character as the keyboard's layout has it */
  int control; /* 1: with Ctrl; 2: with Ctrl and Shift */
  void (*action)(window_state *w);
  const char *name, *what; /* name NULL: another key of the one before */
  int repeats;             /* while it is held down */
  int needs;               /* of the app's own keys */
} app_key;

typedef struct app_program {
  const char *name;
  int width, least_width; /* of the window; 0: 1280, 480 */
  int panel_width;        /* 0: 300 */
  const float *ground;    /* behind the scene; NULL: almost white */
  const app_key *keys;    /* besides the app's own, until one without an action */
  const ui_row *pointer;  /* what the pointer does, until one without text */
  int upright;            /* z stays up when the camera orbits */
  int still;              /* the scene is drawn only when app.screen.stale is set, and then with `left` 0 */

  /* The context is current. Returns 0, or 1 after a message; the end comes in any case. */
  int (*begin)(window_state *w);
  void (*end)(window_state *w);
  /* Once a frame, `seconds` after the last time. Of long work, one piece a frame. */
  void (*work)(window_state *w, double seconds);
  /* NULL, or why it failed. */
  const char *(*draw)(window_state *w, int left, int width, int height);
  const char *(*picture)(window_state *w, int is_video, int width, int height, unsigned char *rgb);
  void (*picture_size)(const window_state *w, int *width, int *height); /* NULL: the scene's */
  void (*controls)(window_state *w);
  /* A button over the scene was pressed; a file was dropped or chosen. */
  void (*press)(window_state *w, int button, int modifiers);
  void (*open_dropped_file)(window_state *w, const char *path);

  /* Of a simulation, which runs, pauses and makes steps (app.paused, app_steps_due) and writes videos and
   * reports; NULL for other programs. `describe` returns a new object with settings and measurements, or NULL
   * without memory. */
  void (*reset)(window_state *w);
  json_t *(*describe)(const window_state *w);

  /* Each of these may be NULL. */
  const char *stops; /* what Esc does, for the list of keys; NULL: it pauses */
  void (*stop)(window_state *w);
  double (*idle_seconds)(const window_state *w); /* seconds to wait for the user after a frame; 0: none */
  const char *(*hint)(const window_state *w);    /* what is shown if there is no note; "": nothing */
  void (*undo)(window_state *w), (*redo)(window_state *w);
  /* Buttons and the wheel over the scene, and motions anywhere, before the app's x and y change. NULL: the
   * camera's. */
  void (*release)(window_state *w, int button);
  void (*move)(window_state *w, double x, double y);
  void (*scroll)(window_state *w, double amount);
  const char *file_kind, *file_patterns; /* that Ctrl+O opens, as in open_dialog_start; NULL: none */
} app_program;

enum { APP_PATH = 1024, APP_NOTE = APP_PATH + 80 };

/* ---- Files that are written: app_files.c ---- */

typedef struct app_file {
  char path[APP_PATH];
  char asked[APP_PATH], written[APP_PATH]; /* what the user was asked about last, and what was written last */
} app_file;

typedef struct app_video {
  app_file file;
  video *made; /* NULL: none is being made */
  image picture;
  int frames, steps; /* steps of the simulation since the last frame */
} app_video;

/* Whether it may be written: there is none, this window wrote it, or the user was asked about it the last time.
 * Otherwise the user is asked. */
int app_may_write(app *a, app_file *file);
/* It was written. Returns ", replaced" where the window had written it before, else "". */
const char *app_written(app_file *file);
const char *app_file_name(const char *path); /* without directories */

/* Files of a simulation have the names of the command line, otherwise PROGRAM-SCENE.png and so on; but not a
 * video that is being made. */
void app_name_files(app *a, const char *scene);
/* A simulation's files, in the panel; and the picture's line, for others. */
void app_files_section(app *a);
void app_picture_field(app *a);
/* Steps were made. A frame of the video has `steps_per_frame`. */
void app_video_steps(app *a, int steps, double steps_per_frame);
/* For `describe`: the members of both objects, which it takes over. */
json_t *app_join_reports(json_t *first, json_t *second);

/* The app's own. */
void app_save_picture(window_state *w);
void app_switch_video(window_state *w);
void app_save_report(window_state *w); /* at the end of this frame's work */
void app_write_report(app *a);         /* if it is due */
void app_end_video(app *a);

/* ---- The app ---- */

/* What the pointer drags; a program has more, from APP_DRAG_OWN on. */
enum { APP_DRAG_NONE, APP_DRAG_ORBIT, APP_DRAG_PAN, APP_DRAG_OWN };

/* Work that takes long the first time, because shaders are compiled for it. */
enum { APP_FIRST_TIMES = 256 };
typedef struct app_first_times {
  uint64_t seen[APP_FIRST_TIMES];
  int count;
} app_first_times;

struct app {
  const app_program *program;
  const run_options *run;
  struct GLFWwindow *handle;
  float scale; /* of controls and distances: 1 on an ordinary display */
  int panel_hidden, keys_shown;
  char note[APP_NOTE]; /* what the user is told */
  int note_is_error;
  char dropped[APP_PATH]; /* a file, or one that the user chose to open; "": none */
  int dropped_shown;      /* the window shows it already */
  struct open_dialog *dialog;
  double x, y;          /* of the pointer, from the scene's upper left */
  unsigned buttons;     /* that were pressed over the scene, a bit each */
  double frame_begin;   /* s */
  double frame_seconds; /* on average */

  camera camera;
  view_gl_screen screen; /* of a scene that is still */
  int drag;

  /* Running. */
  int paused, single_step;
  double steps_due;         /* those that time has passed for */
  app_first_times compiled; /* what has been stepped with in this context */
  int compiling;            /* the next step is the first one of its kind */

  app_file picture, report;
  app_video video;
  int report_due; /* at the end of the frame's work, so that it describes the state after all events */
};

/* The whole life of the window, until the user closes it. `w` begins with an app of zeros. Returns an exit
 * status after a message. */
int app_main(window_state *w, const app_program *program, const run_options *run);

int app_panel_width(const app *a);
void app_scene_size(const app *a, int *width, int *height); /* the window without the controls */
void app_title(const app *a, const char *name);
/* Moves the camera if it is dragged, in a view that is `width` pixels wide. */
void app_drag_camera(app *a, double x, double y, int width, int height);

/* ---- Running ---- */

/* Seconds after which a frame's steps end, so that the pointer stays quick. */
#define APP_PATIENCE 0.05
void app_run_or_pause(window_state *w);
void app_step(window_state *w); /* a single one */
/* How many steps are due now, `passed` more than before; at most `most`: time goes slower then. */
int app_steps_due(app *a, double passed, double most);
/* Returns 1 once for what the next step uses and no step in this context has used: a frame says so before. */
int app_compiles(app *a, const char *backend, const char *uses);

/* ---- What the user is told ---- */

#if defined(__GNUC__)
#define APP_FORMAT __attribute__((format(printf, 2, 3)))
#else
#define APP_FORMAT
#endif
void app_tell(app *a, const char *format, ...) APP_FORMAT;
void app_tell_more(app *a, const char *format, ...) APP_FORMAT; /* behind the note */
void app_tell_error(app *a, const char *text);

/* ---- Controls: app_controls.c ---- */

/* The first lines of a simulation's controls, and its buttons. */
void app_heading(const char *text, const app *a, double time);
void app_run_buttons(app *a);
void app_undo_buttons(app *a, int count, int can_undo, int can_redo);
/* One of `count` buttons in its line, with its key. */
void app_button(app *a, const char *label, int count, int enabled, void (*action)(window_state *w));
void app_keys_button(app *a, int count);
void app_open_button(app *a, const char *label, int count); /* the Open dialog */
/* A field with a file's path and a button to write it. */
void app_file_field(app *a, const char *name, app_file *file, const char *button, const char *tip,
                    void (*action)(window_state *w));
/* A menu of backends. `now` is the one in use. Returns another one that the user has just chosen, or NULL.
 * Those that cannot be used here are shown with the reason. */
const char *app_backend_choice(const char *now);
/* A menu of what `names` gives for 0, 1, ... until NULL. Returns 1 with another number in `value`. */
int app_choice(const char *label, int *value, const char *(*names)(int index));
/* Three digits; valid until the next call. */
const char *app_digits(double number);

/* The times of the last steps, in milliseconds, oldest first. */
enum { APP_TIMES = 240 };
typedef struct app_times {
  float values[APP_TIMES];
  int count;
} app_times;
void app_times_add(app_times *t, int most, double milliseconds);

/* ---- app_keys.c ---- */

void app_press_key(app *a, int key, int control, int repeated);
const char *app_key_of(const app *a, void (*action)(window_state *w)); /* its name, or "" */
void app_draw_keys(const app *a);
void app_show_keys(window_state *w);
void app_choose_file(window_state *w);

#endif
