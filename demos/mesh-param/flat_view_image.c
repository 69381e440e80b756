/* u, v of the view's flat vertices: a texture, from the host or drawn from the solver's vector. */
#include <GL/glew.h>

#include "flat_view_data.h"

#include <stdlib.h>

#include "flat_view_shaders.h"
#include "view_gl.h"

static const char no_memory[] = "out of memory";

static const char *upload(flat_view *view, const flattening *f) {
  const size_t numbers = 2 * (size_t)f->c.vertices;
  float *image = malloc((numbers + 1) * sizeof *image);
  if (!image) return no_memory;
  for (size_t i = 0; i < numbers; i++) image[i] = (float)f->uv[i];
  glDeleteTextures(1, &view->image);
  const char *why =
      view_gl_list(image, (size_t)f->c.vertices, 2 * sizeof *image, GL_RG32F, GL_RG, GL_FLOAT, &view->image);
  free(image);
  return why;
}

/* ---- From the device ---- */

/* From the solver's coordinates to those of the UV map. */
static const char *upload_charts(const flattening *f, const similarity *frame, unsigned *list) {
  float *charts = malloc((4 * (size_t)f->c.count + 1) * sizeof *charts);
  if (!charts) return no_memory;
  for (int32_t k = 0; k < f->c.count; k++) {
    const similarity placement = flattening_placement(f, k), s = similarity_then(&frame[k], &placement);
    const double numbers[] = {s.a, s.b, s.move[0], s.move[1]};
    for (size_t i = 0; i < 4; i++) charts[4 * (size_t)k + i] = (float)numbers[i];
  }
  const char *why =
      view_gl_list(charts, (size_t)f->c.count, 4 * sizeof *charts, GL_RGBA32F, GL_RGBA, GL_FLOAT, list);
  free(charts);
  return why;
}

static const char *draw_image(flat_view *view, const flattening *f, const flat_source *source, int buffer,
                              unsigned places) {
  static const char *const samplers[] = {"places", "where", "charts", NULL};
  GLint draw_before, read_before;
  unsigned where = 0, charts = 0, *const program = &view->place_program[buffer];
  const char *why =
      view_gl_program(buffer ? "#define BUFFER 1\n" : "#define BUFFER 0\n", VIEW_GL_SHADER(whole, vert),
                      VIEW_GL_SHADER(place, frag), samplers, program);
  if (!why) why = upload_charts(f, source->solved.frame, &charts);
  if (!why)
    why = view_gl_list(source->where, (size_t)f->c.vertices, 4 * sizeof *source->where, GL_RGBA32UI,
                       GL_RGBA_INTEGER, GL_UNSIGNED_INT, &where);
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &draw_before);
  glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &read_before);
  if (!why) {
    const int rows = view_gl_rows((size_t)f->c.vertices);
    if (!view->framebuffer) glGenFramebuffers(1, &view->framebuffer);
    glDeleteTextures(1, &view->image);
    view->image = view_gl_texture(GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RG32F, VIEW_GL_ROW, rows, 0, GL_RG, GL_FLOAT, NULL);
    glBindFramebuffer(GL_FRAMEBUFFER, view->framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, view->image, 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
      why = "the driver does not draw into float textures";
    const unsigned textures[] = {0, where, charts};
    view_gl_plain_state();
    view_gl_bind(textures, 3);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(buffer ? GL_TEXTURE_BUFFER : GL_TEXTURE_2D, places);
    glUniform2i(view_gl_uniform(*program, "origin"), source->texture.x, source->texture.y);
    glUniform1i(view_gl_uniform(*program, "vertices"), f->c.vertices);
    glViewport(0, 0, VIEW_GL_ROW, rows);
    view_gl_draw_vertices(&view->empty_array, GL_TRIANGLES, 3);
    glBindTexture(buffer ? GL_TEXTURE_BUFFER : GL_TEXTURE_2D, 0);
  }
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)draw_before);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)read_before);
  glDeleteTextures(1, &where);
  glDeleteTextures(1, &charts);
  return why ? why : view_gl_check("u and v on the device");
}

const char *flat_view_take_image(flat_view *view, const flattening *f, const flat_source *source) {
  unsigned shared;
  if (source && source->where && source->texture.texture) {
    view->way = VIEW_WAY_TEXTURE;
    return draw_image(view, f, source, 0, source->texture.texture);
  }
  if (source && source->where && view_shared_buffer(source->solved.places, &shared) == TS_OK) {
    view->way = VIEW_WAY_SHARED;
    const char *why = draw_image(view, f, source, 1, shared);
    view_shared_release(source->context);
    return why;
  }
  view->way = VIEW_WAY_COPIED;
  return upload(view, f);
}
