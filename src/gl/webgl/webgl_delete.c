/* Deletes objects while the application's state is saved: a deleted object is not bound again. */
#include <emscripten.h>

#include "webgl.h"

/* The table is one of Emscripten's: GL.textures, GL.framebuffers, ... */
/* clang-format off */
EM_JS(void, webgl_forget, (const char *table, int name), {
  const saved = GL.currentContext.texsolveSaved, object = GL[UTF8ToString(table)][name];
  if (!saved || !object) return;
  for (const key in saved) {
    if (saved[key] === object) saved[key] = null;
    if (Array.isArray(saved[key])) saved[key] = saved[key].map((value) => (value === object ? null : value));
  }
});
/* clang-format on */

static void forget(gl_backend *gl, const char *table, GLuint name) {
  if (gl->saved && name) webgl_forget(table, (int)name);
}

static void unbind(GLuint *current, GLuint name) {
  if (*current == name) *current = (GLuint)-1;
}

void gl_delete_texture(gl_backend *gl, GLuint name) {
  for (int unit = 0; unit < GL_UNITS; unit++) unbind(&gl->bound_texture[unit], name);
  forget(gl, "textures", name);
  glDeleteTextures(1, &name);
}

void gl_delete_framebuffer(gl_backend *gl, GLuint name) {
  unbind(&gl->bound_framebuffer, name);
  forget(gl, "framebuffers", name);
  glDeleteFramebuffers(1, &name);
}

void gl_delete_buffer(gl_backend *gl, GLuint name) {
  forget(gl, "buffers", name);
  glDeleteBuffers(1, &name);
}

void gl_delete_vertex_array(gl_backend *gl, GLuint name) {
  forget(gl, "vaos", name);
  glDeleteVertexArrays(1, &name);
}

void gl_delete_sampler(gl_backend *gl, GLuint name) {
  forget(gl, "samplers", name);
  glDeleteSamplers(1, &name);
}

void gl_delete_program(gl_backend *gl, GLuint name) {
  unbind(&gl->bound_program, name);
  forget(gl, "programs", name);
  glDeleteProgram(name);
}
