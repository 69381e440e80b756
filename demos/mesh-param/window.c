#include <GL/glew.h>

#include "window.h"

#include <stdio.h>
#include <stdlib.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "ui.h"
#include "view_window.h"
#include "window_state.h"

static GLFWwindow *window;
static GLFWwindow *shared; /* hidden, the solver's: its context shares the window's objects. NULL: none */

int param_window_open(int width, int height, char message[MESH_MESSAGE]) {
  static const int least[2] = {640, 320};
  char why[200];
  const int given = width > 0 && height > 0;
  window = view_window_open("mesh-param", given ? width : 1400, given ? height : 800, least, why, sizeof why);
  if (!window) return mesh_fail(message, "no window: %s", why);
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  shared = glfwCreateWindow(16, 16, "mesh-param's solver", NULL, window);
  return 0;
}

void param_window_close(void) {
  if (shared) glfwDestroyWindow(shared);
  view_window_close(window);
  shared = window = NULL;
}

static void enter_shared(void *user) {
  glfwMakeContextCurrent(user);
}
static void leave_shared(void *user) {
  (void)user;
  glfwMakeContextCurrent(NULL);
}

/* ---- Sizes ---- */

float window_scale(const window_state *w) {
  return view_window_scale(w->handle);
}

int window_panel_width(const window_state *w) {
  return w->panel_hidden ? 0 : (int)(286 * window_scale(w));
}

void window_scene_size(const window_state *w, int *width, int *height) {
  glfwGetFramebufferSize(w->handle, width, height);
  *width -= window_panel_width(w);
  if (*width < 2) *width = 2;
}

/* ---- Frames ---- */

static const char *resize(window_state *w, int width, int height) {
  if (w->width == width && w->height == height) return NULL;
  w->width = w->height = 0;
  const char *why = view_gl_make_canvases(&w->many, &w->picture, width, height);
  if (why) return why;
  w->width = width;
  w->height = height;
  w->stale = 1;
  return NULL;
}

static const char *draw_scene(window_state *w, int width, int height) {
  const char *why = resize(w, width, height);
  if (!why && w->stale && w->view) {
    const unsigned framebuffer = w->many.framebuffer ? w->many.framebuffer : w->picture.framebuffer;
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    why = flat_view_draw(w->view, &w->camera, &w->window, &w->options.look, width, height);
    if (w->many.framebuffer) view_gl_copy(framebuffer, w->picture.framebuffer, 0, width, height);
    w->stale = 0;
  }
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  if (!why) view_gl_copy(w->picture.framebuffer, 0, window_panel_width(w), width, height);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  return why;
}

static void draw_frame(window_state *w) {
  int width, height;
  window_scene_size(w, &width, &height);
  if (height > 0) { /* not while it is minimised */
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glClearColor(0.945f, 0.95f, 0.955f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    const char *why = draw_scene(w, width, height);
    if (why) window_tell_error(w, why);
    ui_begin_frame();
    window_panel_draw(w);
    window_keys_draw(w);
    const int first = w->state == WORKER_BUSY && !w->has_ended && !w->progress.iterations;
    const char *note = w->note[0] || !first ? w->note : "setting up the solver ...";
    if (note[0]) ui_note(note, w->note_is_error, (float)window_panel_width(w), 0, (float)width, (float)height);
    ui_end_frame();
  }
  glfwSwapBuffers(w->handle);
}

/* A file that was dropped: first the window says that it is read. */
static void open_dropped(window_state *w) {
  if (w->to_open_shown) {
    window_open_file(w);
  } else {
    window_tell(w, "reading %s ...", w->to_open);
    w->to_open_shown = 1;
  }
}

static int take_given_pins(window_state *w, const flattening *f) {
  if (f->pin_count) w->pins = malloc((size_t)f->pin_count * sizeof *w->pins);
  if (f->pin_count && !w->pins) return 1;
  for (w->pin_count = 0; w->pin_count < f->pin_count; w->pin_count++) {
    const int32_t flat = f->pins[w->pin_count];
    w->pins[w->pin_count] = (flattening_pin){.vertex = f->c.vertex[flat],
                                             .u = f->solved[2 * (size_t)flat],
                                             .v = f->solved[2 * (size_t)flat + 1],
                                             .place = flat + 1};
  }
  return 0;
}

int param_window_run(flattening *f, const char *name, const program_options *options,
                     char message[MESH_MESSAGE]) {
  window_state w = {.handle = window, .f = f, .options = *options, .dragged = -1};
  w.options.look.legend = 2; /* below is what the user is told */
  snprintf(w.backend, sizeof w.backend, "%s", options->device.backend ? options->device.backend : "auto");
  window_input_connect(&w);
  if (ui_create(window, window_scale(&w))) return mesh_fail(message, "no window: Dear ImGui cannot be set up");
  const worker_sharing sharing = {shared ? enter_shared : NULL, shared ? leave_shared : NULL, shared};
  const char *why = worker_create(&sharing, &w.solver);
  if (!why && take_given_pins(&w, f)) why = "out of memory";
  int failed = why ? mesh_fail(message, "no window: %s", why) : 0;
  if (!failed) {
    window_name_files(&w, name, options);
    window_take_mesh(&w);
    if (w.note_is_error) failed = mesh_fail(message, "%.*s", MESH_MESSAGE - 1, w.note);
  }
  while (!failed && !glfwWindowShouldClose(window)) {
    if (w.to_open[0]) open_dropped(&w);
    window_work(&w);
    draw_frame(&w);
    glfwWaitEventsTimeout(w.state == WORKER_BUSY ? 0.03 : 0.1);
  }
  worker_destroy(&w.solver);
  flat_view_destroy(&w.view);
  view_gl_destroy_canvas(&w.many);
  view_gl_destroy_canvas(&w.picture);
  ui_destroy();
  free(w.pins);
  return failed;
}
