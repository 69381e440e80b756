/* The window of contact. The user pulls, pushes and throws bodies and changes parameters. */
#include <GL/glew.h>

#include "window_state.h"

#include <math.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "message.h"
#include "reports.h"

/* ---- Keys ---- */

static void switch_forces(window_state *w) {
  w->look.forces = !w->look.forces;
  w->app.screen.stale = 1;
}
static void switch_cold_start(window_state *w) {
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

static const app_key keys[] = {{'N', 0, next_scene, "N", "next scene", 0, 0},
                               {'B', 0, window_throw, "B", "throw a ball (also Ctrl and left button)", 0, 0},
                               {'A', 0, switch_forces, "A", "show or hide forces", 0, 0},
                               {'W', 0, switch_cold_start, "W", "cold or warm start", 0, 0},
                               {'M', 0, next_scheme, "M", "next scheme of the solver", 0, 0},
                               {'C', 0, window_fit, "C", "reset the camera", 0, 0},
                               {0}};

static const ui_row pointer_rows[] = {{"left button", "pull a body; on the background: orbit"},
                                      {"click", "push the body"},
                                      {"Ctrl and left button", "throw a ball"},
                                      {"right button", "pan (also middle button, or Shift and left button)"},
                                      {"wheel", "zoom"},
                                      {0}};

/* ---- Frames ---- */

static const char *draw(window_state *w, int left, int width, int height) {
  (void)left;
  const double begin = glfwGetTime();
  const char *why = contact_view_draw(w->view, &w->s->world, &w->app.camera, &w->look, width, height);
  glFinish();
  w->seconds_draw = glfwGetTime() - begin;
  simulation_note_draw(w->s, w->seconds_draw);
  return why;
}

/* A single picture may be slow to draw, so it gets full shading unless the user chose otherwise. */
static const char *draw_picture(window_state *w, int is_video, int width, int height, unsigned char *rgb) {
  contact_look look = w->look;
  if (!is_video) look.coarse = w->options->shading == CONTACT_SHADING_COARSE;
  return contact_view_picture(w->view, &w->s->world, &w->app.camera, &look, width, height, rgb);
}

static void work(window_state *w, double seconds) {
  w->pressed += fmin(seconds, 0.1);
  window_make_steps(w, seconds);
}

/* ---- The report ---- */

static double highest(const world *bodies) {
  double most = 0;
  for (int k = 0; k < bodies->count; k++)
    if (bodies->bodies[k].mass > 0 && bodies->bodies[k].position[2] > most)
      most = bodies->bodies[k].position[2];
  return most;
}

static json_t *describe(const window_state *w) {
  const simulation *s = w->s;
  const simulation_figures *f = &s->figures;
  json_t *report = report_simulation_json(s);
  json_t *state =
      json_pack("{s:b, s:i, s:f, s:i, s:o, s:i, s:i, s:b, s:i, s:f, s:{s:f, s:f}, s:{s:f, s:f, s:f, s:f}, s:f}",
                "paused", w->app.paused, "steps", s->steps, "time", s->world.time, "contacts", f->contacts,
                "residual", report_number(f->residual), "sweeps", f->sweeps, "missed_steps", s->missed_steps,
                "forces", w->look.forces, "held", s->world.held, "highest", highest(&s->world), "energy",
                "kinetic", f->energy.kinetic, "potential", f->energy.potential, "milliseconds", "collision",
                1e3 * f->collision, "assembly", 1e3 * f->assembly, "solve", 1e3 * f->solve, "draw",
                1e3 * w->seconds_draw, "frames_per_second", 1 / w->app.frame_seconds);
  return app_join_reports(report, state);
}

static void open_dropped_file(window_state *w, const char *path) {
  app_tell(&w->app, "%s: this program opens no files; choose a scene from the menu at the left",
           app_file_name(path));
}

static int begin(window_state *w) {
  simulation_options simulated = w->options->simulation;
  char why[SIMULATION_MESSAGE];
  simulated.platform = TS_GL_PLATFORM_CURRENT;
  int failed = simulation_create(&simulated, &w->s, why);
  const char *fault = failed ? why : contact_view_create(&w->view);
  if (fault) {
    message("%s", fault);
    return 1;
  }
  w->look.fine = w->options->shading == CONTACT_SHADING_FULL;
  w->look.coarse = contact_view_is_coarse(w->view, w->options->shading);
  window_fit(w);
  window_show_scene(w);
  return 0;
}

static void end(window_state *w) {
  contact_view_destroy(&w->view);
  simulation_destroy(&w->s);
}

static const app_program program = {.name = "contact",
                                    .keys = keys,
                                    .pointer = pointer_rows,
                                    .upright = 1,
                                    .still = 1,
                                    .begin = begin,
                                    .end = end,
                                    .work = work,
                                    .draw = draw,
                                    .picture = draw_picture,
                                    .controls = window_panel_draw,
                                    .reset = window_reset,
                                    .describe = describe,
                                    .press = window_press,
                                    .release = window_release,
                                    .move = window_move,
                                    .open_dropped_file = open_dropped_file};

int run_window(const program_options *options) {
  window_state w = {.options = options, .speed = 1, .look.forces = options->forces};
  return app_main(&w, &program, &options->run);
}
