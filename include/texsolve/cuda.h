/* texsolve with CUDA programs: the memory behind vectors, the stream that the library works on, and vectors
 * that OpenGL draws without a copy.
 *
 * Include before or after the headers of CUDA and of your OpenGL loader, or without them. All functions return
 * TS_ERROR_UNSUPPORTED for objects of another backend. A library built without CUDA does not contain them.
 *
 * A context of the backend "cuda" asks for all of its work on one stream, in the order of the calls, and
 * does not wait for it: calls wait only where their results come to the host. It makes its device current for
 * the length of a call and then puts the thread's current device back. Device memory comes from the device's
 * default pool (cudaMallocAsync), from which the library lets nothing go back before it needs to.
 */
#ifndef TEXSOLVE_CUDA_H
#define TEXSOLVE_CUDA_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t is a pointer to it */

/* Where a vector is stored: component c of index i is pointer[i * components + c], aligned to 16 bytes. `count`
 * is the number of floats, and may be NULL. The pointer is good until the vector is destroyed or lent to
 * OpenGL (ts_cuda_vector_gl_texture), after which it may be another one. What is asked for on the context's
 * stream, or on one that waits for it, sees the results of all calls made before; the library's later calls see
 * what was written on the context's stream. */
TS_API ts_status ts_cuda_vector_pointer(ts_vector *vector, float **pointer, size_t *count);

/* A vector over `space` that lives in the application's device memory of `count` floats, stored as above. Its
 * contents become the vector's. The memory stays the application's and must outlive the vector and what was
 * asked for with it.
 * Errors: TS_ERROR_INVALID_ARGUMENT (memory of the host or of another device, not aligned to 16 bytes, a count
 * other than size times components). */
TS_API ts_status ts_cuda_vector_from_pointer(ts_space *space, int components, float *pointer, size_t count,
                                             ts_vector **vector);

/* The stream that the context works on: of its own, and not one that waits for the default stream, unless
 * ts_cuda_set_stream gave it another. */
TS_API ts_status ts_cuda_stream(const ts_context *context, struct CUstream_st **stream);

/* Work on the application's stream from now on; what was asked for before comes first. The stream must be of
 * the context's device and must last until the context is destroyed or has another one. NULL: the context's own
 * again; the default stream is cudaStreamLegacy or cudaStreamPerThread here. */
TS_API ts_status ts_cuda_set_stream(ts_context *context, struct CUstream_st *stream);

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
 * says why. What it cannot know: an NVIDIA driver stops sharing, without an error, once a kernel of any program
 * has faulted at an invalid address on that GPU (seen with driver 580.159.04). */
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
 * Errors: as ts_cuda_gl_check; TS_ERROR_INVALID_ARGUMENT (a vector in memory of the application's),
 * TS_ERROR_LIMIT (the driver has no buffer textures of this size), memory. */
TS_API ts_status ts_cuda_vector_gl_texture(ts_vector *vector, ts_cuda_gl_texture *texture);

/* All vectors of this context leave OpenGL's buffers, which are deleted with their textures: before the OpenGL
 * context goes and the vectors do not. */
TS_API ts_status ts_cuda_gl_release(ts_context *context);

#ifdef __cplusplus
}
#endif
#endif
