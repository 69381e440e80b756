/* Asks the context for its version and its list of extensions. */
#include "gl_features.h"

#include <string.h>

#ifndef GL_KHR_shader_subgroup /* GLEW before 2.2 */
#define GL_SUBGROUP_SIZE_KHR 0x9532
#define GL_SUBGROUP_SUPPORTED_STAGES_KHR 0x9533
#define GL_SUBGROUP_SUPPORTED_FEATURES_KHR 0x9534
#define GL_SUBGROUP_FEATURE_BALLOT_BIT_KHR 0x8
#define GL_SUBGROUP_FEATURE_SHUFFLE_BIT_KHR 0x10
#endif

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

static int subgroup_size(void) {
  static const GLint needed = GL_SUBGROUP_FEATURE_BALLOT_BIT_KHR | GL_SUBGROUP_FEATURE_SHUFFLE_BIT_KHR;
  GLint stages = 0, features = 0, size = 0;
  if (!has_extension("GL_KHR_shader_subgroup")) return 0;
  glGetIntegerv(GL_SUBGROUP_SUPPORTED_STAGES_KHR, &stages);
  glGetIntegerv(GL_SUBGROUP_SUPPORTED_FEATURES_KHR, &features);
  glGetIntegerv(GL_SUBGROUP_SIZE_KHR, &size);
  return stages & GL_FRAGMENT_SHADER_BIT && (features & needed) == needed ? size : 0;
}

gl_features gl_features_get(void) {
  gl_features f = {.version = version_of_context()};
  if (f.version < 33) return f;
  if (f.version >= 45 || has_extension("GL_ARB_texture_barrier")) f.texture_barrier = glTextureBarrier;
  if (!f.texture_barrier && has_extension("GL_NV_texture_barrier")) f.texture_barrier = glTextureBarrierNV;
  f.texture_gather = has_extension("GL_ARB_texture_gather");
  f.gpu_shader5 = has_extension("GL_ARB_gpu_shader5");
  f.subgroup_size = subgroup_size();
  return f;
}
