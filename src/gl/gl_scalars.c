/* Device slots: texels of a small texture, or of the texture of the vectors they belong to. */
#include <string.h>

#include "gl.h"

ts_status gl_scalars_create(ts_scalars *s) {
  gl_scalars *impl = tsi_calloc(s->context, 1, sizeof *impl);
  if (!impl) return tsi_out_of_memory(s->context, "scalars", sizeof *impl);
  const int max = s->context->caps.max_texture_size;
  impl->per_row = s->count < max ? s->count : max;
  const int rows = (s->count + impl->per_row - 1) / impl->per_row;
  const ts_status status =
      gl_texture_create(s->context, GL_RGBA32F, impl->per_row, rows, "scalars", &impl->texture);
  if (status < 0) {
    tsi_free(s->context, impl);
    return status;
  }
  s->impl = impl;
  gl_user_added(s->context);
  return TS_OK;
}

void gl_scalars_destroy(ts_scalars *s) {
  gl_scalars *impl = gl_scalars_of(s);
  if (!impl) return;
  if (gl_of(s->context)->entered) {
    if (impl->fence) glDeleteSync(impl->fence);
    if (impl->buffer) glDeleteBuffers(1, &impl->buffer);
  }
  gl_texture_release(s->context, impl->texture);
  gl_user_removed(s->context);
  tsi_free(s->context, impl);
  s->impl = NULL;
}

ts_status gl_scalars_write(ts_scalars *s, int first, int count, const float *values) {
  const gl_scalars *impl = gl_scalars_of(s);
  gl_bind(gl_of(s->context), 0, impl->texture->name);
  while (count > 0) {
    const int x = first % impl->per_row, y = first / impl->per_row;
    const int n = count < impl->per_row - x ? count : impl->per_row - x;
    /* Components that the texture does not have are dropped. */
    glTexSubImage2D(GL_TEXTURE_2D, 0, impl->x + x, impl->y + y, n, 1, GL_RGBA, GL_FLOAT, values);
    first += n;
    count -= n;
    values += 4 * (size_t)n;
  }
  return gl_check(s->context, "writing scalars");
}

/* Whole rows of slots into a pixel buffer, so that the device goes on while they travel. */
ts_status gl_scalars_read_begin(ts_scalars *s, int first, int count) {
  gl_scalars *impl = gl_scalars_of(s);
  const int first_row = first / impl->per_row, rows = (first + count - 1) / impl->per_row - first_row + 1;
  const GLsizeiptr bytes = (GLsizeiptr)rows * impl->per_row * 16;
  gl_bind_framebuffer(gl_of(s->context), impl->texture->framebuffer);
  if (!impl->buffer) glGenBuffers(1, &impl->buffer);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, impl->buffer);
  glBufferData(GL_PIXEL_PACK_BUFFER, bytes, NULL, GL_STREAM_READ);
  const int width = rows > 1 ? impl->per_row : first % impl->per_row + count;
  glReadPixels(impl->x, impl->y + first_row, width, rows, GL_RGBA, GL_FLOAT, NULL);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  if (impl->fence) glDeleteSync(impl->fence);
  impl->fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  glFlush();
  impl->first = first;
  impl->count = count;
  return gl_check(s->context, "reading scalars");
}

ts_status gl_scalars_read_end(ts_scalars *s, float *values) {
  gl_scalars *impl = gl_scalars_of(s);
  GLenum waited;
  do {
    waited = glClientWaitSync(impl->fence, GL_SYNC_FLUSH_COMMANDS_BIT, (GLuint64)1000000000);
  } while (waited == GL_TIMEOUT_EXPIRED);
  glDeleteSync(impl->fence);
  impl->fence = NULL;
  if (waited == GL_WAIT_FAILED) return gl_check(s->context, "waiting for scalars");
  const int skip = impl->first % impl->per_row;
  glBindBuffer(GL_PIXEL_PACK_BUFFER, impl->buffer);
  glGetBufferSubData(GL_PIXEL_PACK_BUFFER, (GLintptr)skip * 16, (GLsizeiptr)impl->count * 16, values);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  /* Components that the texture does not have are read as 0, 0, 1. */
  const GLenum format = impl->texture->format;
  for (int c = format == GL_R32F ? 1 : format == GL_RG32F ? 2 : 4; c < 4; c++)
    for (int i = 0; i < impl->count; i++) values[4 * i + c] = 0;
  return gl_check(s->context, "reading scalars");
}
