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
  for (int i = 0; i < 16 && (error = gl_error(context)) != GL_NO_ERROR; i++) {
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
    if (is_there(gl, table, i) && !(values && values[i] == value)) gl_row_set(&table->rows[i], value);
  }
}

static void restore_rows(const gl_backend *gl, const gl_table *table, const double *values) {
  for (int i = 0; i < table->count; i++)
    if (is_there(gl, table, i) && values[i] != wanted(gl, &table->rows[i]))
      gl_row_set(&table->rows[i], values[i]);
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

/* Compares bits, so that a NaN equals itself. */
static int is_same(const void *a, const void *b, size_t bytes) {
  return memcmp(a, b, bytes) == 0;
}

ts_status gl_state_enter(ts_context *context) {
  gl_backend *gl = gl_of(context);
  gl_values *v = gl->saved ? &gl->saved->values : NULL;
  gl->is_set = gl->draws = 0;
  if (v) {
    gl_clear_errors(context, "the application left");
    TSI_TRY(gl_state_check(context));
    save_rows(gl, &gl_transfer_rows, v->transfer);
    gl_bindings_save(gl);
  }
  gl->is_set = 1;
  set_rows(gl, &gl_transfer_rows, v ? v->transfer : NULL);
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
  if (gl->saved) gl_unit_save(gl, unit);
  if (!gl->saved || (GLuint)gl->saved->sampler[unit] != gl->nearest) glBindSampler((GLuint)unit, gl->nearest);
}

static void restore_units(const gl_backend *gl, const gl_state *s) {
  for (int unit = 0; unit < GL_UNITS; unit++) {
    if (!(gl->used_units & 1u << unit)) continue;
    glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
    gl_unit_restore(gl, unit);
  }
  glActiveTexture((GLenum)s->values.active_texture);
}

/* ---- Draws ---- */

ts_status gl_state_draw(ts_context *context) {
  gl_backend *gl = gl_of(context);
  gl_state *s = gl->saved;
  if (gl->draws) return TS_OK;
  if (gl_is_shared(gl)) TSI_TRY(gl_state_refuse(context));
  if (s) {
    save_rows(gl, &gl_drawing_rows, s->values.drawing);
    gl_drawing_save(gl, &s->values);
    TSI_TRY(gl_state_save_program(context));
  }
  set_rows(gl, &gl_drawing_rows, s ? s->values.drawing : NULL);
  gl_drawing_set(gl, s ? &s->values : NULL);
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
    restore_rows(gl, &gl_drawing_rows, v->drawing);
    gl_drawing_restore(gl, v);
    gl_state_restore_program(context);
  }
  restore_rows(gl, &gl_transfer_rows, v->transfer);
  restore_units(gl, s);
  gl_bindings_restore(gl);
  gl->is_set = gl->draws = 0;
  gl_clear_errors(context, "texsolve, or restoring the application's state, left");
}

void gl_state_lend(const gl_backend *gl) {
  if (gl->saved) return;
  if (gl->compiles_once) glDisable(GL_COLOR_LOGIC_OP); /* it would disable blending */
  for (int unit = 0; gl->nearest && unit < GL_UNITS; unit++)
    if (gl->used_units & 1u << unit) glBindSampler((GLuint)unit, 0);
}
