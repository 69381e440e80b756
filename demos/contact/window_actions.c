/* What a button or a key does. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "window_state.h"

/* ---- Scenes ---- */

int window_scene_index(const window_state *w) {
  int index = 0;
  while (scene_at(index) && scene_at(index) != w->s->scene) index++;
  return index;
}

void window_fit(window_state *w) {
  const char *why = contact_view_fit(w->s->scene, &w->s->world, &w->camera, &w->look);
  if (why) app_tell_error(&w->app, why);
  w->screen.stale = 1;
}

void window_take_scene(window_state *w) {
  const double reach = (double)w->look.reach;
  w->drag = DRAG_NONE;
  w->steps_due = 0;
  w->throw_radius = 0.02 * reach;
  w->throw_speed = 1.2 * reach;
  w->screen.stale = 1;
  app_title(&w->app, w->s->scene->name);
  window_name_files(w);
}

void window_set_scene(window_state *w, int index, int bodies) {
  char message[SIMULATION_MESSAGE];
  const scene *next = scene_at(index);
  const int other = next != w->s->scene;
  if (simulation_set_scene(w->s, next, bodies, message)) {
    app_tell_error(&w->app, message);
    return;
  }
  w->s->world.held = -1;
  if (other) window_fit(w);
  window_take_scene(w);
  app_tell(&w->app, "%s: %s", next->name, next->text);
}

/* ---- Running ---- */

/* Seconds after which a frame's steps end, so that the pointer stays quick. */
static const double patience = 0.05;

void window_run_or_pause(window_state *w) {
  w->paused = !w->paused;
  w->steps_due = 0;
  if (!w->paused) app_tell(&w->app, "%s", "");
}

void window_step(window_state *w) {
  w->paused = 1;
  w->single_step = 1;
  app_tell(&w->app, "%s", "");
}

/* Returns 1 once for what the next step uses and no step has used before. */
static int announce_compiling(window_state *w) {
  char uses[100];
  w->compiling = 0;
  if (!strstr(w->s->device.backend, "gl")) return 0;
  snprintf(uses, sizeof uses, "%s %d", w->s->device.backend, (int)w->s->parameters.scheme);
  w->compiling = app_first_time(&w->compiled, uses);
  return w->compiling;
}

/* So many steps as time has passed for; no more where they take longer than that: time goes slower then. */
static int steps_now(window_state *w, double seconds) {
  if (w->paused) return w->single_step;
  const double most = fmax(0.1 * w->speed / w->s->parameters.step, 1.25);
  w->steps_due = fmin(w->steps_due + w->speed * seconds / w->s->parameters.step, most);
  const int count = (int)w->steps_due;
  w->steps_due -= count;
  return count;
}

void window_make_steps(window_state *w, double seconds) {
  char message[SIMULATION_MESSAGE];
  const int count = w->compiling ? 1 : steps_now(w, seconds);
  if (!count || announce_compiling(w)) return;
  w->single_step = 0;
  const double begin = glfwGetTime();
  int made = 0;
  while (made < count && (!made || glfwGetTime() - begin < patience)) {
    w->screen.stale = 1;
    if (simulation_step(w->s, message)) {
      app_tell_error(&w->app, message);
      /* A backend may lack a scheme for the contacts that there are now. */
      w->s->parameters.scheme = TS_LCP_SCHEME_AUTO;
      w->s->parameters.acceleration = TS_LCP_ACCELERATION_AUTO;
      w->paused = 1;
      return;
    }
    made++;
  }
  window_video_frame(w, made);
}

void window_reset(window_state *w) {
  char message[SIMULATION_MESSAGE];
  w->drag = DRAG_NONE;
  w->screen.stale = 1;
  if (simulation_reset(w->s, message))
    app_tell_error(&w->app, message);
  else
    app_tell(&w->app, "restarted");
  w->s->world.held = -1;
}

/* ---- Another device: the scene starts again ---- */

void window_set_backend(window_state *w, const char *backend) {
  char message[SIMULATION_MESSAGE];
  simulation_options o = w->s->options;
  simulation *made = NULL;
  o.scene = w->s->scene;
  o.backend = backend;
  o.platform = TS_GL_PLATFORM_CURRENT;
  o.parameters = w->s->parameters;
  o.parameters.scheme = TS_LCP_SCHEME_AUTO;
  if (simulation_create(&o, &made, message)) {
    app_tell_error(&w->app, message);
    return;
  }
  if (ts_lcp_has_scheme(made->context, w->s->parameters.scheme))
    made->parameters.scheme = w->s->parameters.scheme;
  simulation_destroy(&w->s);
  w->s = made;
  w->drag = DRAG_NONE;
  w->screen.stale = 1;
  w->compiled.count = 0; /* shaders are a context's */
  app_tell(&w->app, "on %s, restarted", backend);
}
