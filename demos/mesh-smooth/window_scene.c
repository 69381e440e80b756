#include <GL/glew.h>

#include "window_scene.h"

#include <stdlib.h>
#include <string.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "png_image.h"

void window_scene_fit(window_scene *scene, const smoother *s) {
  const mesh_measures *m = smoother_start_measures(s);
  float low[3], high[3];
  for (int k = 0; k < 3; k++) {
    high[k] = m->diagonal > 0 ? (float)(0.5 * (m->high[k] - m->low[k]) / m->diagonal) : 0;
    low[k] = -high[k];
  }
  camera_fit(&scene->camera, low, high);
  scene->stale = 1;
}

const char *window_scene_open(window_scene *scene, const smoother *s) {
  mesh_view_destroy(&scene->view);
  free(scene->host);
  scene->host = NULL;
  scene->drawn = scene->shared = NULL;
  scene->start_number = smoother_start_number(s);
  const char *why = mesh_view_create(smoother_mesh(s), smoother_start_positions(s), &scene->view);
  if (why) return why;
  window_scene_fit(scene, s);
  return window_scene_moved(scene, s);
}

void window_scene_close(window_scene *scene) {
  mesh_view_destroy(&scene->view);
  view_gl_destroy_canvas(&scene->many);
  view_gl_destroy_canvas(&scene->picture);
  free(scene->host);
  *scene = (window_scene){0};
}

/* ---- Where the mesh is ---- */

static const char *take_texture(window_scene *scene, const smoother *s, const ts_gl_texture *texture) {
  const size_t count = 2 * (size_t)smoother_mesh(s)->vertex_count;
  int32_t *texels = malloc(count * sizeof *texels);
  if (!texels) return "out of memory";
  const ts_status status = ts_gl_space_texels(ts_vector_space(smoother_positions(s)), texels, count);
  const char *why = status == TS_OK ? mesh_view_use_texture(scene->view, texture, texels)
                                    : ts_last_error(smoother_context(s));
  free(texels);
  return why;
}

/* OpenGL has the buffer until the next call of the library: asked for before each drawing. */
static const char *take_shared(window_scene *scene) {
  unsigned texture;
  if (!scene->shared) return NULL;
  const ts_status status = view_shared_buffer(scene->shared, &texture);
  if (status == TS_OK) return mesh_view_use_buffer(scene->view, texture);
  return ts_status_text(status);
}

static const char *take_host(window_scene *scene, const smoother *s) {
  const size_t count = 3 * (size_t)smoother_mesh(s)->vertex_count;
  if (!scene->host) scene->host = malloc(count * sizeof *scene->host);
  if (!scene->host) return "out of memory";
  if (ts_vector_read(smoother_positions(s), scene->host, count) != TS_OK)
    return ts_last_error(smoother_context(s));
  return mesh_view_use_host(scene->view, scene->host);
}

const char *window_scene_moved(window_scene *scene, const smoother *s) {
  const char *why = NULL;
  ts_gl_texture texture;
  scene->stale = scene->range_stale = 1;
  if (!scene->view) return NULL;
  if (scene->start_number != smoother_start_number(s)) {
    scene->start_number = smoother_start_number(s);
    why = mesh_view_use_start(scene->view, smoother_start_positions(s));
  }
  const ts_status status = ts_gl_vector_texture(smoother_positions(s), &texture);
  if (why) return why;
  scene->shared = NULL;
  if (status == TS_ERROR_UNSUPPORTED) {
    unsigned shared;
    scene->drawn = NULL;
    const ts_status sharing = view_shared_buffer(smoother_positions(s), &shared);
    scene->way = sharing == TS_OK ? VIEW_WAY_SHARED : VIEW_WAY_COPIED;
    if (sharing == TS_ERROR_UNSUPPORTED) return take_host(scene, s);
    if (sharing != TS_OK) return ts_last_error(smoother_context(s));
    scene->shared = smoother_positions(s);
    mesh_view_changed(scene->view);
    return take_shared(scene);
  }
  scene->way = VIEW_WAY_TEXTURE;
  if (status != TS_OK) return ts_last_error(smoother_context(s));
  if (scene->drawn != smoother_positions(s)) {
    scene->drawn = smoother_positions(s);
    why = take_texture(scene, s, &texture);
  }
  mesh_view_changed(scene->view);
  return why;
}

/* ---- Drawing ---- */

static const char *resize(window_scene *scene, int width, int height) {
  if (scene->width == width && scene->height == height) return NULL;
  scene->width = scene->height = 0;
  const char *why = view_gl_make_canvases(&scene->many, &scene->picture, width, height);
  if (why) return why;
  scene->width = width;
  scene->height = height;
  scene->stale = 1;
  return NULL;
}

/* The range is chosen anew twice a second at most: that takes a look at all vertices on the host. */
static void renew_range(window_scene *scene, double now) {
  if (scene->keep_range || !scene->range_stale || now - scene->range_chosen < 0.5) return;
  scene->look.range = 0;
  scene->range_chosen = now;
  scene->range_stale = 0;
  scene->stale = 1;
}

const char *window_scene_draw(window_scene *scene, int left, int width, int height) {
  const char *why = resize(scene, width, height);
  const double begin = glfwGetTime();
  if (scene->look.colour != MESH_COLOUR_NONE) renew_range(scene, begin);
  if (!why && scene->stale && scene->view) {
    const unsigned framebuffer = scene->many.framebuffer ? scene->many.framebuffer : scene->picture.framebuffer;
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    why = take_shared(scene);
    if (!why) why = mesh_view_draw(scene->view, &scene->camera, &scene->look, width, height);
    if (scene->many.framebuffer) view_gl_copy(framebuffer, scene->picture.framebuffer, 0, width, height);
    glFinish();
    scene->seconds_draw = glfwGetTime() - begin;
    scene->stale = 0;
  }
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  if (!why) view_gl_copy(scene->picture.framebuffer, 0, left, width, height);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  return why;
}

int window_scene_save(window_scene *scene, const char *path, char message[MESH_MESSAGE]) {
  enum { most = 160 };
  const size_t length = strlen(path);
  const char *name = length > most ? path + length - most : path; /* leaves room for the reason */
  char reason[200];
  image picture;
  if (!scene->view) return mesh_fail(message, "%s: there is no mesh to draw", name);
  if (image_create(&picture, scene->width, scene->height)) return mesh_fail(message, "%s: out of memory", name);
  const char *why = take_shared(scene);
  if (!why)
    why =
        mesh_view_picture(scene->view, &scene->camera, &scene->look, scene->width, scene->height, picture.rgb);
  if (!why && png_image_save(path, &picture, reason, sizeof reason)) why = reason;
  image_destroy(&picture);
  return why ? mesh_fail(message, "%s: %s", name, why) : 0;
}
