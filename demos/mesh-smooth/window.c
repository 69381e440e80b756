#include <GL/glew.h>

#include "window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "ui.h"
#include "view_window.h"
#include "window_state.h"

static GLFWwindow *window;

int smooth_window_open(int width, int height, char message[MESH_MESSAGE]) {
  static const int least[2] = {480, 320};
  char why[200];
  const int given = width > 0 && height > 0;
  window = view_window_open("mesh-smooth", given ? width : 1280, given ? height : 800, least, why, sizeof why);
  return window ? 0 : mesh_fail(message, "no window: %s", why);
}

void smooth_window_close(void) {
  view_window_close(window);
  window = NULL;
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
  if (*width < 1) *width = 1;
}

/* ---- Frames ---- */

static void draw_frame(window_state *w) {
  int width, height;
  window_scene_size(w, &width, &height);
  if (height > 0) { /* not while it is minimised */
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glClearColor(0.945f, 0.95f, 0.955f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    const char *why = window_scene_draw(&w->scene, window_panel_width(w), width, height);
    if (why) window_tell_error(w, why);
    ui_begin_frame();
    window_panel_draw(w);
    window_keys_draw(w);
    const char *note = w->compiling ? "compiling shaders ..." : w->note;
    if (note[0])
      ui_note(note, note == w->note && w->note_is_error, (float)window_panel_width(w), 0, (float)width,
              (float)height);
    ui_end_frame();
  }
  glfwSwapBuffers(w->handle);
}

/* What takes long: one thing a frame. */
static void work(window_state *w) {
  if (w->to_open[0]) {
    if (w->to_open_shown) {
      window_open_file(w);
    } else {
      window_tell(w, "reading %s ...", w->to_open);
      w->to_open_shown = 1;
    }
  } else if (w->steps_to_make) {
    window_make_step(w);
  } else if (w->following) {
    window_follow(w);
  }
}

int smooth_window_run(smoother **s, const window_options *options, char message[MESH_MESSAGE]) {
  window_state w = {.handle = window,
                    .s = s,
                    .keep_duplicates = options->keep_duplicates,
                    .scene.look = options->look,
                    .noise = 0.002,
                    .seed = 1,
                    .steps_to_make = options->steps,
                    .selected = -1,
                    .new_fixed = 1,
                    .new_weight = 10};
  w.scene.look.legend = 1;
  if (!(w.scene.look.split > 0)) w.scene.look.split = 0.5f;
  w.scene.keep_range = w.scene.look.range > 0;
  window_input_connect(&w);
  if (ui_create(window, window_scale(&w))) return mesh_fail(message, "no window: Dear ImGui cannot be set up");
  window_name_files(&w, options->name, options);
  window_take_mesh(&w);
  int failed = w.note_is_error ? mesh_fail(message, "%.*s", MESH_MESSAGE - 1, w.note) : 0;
  while (!failed && !glfwWindowShouldClose(window)) {
    work(&w);
    draw_frame(&w);
    if (w.steps_to_make || w.to_open[0] || w.following)
      glfwPollEvents();
    else
      glfwWaitEventsTimeout(0.05);
  }
  window_scene_close(&w.scene);
  ui_destroy();
  return failed;
}
