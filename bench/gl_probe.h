/* Raw OpenGL for probes below the library's level: textures, programs, draws.
 *
 * The library's own context must be current (ts_gl_make_current). Functions that can fail print one line and
 * return nonzero. */
#ifndef BENCH_GL_PROBE_H
#define BENCH_GL_PROBE_H

#include <GL/glew.h>

#include "device_limits.h"

/* A texture and the framebuffer object that renders to it. */
typedef struct probe_texture {
  GLuint texture, framebuffer;
  int width, height;
} probe_texture;

/* Every texel of a new texture is 0.5, or 1 in an integer format. */
int probe_texture_create(probe_texture *t, limit_format format, int width, int height);
void probe_texture_destroy(probe_texture *t);

/* Compiles a shader of shaders/ with `defines` before it (lines, or ""). */
typedef enum probe_shader { PROBE_COPY, PROBE_FETCH, PROBE_FILL, PROBE_MULTIPLY_ADD, PROBE_STEP } probe_shader;
int probe_program_create(GLuint *program, probe_shader shader, const char *defines);

/* For the current context: ARB_texture_gather, and any form of glTextureBarrier or NULL. */
int probe_has_gathers(void);
typedef void (*probe_barrier)(void);
probe_barrier probe_texture_barrier(void);

/* Prepares the context for probes: a vertex array, no blending, depth or scissor. */
int probe_begin(GLuint *vertex_array);
void probe_end(GLuint *vertex_array);

/* Makes `t` the target of the following draws. */
void probe_target(const probe_texture *t);
/* Covers the viewport. */
void probe_draw(void);

/* Prints and returns nonzero if OpenGL has reported an error since the last call. */
int probe_failed(const char *what);

#endif
