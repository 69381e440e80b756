#include <GL/glew.h>

#include "window_scene.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "window_state.h"

void window_scene_fit(window_scene *scene, const smoother *s) {
  camera_fit_mesh(&scene->camera, &s->measures);
  scene->screen.stale = 1;
}

const char *window_scene_open(window_scene *scene, const smoother *s) {
  mesh_view_destroy(&scene->view);
  positions_free(&scene->positions);
  scene->start_number = s->start->number;
  const char *why = mesh_view_create(&s->start->m, s->start->unit, &scene->view);
  if (why) return why;
  window_scene_fit(scene, s);
  return window_scene_moved(scene, s);
}

void window_scene_close(window_scene *scene) {
  mesh_view_destroy(&scene->view);
  view_gl_destroy_screen(&scene->screen);
  positions_free(&scene->positions);
}

const char *window_scene_moved(window_scene *scene, const smoother *s) {
  const char *why = NULL;
  scene->screen.stale = scene->range_stale = 1;
  if (!scene->view) return NULL;
  if (scene->start_number != s->start->number) {
    scene->start_number = s->start->number;
    why = mesh_view_use_start(scene->view, s->start->unit);
  }
  return why ? why : positions_take(&scene->positions, scene->view, s);
}

/* The range is chosen again twice a second at most: that takes a look at all vertices on the host. */
static void renew_range(window_scene *scene, double now) {
  if (scene->keep_range || !scene->range_stale || now - scene->range_chosen < 0.5) return;
  scene->look.range = 0;
  scene->range_chosen = now;
  scene->range_stale = 0;
  scene->screen.stale = 1;
}

static const char *draw(void *user, int width, int height) {
  window_scene *scene = user;
  const double begin = glfwGetTime();
  if (!scene->view) return NULL;
  const char *why = positions_share(&scene->positions, scene->view);
  if (!why) why = mesh_view_draw(scene->view, &scene->camera, &scene->look, width, height);
  glFinish();
  scene->seconds_draw = glfwGetTime() - begin;
  return why;
}

const char *window_scene_draw(window_scene *scene, int left, int width, int height) {
  if (scene->look.colour != MESH_COLOUR_NONE) renew_range(scene, glfwGetTime());
  return view_gl_show(&scene->screen, left, width, height, draw, scene);
}

const char *window_scene_picture(window_state *w, int width, int height, unsigned char *rgb) {
  window_scene *scene = &w->scene;
  if (!scene->view) return "there is no mesh to draw";
  const char *why = positions_share(&scene->positions, scene->view);
  return why ? why : mesh_view_picture(scene->view, &scene->camera, &scene->look, width, height, rgb);
}
