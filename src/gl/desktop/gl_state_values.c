/* The parts of an application's state that OpenGL and WebGL save in different ways: bindings, units, and the
 * values of drawing that are not switches. */
#include <string.h>

#include "gl/core/gl_features.h"
#include "gl/core/gl_state.h"

void gl_row_set(const gl_row *row, double value) {
  switch (row->kind) {
  case GL_ROW_SWITCH:
    if (value != 0)
      glEnable(row->name);
    else
      glDisable(row->name);
    break;
  case GL_ROW_STORE:
    glPixelStorei(row->name, (GLint)value);
    break;
  case GL_ROW_TRANSFER:
    glPixelTransferf(row->name, (GLfloat)value);
    break;
  case GL_ROW_CLAMP:
    glClampColor(row->name, (GLenum)value);
    break;
  case GL_ROW_LOGIC_OP:
    glLogicOp((GLenum)value);
    break;
  }
}

/* ---- Bindings ---- */

static const GLfloat identity[16] = {[0] = 1, [5] = 1, [10] = 1, [15] = 1};

/* Compares bits, so that a NaN equals itself. */
static int is_same(const void *a, const void *b, size_t bytes) {
  return memcmp(a, b, bytes) == 0;
}

static void set_colour_matrix(const gl_values *v, const GLfloat matrix[16]) {
  if (is_same(v->colour_matrix, identity, sizeof identity)) return;
  glMatrixMode(GL_COLOR);
  glLoadMatrixf(matrix);
  glMatrixMode((GLenum)v->matrix_mode);
}

void gl_bindings_save(gl_backend *gl) {
  gl_values *v = &gl->saved->values;
  glGetIntegerv(GL_ACTIVE_TEXTURE, &v->active_texture);
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &v->draw_framebuffer);
  glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &v->read_framebuffer);
  glGetIntegerv(GL_VERTEX_ARRAY_BINDING, &v->vao);
  glGetIntegerv(GL_ARRAY_BUFFER_BINDING, &v->array_buffer);
  glGetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &v->pack_buffer);
  glGetIntegerv(GL_PIXEL_UNPACK_BUFFER_BINDING, &v->unpack_buffer);
  if (!(gl->has & GL_HAS_IMAGING)) return;
  glGetIntegerv(GL_MATRIX_MODE, &v->matrix_mode);
  glGetFloatv(GL_COLOR_MATRIX, v->colour_matrix);
  set_colour_matrix(v, identity);
}

void gl_bindings_restore(gl_backend *gl) {
  const gl_values *v = &gl->saved->values;
  if (gl->has & GL_HAS_IMAGING) set_colour_matrix(v, v->colour_matrix);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)v->draw_framebuffer);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)v->read_framebuffer);
  glBindVertexArray((GLuint)v->vao);
  glBindBuffer(GL_ARRAY_BUFFER, (GLuint)v->array_buffer);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, (GLuint)v->pack_buffer);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, (GLuint)v->unpack_buffer);
}

ts_status gl_state_check(ts_context *context) {
  GLint unit = 0, list = 0;
  glGetIntegerv(GL_ACTIVE_TEXTURE, &unit);
  if (unit < GL_TEXTURE0)
    return tsi_fail(
        context, TS_ERROR_DEVICE,
        "the state of OpenGL cannot be read: the call is between glBegin and glEnd, or the context is lost");
  if (gl_of(context)->has & GL_HAS_COMPATIBILITY) glGetIntegerv(GL_LIST_INDEX, &list);
  if (list)
    return tsi_fail(context, TS_ERROR_DEVICE,
                    "the application compiles display list %d (glNewList), which would record the library's "
                    "calls; it must end first (glEndList)",
                    list);
  return TS_OK;
}

/* ---- Units ---- */

void gl_unit_save(gl_backend *gl, int unit) {
  glGetIntegerv(GL_TEXTURE_BINDING_2D, &gl->saved->texture[unit]);
  glGetIntegerv(GL_SAMPLER_BINDING, &gl->saved->sampler[unit]);
}

void gl_unit_restore(const gl_backend *gl, int unit) {
  const gl_state *s = gl->saved;
  glBindTexture(GL_TEXTURE_2D, (GLuint)s->texture[unit]);
  if ((GLuint)s->sampler[unit] != gl->nearest) glBindSampler((GLuint)unit, (GLuint)s->sampler[unit]);
}

/* ---- Drawing ---- */

void gl_drawing_save(const gl_backend *gl, gl_values *v) {
  if (gl->has & GL_HAS_VIEWPORTS) {
    glGetFloati_v(GL_VIEWPORT, 0, v->viewport);
    v->scissor = glIsEnabledi(GL_SCISSOR_TEST, 0);
  } else {
    glGetFloatv(GL_VIEWPORT, v->viewport);
    v->scissor = glIsEnabled(GL_SCISSOR_TEST);
  }
  v->polygon_mode[1] = 0; /* a core profile has one mode */
  glGetIntegerv(GL_POLYGON_MODE, v->polygon_mode);
  for (GLuint k = 0; k < GL_TARGETS; k++) {
    glGetIntegeri_v(GL_COLOR_WRITEMASK, k, v->color_mask[k]);
    v->blend[k] = glIsEnabledi(GL_BLEND, k);
  }
  if (!(gl->has & GL_HAS_CLIP_CONTROL)) return;
  glGetIntegerv(GL_CLIP_ORIGIN, &v->clip_origin);
  glGetIntegerv(GL_CLIP_DEPTH_MODE, &v->clip_depth);
}

/* glViewport would set all viewports. */
void gl_viewport(const gl_backend *gl, int x, int y, int width, int height) {
  if (gl->saved && gl->has & GL_HAS_VIEWPORTS)
    glViewportIndexedf(0, (float)x, (float)y, (float)width, (float)height);
  else
    glViewport(x, y, width, height);
}

static void set_scissor(const gl_backend *gl, int on) {
  if (gl->has & GL_HAS_VIEWPORTS)
    (on ? glEnablei : glDisablei)(GL_SCISSOR_TEST, 0);
  else
    (on ? glEnable : glDisable)(GL_SCISSOR_TEST);
}

static int writes_all(const GLint mask[4]) {
  return mask[0] && mask[1] && mask[2] && mask[3];
}

static int has_default_clip(const gl_values *v) {
  return v->clip_origin == GL_LOWER_LEFT && v->clip_depth == GL_NEGATIVE_ONE_TO_ONE;
}

static int fills(const gl_values *v) {
  return v->polygon_mode[0] == GL_FILL && (v->polygon_mode[1] == 0 || v->polygon_mode[1] == GL_FILL);
}

/* Sets everything if `v` is NULL, that is, if nothing is known. */
void gl_drawing_set(const gl_backend *gl, const gl_values *v) {
  if (!v || v->scissor) set_scissor(gl, 0);
  if (!v || !fills(v)) glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
  for (GLuint k = 0; k < GL_TARGETS; k++) {
    if (!v || !writes_all(v->color_mask[k])) glColorMaski(k, GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    if (!v || v->blend[k]) glDisablei(GL_BLEND, k);
  }
  if (gl->has & GL_HAS_CLIP_CONTROL && (!v || !has_default_clip(v)))
    glClipControl(GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE);
}

static void restore_polygon_mode(const gl_backend *gl, const gl_values *v) {
  if (fills(v)) return;
  if (gl->has & GL_HAS_COMPATIBILITY) {
    glPolygonMode(GL_FRONT, (GLenum)v->polygon_mode[0]);
    glPolygonMode(GL_BACK, (GLenum)v->polygon_mode[1]);
  } else {
    glPolygonMode(GL_FRONT_AND_BACK, (GLenum)v->polygon_mode[0]);
  }
}

void gl_drawing_restore(const gl_backend *gl, const gl_values *v) {
  if (gl->has & GL_HAS_VIEWPORTS)
    glViewportIndexedfv(0, v->viewport);
  else
    glViewport((GLint)v->viewport[0], (GLint)v->viewport[1], (GLint)v->viewport[2], (GLint)v->viewport[3]);
  if (v->scissor) set_scissor(gl, 1);
  restore_polygon_mode(gl, v);
  for (GLuint k = 0; k < GL_TARGETS; k++) {
    const GLint *mask = v->color_mask[k];
    if (!writes_all(mask))
      glColorMaski(k, (GLboolean)mask[0], (GLboolean)mask[1], (GLboolean)mask[2], (GLboolean)mask[3]);
    if (v->blend[k]) glEnablei(GL_BLEND, k);
  }
  if (gl->has & GL_HAS_CLIP_CONTROL && !has_default_clip(v))
    glClipControl((GLenum)v->clip_origin, (GLenum)v->clip_depth);
}
