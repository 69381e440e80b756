#include <GL/glew.h>

#include "app.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <texsolve/texsolve.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "interrupt.h"
#include "message.h"
#include "open_dialog.h"
#include "platform.h"
#include "png_image.h"
#include "view_window.h"

/* ---- Sizes ---- */

int app_panel_width(const app *a) {
  return a->panel_hidden ? 0 : (int)((float)a->program->panel_width * a->scale);
}

void app_scene_size(const app *a, int *width, int *height) {
  glfwGetFramebufferSize(a->handle, width, height);
  *width -= app_panel_width(a);
  if (*width < 2) *width = 2;
}

void app_title(const app *a, const char *name) {
  char title[APP_PATH];
  snprintf(title, sizeof title, "%s - %s", name, a->program->name);
  glfwSetWindowTitle(a->handle, title);
}

/* ---- What the user is told ---- */

void app_tell(app *a, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(a->note, sizeof a->note, format, arguments);
  va_end(arguments);
  a->note_is_error = 0;
}

void app_tell_more(app *a, const char *format, ...) {
  const size_t used = strlen(a->note);
  char more[APP_NOTE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(more, sizeof more, format, arguments);
  va_end(arguments);
  snprintf(a->note + used, sizeof a->note - used, "; %s", more);
}

void app_tell_error(app *a, const char *text) {
  /* A terminal keeps it; a fault in drawing comes with every frame. */
  if (!a->note_is_error || strcmp(a->note, text) != 0) message("%s", text);
  app_tell(a, "%s", text);
  a->note_is_error = 1;
}

/* ---- Files that are written ---- */

int app_may_write(app *a, app_file *file) {
  platform_kind kind;
  const int known = !strcmp(file->path, file->written) || !strcmp(file->path, file->asked);
  file->asked[0] = 0;
  platform_kind_of(file->path, &kind);
  if (known || kind == PLATFORM_NOTHING) return 1;
  snprintf(file->asked, sizeof file->asked, "%s", file->path);
  app_tell(a, "%s exists already; the same again replaces it", file->path);
  return 0;
}

const char *app_written(app_file *file) {
  const int again = !strcmp(file->path, file->written);
  snprintf(file->written, sizeof file->written, "%s", file->path);
  return again ? ", replaced" : "";
}

void app_save_picture(app *a, app_file *file, int width, int height,
                      const char *(*draw)(window_state *w, int width, int height, unsigned char *rgb)) {
  char reason[200], text[APP_PATH + 240];
  image picture;
  if (!app_may_write(a, file)) return;
  if (image_create(&picture, width, height)) {
    app_tell_error(a, "out of memory for a picture");
    return;
  }
  const char *why = draw(a->state, width, height, picture.rgb);
  if (!why && png_image_save(file->path, &picture, reason, sizeof reason)) why = reason;
  image_destroy(&picture);
  snprintf(text, sizeof text, "%s: %s", file->path, why ? why : "");
  if (why)
    app_tell_error(a, text);
  else
    app_tell(a, "%s: a picture of %d x %d pixels%s", file->path, width, height, app_written(file));
}

const char *app_file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* ---- Keys ---- */

static void switch_panel(app *a) {
  a->panel_hidden = !a->panel_hidden;
}
static void switch_keys(app *a) {
  a->keys_shown = !a->keys_shown;
}
static void leave(app *a) {
  if (a->keys_shown)
    a->keys_shown = 0;
  else
    a->program->stop(a->state);
}
static void quit(app *a) {
  glfwSetWindowShouldClose(a->handle, GLFW_TRUE);
}

static void choose_file(app *a) {
  const app_program *p = a->program;
  char title[80], why[200];
  if (!p->file_kind || a->dialog) return;
  snprintf(title, sizeof title, "Open - %s", p->name);
  if (open_dialog_start(&a->dialog, title, p->file_kind, p->file_patterns, why, sizeof why))
    app_tell_error(a, why);
}

static const struct {
  int key, control;
  void (*action)(app *a);
} own_keys[] = {{GLFW_KEY_TAB, 0, switch_panel}, {GLFW_KEY_F1, 0, switch_keys}, {'H', 0, switch_keys},
                {GLFW_KEY_ESCAPE, 0, leave},     {'O', 1, choose_file},         {'Q', 1, quit}};
enum { own_key_count = sizeof own_keys / sizeof own_keys[0] };

static void on_key(GLFWwindow *handle, int key, int scancode, int action, int modifiers) {
  app *a = glfwGetWindowUserPointer(handle);
  if (action == GLFW_RELEASE || ui_wants_text()) return;
  /* Letters and digits are those that the keyboard's layout has. */
  const char *name = glfwGetKeyName(key, scancode);
  if (name && name[0] > ' ' && name[0] < 127 && !name[1]) {
    key = (unsigned char)name[0];
    if (key >= 'a' && key <= 'z') key &= ~0x20;
  }
  const int control = !(modifiers & GLFW_MOD_CONTROL) ? 0 : modifiers & GLFW_MOD_SHIFT ? 2 : 1;
  for (const app_key *k = a->program->keys; k->action; k++)
    if (k->key == key && k->control == control && (action == GLFW_PRESS || k->repeats)) k->action(a->state);
  for (int k = 0; k < own_key_count; k++)
    if (own_keys[k].key == key && own_keys[k].control == control && action == GLFW_PRESS) own_keys[k].action(a);
}

static void draw_keys(const app *a) {
  enum { most = 60 };
  ui_row rows[most];
  int width, height, count = 0;
  char stops[60];
  snprintf(stops, sizeof stops, "%s; close this list", a->program->stops);
  const int opens = a->program->file_kind != NULL;
  const ui_row own[] = {{"Tab", "hide or show the controls"},
                        {"F1", "these keys (also H)"},
                        {"Esc", stops},
                        {"Ctrl+Q", "quit"},
                        {"Ctrl+O", "open a file"}};
  for (const ui_row *row = a->program->pointer; row->left; row++) rows[count++] = *row;
  rows[count++] = (ui_row){"", ""};
  for (const app_key *k = a->program->keys; k->action && count < most - 5; k++)
    if (k->name) rows[count++] = (ui_row){k->name, k->what};
  for (int k = 0; k < 4 + opens; k++) rows[count++] = own[k];
  app_scene_size(a, &width, &height);
  ui_list("keys", rows, count, (float)app_panel_width(a), 0, (float)width, (float)height);
}

/* ---- The pointer ---- */

static void on_button(GLFWwindow *handle, int button, int action, int modifiers) {
  app *a = glfwGetWindowUserPointer(handle);
  const unsigned bit = 1U << button;
  if (action == GLFW_RELEASE) {
    if (a->buttons & bit) a->program->release(a->state, button);
    a->buttons &= ~bit;
    return;
  }
  /* Where the pointer was then, as on_motion has it; by now it may be elsewhere. A button that joins others
   * goes where they are, also over the controls. */
  if (!a->buttons && (ui_wants_pointer() || a->x < 0)) return;
  a->buttons |= bit;
  a->program->press(a->state, button, modifiers);
}

static void on_motion(GLFWwindow *handle, double x, double y) {
  app *a = glfwGetWindowUserPointer(handle);
  int width, height, pixels_x, pixels_y;
  glfwGetWindowSize(handle, &width, &height);
  glfwGetFramebufferSize(handle, &pixels_x, &pixels_y);
  if (width <= 0 || height <= 0) return;
  x = x * pixels_x / width - app_panel_width(a);
  y = y * pixels_y / height;
  a->program->move(a->state, x, y);
  a->x = x;
  a->y = y;
}

static void on_scroll(GLFWwindow *handle, double x, double y) {
  app *a = glfwGetWindowUserPointer(handle);
  (void)x;
  if (!ui_wants_pointer() && a->x >= 0) a->program->scroll(a->state, y);
}

/* A button that is released in another window is not heard of. */
static void on_focus(GLFWwindow *handle, int focused) {
  app *a = glfwGetWindowUserPointer(handle);
  for (int button = 0; !focused && button <= GLFW_MOUSE_BUTTON_LAST; button++)
    on_button(a->handle, button, GLFW_RELEASE, 0);
}

static void on_drop(GLFWwindow *handle, int count, const char **paths) {
  app *a = glfwGetWindowUserPointer(handle);
  a->dropped_shown = 0;
  if (count != 1)
    app_tell_error(a, "several files were dropped, expected one");
  else if (strlen(paths[0]) >= sizeof a->dropped)
    app_tell_error(a, "the path of the file that was dropped is too long");
  else
    snprintf(a->dropped, sizeof a->dropped, "%s", paths[0]);
}

/* ---- Frames ---- */

int app_open(app *a, const app_program *program, window_state *state, double ui_scale, char *why, size_t size) {
  const int least[2] = {program->least_width, program->least_height};
  char reason[200];
  *a = (app){.program = program, .state = state};
  a->handle = view_window_open(program->name, program->width, program->height, least, reason, sizeof reason);
  if (!a->handle) {
    snprintf(why, size, "no window: %s", reason);
    return 1;
  }
  a->scale = view_window_scale(a->handle) * (float)(ui_scale > 0 ? ui_scale : 1);
  glfwSetWindowUserPointer(a->handle, a);
  glfwSetKeyCallback(a->handle, on_key);
  glfwSetMouseButtonCallback(a->handle, on_button);
  glfwSetCursorPosCallback(a->handle, on_motion);
  glfwSetScrollCallback(a->handle, on_scroll);
  glfwSetWindowFocusCallback(a->handle, on_focus);
  glfwSetDropCallback(a->handle, on_drop);
  /* The controls call these on. */
  if (!ui_create(a->handle, a->scale)) return 0;
  snprintf(why, size, "no window: Dear ImGui cannot be set up");
  view_window_close(a->handle);
  return 1;
}

void app_close(app *a) {
  open_dialog_close(&a->dialog);
  ui_destroy();
  view_window_close(a->handle);
}

static void draw_note(const app *a, float left, float width, float height) {
  const app_program *p = a->program;
  const char *busy = p->busy ? p->busy(a->state) : "";
  const char *text = busy[0] ? busy : a->note[0] || !p->hint ? a->note : p->hint(a->state);
  if (text[0]) ui_note(text, text == a->note && a->note_is_error, left, 0, width, height);
}

static void draw_frame(app *a) {
  const app_program *p = a->program;
  const int left = app_panel_width(a);
  int width, height;
  app_scene_size(a, &width, &height);
  if (height > 0) { /* not while it is minimised */
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDisable(GL_SCISSOR_TEST);
    glClearColor(p->ground[0], p->ground[1], p->ground[2], 1);
    glClear(GL_COLOR_BUFFER_BIT);
    p->draw(a->state, left, width, height);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    ui_begin_frame();
    if (!a->panel_hidden) {
      ui_panel_begin("controls", 0, 0, (float)left, (float)height);
      p->controls(a->state);
      ui_panel_end();
    }
    if (a->keys_shown) draw_keys(a);
    draw_note(a, (float)left, (float)width, (float)height);
    ui_end_frame();
  }
  glfwSwapBuffers(a->handle);
}

static void end_dialog(app *a) {
  if (!a->dialog || open_dialog_is_open(a->dialog)) return;
  open_dialog_end(&a->dialog, a->dropped, sizeof a->dropped);
  a->dropped_shown = 0;
}

static void take_dropped(app *a) {
  if (a->dropped_shown)
    a->program->take_file(a->state, a->dropped);
  else
    app_tell(a, "reading %s ...", a->dropped);
  if (a->dropped_shown) a->dropped[0] = 0;
  a->dropped_shown = !a->dropped_shown;
}

void app_run(app *a) {
  a->frame_begin = glfwGetTime();
  interrupt_begin(); /* as if the user closed the window: a video is finished */
  while (!glfwWindowShouldClose(a->handle) && !interrupt_is_asked()) {
    const double now = glfwGetTime(), seconds = now - a->frame_begin;
    a->frame_begin = now;
    end_dialog(a);
    if (a->dropped[0])
      take_dropped(a);
    else
      a->program->work(a->state, seconds);
    draw_frame(a);
    const double rest = a->dropped[0] ? 0 : a->program->rest(a->state);
    if (rest > 0)
      glfwWaitEventsTimeout(rest);
    else
      glfwPollEvents();
  }
}

/* ---- Controls ---- */

static const char *key_of(const app *a, void (*action)(window_state *w)) {
  for (const app_key *k = a->program->keys; k->action; k++)
    if (k->action == action && k->name) return k->name;
  return "";
}

void app_button(app *a, const char *label, int count, int enabled, void (*action)(window_state *w)) {
  char tip[60];
  ui_disabled_begin(!enabled);
  const int pressed = ui_button(label, count);
  ui_disabled_end();
  snprintf(tip, sizeof tip, "key: %s", key_of(a, action));
  ui_tip(tip);
  if (pressed) action(a->state);
}

void app_keys_button(app *a, int count) {
  if (ui_button("Keys: F1", count)) switch_keys(a);
}

void app_open_button(app *a, const char *label, int count) {
  if (ui_button(label, count)) choose_file(a);
  ui_tip("key: Ctrl+O; or drop a file on the window");
}

void app_file_field(app *a, const char *name, app_file *file, const char *button, const char *tip,
                    void (*action)(window_state *w)) {
  char text[120];
  if (ui_text_field(name, file->path, sizeof file->path, button)) action(a->state);
  snprintf(text, sizeof text, "%s; key: %s", tip, key_of(a, action));
  ui_tip(text);
}

int app_choice(const char *label, int *value, const char *(*names)(int index)) {
  enum { most = 16 };
  const char *list[most];
  int count = 0;
  while (count < most && (list[count] = names(count))) count++;
  return ui_combo(label, value, list, count);
}

const char *app_digits(double number) {
  static char text[32];
  snprintf(text, sizeof text, "%.*f", number < 1 ? 3 : number < 10 ? 2 : number < 100 ? 1 : 0, number);
  return text;
}

void app_times_add(app_times *t, int most, double milliseconds) {
  if (t->count == most) memmove(t->values, t->values + 1, (size_t)--t->count * sizeof t->values[0]);
  t->values[t->count++] = (float)milliseconds;
}

/* The window itself is proof of OpenGL, and a CPU is always there. */
static const char *why_absent(const char *backend) {
  static char reason[160];
  static int asked;
  if (strcmp(backend, "cuda") != 0) return NULL;
  if (!asked) {
    const ts_context_desc desc = {.backend = backend};
    ts_context *context = NULL;
    asked = 1;
    if (ts_context_create(&desc, &context) != TS_OK) snprintf(reason, sizeof reason, "%s", ts_last_error(NULL));
    ts_context_destroy(&context);
  }
  /* "backend cuda is not available: this texsolve was built without CUDA" */
  const char *colon = strstr(reason, ": ");
  return colon ? colon + 2 : reason[0] ? reason : NULL;
}

const char *app_backend_choice(const char *now) {
  const size_t length = strcspn(now, ":");
  const char *chosen = NULL, *name;
  if (!ui_menu_begin("backend", now)) return NULL;
  for (int k = 0; (name = ts_backend_name(k)); k++) {
    const int used = strlen(name) == length && strncmp(name, now, length) == 0;
    if (ui_menu_item(name, used, used ? NULL : why_absent(name)) && !used) chosen = name;
  }
  ui_menu_end();
  return chosen;
}

int app_first_time(app_first_times *f, const char *what) {
  uint64_t sum = 14695981039346656037U; /* FNV-1a */
  for (; *what; what++) sum = (sum ^ (unsigned char)*what) * 1099511628211U;
  for (int k = 0; k < f->count; k++)
    if (f->seen[k] == sum) return 0;
  if (f->count == APP_FIRST_TIMES) f->count = 0;
  f->seen[f->count++] = sum;
  return 1;
}
