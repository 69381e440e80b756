#include <GL/glew.h>

#include "mesh_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "colours.h"
#include "mesh_view_data.h"
#include "view_gl.h"

const char *mesh_view_create(const mesh *m, const float *start, mesh_view **made) {
  mesh_view *view = *made = calloc(1, sizeof *view);
  if (!view) return "out of memory";
  const char *why = mesh_view_build(view, m, start);
  if (!why) why = mesh_view_use_host(view, start);
  if (why) mesh_view_destroy(made);
  return why;
}

static void destroy_shape(mesh_shape *shape) {
  const unsigned textures[] = {shape->texels, shape->normals, shape->values};
  glDeleteTextures(3, textures);
  glDeleteBuffers(1, &shape->texel_buffer);
  glDeleteVertexArrays(1, &shape->vertex_array);
  glDeleteFramebuffers(1, &shape->framebuffer);
}

void mesh_view_destroy(mesh_view **made) {
  mesh_view *view = *made;
  if (!view) return;
  const unsigned textures[] = {view->start.positions, view->own_positions, view->triangle_list, view->fans,
                               view->corners};
  glUseProgram(0); /* a program that is deleted while in use cannot be used again */
  legend_destroy(&view->legend);
  destroy_shape(&view->start);
  destroy_shape(&view->now);
  glDeleteTextures(5, textures);
  glDeleteBuffers(2, (const unsigned[]){view->index_buffer, view->point_buffer});
  glDeleteVertexArrays(2, (const unsigned[]){view->empty_array, view->point_array});
  glDeleteProgram(view->background);
  glDeleteProgram(view->point_program);
  for (int buffer = 0; buffer < 2; buffer++) {
    glDeleteProgram(view->gather[buffer]);
    for (int k = 0; k < 12; k++) glDeleteProgram(view->surface[buffer][k]);
  }
  free(view->values);
  free(view);
  *made = NULL;
}

/* ---- Source of the positions ---- */

const char *mesh_view_use_texture(mesh_view *view, const ts_gl_texture *texture, const int32_t *texels) {
  if (texture->internal_format != GL_RGBA32F) return "the positions are not in a texture of four components";
  view->now.positions = texture->texture;
  view->now.is_buffer = 0;
  view->now.x = texture->x;
  view->now.y = texture->y;
  return mesh_view_place(view, &view->now, texels);
}

const char *mesh_view_use_buffer(mesh_view *view, unsigned texture) {
  if (view->now.is_buffer && view->now.positions == texture) return NULL;
  view->now.positions = texture;
  view->now.is_buffer = 1;
  view->now.stale = 1;
  return NULL;
}

const char *mesh_view_use_host(mesh_view *view, const float *positions) {
  const int placed = view->own_positions && !view->now.is_buffer && view->now.positions == view->own_positions;
  const char *why = mesh_view_upload_positions(positions, view->vertices, &view->own_positions);
  if (why) return why;
  view->now.positions = view->own_positions;
  view->now.is_buffer = 0;
  view->now.x = view->now.y = 0;
  view->now.stale = 1;
  return placed ? NULL : mesh_view_place(view, &view->now, NULL);
}

const char *mesh_view_use_start(mesh_view *view, const float *start) {
  view->start.stale = view->now.stale = 1;
  return mesh_view_upload_positions(start, view->vertices, &view->start.positions);
}

void mesh_view_changed(mesh_view *view) {
  view->now.stale = 1;
}

/* ---- Normals and values ---- */

/* Computes normals and values. First sets all state that it relies on, because others may have changed it. */
static const char *gather(mesh_view *view, mesh_shape *shape) {
  const unsigned textures[] = {0, shape->texels, view->fans, view->corners, view->start.positions};
  unsigned program;
  GLint framebuffer;
  if (!shape->stale) return NULL;
  const char *why = mesh_view_gather(view, shape, &program);
  if (why) return why;
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &framebuffer);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, shape->framebuffer);
  glViewport(0, 0, VIEW_GL_ROW, view_gl_rows((size_t)view->vertices));
  view_gl_bind(textures, 5);
  mesh_view_bind_positions(shape);
  glUniform2i(view_gl_uniform(program, "origin"), shape->x, shape->y);
  glUniform1i(view_gl_uniform(program, "vertices"), view->vertices);
  glUniform1f(view_gl_uniform(program, "outwards"), view->inside_out ? -1 : 1);
  view_gl_draw_vertices(&view->empty_array, GL_TRIANGLES, 3);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)framebuffer);
  shape->stale = 0;
  return NULL;
}

/* The 95th percentile of the values, rounded up; 0 if nothing has moved or all is flat. Positive floats sort
 * like their bits, so a histogram of the upper bits is accurate enough. */
static double choose_range(const float *values, size_t count, int channel) {
  enum { bins = 1 << 15 };
  static uint32_t histogram[bins];
  size_t above = 0, filled = 0;
  memset(histogram, 0, sizeof histogram);
  for (size_t k = 0; k < count; k++) {
    const float value = fabsf(values[2 * k + (size_t)channel]);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value > 0 && value < INFINITY) {
      histogram[bits >> 16]++;
      filled++;
    }
  }
  for (uint32_t bin = bins; bin-- > 0;) {
    above += histogram[bin];
    if (20 * above <= filled && above < filled) continue;
    const uint32_t bits = bin << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return filled ? colours_round_up(value) : 0;
  }
  return 0;
}

static double read_range(mesh_view *view, int channel) {
  GLint framebuffer;
  glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &framebuffer);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, view->now.framebuffer);
  glReadBuffer(GL_COLOR_ATTACHMENT1);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glPixelStorei(GL_PACK_ROW_LENGTH, 0);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  glReadPixels(0, 0, VIEW_GL_ROW, view_gl_rows((size_t)view->vertices), GL_RG, GL_FLOAT, view->values);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)framebuffer);
  return choose_range(view->values, (size_t)view->vertices, channel);
}

/* ---- Drawing ---- */

void mesh_view_fit(camera *c, const mesh_measures *m) {
  float low[3], high[3];
  for (int k = 0; k < 3; k++) {
    high[k] = m->diagonal > 0 ? (float)(0.5 * (m->high[k] - m->low[k]) / m->diagonal) : 0;
    low[k] = -high[k];
  }
  camera_fit(c, low, high);
}

static const char *draw_shape(mesh_view *view, const mesh_shape *shape, const camera *c, const mesh_look *look,
                              int width, int height) {
  const unsigned textures[] = {
      0, shape->normals, shape->values, shape->texels, view->triangle_list, legend_colours(view->legend)};
  unsigned program;
  const char *why = mesh_view_surface(view, shape, look, &program);
  if (why) return why;
  float to_eye[16], projection[16];
  camera_view_matrix(c, to_eye);
  camera_projection_matrix(c, width, height, projection);
  view_gl_bind(textures, 6);
  mesh_view_bind_positions(shape);
  glUniformMatrix4fv(view_gl_uniform(program, "view"), 1, GL_FALSE, to_eye);
  glUniformMatrix4fv(view_gl_uniform(program, "projection"), 1, GL_FALSE, projection);
  glUniform2i(view_gl_uniform(program, "origin"), shape->x, shape->y);
  glUniform1f(view_gl_uniform(program, "range"), look->range > 0 ? (float)look->range : 1);
  glEnable(GL_DEPTH_TEST);
  /* The last column is the mesh's middle in eye space. The mesh has size 1, so an eye at this distance is
   * outside. */
  if (view->closed && hypotf(hypotf(to_eye[12], to_eye[13]), to_eye[14]) > 0.6f) glEnable(GL_CULL_FACE);
  glFrontFace(view->inside_out ? GL_CW : GL_CCW);
  glBindVertexArray(shape->vertex_array);
  if (look->wireframe)
    glDrawArrays(GL_TRIANGLES, 0, 3 * view->triangles);
  else
    glDrawElements(GL_TRIANGLES, 3 * view->triangles, GL_UNSIGNED_INT, NULL);
  glBindVertexArray(0);
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_CULL_FACE);
  glFrontFace(GL_CCW);
  return NULL;
}

static const char *draw_halves(mesh_view *view, const camera *c, const mesh_look *look, int width, int height) {
  const float split = fminf(fmaxf(look->split, 0), 1);
  const int middle = (int)(split * (float)width + 0.5f), line = height > 700 ? 3 : 2;
  glEnable(GL_SCISSOR_TEST);
  glScissor(0, 0, middle, height);
  const char *why = draw_shape(view, &view->start, c, look, width, height);
  glScissor(middle, 0, width - middle, height);
  if (!why) why = draw_shape(view, &view->now, c, look, width, height);
  glScissor(middle - line / 2, 0, line, height);
  glClearColor(0.16f, 0.17f, 0.2f, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  glDisable(GL_SCISSOR_TEST);
  return why;
}

static void draw_points(const mesh_view *view, const camera *c, int width, int height) {
  if (!view->points) return;
  float to_eye[16], projection[16];
  const float size = (float)(width < height ? width : height) / 55;
  camera_view_matrix(c, to_eye);
  camera_projection_matrix(c, width, height, projection);
  glUseProgram(view->point_program);
  glUniformMatrix4fv(view_gl_uniform(view->point_program, "view"), 1, GL_FALSE, to_eye);
  glUniformMatrix4fv(view_gl_uniform(view->point_program, "projection"), 1, GL_FALSE, projection);
  glUniform1f(view_gl_uniform(view->point_program, "size"), size > 12 ? size : 12);
  glEnable(GL_PROGRAM_POINT_SIZE);
  glEnable(GL_BLEND);
  glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  glBindVertexArray(view->point_array);
  glDrawArrays(GL_POINTS, 0, view->points);
  glBindVertexArray(0);
  glDisable(GL_BLEND);
  glDisable(GL_PROGRAM_POINT_SIZE);
}

static const char *draw_legend(const mesh_view *view, const mesh_look *look, int width, int height) {
  const legend_text curvature = {"curvature", "x diagonal", -look->range, look->range, 0, 0};
  const legend_text moved = {"moved", "/ diagonal", 0, look->range, 1, 0};
  return legend_draw(view->legend, look->colour == MESH_COLOUR_CURVATURE ? &curvature : &moved, 0, 0, width,
                     height);
}

const char *mesh_view_draw(mesh_view *view, const camera *c, mesh_look *look, int width, int height) {
  view_gl_plain_state();
  const char *why = gather(view, &view->now);
  if (!why && look->before_after) why = gather(view, &view->start);
  if (why) return why;
  if (look->colour != MESH_COLOUR_NONE && !(look->range > 0))
    look->range = read_range(view, look->colour == MESH_COLOUR_CURVATURE ? 0 : 1);
  glViewport(0, 0, width, height);
  glClearDepth(1);
  glClear(GL_DEPTH_BUFFER_BIT);
  glUseProgram(view->background);
  view_gl_draw_vertices(&view->empty_array, GL_TRIANGLES, 3);
  why = look->before_after ? draw_halves(view, c, look, width, height)
                           : draw_shape(view, &view->now, c, look, width, height);
  if (!why) draw_points(view, c, width, height);
  if (!why && look->legend && look->colour != MESH_COLOUR_NONE) why = draw_legend(view, look, width, height);
  return why ? why : view_gl_check("drawing the mesh");
}

/* ---- Pictures ---- */

typedef struct scene {
  mesh_view *view;
  const camera *c;
  mesh_look *look;
} scene;

static const char *draw_scene(void *user, int width, int height) {
  const scene *s = user;
  return mesh_view_draw(s->view, s->c, s->look, width, height);
}

const char *mesh_view_picture(mesh_view *view, const camera *c, mesh_look *look, int width, int height,
                              unsigned char *rgb) {
  scene s = {view, c, look};
  return view_gl_picture(draw_scene, &s, VIEW_GL_SAMPLES, width, height, rgb);
}
