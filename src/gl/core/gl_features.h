/* The features of an OpenGL context, as the context reports them. */
#ifndef TSI_GL_FEATURES_H
#define TSI_GL_FEATURES_H

#include "gl/core/gl_api.h"

/* Features that a context has by its version, by an extension or, for COMPATIBILITY, by its profile. */
enum {
  GL_HAS_COMPATIBILITY = 1 << 0,
  GL_HAS_IMAGING = 1 << 1, /* the imaging subset of the compatibility profile */
  GL_HAS_SAMPLE_SHADING = 1 << 2,
  GL_HAS_FEEDBACK_PAUSE = 1 << 3,
  GL_HAS_SUBROUTINES = 1 << 4,
  GL_HAS_PIPELINES = 1 << 5,
  GL_HAS_VIEWPORTS = 1 << 6,
  GL_HAS_FIXED_RESTART = 1 << 7,
  GL_HAS_COMPUTE = 1 << 8,
  GL_HAS_CONSERVATIVE_QUERY = 1 << 9,
  GL_HAS_CLIP_CONTROL = 1 << 10,
  GL_HAS_PACK_INVERT = 1 << 11,
  GL_HAS_TESSELLATION = 1 << 12,
  GL_HAS_INTERFACE_QUERY = 1 << 13,
  GL_HAS_NO_ERROR = 1 << 14 /* the context records no errors */
};

/* GLEW's flags are unreliable. With glewExperimental, which its older versions need for core contexts, an
 * extension counts as present if its functions have addresses, and libglvnd returns an address for every name.
 * The flags also apply to the whole process, while contexts differ. */
typedef struct gl_features {
  int version;                             /* 33 for OpenGL 3.3; 0 before 3.0 */
  void(GLAPIENTRY *texture_barrier)(void); /* core (4.5), ARB or NVIDIA; NULL: unavailable */
  int texture_gather;                      /* ARB_texture_gather, which shaders of version 330 can enable */
  int gpu_shader5;                         /* ARB_gpu_shader5, likewise */
  unsigned has;                            /* GL_HAS_... */
  int subgroup_size; /* of fragment shaders, by KHR_shader_subgroup with ballot and shuffle; 0: unavailable */
} gl_features;

/* Features of the current context. GLEW must have loaded its functions. Before OpenGL 3.0 this leaves an OpenGL
 * error. */
gl_features gl_features_get(void);

#endif
