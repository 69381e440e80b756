/* Saves and restores the state of an application's WebGL context. Its objects lack names in Emscripten's
 * tables, so they are saved in JavaScript: GL.currentContext.texsolveSaved. One call at a time uses a context,
 * so one record is enough. */
#include <emscripten.h>

#include "gl/core/gl_features.h"
#include "gl/core/gl_state.h"
#include "webgl.h"

void gl_row_set(const gl_row *row, double value) {
  if (row->kind == GL_ROW_STORE)
    glPixelStorei(row->name, (GLint)value);
  else if (value != 0)
    glEnable(row->name);
  else
    glDisable(row->name);
}

/* ---- Bindings ---- */

/* clang-format off */
EM_JS(void, webgl_save_bindings, (void), {
  const get = (name) => GLctx.getParameter(name);
  const saved = (GL.currentContext.texsolveSaved = {});
  saved.draw = get(GLctx.DRAW_FRAMEBUFFER_BINDING);
  saved.read = get(GLctx.READ_FRAMEBUFFER_BINDING);
  saved.array = get(GLctx.VERTEX_ARRAY_BINDING);
  saved.buffer = get(GLctx.ARRAY_BUFFER_BINDING);
  saved.pack = get(GLctx.PIXEL_PACK_BUFFER_BINDING);
  saved.unpack = get(GLctx.PIXEL_UNPACK_BUFFER_BINDING);
  saved.textures = [];
  saved.samplers = [];
});

EM_JS(void, webgl_restore_bindings, (void), {
  const saved = GL.currentContext.texsolveSaved;
  GLctx.bindFramebuffer(GLctx.DRAW_FRAMEBUFFER, saved.draw);
  GLctx.bindFramebuffer(GLctx.READ_FRAMEBUFFER, saved.read);
  GLctx.bindVertexArray(saved.array);
  GLctx.bindBuffer(GLctx.ARRAY_BUFFER, saved.buffer);
  GLctx.bindBuffer(GLctx.PIXEL_PACK_BUFFER, saved.pack);
  GLctx.bindBuffer(GLctx.PIXEL_UNPACK_BUFFER, saved.unpack);
  GL.currentContext.texsolveSaved = null;
});
/* clang-format on */

void gl_bindings_save(gl_backend *gl) {
  glGetIntegerv(GL_ACTIVE_TEXTURE, &gl->saved->values.active_texture);
  webgl_save_bindings();
}

void gl_bindings_restore(gl_backend *gl) {
  (void)gl;
  webgl_restore_bindings();
}

ts_status gl_state_check(ts_context *context) {
  return webgl_check(context);
}

/* ---- Units ---- */

/* clang-format off */
EM_JS(int, webgl_save_unit, (int unit), {
  const saved = GL.currentContext.texsolveSaved;
  saved.textures[unit] = GLctx.getParameter(GLctx.TEXTURE_BINDING_2D);
  saved.samplers[unit] = GLctx.getParameter(GLctx.SAMPLER_BINDING);
  return saved.samplers[unit] ? -1 : 0;
});

EM_JS(void, webgl_restore_unit, (int unit), {
  const saved = GL.currentContext.texsolveSaved;
  GLctx.bindTexture(GLctx.TEXTURE_2D, saved.textures[unit]);
  GLctx.bindSampler(unit, saved.samplers[unit]);
});
/* clang-format on */

void gl_unit_save(gl_backend *gl, int unit) {
  gl->saved->sampler[unit] = webgl_save_unit(unit);
}

void gl_unit_restore(const gl_backend *gl, int unit) {
  (void)gl;
  webgl_restore_unit(unit);
}

/* ---- Drawing ---- */

void gl_drawing_save(const gl_backend *gl, gl_values *v) {
  GLboolean mask[4] = {0};
  (void)gl;
  glGetFloatv(GL_VIEWPORT, v->viewport);
  glGetBooleanv(GL_COLOR_WRITEMASK, mask);
  for (int c = 0; c < 4; c++) v->color_mask[0][c] = mask[c];
  v->scissor = glIsEnabled(GL_SCISSOR_TEST);
}

void gl_viewport(const gl_backend *gl, int x, int y, int width, int height) {
  (void)gl;
  glViewport(x, y, width, height);
}

void gl_drawing_set(const gl_backend *gl, const gl_values *v) {
  (void)gl;
  (void)v;
  glDisable(GL_SCISSOR_TEST);
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
}

void gl_drawing_restore(const gl_backend *gl, const gl_values *v) {
  const GLint *mask = v->color_mask[0];
  (void)gl;
  glViewport((GLint)v->viewport[0], (GLint)v->viewport[1], (GLint)v->viewport[2], (GLint)v->viewport[3]);
  if (v->scissor) glEnable(GL_SCISSOR_TEST);
  glColorMask((GLboolean)mask[0], (GLboolean)mask[1], (GLboolean)mask[2], (GLboolean)mask[3]);
}

/* ---- The program ---- */

/* clang-format off */
EM_JS(int, webgl_active_query, (int target), { return GLctx.getQuery(target, GLctx.CURRENT_QUERY) ? 1 : 0; });
/* clang-format on */

ts_status gl_state_refuse(ts_context *context) {
  TSI_TRY(gl_check(context, "the call's first draw"));
  for (int k = 0; k < 2; k++)
    if (webgl_active_query(k ? GL_ANY_SAMPLES_PASSED_CONSERVATIVE : GL_ANY_SAMPLES_PASSED))
      return tsi_fail(
          context, TS_ERROR_DEVICE,
          "the application's query of %s is active and would count what the library draws; it must end first "
          "(endQuery)",
          k ? "ANY_SAMPLES_PASSED_CONSERVATIVE" : "ANY_SAMPLES_PASSED");
  return TS_OK;
}

/* A program that was deleted while current ceases to exist when another one replaces it. isProgram() would wait
 * for the GPU; browsers know the status themselves. */
/* clang-format off */
EM_JS(int, webgl_save_program, (void), {
  const active = GLctx.getParameter(GLctx.TRANSFORM_FEEDBACK_ACTIVE) && !GLctx.getParameter(GLctx.TRANSFORM_FEEDBACK_PAUSED);
  const program = GLctx.getParameter(GLctx.CURRENT_PROGRAM);
  const isDeleted = program && GLctx.getProgramParameter(program, GLctx.DELETE_STATUS);
  GL.currentContext.texsolveSaved.program = isDeleted ? null : program;
  if (active) GLctx.pauseTransformFeedback();
  return active ? 1 : 0;
});

EM_JS(void, webgl_restore_program, (int resume), {
  GLctx.useProgram(GL.currentContext.texsolveSaved.program);
  if (resume) GLctx.resumeTransformFeedback();
});
/* clang-format on */

ts_status gl_state_save_program(ts_context *context) {
  gl_of(context)->saved->is_feedback_paused = webgl_save_program();
  return TS_OK;
}

void gl_state_restore_program(ts_context *context) {
  gl_state *s = gl_of(context)->saved;
  webgl_restore_program(s->is_feedback_paused);
  s->is_feedback_paused = 0;
}
