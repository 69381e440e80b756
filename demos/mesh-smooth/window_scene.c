#include <GL/glew.h>

#include "window_state.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

void window_fit(window_state *w) {
  mesh_view_fit(&w->app.camera, &w->s->measures);
  w->app.screen.stale = 1;
}

void window_open_scene(window_state *w) {
  window_scene *scene = &w->scene;
  mesh_view_destroy(&scene->view);
  positions_free(&scene->positions);
  scene->start_number = w->s->start->number;
  const char *why = mesh_view_create(&w->s->start->m, w->s->start->unit, &scene->view);
  if (why) {
    app_tell_error(&w->app, why);
    return;
  }
  window_fit(w);
  window_moved(w);
}

void window_close_scene(window_state *w) {
  mesh_view_destroy(&w->scene.view);
  positions_free(&w->scene.positions);
}

void window_moved(window_state *w) {
  window_scene *scene = &w->scene;
  const char *why = NULL;
  w->app.screen.stale = scene->range_stale = 1;
  if (!scene->view) return;
  if (scene->start_number != w->s->start->number) {
    scene->start_number = w->s->start->number;
    why = mesh_view_use_start(scene->view, w->s->start->unit);
  }
  if (!why) why = positions_update(&scene->positions, scene->view, w->s);
  if (why) app_tell_error(&w->app, why);
}

/* Chooses the range at most twice a second, because that reads all vertices on the host. */
void window_renew_range(window_state *w) {
  window_scene *scene = &w->scene;
  const double now = glfwGetTime();
  if (scene->look.colour == MESH_COLOUR_NONE || scene->keep_range || !scene->range_stale ||
      now - scene->range_chosen < 0.5)
    return;
  scene->look.range = 0;
  scene->range_chosen = now;
  scene->range_stale = 0;
  w->app.screen.stale = 1;
}

const char *window_draw_scene(window_state *w, int left, int width, int height) {
  window_scene *scene = &w->scene;
  (void)left;
  const double begin = glfwGetTime();
  if (!scene->view) return NULL;
  const char *why = positions_share(&scene->positions, scene->view);
  if (!why) why = mesh_view_draw(scene->view, &w->app.camera, &scene->look, width, height);
  glFinish();
  scene->seconds_draw = glfwGetTime() - begin;
  return why;
}

const char *window_picture(window_state *w, int is_video, int width, int height, unsigned char *rgb) {
  window_scene *scene = &w->scene;
  (void)is_video;
  if (!scene->view) return "there is no mesh to draw";
  const char *why = positions_share(&scene->positions, scene->view);
  return why ? why : mesh_view_picture(scene->view, &w->app.camera, &scene->look, width, height, rgb);
}
