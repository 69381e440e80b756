/* The window of a demo: controls at the left, the scene at the right. It handles keys, the pointer, files
 * that are dropped, opened or written, and messages to the user. A program defines an app_program with its
 * callbacks, and a window_state that begins with an app. Sizes and positions are in pixels of the
 * framebuffer. */
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
typedef struct window_state window_state; /* defined by the program */
typedef struct app app;

typedef struct app_key {
  int key;     /* a GLFW key, or a character of the keyboard layout */
  int control; /* 1: with Ctrl; 2: with Ctrl and Shift */
  void (*action)(window_state *w);
  const char *name, *what; /* name NULL: an alternative key of the previous row */
  int repeats;             /* while the key is held down */
  int needs;               /* for the app's own keys: the programs that have the key */
} app_key;

typedef struct app_program {
  const char *name;
  int width, least_width; /* of the window; 0: 1280 and 480 */
  int panel_width;        /* 0: 300 */
  const float *ground;    /* background of the scene; NULL: almost white */
  const app_key *keys;    /* the program's keys; the last row has no action */
  const ui_row *pointer;  /* descriptions of the pointer's actions; the last row has no text */
  int upright;            /* z stays up while the camera orbits */
  int still;              /* draw the scene only if app.screen.stale is set; `left` is then 0 */

  /* Called with a current context. Returns 0, or 1 after a message. `end` is called even if `begin` failed. */
  int (*begin)(window_state *w);
  void (*end)(window_state *w);
  /* Called once per frame, `seconds` after the previous call. Long work is done in pieces, one per frame. */
  void (*work)(window_state *w, double seconds);
  /* These return NULL, or the reason of a failure. */
  const char *(*draw)(window_state *w, int left, int width, int height);
  const char *(*picture)(window_state *w, int is_video, int width, int height, unsigned char *rgb);
  void (*picture_size)(const window_state *w, int *width, int *height); /* NULL: the size of the scene */
  void (*controls)(window_state *w);
  /* `press`: a button was pressed over the scene. `open_dropped_file`: a file was dropped or chosen. */
  void (*press)(window_state *w, int button, int modifiers);
  void (*open_dropped_file)(window_state *w, const char *path);

  /* For simulations, which run, pause and step (app.paused, app_steps_due) and write videos and reports. NULL
   * for other programs. `describe` returns a new object with settings and measurements, or NULL if memory runs
   * out. */
  void (*reset)(window_state *w);
  json_t *(*describe)(const window_state *w);

  /* Any of these may be NULL. */
  const char *stops; /* the effect of Esc, for the list of keys; NULL: it pauses */
  void (*stop)(window_state *w);
  /* seconds to wait for events after a frame; 0: do not wait */
  double (*idle_seconds)(const window_state *w);
  const char *(*hint)(const window_state *w); /* shown if there is no note; "": nothing */
  void (*undo)(window_state *w), (*redo)(window_state *w);
  /* Buttons and the wheel over the scene, and motion anywhere. They are called before the app's x and y change.
   * NULL: the camera handles them. */
  void (*release)(window_state *w, int button);
  void (*move)(window_state *w, double x, double y);
  void (*scroll)(window_state *w, double amount);
  const char *file_kind, *file_patterns; /* what Ctrl+O opens, see open_dialog_start; NULL: nothing */
} app_program;

enum { APP_PATH = 1024, APP_NOTE = APP_PATH + 80 };

/* ---- Files to write: app_files.c ---- */

typedef struct app_file {
  char path[APP_PATH];
  /* the last path that the user was asked about, and the last one written */
  char asked[APP_PATH], written[APP_PATH];
} app_file;

typedef struct app_video {
  app_file file;
  video *made; /* NULL: not recording */
  image picture;
  int frames, steps; /* steps: those simulated since the last frame */
} app_video;

/* Returns 1 if the file does not exist, if this window wrote it, or if the user was asked about it just before.
 * Otherwise asks the user and returns 0. */
int app_may_write(app *a, app_file *file);
/* Records that the file was written. Returns ", replaced" if this window had written it before, otherwise
 * "". */
const char *app_written(app_file *file);
const char *app_file_name(const char *path); /* without directories */

/* Names the files of a simulation as the command line does, or PROGRAM-SCENE.png and so on. A video that is
 * being recorded keeps its name. */
void app_name_files(app *a, const char *scene);
/* The panel's section with the files of a simulation; only the line of the picture, for other programs. */
void app_files_section(app *a);
void app_picture_field(app *a);
/* Call after steps were made. The video gets a frame for every `steps_per_frame` steps. */
void app_video_steps(app *a, int steps, double steps_per_frame);
/* Merges two reports for `describe`. Takes over both objects. */
json_t *app_join_reports(json_t *first, json_t *second);

/* Internal to the app. */
void app_save_picture(window_state *w);
void app_switch_video(window_state *w);
void app_save_report(window_state *w); /* written at the end of this frame's work */
void app_write_report(app *a);         /* if one was requested */
void app_end_video(app *a);

/* ---- The app ---- */

/* What the pointer drags. A program adds its own values from APP_DRAG_OWN on. */
enum { APP_DRAG_NONE, APP_DRAG_ORBIT, APP_DRAG_PAN, APP_DRAG_OWN };

/* Operations that this context has done before. The first time is slow, because shaders are compiled. */
enum { APP_FIRST_TIMES = 256 };
typedef struct app_first_times {
  uint64_t seen[APP_FIRST_TIMES];
  int count;
} app_first_times;

struct app {
  const app_program *program;
  const run_options *run;
  struct GLFWwindow *handle;
  float scale; /* of controls and distances; 1 on an ordinary display */
  int panel_hidden, keys_shown;
  char note[APP_NOTE]; /* the message to the user */
  int note_is_error;
  char dropped[APP_PATH]; /* a dropped file, or one chosen in the dialog; "": none */
  int dropped_shown;      /* the window has already announced it */
  struct open_dialog *dialog;
  double x, y;          /* position of the pointer, from the scene's upper left */
  unsigned buttons;     /* pressed over the scene, one bit per button */
  double frame_begin;   /* seconds */
  double frame_seconds; /* running average */

  camera camera;
  view_gl_screen screen; /* for programs with `still` set */
  int drag;

  int paused, single_step;
  double steps_due;         /* by the elapsed time; may be fractional */
  app_first_times compiled; /* kinds of steps already made in this context */
  int compiling;            /* the next step is the first of its kind */

  app_file picture, report;
  app_video video;
  /* write it at the end of the frame's work, so that it describes the state after all events */
  int report_due;
};

/* Runs the window until the user closes it. `w` begins with an app of zeros. Returns an exit status, after a
 * message if it failed. */
int app_main(window_state *w, const app_program *program, const run_options *run);

int app_panel_width(const app *a);
void app_scene_size(const app *a, int *width, int *height); /* the window without the controls */
void app_title(const app *a, const char *name);
/* Moves the camera if it is being dragged, in a view `width` pixels wide. */
void app_drag_camera(app *a, double x, double y, int width, int height);

/* ---- Running ---- */

/* No further step starts in a frame after this many seconds, so that the pointer stays responsive. */
#define APP_PATIENCE 0.05
void app_run_or_pause(window_state *w);
void app_step(window_state *w); /* a single step */
/* `passed` is the number of steps, possibly fractional, that became due since the last call. Returns the number
 * of steps to make now, at most `most`. If the machine is too slow, simulated time falls behind. */
int app_steps_due(app *a, double passed, double most);
/* Returns 1 the first time that a step with these shaders is about to be made in this context. The frame then
 * shows a note first. */
int app_compiles(app *a, const char *backend, const char *uses);

/* ---- Messages to the user ---- */

#if defined(__GNUC__)
#define APP_FORMAT __attribute__((format(printf, 2, 3)))
#else
#define APP_FORMAT
#endif
void app_tell(app *a, const char *format, ...) APP_FORMAT;
void app_tell_more(app *a, const char *format, ...) APP_FORMAT; /* appends to the note */
void app_tell_error(app *a, const char *text);

/* ---- Controls: app_controls.c ---- */

/* The heading and the buttons of a simulation's panel. */
void app_heading(const char *text, const app *a, double time);
void app_run_buttons(app *a);
void app_undo_buttons(app *a, int count, int can_undo, int can_redo);
/* One of `count` buttons that share a line. Its tooltip names its key. */
void app_button(app *a, const char *label, int count, int enabled, void (*action)(window_state *w));
void app_keys_button(app *a, int count);
void app_open_button(app *a, const char *label, int count); /* opens the file dialog */
/* A field with the path of a file, and a button that writes the file. */
void app_file_field(app *a, const char *name, app_file *file, const char *button, const char *tip,
                    void (*action)(window_state *w));
/* A menu of backends. `now` is in use. Returns a different one if the user has just chosen it, otherwise NULL.
 * Unavailable backends are listed with the reason. */
const char *app_backend_choice(const char *now);
/* A menu of the names that `names` returns for 0, 1, ... until NULL. Returns 1 if the user changed `value`. */
int app_choice(const char *label, int *value, const char *(*names)(int index));
/* About three significant digits. Valid until the next call. */
const char *app_digits(double number);

/* Durations of the last steps in milliseconds, oldest first. */
enum { APP_TIMES = 240 };
typedef struct app_times {
  float values[APP_TIMES];
  int count;
} app_times;
void app_times_add(app_times *t, int most, double milliseconds);

/* ---- app_keys.c ---- */

void app_press_key(app *a, int key, int control, int repeated);
const char *app_key_of(const app *a, void (*action)(window_state *w)); /* name of the key, or "" */
void app_draw_keys(const app *a);
void app_show_keys(window_state *w);
void app_choose_file(window_state *w);

#endif
