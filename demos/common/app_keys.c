/* The keys that all windows share, and the list of keys. */
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <stdio.h>

#include "app.h"
#include "open_dialog.h"

enum { ALWAYS, SIMULATES, UNDOES, OPENS };

static int has(const app_program *p, int what) {
  return what == SIMULATES ? p->describe != NULL
         : what == UNDOES  ? p->undo != NULL
         : what == OPENS   ? p->file_kind != NULL
                           : 1;
}

static app *app_of(window_state *w) {
  return (app *)w;
}

static void reset(window_state *w) {
  app_of(w)->program->reset(w);
}
static void undo(window_state *w) {
  app_of(w)->program->undo(w);
}
static void redo(window_state *w) {
  app_of(w)->program->redo(w);
}
static void switch_panel(window_state *w) {
  app_of(w)->panel_hidden = !app_of(w)->panel_hidden;
}
void app_show_keys(window_state *w) {
  app_of(w)->keys_shown = !app_of(w)->keys_shown;
}
static void leave(window_state *w) {
  app *a = app_of(w);
  if (a->keys_shown)
    a->keys_shown = 0;
  else if (a->program->stop)
    a->program->stop(w);
  else
    a->paused = 1;
}
static void quit(window_state *w) {
  glfwSetWindowShouldClose(app_of(w)->handle, GLFW_TRUE);
}

void app_choose_file(window_state *w) {
  app *a = app_of(w);
  const app_program *p = a->program;
  char title[80], why[200];
  if (a->dialog) return;
  snprintf(title, sizeof title, "Open - %s", p->name);
  if (open_dialog_start(&a->dialog, title, p->file_kind, p->file_patterns, why, sizeof why))
    app_tell_error(a, why);
}

/* These precede and follow the program's own keys. */
static const app_key first_keys[] = {
    {GLFW_KEY_SPACE, 0, app_run_or_pause, "Space", "run or pause", 0, SIMULATES},
    {'S', 0, app_step, "S", "one step", 1, SIMULATES},
    {'R', 0, reset, "R", "restart", 0, SIMULATES},
    {0}};
static const app_key last_keys[] = {
    {'Z', 0, undo, "Z", "undo (also Ctrl+Z)", 1, UNDOES},
    {'Z', 1, undo, NULL, NULL, 1, UNDOES},
    {'Y', 0, redo, "Y", "redo (also Ctrl+Y)", 1, UNDOES},
    {'Y', 1, redo, NULL, NULL, 1, UNDOES},
    {'Z', 2, redo, NULL, NULL, 1, UNDOES},
    {'P', 0, app_save_picture, "P", "save a picture", 0, ALWAYS},
    {'F', 0, app_switch_video, "F", "start or stop a video", 0, SIMULATES},
    {'J', 0, app_save_report, "J", "save settings and measurements, as JSON", 0, SIMULATES},
    {GLFW_KEY_TAB, 0, switch_panel, "Tab", "hide or show the controls", 0, ALWAYS},
    {GLFW_KEY_F1, 0, app_show_keys, "F1", "show these keys (also H)", 0, ALWAYS},
    {'H', 0, app_show_keys, NULL, NULL, 0, ALWAYS},
    {GLFW_KEY_ESCAPE, 0, leave, "Esc", "", 0, ALWAYS},
    {'Q', 1, quit, "Ctrl+Q", "quit", 0, ALWAYS},
    {'O', 1, app_choose_file, "Ctrl+O", "open a file", 0, OPENS},
    {0}};

enum { key_lists = 3 };

static const app_key *list_of_keys(const app *a, int list) {
  return list == 0 ? first_keys : list == 1 ? a->program->keys : last_keys;
}

void app_press_key(app *a, int key, int control, int repeated) {
  for (int list = 0; list < key_lists; list++)
    for (const app_key *k = list_of_keys(a, list); k->action; k++)
      if (k->key == key && k->control == control && (!repeated || k->repeats) && has(a->program, k->needs))
        k->action((window_state *)a);
}

const char *app_key_of(const app *a, void (*action)(window_state *w)) {
  for (int list = 0; list < key_lists; list++)
    for (const app_key *k = list_of_keys(a, list); k->action; k++)
      if (k->action == action && k->name) return k->name;
  return "";
}

void app_draw_keys(const app *a) {
  enum { most = 60 };
  ui_row rows[most];
  int width, height, count = 0;
  char stops[60];
  snprintf(stops, sizeof stops, "%s; close this list", a->program->stops ? a->program->stops : "pause");
  for (const ui_row *row = a->program->pointer; row->left; row++) rows[count++] = *row;
  rows[count++] = (ui_row){"", ""};
  for (int list = 0; list < key_lists; list++)
    for (const app_key *k = list_of_keys(a, list); k->action && count < most; k++)
      if (k->name && has(a->program, k->needs)) rows[count++] = (ui_row){k->name, *k->what ? k->what : stops};
  app_scene_size(a, &width, &height);
  ui_list("keys", rows, count, (float)app_panel_width(a), 0, (float)width, (float)height);
}

void app_undo_buttons(app *a, int count, int can_undo, int can_redo) {
  app_button(a, "Undo", count, can_undo, undo);
  ui_same_line();
  app_button(a, "Redo", count, can_redo, redo);
}

void app_run_buttons(app *a) {
  app_button(a, a->paused ? "Run" : "Pause", 3, 1, app_run_or_pause);
  ui_same_line();
  app_button(a, "Step", 3, 1, app_step);
  ui_same_line();
  app_button(a, "Reset", 3, 1, reset);
}
