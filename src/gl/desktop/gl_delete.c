/* Deletes objects while the application's state is saved. */
#include "gl/core/gl_state.h"

static void unbind(GLint *saved, GLuint name) {
  if ((GLuint)*saved == name) *saved = 0;
}

static void forget(GLuint *current, GLuint name) {
  if (*current == name) *current = (GLuint)-1;
}

void gl_delete_texture(gl_backend *gl, GLuint name) {
  for (int unit = 0; unit < GL_UNITS; unit++) {
    if (gl->saved) unbind(&gl->saved->texture[unit], name);
    forget(&gl->bound_texture[unit], name);
  }
  glDeleteTextures(1, &name);
}

void gl_delete_framebuffer(gl_backend *gl, GLuint name) {
  if (gl->saved) {
    unbind(&gl->saved->values.draw_framebuffer, name);
    unbind(&gl->saved->values.read_framebuffer, name);
  }
  forget(&gl->bound_framebuffer, name);
  glDeleteFramebuffers(1, &name);
}

void gl_delete_buffer(gl_backend *gl, GLuint name) {
  if (gl->saved) {
    unbind(&gl->saved->values.array_buffer, name);
    unbind(&gl->saved->values.pack_buffer, name);
    unbind(&gl->saved->values.unpack_buffer, name);
  }
  glDeleteBuffers(1, &name);
}

void gl_delete_vertex_array(gl_backend *gl, GLuint name) {
  if (gl->saved) unbind(&gl->saved->values.vao, name);
  glDeleteVertexArrays(1, &name);
}

void gl_delete_sampler(gl_backend *gl, GLuint name) {
  for (int unit = 0; gl->saved && unit < GL_UNITS; unit++) unbind(&gl->saved->sampler[unit], name);
  glDeleteSamplers(1, &name);
}

/* OpenGL keeps a deleted program while it is current. */
void gl_delete_program(gl_backend *gl, GLuint name) {
  GLint current = 0;
  if (gl->saved) unbind(&gl->saved->values.program, name);
  forget(&gl->bound_program, name);
  if (gl->saved && !gl->draws) glGetIntegerv(GL_CURRENT_PROGRAM, &current);
  if (name && (GLuint)current == name) glUseProgram(0);
  glDeleteProgram(name);
}
