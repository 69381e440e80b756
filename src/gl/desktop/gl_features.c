/* Queries the version and the list of extensions of the current context. */
#include "gl/core/gl_features.h"

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

typedef struct part {
  unsigned bit;
  int version; /* that includes the feature; 0: none */
  const char *extension;
} part;

static unsigned parts_of_context(int version) {
  static const part parts[] = {{GL_HAS_COMPATIBILITY, 0, "GL_ARB_compatibility"},
                               {GL_HAS_SAMPLE_SHADING, 40, "GL_ARB_sample_shading"},
                               {GL_HAS_FEEDBACK_PAUSE, 40, "GL_ARB_transform_feedback2"},
                               {GL_HAS_SUBROUTINES, 40, "GL_ARB_shader_subroutine"},
                               {GL_HAS_TESSELLATION, 40, "GL_ARB_tessellation_shader"},
                               {GL_HAS_PIPELINES, 41, "GL_ARB_separate_shader_objects"},
                               {GL_HAS_VIEWPORTS, 41, "GL_ARB_viewport_array"},
                               {GL_HAS_FIXED_RESTART, 43, "GL_ARB_ES3_compatibility"},
                               {GL_HAS_CONSERVATIVE_QUERY, 43, "GL_ARB_ES3_compatibility"},
                               {GL_HAS_COMPUTE, 43, "GL_ARB_compute_shader"},
                               {GL_HAS_INTERFACE_QUERY, 43, "GL_ARB_program_interface_query"},
                               {GL_HAS_CLIP_CONTROL, 45, "GL_ARB_clip_control"},
                               {GL_HAS_PACK_INVERT, 0, "GL_MESA_pack_invert"}};
  unsigned has = 0;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    if ((parts[i].version && version >= parts[i].version) || has_extension(parts[i].extension))
      has |= parts[i].bit;
  GLint profile = 0, flags = 0;
  glGetIntegerv(GL_CONTEXT_PROFILE_MASK, &profile);
  glGetIntegerv(GL_CONTEXT_FLAGS, &flags);
  if (flags & GL_CONTEXT_FLAG_NO_ERROR_BIT) has |= GL_HAS_NO_ERROR;
  if (profile & GL_CONTEXT_COMPATIBILITY_PROFILE_BIT) has |= GL_HAS_COMPATIBILITY;
  if (has & GL_HAS_COMPATIBILITY && has_extension("GL_ARB_imaging")) has |= GL_HAS_IMAGING;
  return has;
}

gl_features gl_features_get(void) {
  gl_features f = {.version = version_of_context()};
  if (f.version < 33) return f;
  if (f.version >= 45 || has_extension("GL_ARB_texture_barrier")) f.texture_barrier = glTextureBarrier;
  if (!f.texture_barrier && has_extension("GL_NV_texture_barrier")) f.texture_barrier = glTextureBarrierNV;
  f.texture_gather = has_extension("GL_ARB_texture_gather");
  f.gpu_shader5 = has_extension("GL_ARB_gpu_shader5");
  f.has = parts_of_context(f.version);
  f.subgroup_size = subgroup_size();
  return f;
}
