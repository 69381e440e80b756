/* Reads of texels, and waits for them. */
#include "gl/core/gl.h"

ts_status gl_read_texels(ts_context *context, GLenum format, int x, int y, int width, int height, void *data) {
  const gl_format_info *info = gl_format_find(format);
  (void)context;
  glReadPixels(x, y, width, height, info->external, info->type, data);
  return TS_OK;
}

ts_status gl_texture_read(ts_context *context, const gl_texture *t, void *data) {
  const gl_format_info *info = gl_format_find(t->format);
  gl_bind(gl_of(context), 0, t->name);
  glGetTexImage(GL_TEXTURE_2D, 0, info->external, info->type, data);
  return TS_OK;
}

ts_status gl_wait(ts_context *context, GLsync fence) {
  GLenum waited;
  do {
    waited = glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, (GLuint64)1000000000);
  } while (waited == GL_TIMEOUT_EXPIRED);
  if (waited != GL_WAIT_FAILED) return TS_OK;
  TSI_TRY(gl_check(context, "waiting for scalars"));
  return tsi_fail(context, TS_ERROR_DEVICE, "OpenGL cannot wait for the device");
}

ts_status gl_pack_map(ts_context *context, size_t bytes, const float **texels) {
  (void)bytes;
  *texels = glMapBuffer(GL_PIXEL_PACK_BUFFER, GL_READ_ONLY);
  if (*texels) return TS_OK;
  TSI_TRY(gl_check(context, "reading scalars"));
  return tsi_fail(context, TS_ERROR_DEVICE, "a pixel buffer cannot be mapped");
}

void gl_pack_unmap(ts_context *context) {
  (void)context;
  glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
}

void gl_pack_read(size_t bytes, void *data) {
  glGetBufferSubData(GL_PIXEL_PACK_BUFFER, 0, (GLsizeiptr)bytes, data);
}
