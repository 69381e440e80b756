#include <GL/glew.h>

#include "window.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "ui.h"
#include "window_state.h"

static GLFWwindow *window;

static int fail(char message[SIMULATION_MESSAGE], const char *why) {
  snprintf(message, SIMULATION_MESSAGE, "no window: %s", why);
  return 1;
}

static int fail_glfw(char message[SIMULATION_MESSAGE]) {
  char text[200];
  const char *description = NULL;
  glfwGetError(&description);
  snprintf(text, sizeof text, "%s", description ? description : "unknown reason");
  /* GLFW ends a line with a blank where the name of the display would follow. */
  size_t length = strlen(text);
  while (length > 0 && text[length - 1] == ' ') text[--length] = 0;
  return fail(message, text);
}

/* Not larger than the screen. */
static void fit_screen(int *width, int *height) {
  GLFWmonitor *monitor = glfwGetPrimaryMonitor();
  int x, y, free_width = 0, free_height = 0;
  if (monitor) glfwGetMonitorWorkarea(monitor, &x, &y, &free_width, &free_height);
  if (free_width > 0 && *width > free_width) *width = free_width;
  if (free_height > 0 && *height > free_height) *height = free_height;
}

int fluid_window_open(int width, int height, char message[SIMULATION_MESSAGE]) {
  if (!glfwInit()) return fail_glfw(message);
  glfwDefaultWindowHints();
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  if (width <= 0 || height <= 0) {
    width = 1280;
    height = 800;
  }
  fit_screen(&width, &height);
  window = glfwCreateWindow(width, height, "fluid", NULL, NULL);
  if (!window) {
    fail_glfw(message);
    glfwTerminate();
    return 1;
  }
  glfwSetWindowSizeLimits(window, 480, 320, GLFW_DONT_CARE, GLFW_DONT_CARE);
  glfwMakeContextCurrent(window);
  glfwSwapInterval(1);
  const char *why = fluid_view_load();
  if (!why) return 0;
  fluid_window_close();
  return fail(message, why);
}

void fluid_window_close(void) {
  if (window) glfwDestroyWindow(window);
  window = NULL;
  glfwTerminate();
}

/* ---- Sizes ---- */

float window_scale(const window_state *w) {
  float x, y;
  glfwGetWindowContentScale(w->handle, &x, &y);
  return fmaxf(x, 1);
}

int window_panel_width(const window_state *w) {
  return w->panel_hidden ? 0 : (int)(300 * window_scale(w));
}

fluid_area window_space(const window_state *w) {
  fluid_area space = {.x = window_panel_width(w)};
  glfwGetFramebufferSize(w->handle, &space.width, &space.height);
  space.width -= space.x;
  if (space.width < 1) space.width = 1;
  return space;
}

fluid_area window_area(const window_state *w) {
  return fluid_view_fit(*w->s, window_space(w));
}

/* ---- Frames ---- */

static void draw_fluid(window_state *w) {
  const double begin = glfwGetTime();
  const char *why = fluid_view_draw(w->view, *w->s, &w->look, window_area(w));
  if (why) window_tell_error(w, why);
  if (w->measure_times) { /* else nobody waits for it */
    glFinish();
    simulation_note_draw(*w->s, glfwGetTime() - begin);
  }
}

static void draw_frame(window_state *w) {
  const fluid_area space = window_space(w);
  if (space.height > 0) { /* not while it is minimised */
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDisable(GL_SCISSOR_TEST);
    glClearColor(0.20f, 0.21f, 0.22f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    draw_fluid(w);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    ui_begin_frame();
    window_panel_draw(w);
    window_keys_draw(w);
    const char *note = w->note[0] ? w->note : simulation_warning(*w->s);
    if (note[0])
      ui_note(note, w->note[0] && w->note_is_error, (float)space.x, 0, (float)space.width, (float)space.height);
    ui_end_frame();
  }
  glfwSwapBuffers(w->handle);
}

/* Returns the seconds since the last call. */
static double count_frame(window_state *w) {
  const double now = glfwGetTime(), seconds = now - w->frame_begin;
  w->frame_begin = now;
  w->frame_seconds += 0.1 * (seconds - w->frame_seconds);
  return seconds;
}

static void act(window_state *w, double seconds) {
  char message[SIMULATION_MESSAGE];
  if (w->to_load[0]) window_load_walls(w);
  /* Also while it is paused. Where frames are slow the fluid is slower than the hand, but should answer to it.
   */
  const double frames = fmin(fmax(60 * seconds, 1), 4);
  const double passed = frames * w->steps_per_frame * simulation_parameters(*w->s)->time_step;
  if (pointer_apply(&w->pointer, *w->s, passed, glfwGetTime(), message)) window_tell_error(w, message);
  window_make_steps(w, seconds);
  window_write_report(w);
}

int fluid_window_run(simulation **s, const fluid_window_options *options, char message[SIMULATION_MESSAGE]) {
  window_state w = {.handle = window,
                    .s = s,
                    .paused = options->paused,
                    .measure_divergence = 1,
                    .frame_seconds = 1.0 / 60,
                    .iterations = {2, 4, 50, 20}};
  pointer_set_up(&w.pointer);
  const char *why = fluid_view_create(&w.view);
  if (why) return fail(message, why);
  window_input_connect(&w);
  if (ui_create(window, window_scale(&w))) {
    fluid_view_destroy(&w.view);
    return fail(message, "Dear ImGui cannot be set up");
  }
  window_take_scene(&w);
  window_take_options(&w, options);
  w.frame_begin = glfwGetTime();
  while (!glfwWindowShouldClose(window)) {
    act(&w, count_frame(&w));
    draw_frame(&w);
    if (w.paused && !w.single_step && !w.pointer.buttons)
      glfwWaitEventsTimeout(0.05);
    else
      glfwPollEvents();
  }
  window_film_end(&w);
  fluid_view_destroy(&w.view);
  ui_destroy();
  return 0;
}
