/* The textures that an application gives for vectors. They have names in Emscripten's table (GL.textures). */
#include <emscripten.h>

#include "webgl.h"

/* The format of the bound texture: 1, 2 or 4 channels of single precision, otherwise 0. */
/* clang-format off */
EM_JS(int, webgl_channels, (void), {
  const before = GLctx.getParameter(GLctx.READ_FRAMEBUFFER_BINDING), framebuffer = GLctx.createFramebuffer();
  const texture = GLctx.getParameter(GLctx.TEXTURE_BINDING_2D), at = GLctx.READ_FRAMEBUFFER;
  const get = (name) => GLctx.getFramebufferAttachmentParameter(at, GLctx.COLOR_ATTACHMENT0, name);
  let channels = 0;
  GLctx.bindFramebuffer(at, framebuffer);
  GLctx.framebufferTexture2D(at, GLctx.COLOR_ATTACHMENT0, GLctx.TEXTURE_2D, texture, 0);
  if (GLctx.checkFramebufferStatus(at) == GLctx.FRAMEBUFFER_COMPLETE &&
      get(GLctx.FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE) == GLctx.FLOAT && get(GLctx.FRAMEBUFFER_ATTACHMENT_RED_SIZE) == 32)
    channels = get(GLctx.FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE)   ? 4
               : get(GLctx.FRAMEBUFFER_ATTACHMENT_GREEN_SIZE) ? 2
                                                              : 1;
  GLctx.bindFramebuffer(at, before);
  GLctx.deleteFramebuffer(framebuffer);
  return channels;
});
/* clang-format on */

/* Whether the bound texture has this size or more: an empty image at its end is accepted. */
/* clang-format off */
EM_JS(int, webgl_has_size, (int width, int height, int format), {
  GLctx.texSubImage2D(GLctx.TEXTURE_2D, 0, width, height, 0, 0, format, GLctx.FLOAT, new Float32Array(0));
  return GLctx.getError() == GLctx.NO_ERROR ? 1 : 0;
});
/* clang-format on */

ts_status gl_given_check(ts_context *context, GLuint texture, GLenum format, int width, int height) {
  const gl_format_info *info = gl_format_find(format);
  if (webgl_channels() * (int)sizeof(float) != info->bytes)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "texture %u must have the format %s", texture,
                    format == GL_R32F    ? "R32F"
                    : format == GL_RG32F ? "RG32F"
                                         : "RGBA32F");
  if (!webgl_has_size(width, height, (int)info->external))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "texture %u is too small; vectors of this space are %d x %d", texture, width, height);
  return TS_OK;
}
