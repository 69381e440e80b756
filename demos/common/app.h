/* What the programs' windows share: controls at the left and a scene right of them, keys, the pointer, files
 * that are dropped or written, and what the user is told. A program has a window_state of its own, with an app
 * in it, and says in an app_program what is different. Sizes and places are in pixels of the framebuffer. */
#ifndef APP_H
#define APP_H

#include <stddef.h>
#include <stdint.h>

#include "ui.h"

struct GLFWwindow;
typedef struct window_state window_state; /* a program's own */

typedef struct app_key {
  int key;     /* GLFW's, or a character as the keyboard's layout has it */
  int control; /* 1: with Ctrl; 2: with Ctrl and Shift */
  void (*action)(window_state *w);
  const char *name, *what; /* name NULL: another key of the one before */
  int repeats;             /* while it is held down */
} app_key;

typedef struct app_program {
  const char *name;
  int width, height, least_width, least_height; /* of the window */
  int panel_width;
  float ground[3];       /* behind the scene */
  const app_key *keys;   /* until one without an action; the app has Tab, F1, H, Esc and Ctrl+Q itself */
  const ui_row *pointer; /* what the pointer does, until one without text */
  const char *stops;     /* what Esc does, for the list of keys */
  void (*stop)(window_state *w);
  /* Once a frame. `seconds` have passed since the last time. What takes long: one thing a frame. */
  void (*work)(window_state *w, double seconds);
  void (*draw)(window_state *w, int left, int width, int height);
  void (*controls)(window_state *w);
  /* How long to wait for the user after a frame, in seconds; 0: not at all. */
  double (*rest)(const window_state *w);
  /* What is shown instead of a note, and where there is none; "": nothing. Each may be NULL. */
  const char *(*busy)(const window_state *w), *(*hint)(const window_state *w);
  /* Buttons and the wheel over the scene, and motions anywhere, before the app's x and y change. */
  void (*press)(window_state *w, int button, int modifiers);
  void (*release)(window_state *w, int button);
  void (*move)(window_state *w, double x, double y);
  void (*scroll)(window_state *w, double amount);
  void (*take_file)(window_state *w, const char *path);
  /* Files that Ctrl+O opens, as in open_dialog_start; NULL: none. */
  const char *file_kind, *file_patterns;
} app_program;

enum { APP_PATH = 1024, APP_NOTE = APP_PATH + 80 };

typedef struct app {
  const app_program *program;
  window_state *state;
  struct GLFWwindow *handle;
  float scale; /* of controls and distances: 1 on an ordinary display */
  int panel_hidden, keys_shown;
  char note[APP_NOTE]; /* what the user is told */
  int note_is_error;
  char dropped[APP_PATH]; /* a file, or one that was chosen to be opened; "": none */
  int dropped_shown;      /* the window says so already */
  struct open_dialog *dialog;
  double x, y;      /* of the pointer, from the scene's upper left */
  unsigned buttons; /* that were pressed over the scene, a bit each */
  double frame_begin;
} app;

/* Opens the window, whose context is current from then on and has its functions loaded. `ui_scale` is how large
 * the controls are, on top of the display's own scale. Returns 0, or 1 with the reason in `why`. */
int app_open(app *a, const app_program *program, window_state *state, double ui_scale, char *why, size_t size);
/* Until the user closes it. */
void app_run(app *a);
void app_close(app *a);

int app_panel_width(const app *a);
void app_scene_size(const app *a, int *width, int *height); /* what the controls leave */
void app_title(const app *a, const char *name);

/* ---- What the user is told ---- */

#if defined(__GNUC__)
#define APP_FORMAT __attribute__((format(printf, 2, 3)))
#else
#define APP_FORMAT
#endif
void app_tell(app *a, const char *format, ...) APP_FORMAT;
void app_tell_more(app *a, const char *format, ...) APP_FORMAT; /* behind the note */
void app_tell_error(app *a, const char *text);

/* ---- Files that are written ---- */

typedef struct app_file {
  char path[APP_PATH];
  char asked[APP_PATH], written[APP_PATH]; /* what the user was asked about last, and what was written last */
} app_file;

/* Whether it may be written: there is none, this window wrote it, or the user was asked about it the last time;
 * else the user is asked. */
int app_may_write(app *a, app_file *file);
/* It was written. Returns ", replaced" where the window had written it before, else "". */
const char *app_written(app_file *file);
/* A picture of the scene, RGB, which `draw` makes: it returns NULL, or why it failed. */
void app_save_picture(app *a, app_file *file, int width, int height,
                      const char *(*draw)(window_state *w, int width, int height, unsigned char *rgb));
const char *app_file_name(const char *path); /* without directories */

/* ---- Controls ---- */

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

/* What takes long when it is done for the first time, because shaders are compiled for it. */
enum { APP_FIRST_TIMES = 256 };
typedef struct app_first_times {
  uint64_t seen[APP_FIRST_TIMES];
  int count;
} app_first_times;
/* Returns 1 once for each text, which names all that decides about shaders. */
int app_first_time(app_first_times *f, const char *what);

#endif
