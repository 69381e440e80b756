/* A window with its own OpenGL context, which the library shares. Each frame continues the solve by a few
 * iterations and draws the solution from its texture. */
#include "heat.h"

#if defined(TEXSOLVE_HAVE_GL) && defined(TEXSOLVE_HAVE_GLFW)

#include <stdio.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "progress.h"
#include "view_window.h"

static GLFWwindow *window;

int heat_window_open(void) {
  static const int least[2] = {picture_width / 4, picture_height / 4};
  char why[200];
  window = view_window_open("heat", picture_width, picture_height, least, why, sizeof why);
  return window ? 0 : heat_fail("no window: %s", why);
}

void heat_window_close(void) {
  view_window_close(window);
  window = NULL;
}

/* Runs a few iterations. Returns 0, or 1 after a message. Sets *ended if further iterations would not help. */
static int step(heat_system *s, heat_outcome *o, double *best, int *in_vain, int *ended) {
  ts_result result;
  const double begin = seconds_now();
  const ts_status status = ts_solver_solve(s->cg, s->b, s->x, &result);
  o->seconds += seconds_now() - begin;
  if (status < 0) return heat_fail("%s", ts_last_error(s->context));
  if (status == TS_NOT_CONVERGED && result.reason != TS_REASON_MAX_ITERATIONS &&
      result.reason != TS_REASON_STAGNATED)
    return heat_fail("%s", result.message);
  o->iterations += result.iterations;
  o->host_synchronisations += result.host_synchronisations;
  /* b is 0, so this residual is relative to ||A x|| of the fixed temperatures, which is the start. */
  const double residual = result.relative_residual;
  o->converged = residual <= heat_tolerance;
  *in_vain = residual < 0.999 * *best ? 0 : *in_vain + 1;
  if (residual < *best) *best = residual;
  *ended = o->converged || *in_vain > 1000;
  if (*in_vain > 1000)
    snprintf(o->message, sizeof o->message, "stagnated at a relative residual of %.2g", residual);
  else if (!o->converged)
    snprintf(o->message, sizeof o->message, "the window was closed at a relative residual of %.2g", residual);
  return 0;
}

static void show_state(const heat_outcome *o, double residual) {
  char title[120];
  snprintf(title, sizeof title, "heat: %s%d iterations, residual %.1e", o->converged ? "converged, " : "",
           o->iterations, residual);
  glfwSetWindowTitle(window, title);
}

static const char *draw(heat_gl *gl) {
  int width, height;
  glfwGetFramebufferSize(window, &width, &height);
  /* A minimized window has no pixels. */
  const char *why = width > 0 && height > 0 ? heat_gl_draw(gl, width, height) : NULL;
  glfwSwapBuffers(window);
  return why;
}

int heat_window_run(heat_system *s, const program_options *options, heat_outcome *o) {
  heat_gl gl;
  const char *why = heat_gl_create(&gl, &s->plate, s->x);
  if (why) return heat_fail("drawing: %s", why);
  int failed = 0, ended = 0, in_vain = 0;
  double best = 1;
  *o = (heat_outcome){0};
  for (int frame = 0; !failed && !glfwWindowShouldClose(window); frame++) {
    if (options->frames && frame == options->frames) break;
    if (!ended) failed = step(s, o, &best, &in_vain, &ended);
    if (!failed && (why = draw(&gl))) failed = heat_fail("drawing: %s", why);
    if (ended || frame % 15 == 0) show_state(o, best);
    if (ended && !options->frames)
      glfwWaitEventsTimeout(0.05);
    else
      glfwPollEvents();
    if (glfwGetKey(window, GLFW_KEY_ESCAPE) == GLFW_PRESS) glfwSetWindowShouldClose(window, GLFW_TRUE);
    if (!failed && glfwGetKey(window, GLFW_KEY_SPACE) == GLFW_PRESS) { /* restart from the cold plate */
      if (ts_vector_write(s->x, ts_host(s->plate.start, (size_t)s->plate.unknowns)) != TS_OK)
        failed = heat_fail("%s", ts_last_error(s->context));
      *o = (heat_outcome){0};
      best = 1;
      in_vain = ended = 0;
    }
  }
  heat_gl_destroy(&gl);
  return failed;
}

#else

int heat_window_open(void) {
  return heat_fail("--window: this program was built without OpenGL or without GLFW");
}
int heat_window_run(heat_system *s, const program_options *options, heat_outcome *o) {
  (void)s, (void)options, (void)o;
  return 1;
}
void heat_window_close(void) {}

#endif
