#include "window_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

/* ---- Scenes ---- */

void window_show_scene(window_state *w) {
  const scene_setup *setup = &w->s->setup;
  const pressure_choice pressure = pressure_of(&w->s->parameters.pressure);
  w->look = fluid_look_of(w->s);
  w->particles = setup->particle_columns * setup->particle_rows;
  w->own_range = 0;
  w->steps_per_frame = setup->steps_per_frame > 0 ? setup->steps_per_frame : 1;
  w->iterations[pressure.solver] = pressure.iterations;
  snprintf(w->size_text, sizeof w->size_text, "%dx%d", (int)setup->width, (int)setup->height);
  app_title(&w->app, (w->s->options.scene)->name);
  app_name_files(&w->app, w->s->options.scene->name);
}

int32_t window_fitting_width(const window_state *w, const scene *s, int32_t height) {
  int pixels_x, pixels_y;
  if (!s->fills || w->own_size) return 0;
  app_scene_size(&w->app, &pixels_x, &pixels_y);
  if (pixels_y < 1) return 0;
  return (int32_t)lround(fmin(fmax((double)pixels_x / pixels_y, 0.5), 6) * height);
}

/* Waits until the user stops dragging the window's edge. Does nothing during a video, because all frames must
 * have one size. */
void window_follow_size(window_state *w, double seconds) {
  const simulation_options *o = &w->s->options;
  char message[SIMULATION_MESSAGE];
  const int32_t width = o->walls ? 0 : window_fitting_width(w, o->scene, w->s->info.height);
  w->unfit_seconds = width == w->next_width ? w->unfit_seconds + fmin(seconds, 0.1) : 0;
  w->next_width = width;
  if (!width || width == w->s->info.width || w->unfit_seconds < 0.2 || w->app.video.made) return;
  if (simulation_set_width(w->s, width, message)) {
    app_tell_error(&w->app, message);
    w->own_size = 1;
  }
  w->times.count = 0;
  snprintf(w->size_text, sizeof w->size_text, "%dx%d", (int)w->s->info.width, (int)w->s->info.height);
}

void window_set_scene(window_state *w, int index, int32_t width, int32_t height) {
  char message[SIMULATION_MESSAGE];
  const scene *next = scene_at(index);
  const int other = next != w->s->options.scene;
  if (other) w->own_size = 0;
  if (!height) width = window_fitting_width(w, next, next->height);
  if (!height && width) height = next->height;
  if (simulation_set_scene(w->s, next, width, height, message)) {
    app_tell_error(&w->app, message);
    return;
  }
  w->times.count = 0;
  if (other) {
    w->touched = 0;
    window_show_scene(w);
    app_tell(&w->app, "%s: %s", next->name, next->text);
  } else {
    const ts_fluid_info *info = &w->s->info;
    snprintf(w->size_text, sizeof w->size_text, "%dx%d", (int)info->width, (int)info->height);
    app_tell(&w->app, "%d x %d cells", (int)info->width, (int)info->height);
  }
}

/* ---- Running ---- */

/* Returns 1 if the next step compiles shaders, see app_compiles. */
static int compiles(window_state *w) {
  const ts_fluid_parameters *p = &w->s->parameters;
  const ts_multigrid_desc *m = &p->multigrid;
  const pressure_choice pressure = pressure_of(&p->pressure);
  char uses[200];
  snprintf(uses, sizeof uses, "%d %d %d %d %d %d %d %d %d %d %d %d", (int)w->s->info.layout, (int)p->advection,
           pressure.solver, pressure.tolerance > 0, (int)m->smoother, (int)m->storage, (int)m->interpolation,
           m->symmetric, p->viscosity > 0, p->vorticity_confinement > 0, w->s->setup.source_count > 0,
           w->particles > 0);
  return app_compiles(&w->app, w->s->device.backend, uses);
}

/* Makes steps_per_frame steps per frame at 60 frames per second. At a higher rate it makes fewer per frame. At
 * a lower rate it makes no more, and simulated time falls behind. */
void window_make_steps(window_state *w, double seconds) {
  char message[SIMULATION_MESSAGE];
  const int count = app_steps_due(&w->app, 60 * seconds * w->steps_per_frame, w->steps_per_frame);
  if (!count || compiles(w)) return;
  w->app.single_step = 0;
  const double begin = glfwGetTime();
  const double expected = w->times.count ? 1e-3 * (double)w->times.values[w->times.count - 1] : 0;
  int made = 0;
  for (int is_last = 0; !is_last; made++) {
    is_last = made == count - 1 || glfwGetTime() - begin + expected > APP_PATIENCE;
    /* Only the frame's last step measures the divergence, because that waits for the device. When stages are
     * timed, every step must be: otherwise the first stage would include the wait for earlier steps. */
    int measure = w->measure_times ? TS_FLUID_MEASURE_TIMES : 0;
    if (w->measure_divergence && is_last) measure |= TS_FLUID_MEASURE_DIVERGENCE;
    if (simulation_step(w->s, measure, !w->touched, message)) {
      const size_t used = strlen(message);
      if (w->s->broken) snprintf(message + used, sizeof message - used, "; press R to restart");
      app_tell_error(&w->app, message);
      w->app.paused = 1;
      return;
    }
  }
  app_times_add(&w->times, APP_TIMES, 1e3 * (glfwGetTime() - begin) / made);
  app_video_steps(&w->app, made, w->steps_per_frame);
}

void window_reset(window_state *w) {
  char message[SIMULATION_MESSAGE];
  if (simulation_reset(w->s, message))
    app_tell_error(&w->app, message);
  else
    app_tell(&w->app, "restarted");
}

/* ---- Walls ---- */

void window_clear_walls(window_state *w) {
  char message[SIMULATION_MESSAGE];
  if (simulation_clear_walls(w->s, message))
    app_tell_error(&w->app, message);
  else
    app_tell(&w->app, "walls cleared");
}

void window_load_walls(window_state *w, const char *path) {
  char message[SIMULATION_MESSAGE];
  if (simulation_load_walls(w->s, path, message))
    app_tell_error(&w->app, message);
  else
    app_tell(&w->app, "walls from %s", app_file_name(path));
}

/* ---- Parameters ---- */

static void tell_if(window_state *w, int failed, const char *message) {
  if (failed)
    app_tell_error(&w->app, message);
  else if (w->app.note_is_error)
    app_tell(&w->app, "%s", "");
}

void window_set_parameters(window_state *w, const ts_fluid_parameters *parameters) {
  char message[SIMULATION_MESSAGE];
  tell_if(w, simulation_set_parameters(w->s, parameters, message), message);
}

void window_set_solver(window_state *w, int solver) {
  ts_fluid_parameters p = w->s->parameters;
  pressure_choice pressure = pressure_of(&p.pressure);
  w->iterations[pressure.solver] = pressure.iterations;
  pressure.solver = solver;
  pressure.iterations = w->iterations[solver];
  pressure_set(&p.pressure, &pressure);
  window_set_parameters(w, &p);
}

void window_default_parameters(window_state *w) {
  char message[SIMULATION_MESSAGE];
  tell_if(w, simulation_default_parameters(w->s, message), message);
}

void window_set_layout(window_state *w, ts_fluid_layout layout) {
  char message[SIMULATION_MESSAGE];
  tell_if(w, simulation_set_layout(w->s, layout, message), message);
}

void window_set_particles(window_state *w, int count) {
  char message[SIMULATION_MESSAGE];
  tell_if(w, simulation_set_particles(w->s, count, message), message);
  if (w->app.note_is_error) return;
  w->particles = count;
  w->look.particles = count > 0;
}

/* ---- Change of backend: walls are kept, the flow restarts ---- */

static int copy_walls(const simulation *from, simulation *to, char message[SIMULATION_MESSAGE]) {
  const ts_fluid_info *info = &from->info;
  const unsigned char *solid = from->solid;
  for (int32_t j = 0; j < info->height; j++)
    for (int32_t i = 0; i < info->width; i++)
      simulation_brush(to, (i + 0.5) * info->cell_size, (j + 0.5) * info->cell_size, 0.25 * info->cell_size,
                       solid[(size_t)j * (size_t)info->width + (size_t)i]);
  return simulation_apply_walls(to, message);
}

void window_set_backend(window_state *w, const char *backend) {
  char message[SIMULATION_MESSAGE];
  simulation_options o = w->s->options;
  simulation *made = NULL;
  o.backend = backend;
  o.platform = TS_GL_PLATFORM_CURRENT;
  if (simulation_create(&o, &made, message)) {
    app_tell_error(&w->app, message);
    return;
  }
  if (simulation_set_parameters(made, &w->s->parameters, message) || copy_walls(w->s, made, message)) {
    app_tell_error(&w->app, message);
    simulation_destroy(&made);
    return;
  }
  simulation_destroy(&w->s);
  w->s = made;
  w->app.compiled.count = 0; /* the new context has not compiled any shaders */
  w->times.count = 0;
  app_tell(&w->app, "backend %s, restarted", backend);
}
