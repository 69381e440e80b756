/* Sets the OpenGL state that the library's calls need. Saves and restores an application's state around every
 * call: transfer state on entry, drawing state before the first draw, a texture unit on its first use. See
 * gl_state_tables.c for the list. A value that is already correct is neither set nor restored. */
#include <string.h>

#include "gl_features.h"
#include "gl_state.h"

/* ---- Errors of the application ---- */

static const char *error_name(GLenum error) {
  switch (error) {
  case GL_INVALID_ENUM:
    return "GL_INVALID_ENUM";
  case GL_INVALID_VALUE:
    return "GL_INVALID_VALUE";
  case GL_INVALID_OPERATION:
    return "GL_INVALID_OPERATION";
  case GL_INVALID_FRAMEBUFFER_OPERATION:
    return "GL_INVALID_FRAMEBUFFER_OPERATION";
  case GL_OUT_OF_MEMORY:
    return "GL_OUT_OF_MEMORY";
  case GL_STACK_OVERFLOW:
    return "GL_STACK_OVERFLOW";
  case GL_STACK_UNDERFLOW:
    return "GL_STACK_UNDERFLOW";
  default:
    return "unknown";
  }
}

void gl_clear_errors(ts_context *context, const char *whose) {
  GLenum error, last = GL_NO_ERROR;
  for (int i = 0; i < 16 && (error = glGetError()) != GL_NO_ERROR; i++) {
    if (error != last) /* a lost context reports the same error forever */
      tsi_log(context, TS_LOG_LEVEL_WARNING, "%s an OpenGL error, 0x%04x (%s); it is dropped", whose, error,
              error_name(error));
    last = error;
  }
}

/* ---- Rows of the tables ---- */

static double row_value(const gl_row *row) {
  GLint i = 0;
  GLfloat f = 0;
  switch (row->kind) {
  case GL_ROW_SWITCH:
    return glIsEnabled(row->name);
  case GL_ROW_TRANSFER:
    glGetFloatv(row->name, &f);
    return (double)f;
  default:
    glGetIntegerv(row->name, &i);
    return i;
  }
}

static void set_row(const gl_row *row, double value) {
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

static int is_there(const gl_backend *gl, const gl_table *table, int i) {
  return !(table->rows[i].needs & ~gl->has) && !(gl->saved && gl->saved->absent[table == &gl_drawing_rows][i]);
}

static double wanted(const gl_backend *gl, const gl_row *row) {
  return row->name == GL_COLOR_LOGIC_OP ? gl->compiles_once : row->wanted;
}

static void save_rows(const gl_backend *gl, const gl_table *table, double *values) {
  for (int i = 0; i < table->count; i++)
    if (is_there(gl, table, i)) values[i] = row_value(&table->rows[i]);
}

/* Sets all rows if `values` is NULL, that is, if the values are unknown. */
static void set_rows(const gl_backend *gl, const gl_table *table, const double *values) {
  for (int i = 0; i < table->count; i++) {
    const double value = wanted(gl, &table->rows[i]);
    if (is_there(gl, table, i) && !(values && values[i] == value)) set_row(&table->rows[i], value);
  }
}

static void restore_rows(const gl_backend *gl, const gl_table *table, const double *values) {
  for (int i = 0; i < table->count; i++)
    if (is_there(gl, table, i) && values[i] != wanted(gl, &table->rows[i])) set_row(&table->rows[i], values[i]);
}

/* Drivers may lack features that their version includes. */
static void find_absent(gl_backend *gl, const gl_table *table) {
  for (int i = 0; i < table->count; i++) {
    if (!is_there(gl, table, i)) continue;
    row_value(&table->rows[i]);
    gl->saved->absent[table == &gl_drawing_rows][i] = glGetError() != GL_NO_ERROR;
  }
}

ts_status gl_state_create(ts_context *context) {
  gl_backend *gl = gl_of(context);
  gl->saved = tsi_calloc(context, 1, sizeof *gl->saved);
  if (!gl->saved) return tsi_out_of_memory(context, "the application's state", sizeof *gl->saved);
  find_absent(gl, &gl_transfer_rows);
  find_absent(gl, &gl_drawing_rows);
  return TS_OK;
}

void gl_state_destroy(ts_context *context) {
  gl_backend *gl = gl_of(context);
  if (gl->saved) tsi_free(context, gl->saved->subroutines);
  tsi_free(context, gl->saved);
  gl->saved = NULL;
}

/* ---- Transfers ---- */

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

static void save_transfers(const gl_backend *gl, gl_values *v) {
  save_rows(gl, &gl_transfer_rows, v->transfer);
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

ts_status gl_state_enter(ts_context *context) {
  gl_backend *gl = gl_of(context);
  gl_values *v = gl->saved ? &gl->saved->values : NULL;
  gl->is_set = gl->draws = 0;
  if (v) {
    gl_clear_errors(context, "the application left");
    TSI_TRY(gl_state_check(context));
    save_transfers(gl, v);
  }
  gl->is_set = 1;
  set_rows(gl, &gl_transfer_rows, v ? v->transfer : NULL);
  if (v && gl->has & GL_HAS_IMAGING) set_colour_matrix(v, identity);
  glBindVertexArray(gl->empty_vao);
  glBindBuffer(GL_ARRAY_BUFFER, 0);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  gl->used_units = 0;
  for (int unit = 0; unit < GL_UNITS; unit++) gl->bound_texture[unit] = (GLuint)-1; /* unknown */
  glActiveTexture(GL_TEXTURE0);
  gl->bound_program = gl->bound_framebuffer = (GLuint)-1;
  return TS_OK;
}

/* ---- Texture units ---- */

void gl_state_use_unit(gl_backend *gl, int unit) {
  if (gl->used_units & 1u << unit) return;
  gl->used_units |= 1u << unit;
  if (gl->saved) {
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &gl->saved->texture[unit]);
    glGetIntegerv(GL_SAMPLER_BINDING, &gl->saved->sampler[unit]);
  }
  if (!gl->saved || (GLuint)gl->saved->sampler[unit] != gl->nearest) glBindSampler((GLuint)unit, gl->nearest);
}

static void restore_units(const gl_backend *gl, const gl_state *s) {
  for (int unit = 0; unit < GL_UNITS; unit++) {
    if (!(gl->used_units & 1u << unit)) continue;
    glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
    glBindTexture(GL_TEXTURE_2D, (GLuint)s->texture[unit]);
    if ((GLuint)s->sampler[unit] != gl->nearest) glBindSampler((GLuint)unit, (GLuint)s->sampler[unit]);
  }
  glActiveTexture((GLenum)s->values.active_texture);
}

/* ---- Draws ---- */

static void save_drawing(const gl_backend *gl, gl_values *v) {
  save_rows(gl, &gl_drawing_rows, v->drawing);
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
static void set_drawing(const gl_backend *gl, const gl_values *v) {
  set_rows(gl, &gl_drawing_rows, v ? v->drawing : NULL);
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

static void restore_drawing(const gl_backend *gl, const gl_values *v) {
  restore_rows(gl, &gl_drawing_rows, v->drawing);
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

ts_status gl_state_draw(ts_context *context) {
  gl_backend *gl = gl_of(context);
  gl_state *s = gl->saved;
  if (gl->draws) return TS_OK;
  if (gl_is_shared(gl)) TSI_TRY(gl_state_refuse(context));
  if (s) {
    save_drawing(gl, &s->values);
    TSI_TRY(gl_state_save_program(context));
  }
  set_drawing(gl, s ? &s->values : NULL);
  gl->draws = 1;
  if (!gl_is_shared(gl)) return TS_OK;
  gl->proof.is_due = 1;
  if (!s || is_same(&s->values, &s->proven, sizeof s->proven)) return TS_OK;
  memcpy(&s->proven, &s->values, sizeof s->proven);
  return gl_proof_draw(context);
}

void gl_state_doubt(gl_backend *gl) {
  memset(&gl->saved->proven, 0xff, sizeof gl->saved->proven);
}

/* ---- Leaving ---- */

void gl_state_leave(ts_context *context) {
  gl_backend *gl = gl_of(context);
  const gl_state *s = gl->saved;
  if (!s || !gl->is_set) return;
  const gl_values *v = &s->values;
  if (gl->draws) {
    restore_drawing(gl, v);
    gl_state_restore_program(context);
  }
  restore_rows(gl, &gl_transfer_rows, v->transfer);
  if (gl->has & GL_HAS_IMAGING) set_colour_matrix(v, v->colour_matrix);
  restore_units(gl, s);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, (GLuint)v->draw_framebuffer);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)v->read_framebuffer);
  glBindVertexArray((GLuint)v->vao);
  glBindBuffer(GL_ARRAY_BUFFER, (GLuint)v->array_buffer);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, (GLuint)v->pack_buffer);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, (GLuint)v->unpack_buffer);
  gl->is_set = gl->draws = 0;
  gl_clear_errors(context, "texsolve, or restoring the application's state, left");
}

void gl_state_lend(const gl_backend *gl) {
  if (gl->saved) return;
  glDisable(GL_COLOR_LOGIC_OP); /* it would disable blending */
  for (int unit = 0; gl->nearest && unit < GL_UNITS; unit++)
    if (gl->used_units & 1u << unit) glBindSampler((GLuint)unit, 0);
}
