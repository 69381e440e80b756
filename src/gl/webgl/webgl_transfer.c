/* Reads of texels, and waits for them. Only reads of four components are sure to work, so others are repacked.
 */
#include <emscripten.h>
#include <emscripten/html5.h>
#include <string.h>

#include "webgl.h"

/* ---- Texels ---- */

enum { channels = 4, band_texels = 1 << 16 };

ts_status gl_read_texels(ts_context *context, GLenum format, int x, int y, int width, int height, void *data) {
  const gl_format_info *info = gl_format_find(format);
  const int is_float = info->type == GL_FLOAT, words = info->bytes / (int)sizeof(uint32_t);
  const GLenum external = is_float ? GL_RGBA : GL_RGBA_INTEGER;
  if (words == channels) {
    glReadPixels(x, y, width, height, external, info->type, data);
    return TS_OK;
  }
  const int step = width < band_texels ? band_texels / width : 1;
  const size_t room = (size_t)width * (size_t)(step < height ? step : height);
  uint32_t *texels = tsi_malloc(context, room, channels * sizeof *texels), *to = data;
  if (!texels) return tsi_out_of_memory(context, "reading texels", room * channels * sizeof *texels);
  memset(texels, 0, room * channels * sizeof *texels);
  for (int row = 0; row < height; row += step) {
    const int rows = height - row < step ? height - row : step;
    glReadPixels(x, y + row, width, rows, external, info->type, texels);
    for (size_t i = 0; i < (size_t)width * (size_t)rows; i++)
      for (int c = 0; c < words; c++) *to++ = texels[channels * i + (size_t)c];
  }
  tsi_free(context, texels);
  return TS_OK;
}

ts_status gl_texture_read(ts_context *context, const gl_texture *t, void *data) {
  gl_backend *gl = gl_of(context);
  if (t->framebuffer) {
    gl_bind_framebuffer(gl, t->framebuffer);
    return gl_read_texels(context, t->format, 0, 0, t->width, t->height, data);
  }
  GLuint framebuffer;
  glGenFramebuffers(1, &framebuffer);
  gl_bind_framebuffer(gl, framebuffer);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t->name, 0);
  const ts_status status = gl_read_texels(context, t->format, 0, 0, t->width, t->height, data);
  gl_delete_framebuffer(gl, framebuffer);
  return status;
}

/* ---- Buffers ---- */

/* clang-format off */
EM_JS(void, webgl_read_buffer, (int bytes, void *data), {
  GLctx.getBufferSubData(GLctx.PIXEL_PACK_BUFFER, 0, HEAPU8, data, bytes);
});
/* clang-format on */

void gl_pack_read(size_t bytes, void *data) {
  webgl_read_buffer((int)bytes, data);
}

ts_status gl_pack_map(ts_context *context, size_t bytes, const float **texels) {
  webgl_context *w = webgl_of(context);
  if (w->buffer_bytes < bytes) {
    tsi_free(context, w->buffer);
    w->buffer = tsi_malloc(context, bytes, 1);
    w->buffer_bytes = w->buffer ? bytes : 0;
    if (!w->buffer) return tsi_out_of_memory(context, "reading scalars", bytes);
  }
  gl_pack_read(bytes, w->buffer);
  *texels = w->buffer;
  return TS_OK;
}

void gl_pack_unmap(ts_context *context) {
  (void)context;
}

/* ---- Waiting ---- */

void tsi_webgl_set_pause(ts_context *context, webgl_pause *pause, void *data) {
  webgl_context *w = webgl_of(context);
  w->pause = pause;
  w->pause_data = data;
}

/* A fence has signalled at the earliest in the next task. */
static int is_signalled(GLsync fence) {
  GLint status = GL_UNSIGNALED;
  glGetSynciv(fence, GL_SYNC_STATUS, 1, NULL, &status);
  return status == GL_SIGNALED;
}

ts_status gl_wait(ts_context *context, GLsync fence) {
  webgl_context *w = webgl_of(context);
  while (w->pause && !is_signalled(fence)) {
    gl_leave(context);
    w->pause(w->pause_data);
    TSI_TRY(gl_enter(context));
  }
  return webgl_check(context);
}
