#include <GL/glew.h>

#include "flat_view_data.h"

#include <math.h>
#include <stdlib.h>

#include "view_gl.h"

const char *flat_view_create(const flattening *f, flat_view **made) {
  *made = calloc(1, sizeof **made);
  if (!*made) return "out of memory";
  const char *why = flat_view_build(*made, f);
  if (why) flat_view_destroy(made);
  return why;
}

void flat_view_destroy(flat_view **made) {
  flat_view *view = *made;
  if (!view) return;
  const unsigned buffers[] = {view->places, view->flat, view->pin_buffer};
  const unsigned arrays[] = {view->vertex_array, view->pin_array, view->empty_array};
  const unsigned textures[] = {view->image, view->distortion};
  glUseProgram(0); /* a program that is deleted while in use cannot be used again */
  glDeleteBuffers(3, buffers);
  glDeleteVertexArrays(3, arrays);
  glDeleteTextures(2, textures);
  glDeleteFramebuffers(1, &view->framebuffer);
  for (int buffer = 0; buffer < 2; buffer++) glDeleteProgram(view->place_program[buffer]);
  for (int image = 0; image < 2; image++)
    for (int colour = 0; colour < FLAT_COLOURS; colour++)
      for (int wireframe = 0; wireframe < 2; wireframe++)
        glDeleteProgram(view->surface[image][colour][wireframe]);
  glDeleteProgram(view->pin_program);
  legend_destroy(&view->legend);
  free(view);
  *made = NULL;
}

view_way flat_view_way(const flat_view *view) {
  return view->way;
}

/* ---- Viewing window ---- */

void flat_view_fit_image(const flattening *f, flat_window *window) {
  double low[2] = {0, 0}, high[2] = {1, 1};
  for (int32_t v = 0; v < f->c.vertices && f->pin_count; v++)
    for (int k = 0; k < 2; k++) {
      const double at = f->uv[2 * (size_t)v + (size_t)k];
      low[k] = v ? fmin(low[k], at) : at;
      high[k] = v ? fmax(high[k], at) : at;
    }
  for (int k = 0; k < 2; k++) window->middle[k] = 0.5 * (low[k] + high[k]);
  window->size = 1.08 * fmax(high[0] - low[0], high[1] - low[1]);
  if (!(window->size > 0)) window->size = 1;
}

void flat_view_to_pixels(const flat_window *window, int width, int height, const double uv[2],
                         double pixel[2]) {
  const double scale = (width < height ? width : height) / window->size;
  pixel[0] = 0.5 * width + (uv[0] - window->middle[0]) * scale;
  pixel[1] = 0.5 * height - (uv[1] - window->middle[1]) * scale;
}

void flat_view_from_pixels(const flat_window *window, int width, int height, const double pixel[2],
                           double uv[2]) {
  const double scale = window->size / (width < height ? width : height);
  uv[0] = window->middle[0] + (pixel[0] - 0.5 * width) * scale;
  uv[1] = window->middle[1] - (pixel[1] - 0.5 * height) * scale;
}

/* ---- Drawing ---- */

/* Sets the uniforms that the programs for triangles and pins share. */
static void set_window(unsigned program, const camera *c, const flat_window *window, int width, int height) {
  float to_eye[16], projection[16];
  const double shorter = width < height ? width : height;
  const double low[2] = {window->middle[0] - 0.5 * window->size * width / shorter,
                         window->middle[1] - 0.5 * window->size * height / shorter};
  camera_view_matrix(c, to_eye);
  camera_projection_matrix(c, width, height, projection);
  glUniformMatrix4fv(view_gl_uniform(program, "view"), 1, GL_FALSE, to_eye);
  glUniformMatrix4fv(view_gl_uniform(program, "projection"), 1, GL_FALSE, projection);
  glUniform4f(view_gl_uniform(program, "window"), (float)low[0], (float)low[1],
              (float)(2 * shorter / (window->size * width)), (float)(2 * shorter / (window->size * height)));
}

static void clear_rectangle(int x, int y, int width, int height, float red, float green, float blue) {
  glScissor(x, y, width > 0 ? width : 0, height > 0 ? height : 0);
  glClearColor(red, green, blue, 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

/* Draws the unit square white, on the background of the UV map. */
static void draw_ground(const flat_view *view, const flat_window *window, int mesh_only, int left, int width,
                        int height) {
  double low[2], high[2];
  glEnable(GL_SCISSOR_TEST);
  clear_rectangle(0, 0, left, height, 0.93f, 0.935f, 0.94f);
  clear_rectangle(left, 0, width, height, 0.84f, 0.85f, 0.865f);
  if (view->packed && !mesh_only) {
    flat_view_to_pixels(window, width, height, (const double[2]){0, 0}, low);
    flat_view_to_pixels(window, width, height, (const double[2]){1, 1}, high);
    const int x0 = (int)fmax(low[0], 0), y0 = (int)fmax(height - low[1], 0);
    const int x1 = (int)fmin(high[0], width), y1 = (int)fmin(height - high[1], height);
    clear_rectangle(left + x0, y0, x1 - x0, y1 - y0, 0.985f, 0.985f, 0.98f);
  }
  glDisable(GL_SCISSOR_TEST);
}

static const char *draw_side(flat_view *view, int image, const camera *c, const flat_window *window,
                             const flat_look *look, int left, int width, int height) {
  const unsigned textures[] = {legend_colours(view->legend), view->image, view->distortion};
  unsigned program;
  const char *why = flat_view_surface(view, image, look, &program);
  if (why) return why;
  const float ranges[2] = {(float)(look->colour == FLAT_COLOUR_ANGLE ? look->range : view->ranges[0]),
                           (float)(look->colour == FLAT_COLOUR_AREA ? look->range : view->ranges[1])};
  glViewport(left, 0, width, height);
  view_gl_bind(textures, 3);
  set_window(program, c, window, width, height);
  glUniform2f(view_gl_uniform(program, "ranges"), ranges[0], ranges[1]);
  glUniform1f(view_gl_uniform(program, "squares"), look->mesh_only ? -1 : (float)(look->squares / view->unit));
  if (!image) glEnable(GL_DEPTH_TEST);
  glBindVertexArray(view->vertex_array);
  glDrawArrays(GL_TRIANGLES, 0, 3 * view->triangles);
  if (look->mesh_only) {
    glBindVertexArray(0);
    glDisable(GL_DEPTH_TEST);
    return NULL;
  }
  glUseProgram(view->pin_program);
  set_window(view->pin_program, c, window, width, height);
  glUniform1f(view_gl_uniform(view->pin_program, "in_image"), (float)image);
  glUniform1f(view_gl_uniform(view->pin_program, "size"), fmaxf(10, 0.018f * (float)height));
  glUniform3f(view_gl_uniform(view->pin_program, "paint"), 0.05f, 0.35f, 0.75f);
  glEnable(GL_PROGRAM_POINT_SIZE);
  glBindVertexArray(view->pin_array);
  glDrawArrays(GL_POINTS, 0, view->pins);
  glBindVertexArray(0);
  glDisable(GL_PROGRAM_POINT_SIZE);
  glDisable(GL_DEPTH_TEST);
  return NULL;
}

const char *flat_view_draw(flat_view *view, const camera *c, const flat_window *window, flat_look *look,
                           int width, int height) {
  const int left = width / 2;
  if (!(look->range > 0)) look->range = view->ranges[look->colour == FLAT_COLOUR_AREA];
  view_gl_plain_state();
  glViewport(0, 0, width, height);
  glClearDepth(1);
  glClear(GL_DEPTH_BUFFER_BIT);
  draw_ground(view, window, look->mesh_only, left, width - left, height);
  if (look->mesh_only) {
    const flat_look plain = {.wireframe = look->wireframe, .range = look->range, .mesh_only = 1};
    const char *fault = draw_side(view, 0, c, window, &plain, 0, left, height);
    return fault ? fault : view_gl_check("drawing the mesh");
  }
  const char *why = draw_side(view, 0, c, window, look, 0, left, height);
  if (!why) why = draw_side(view, 1, c, window, look, left, width - left, height);
  if (!why && look->legend && look->colour != FLAT_COLOUR_NONE) {
    const legend_text angle = {"angle", "s1/s2", 1, 1 + look->range, 1, 0};
    const legend_text area = {"area", "uv / mesh", -look->range, look->range, 0, 1};
    const int lower = look->legend > 1 ? height - legend_room(left, height) : 0;
    why = legend_draw(view->legend, look->colour == FLAT_COLOUR_ANGLE ? &angle : &area, 0, lower, left, height);
  }
  return why ? why : view_gl_check("drawing the mesh and its UV map");
}

typedef struct scene {
  flat_view *view;
  const camera *c;
  const flat_window *window;
  flat_look *look;
} scene;

static const char *draw_scene(void *user, int width, int height) {
  const scene *s = user;
  return flat_view_draw(s->view, s->c, s->window, s->look, width, height);
}

const char *flat_view_picture(flat_view *view, const camera *c, const flat_window *window, flat_look *look,
                              int width, int height, unsigned char *rgb) {
  scene s = {view, c, window, look};
  return view_gl_picture(draw_scene, &s, VIEW_GL_SAMPLES, width, height, rgb);
}
