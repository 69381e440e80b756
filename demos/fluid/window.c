#include <GL/glew.h>

#include "window.h"

#include <math.h>
#include <stdio.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "ui.h"
#include "view_window.h"
#include "window_state.h"

static GLFWwindow *window;

static int fail(char message[SIMULATION_MESSAGE], const char *why) {
  snprintf(message, SIMULATION_MESSAGE, "no window: %s", why);
  return 1;
}

int fluid_window_open(int width, int height, char message[SIMULATION_MESSAGE]) {
  static const int least[2] = {480, 320};
  char why[200];
  const int given = width > 0 && height > 0;
  window = view_window_open("fluid", given ? width : 1280, given ? height : 800, least, why, sizeof why);
  return window ? 0 : fail(message, why);
}

void fluid_window_close(void) {
  view_window_close(window);
  window = NULL;
}

/* ---- Sizes ---- */

float window_scale(const window_state *w) {
  return view_window_scale(w->handle);
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
    const char *note = w->compiling ? "compiling shaders ..."
                       : w->note[0] ? w->note
                                    : simulation_warning(*w->s);
    if (note[0])
      ui_note(note, note == w->note && w->note_is_error, (float)space.x, 0, (float)space.width,
              (float)space.height);
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
    if (w.paused && !w.single_step && !w.compiling && !w.pointer.buttons)
      glfwWaitEventsTimeout(0.05);
    else
      glfwPollEvents();
  }
  window_film_end(&w);
  fluid_view_destroy(&w.view);
  ui_destroy();
  return 0;
}
