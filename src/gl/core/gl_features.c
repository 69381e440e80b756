/* Asks the context for its version and its list of extensions. */
#include "gl_features.h"

#include <string.h>

static int version_of_context(void) {
  GLint major = 0, minor = 0;
  glGetIntegerv(GL_MAJOR_VERSION, &major);
  glGetIntegerv(GL_MINOR_VERSION, &minor);
  return 10 * major + minor;
}

static int has_extension(const char *name) {
  GLint count = 0;
  glGetIntegerv(GL_NUM_EXTENSIONS, &count);
  for (GLint i = 0; i < count; i++) {
    const char *extension = (const char *)glGetStringi(GL_EXTENSIONS, (GLuint)i);
    if (extension && !strcmp(extension, name)) return 1;
  }
  return 0;
}

gl_features gl_features_get(void) {
  gl_features f = {.version = version_of_context()};
  if (f.version < 33) return f;
  if (f.version >= 45 || has_extension("GL_ARB_texture_barrier")) f.texture_barrier = glTextureBarrier;
  if (!f.texture_barrier && has_extension("GL_NV_texture_barrier")) f.texture_barrier = glTextureBarrierNV;
  f.texture_gather = has_extension("GL_ARB_texture_gather");
  f.gpu_shader5 = has_extension("GL_ARB_gpu_shader5");
  return f;
}
