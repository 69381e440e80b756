/* The window of contact: pull, push and throw bodies, change anything. */
#include <GL/glew.h>

#include "window_state.h"

#include <math.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "message.h"

/* ---- Keys ---- */

static void switch_forces(window_state *w) {
  w->look.forces = !w->look.forces;
  w->screen.stale = 1;
}
static void switch_warm_start(window_state *w) {
  w->s->parameters.cold_start = !w->s->parameters.cold_start;
  app_tell(&w->app, "%s", w->s->parameters.cold_start ? "cold start" : "warm start");
}
static void next_scene(window_state *w) {
  window_set_scene(w, (window_scene_index(w) + 1) % scene_count(), 0);
}
static void next_scheme(window_state *w) {
  simulation_parameters *p = &w->s->parameters;
  do {
    p->scheme = (ts_lcp_scheme)((int)p->scheme + 1);
    if (!ts_lcp_scheme_name(p->scheme)) p->scheme = TS_LCP_SCHEME_AUTO;
  } while (!ts_lcp_has_scheme(w->s->context, p->scheme));
  app_tell(&w->app, "scheme %s", ts_lcp_scheme_name(p->scheme));
}
static void pause_steps(window_state *w) {
  w->paused = 1;
}

static const app_key keys[] = {{GLFW_KEY_SPACE, 0, window_run_or_pause, "Space", "run, pause", 0},
                               {'S', 0, window_step, "S", "one step", 1},
                               {'R', 0, window_reset, "R", "restart", 0},
                               {'N', 0, next_scene, "N", "next scene", 0},
                               {'B', 0, window_throw, "B", "throw a ball (also Ctrl and the left button)", 0},
                               {'A', 0, switch_forces, "A", "forces, as arrows", 0},
                               {'W', 0, switch_warm_start, "W", "warm or cold start", 0},
                               {'M', 0, next_scheme, "M", "next scheme of the solver", 0},
                               {'C', 0, window_fit, "C", "the scene's own camera", 0},
                               {'P', 0, window_save_picture, "P", "save a picture", 0},
                               {'F', 0, window_video, "F", "start or stop a video", 0},
                               {'J', 0, window_save_report, "J", "save settings and measurements, as JSON", 0},
                               {0}};

static const ui_row pointer_rows[] = {{"left button", "pull a body; beside the bodies: orbit"},
                                      {"a click", "push the body"},
                                      {"Ctrl and left", "throw a ball"},
                                      {"right button", "pan (also the middle one, or Shift and the left one)"},
                                      {"wheel", "zoom"},
                                      {0}};

/* ---- Frames ---- */

static const char *draw_bodies(void *user, int width, int height) {
  window_state *w = user;
  const double begin = glfwGetTime();
  const char *why = contact_view_draw(w->view, &w->s->world, &w->camera, &w->look, width, height);
  glFinish();
  w->seconds_draw = glfwGetTime() - begin;
  simulation_note_draw(w->s, w->seconds_draw);
  return why;
}

static void draw(window_state *w, int left, int width, int height) {
  const char *why = view_gl_show(&w->screen, left, width, height, draw_bodies, w);
  if (why) app_tell_error(&w->app, why);
}

static void work(window_state *w, double seconds) {
  w->frame_seconds += 0.1 * (seconds - w->frame_seconds);
  w->pressed += fmin(seconds, 0.1);
  window_make_steps(w, seconds);
  window_write_report(w);
}

static double rest(const window_state *w) {
  return w->paused && !w->single_step && !w->compiling ? 0.05 : 0;
}

static const char *busy(const window_state *w) {
  return w->compiling ? "compiling shaders ..." : "";
}

static void take_file(window_state *w, const char *path) {
  app_tell(&w->app, "%s: scenes come from the list at the left, not from files", app_file_name(path));
}

static const app_program program = {.name = "contact",
                                    .width = 1280,
                                    .height = 800,
                                    .least_width = 480,
                                    .least_height = 320,
                                    .panel_width = 300,
                                    .ground = {0.945f, 0.95f, 0.955f},
                                    .keys = keys,
                                    .pointer = pointer_rows,
                                    .stops = "pause",
                                    .stop = pause_steps,
                                    .work = work,
                                    .draw = draw,
                                    .controls = window_panel_draw,
                                    .rest = rest,
                                    .busy = busy,
                                    .press = window_press,
                                    .release = window_release,
                                    .move = window_move,
                                    .scroll = window_scroll,
                                    .take_file = take_file};

static const char *begin(window_state *w, char message[SIMULATION_MESSAGE]) {
  simulation_options simulated = w->options->simulation;
  simulated.platform = TS_GL_PLATFORM_CURRENT;
  if (simulation_create(&simulated, &w->s, message)) return message;
  const char *why = contact_view_create(&w->view);
  if (why) return why;
  w->look.fine = w->options->shading == CONTACT_SHADING_FULL;
  w->look.coarse = contact_view_is_coarse(w->view, w->options->shading);
  window_fit(w);
  window_take_scene(w);
  return NULL;
}

int run_window(const program_options *options) {
  window_state w = {.options = options, .speed = 1, .frame_seconds = 1.0 / 60, .look.forces = options->forces};
  char why_not[SIMULATION_MESSAGE];
  if (app_open(&w.app, &program, &w, options->ui_scale, why_not, sizeof why_not)) {
    message("%s; --headless does without", why_not);
    return EXIT_ERROR;
  }
  const char *why = begin(&w, why_not);
  if (why) {
    message("%s", why);
  } else {
    app_run(&w.app);
    app_video_end(&w.app, &w.files.video);
  }
  contact_view_destroy(&w.view);
  view_gl_destroy_screen(&w.screen);
  simulation_destroy(&w.s);
  app_close(&w.app);
  return why ? EXIT_ERROR : EXIT_MADE;
}
