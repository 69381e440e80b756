/* The actions of buttons and keys. */
#include <math.h>
#include <stdio.h>

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
  const char *why = contact_view_fit(w->s->scene, &w->s->world, &w->app.camera, &w->look);
  if (why) app_tell_error(&w->app, why);
  w->app.screen.stale = 1;
}

void window_show_scene(window_state *w) {
  const double reach = (double)w->look.reach;
  w->app.drag = APP_DRAG_NONE;
  w->app.steps_due = 0;
  w->throw_radius = 0.02 * reach;
  w->throw_speed = 1.2 * reach;
  w->app.screen.stale = 1;
  app_title(&w->app, w->s->scene->name);
  app_name_files(&w->app, w->s->scene->name);
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
  window_show_scene(w);
  app_tell(&w->app, "%s: %s", next->name, next->text);
}

/* ---- Running ---- */

/* Returns 1 if the next step compiles shaders, see app_compiles. */
static int compiles(window_state *w) {
  char uses[40];
  snprintf(uses, sizeof uses, "%d", (int)w->s->parameters.scheme);
  return app_compiles(&w->app, w->s->device.backend, uses);
}

void window_make_steps(window_state *w, double seconds) {
  char message[SIMULATION_MESSAGE];
  const double step = w->s->parameters.step;
  const int count = app_steps_due(&w->app, w->speed * seconds / step, fmax(0.1 * w->speed / step, 1));
  if (!count || compiles(w)) return;
  w->app.single_step = 0;
  const double begin = glfwGetTime();
  int made = 0;
  while (made < count && (!made || glfwGetTime() - begin < APP_PATIENCE)) {
    w->app.screen.stale = 1;
    if (simulation_step(w->s, message)) {
      app_tell_error(&w->app, message);
      /* The backend may lack the chosen scheme for the present contacts. Continue with the defaults. */
      w->s->parameters.scheme = TS_LCP_SCHEME_AUTO;
      w->s->parameters.acceleration = TS_LCP_ACCELERATION_AUTO;
      w->app.paused = 1;
      return;
    }
    made++;
  }
  /* The video assumes 60 frames per second, regardless of the window's rate. */
  app_video_steps(&w->app, made, w->speed / (60 * step));
}

void window_reset(window_state *w) {
  char message[SIMULATION_MESSAGE];
  w->app.drag = APP_DRAG_NONE;
  w->app.screen.stale = 1;
  if (simulation_reset(w->s, message))
    app_tell_error(&w->app, message);
  else
    app_tell(&w->app, "restarted");
  w->s->world.held = -1;
}

/* ---- Change of backend: the scene restarts ---- */

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
  w->app.drag = APP_DRAG_NONE;
  w->app.screen.stale = 1;
  w->app.compiled.count = 0; /* the new context has not compiled any shaders */
  app_tell(&w->app, "backend %s, restarted", backend);
}
