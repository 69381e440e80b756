/* The textures that an application gives for vectors. */
#include "gl/core/gl.h"

static const char *format_name(GLenum format) {
  return format == GL_R32F ? "R32F" : format == GL_RG32F ? "RG32F" : "RGBA32F";
}

ts_status gl_given_check(ts_context *context, GLuint texture, GLenum format, int vector_width,
                         int vector_height) {
  GLint width = 0, height = 0, internal = 0;
  glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &width);
  glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_HEIGHT, &height);
  glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_INTERNAL_FORMAT, &internal);
  if (width != vector_width || height != vector_height)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "texture %u is %d x %d; vectors of this space are %d x %d", texture, width, height,
                    vector_width, vector_height);
  if ((GLenum)internal != format)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "texture %u has the format 0x%04x; it must be %s (0x%04x)", texture, (unsigned)internal,
                    format_name(format), format);
  return TS_OK;
}
