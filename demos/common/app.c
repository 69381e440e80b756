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
#include "view_window.h"

/* ---- Sizes ---- */

static int or_else(int number, int standard) {
  return number ? number : standard;
}

int app_panel_width(const app *a) {
  return a->panel_hidden ? 0 : (int)((float)or_else(a->program->panel_width, 300) * a->scale);
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

/* ---- Messages to the user ---- */

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
  /* The terminal keeps the message. A failed draw fails again in each frame, so that a repeated text is printed
   * once. */
  if (!a->note_is_error || strcmp(a->note, text) != 0) message("%s", text);
  app_tell(a, "%s", text);
  a->note_is_error = 1;
}

/* ---- Running ---- */

void app_run_or_pause(window_state *w) {
  app *a = (app *)w;
  a->paused = !a->paused;
  a->steps_due = 0;
  if (!a->paused) app_tell(a, "%s", "");
}

void app_step(window_state *w) {
  app *a = (app *)w;
  a->paused = 1;
  a->single_step = 1;
  app_tell(a, "%s", "");
}

int app_steps_due(app *a, double passed, double most) {
  if (a->compiling) return 1;
  if (a->paused) return a->single_step;
  /* A quarter of a step early is soon enough: frames do not arrive at exact intervals. */
  a->steps_due = fmin(a->steps_due + passed, most + 0.25);
  const int count = (int)fmin(a->steps_due + 0.25, most);
  a->steps_due -= count;
  return count;
}

/* Returns 1 the first time a text is passed, and 0 after that. */
static int first_time(app_first_times *f, const char *what) {
  uint64_t sum = 14695981039346656037U; /* FNV-1a */
  for (; *what; what++) sum = (sum ^ (unsigned char)*what) * 1099511628211U;
  for (int k = 0; k < f->count; k++)
    if (f->seen[k] == sum) return 0;
  if (f->count == APP_FIRST_TIMES) f->count = 0;
  f->seen[f->count++] = sum;
  return 1;
}

int app_compiles(app *a, const char *backend, const char *uses) {
  char text[240];
  snprintf(text, sizeof text, "%s %s", backend, uses);
  a->compiling = strstr(backend, "gl") && first_time(&a->compiled, text);
  return a->compiling;
}

/* ---- Keys ---- */

static void on_key(GLFWwindow *handle, int key, int scancode, int action, int modifiers) {
  app *a = glfwGetWindowUserPointer(handle);
  if (action == GLFW_RELEASE || ui_wants_text()) return;
  /* For letters and digits, use the character that the keyboard layout gives. */
  const char *name = glfwGetKeyName(key, scancode);
  if (name && name[0] > ' ' && name[0] < 127 && !name[1]) {
    key = (unsigned char)name[0];
    if (key >= 'a' && key <= 'z') key &= ~0x20;
  }
  const int control = !(modifiers & GLFW_MOD_CONTROL) ? 0 : modifiers & GLFW_MOD_SHIFT ? 2 : 1;
  app_press_key(a, key, control, action != GLFW_PRESS);
}

/* ---- The pointer ---- */

void app_drag_camera(app *a, double x, double y, int width, int height) {
  const float x0 = (float)a->x, y0 = (float)a->y;
  camera *c = &a->camera;
  if (a->drag == APP_DRAG_ORBIT)
    (a->program->upright ? camera_turn : camera_orbit)(c, x0, y0, (float)x, (float)y, width, height);
  if (a->drag == APP_DRAG_PAN) camera_pan(c, x0, y0, (float)x, (float)y, width, height);
  if (a->drag != APP_DRAG_NONE) a->screen.stale = 1;
}

static window_state *state_of(app *a) {
  return (window_state *)a;
}

static void on_button(GLFWwindow *handle, int button, int action, int modifiers) {
  app *a = glfwGetWindowUserPointer(handle);
  const unsigned bit = 1U << button;
  if (action == GLFW_RELEASE) {
    if ((a->buttons & bit) && a->program->release) a->program->release(state_of(a), button);
    if (a->buttons & bit) a->drag = APP_DRAG_NONE;
    a->buttons &= ~bit;
    return;
  }
  /* Use the last position that on_motion saw, because the pointer may have moved since the press. A second
   * button follows the first, even over the controls. */
  if (!a->buttons && (ui_wants_pointer() || a->x < 0)) return;
  a->buttons |= bit;
  a->program->press(state_of(a), button, modifiers);
}

static void on_motion(GLFWwindow *handle, double x, double y) {
  app *a = glfwGetWindowUserPointer(handle);
  int width, height, pixels_x, pixels_y;
  glfwGetWindowSize(handle, &width, &height);
  glfwGetFramebufferSize(handle, &pixels_x, &pixels_y);
  if (width <= 0 || height <= 0) return;
  x = x * pixels_x / width - app_panel_width(a);
  y = y * pixels_y / height;
  int scene_width, scene_height;
  app_scene_size(a, &scene_width, &scene_height);
  if (a->program->move)
    a->program->move(state_of(a), x, y);
  else
    app_drag_camera(a, x, y, scene_width, scene_height);
  a->x = x;
  a->y = y;
}

static void on_scroll(GLFWwindow *handle, double x, double y) {
  app *a = glfwGetWindowUserPointer(handle);
  (void)x;
  if (ui_wants_pointer() || a->x < 0) return;
  a->screen.stale = 1;
  if (a->program->scroll)
    a->program->scroll(state_of(a), y);
  else
    camera_zoom(&a->camera, (float)y);
}

/* A window without the focus does not receive the release of a button, so release all of them now. */
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

static void draw_note(const app *a, float left, float width, float height) {
  const app_program *p = a->program;
  const char *const hint = a->note[0] || !p->hint ? a->note : p->hint((const window_state *)a);
  const char *const text = a->compiling ? "compiling shaders ..." : hint;
  if (text[0]) ui_note(text, text == a->note && a->note_is_error, left, 0, width, height);
}

static const char *draw_still(void *user, int width, int height) {
  app *a = user;
  return a->program->draw(state_of(a), 0, width, height);
}

static void draw_frame(app *a) {
  static const float bright[3] = {0.945f, 0.95f, 0.955f};
  const app_program *p = a->program;
  const float *ground = p->ground ? p->ground : bright;
  const int left = app_panel_width(a);
  int width, height;
  app_scene_size(a, &width, &height);
  if (height > 0) { /* not while the window is minimized */
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDisable(GL_SCISSOR_TEST);
    glClearColor(ground[0], ground[1], ground[2], 1);
    glClear(GL_COLOR_BUFFER_BIT);
    const char *why = p->still ? view_gl_show(&a->screen, left, width, height, draw_still, a)
                               : p->draw(state_of(a), left, width, height);
    if (why) app_tell_error(a, why);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    ui_begin_frame();
    if (!a->panel_hidden) {
      ui_panel_begin("controls", 0, 0, (float)left, (float)height);
      p->controls(state_of(a));
      ui_panel_end();
    }
    if (a->keys_shown) app_draw_keys(a);
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

static void handle_dropped(app *a) {
  if (a->dropped_shown)
    a->program->open_dropped_file(state_of(a), a->dropped);
  else
    app_tell(a, "reading %s ...", a->dropped);
  if (a->dropped_shown) a->dropped[0] = 0;
  a->dropped_shown = !a->dropped_shown;
}

static double idle_seconds(const app *a) {
  if (a->dropped[0]) return 0;
  if (a->program->idle_seconds) return a->program->idle_seconds((const window_state *)a);
  return a->paused && !a->single_step && !a->compiling && !a->buttons ? 0.05 : 0;
}

static void run_frames(app *a) {
  a->frame_begin = glfwGetTime();
  a->frame_seconds = 1.0 / 60;
  interrupt_begin(); /* an interrupt closes the window properly, so that a video is finished */
  while (!glfwWindowShouldClose(a->handle) && !interrupt_is_asked()) {
    const double now = glfwGetTime(), seconds = now - a->frame_begin;
    a->frame_begin = now;
    a->frame_seconds += 0.1 * (seconds - a->frame_seconds);
    end_dialog(a);
    if (a->dropped[0])
      handle_dropped(a);
    else
      a->program->work(state_of(a), seconds);
    app_write_report(a);
    draw_frame(a);
    const double wait = idle_seconds(a);
    if (wait > 0)
      glfwWaitEventsTimeout(wait);
    else
      glfwPollEvents();
  }
  app_end_video(a);
}

/* ---- The window ---- */

/* Leaves the window's context current. */
static int open_window(app *a) {
  const app_program *p = a->program;
  const int least[2] = {or_else(p->least_width, 480), 320};
  char why[200];
  a->handle = view_window_open(p->name, or_else(p->width, 1280), 800, least, why, sizeof why);
  if (!a->handle) {
    message("no window: %s; --headless runs without one", why);
    return 1;
  }
  a->scale = view_window_scale(a->handle) * (float)(a->run->ui_scale > 0 ? a->run->ui_scale : 1);
  glfwSetWindowUserPointer(a->handle, a);
  glfwSetKeyCallback(a->handle, on_key);
  glfwSetMouseButtonCallback(a->handle, on_button);
  glfwSetCursorPosCallback(a->handle, on_motion);
  glfwSetScrollCallback(a->handle, on_scroll);
  glfwSetWindowFocusCallback(a->handle, on_focus);
  glfwSetDropCallback(a->handle, on_drop);
  /* Dear ImGui chains to the callbacks set above. */
  if (!ui_create(a->handle, a->scale)) return 0;
  message("no window: Dear ImGui cannot be set up; --headless runs without one");
  view_window_close(a->handle);
  return 1;
}

int app_main(window_state *w, const app_program *program, const run_options *run) {
  app *a = (app *)w;
  a->program = program;
  a->run = run;
  if (open_window(a)) return EXIT_ERROR;
  const int failed = program->begin(w);
  if (!failed) run_frames(a);
  program->end(w);
  view_gl_destroy_screen(&a->screen);
  open_dialog_close(&a->dialog);
  ui_destroy();
  view_window_close(a->handle);
  return failed ? EXIT_ERROR : EXIT_MADE;
}
