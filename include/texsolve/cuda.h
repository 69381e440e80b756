/* texsolve with programs that use CUDA: vectors that OpenGL draws without a copy.
 *
 * Include after CUDA's and your OpenGL loader's headers or before them; this header needs none. All functions
 * return TS_ERROR_UNSUPPORTED for objects of another backend. A library built without CUDA does not contain
 * them.
 */
#ifndef TEXSOLVE_CUDA_H
#define TEXSOLVE_CUDA_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Drawing with OpenGL ---- */

/* A GL_TEXTURE_BUFFER over the buffer object that a vector lives in. Index i is at texel i, in the format R32F,
 * RG32F or RGBA32F for 1, 2 or 4 components; with 3 its components are at texels 3 i, 3 i + 1 and 3 i + 2 of
 * the format R32F. A shader reads it with texelFetch from a samplerBuffer. */
typedef struct ts_cuda_gl_texture {
  unsigned texture, buffer;
  unsigned internal_format;
  int32_t texels;
} ts_cuda_gl_texture;

/* Whether the OpenGL context that is current on this thread can share vectors of this context: it must be one
 * of the same device. TS_ERROR_UNSUPPORTED: it cannot, or the library was built without OpenGL; ts_last_error
 * says why. */
TS_API ts_status ts_cuda_gl_check(ts_context *context);

/* The buffer texture behind a vector, for drawing in the OpenGL context that is current. The first call moves
 * the vector into a buffer object of that context, and it stays there; the library owns buffer and texture.
 * Each call lends OpenGL all vectors that were moved so, in order and without a wait: what is drawn from now on
 * sees the results of all calls made before. The next call of another function with this library's context
 * takes everything back, behind what was drawn until then. So: make steps, ask for the textures of this frame,
 * draw, make steps.
 *
 * As long as the vector exists the same OpenGL context must be current wherever the library's context is used;
 * otherwise calls fail with TS_ERROR_DEVICE. What is bound in OpenGL stays bound.
 * Errors: as ts_cuda_gl_check; TS_ERROR_LIMIT (the driver has no buffer textures of this size), memory. */
TS_API ts_status ts_cuda_vector_gl_texture(ts_vector *vector, ts_cuda_gl_texture *texture);

/* All vectors of this context leave OpenGL's buffers, which are deleted with their textures: before the OpenGL
 * context goes and the vectors do not. */
TS_API ts_status ts_cuda_gl_release(ts_context *context);

#ifdef __cplusplus
}
#endif
#endif
