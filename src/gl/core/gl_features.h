/* What an OpenGL context offers, as it says itself. */
#ifndef TSI_GL_FEATURES_H
#define TSI_GL_FEATURES_H

#include <GL/glew.h>

/* GLEW's flags are no answer: with glewExperimental, which core contexts of its older versions need, an
 * extension counts as present where its functions have an address, and libglvnd gives one for every name. They
 * are also one set for the whole process, whose contexts differ. */
typedef struct gl_features {
  int version;                             /* 33 for OpenGL 3.3; 0 for older ones than 3.0 */
  void(GLAPIENTRY *texture_barrier)(void); /* core (4.5), ARB's or NVIDIA's; NULL: none */
  int texture_gather;                      /* ARB_texture_gather, which shaders of version 330 can enable */
  int gpu_shader5;                         /* ARB_gpu_shader5, the same */
  int subgroup_size; /* of fragment shaders, by KHR_shader_subgroup with ballot and shuffle; 0: none */
} gl_features;

/* Of the context that is current, whose functions GLEW has loaded; before 3.0 it leaves an OpenGL error. */
gl_features gl_features_get(void);

#endif
