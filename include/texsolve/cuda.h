/* texsolve with CUDA programs: the memory behind vectors, the stream of a context, and vectors that OpenGL
 * draws without a copy.
 *
 * Include before or after the headers of CUDA and of your OpenGL loader, or without them. All functions return
 * TS_ERROR_UNSUPPORTED for objects of another backend. A library built without CUDA does not contain them.
 * Threads, version and errors are as in texsolve.h: the thread that uses the context may call all functions.
 *
 * A context of the backend "cuda" enqueues all of its work on one stream, in the order of the calls; a call
 * synchronises only if it returns results to the host. It makes its device current during a call and then
 * restores the thread's current device. Device memory comes from the device's default pool (cudaMallocAsync),
 * which the library sets to release nothing before it has to.
 */
#ifndef TEXSOLVE_CUDA_H
#define TEXSOLVE_CUDA_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t is a pointer to it */

/* Returns the device memory of a vector: component c of index i is pointer[i * components + c], aligned to 16
 * bytes. `count` is the number of floats, and may be NULL. The library owns the memory. The pointer is valid
 * until the vector is destroyed or lent to OpenGL (ts_cuda_vector_gl_texture), after which it may change. Work
 * on the context's stream, or on one that waits for it, sees the results of all earlier calls; later calls see
 * what was written on the context's stream. */
TS_API ts_status ts_cuda_vector_pointer(ts_vector *vector, float **pointer, size_t *count);

/* Creates a vector over `space` in the application's device memory of `count` floats, stored as above. Its
 * contents become the vector's. The application keeps ownership; the memory must outlive the vector and the
 * work enqueued with it. Destroy the vector with ts_vector_destroy.
 * Errors: TS_ERROR_INVALID_ARGUMENT (memory of the host or of another device, not aligned to 16 bytes, a count
 * other than size times components). */
TS_API ts_status ts_cuda_vector_from_pointer(ts_space *space, int components, float *pointer, size_t count,
                                             ts_vector **vector);

/* Returns the stream of a context: one of its own, which does not synchronise with the default stream, unless
 * ts_cuda_set_stream replaced it. */
TS_API ts_status ts_cuda_stream(const ts_context *context, struct CUstream_st **stream);

/* Makes the context use the application's stream from now on; work enqueued before comes first. The stream must
 * belong to the context's device and must outlive the context or its use of it. NULL: the context's own stream
 * again; the default stream is cudaStreamLegacy or cudaStreamPerThread here.
 * Errors: TS_ERROR_DEVICE (a stream of another device). */
TS_API ts_status ts_cuda_set_stream(ts_context *context, struct CUstream_st *stream);

/* ---- Drawing with OpenGL ---- */

/* A GL_TEXTURE_BUFFER over the buffer object that holds a vector. Index i is texel i, in the format R32F, RG32F
 * or RGBA32F for 1, 2 or 4 components; with 3 its components are texels 3 i, 3 i + 1 and 3 i + 2 in the format
 * R32F. A shader reads it with texelFetch from a samplerBuffer. */
typedef struct ts_cuda_gl_texture {
  unsigned texture, buffer;
  unsigned internal_format;
  int32_t texels;
} ts_cuda_gl_texture;

/* Checks whether the OpenGL context that is current on this thread can share vectors of this context: it must
 * be on the same device. TS_ERROR_UNSUPPORTED: it cannot, or the library was built without OpenGL;
 * ts_last_error says why. Not detectable: an NVIDIA driver stops sharing, without an error, once a kernel of
 * any program has accessed an invalid address on that GPU (seen with driver 580.159.04). */
TS_API ts_status ts_cuda_gl_check(ts_context *context);

/* Returns the buffer texture behind a vector, for draws in the current OpenGL context. The first call moves the
 * vector into a buffer object of that context, where it stays; the library owns buffer and texture. Each call
 * lends OpenGL all vectors moved so far, in order and without host synchronisation: later draws see the results
 * of all earlier calls. The next call of another function with this library's context takes everything back,
 * ordered after the draws so far. So: make steps, get the textures of this frame, draw, make steps.
 *
 * As long as the vector exists the same OpenGL context must be current wherever the library's context is used;
 * otherwise calls fail with TS_ERROR_DEVICE. OpenGL bindings are preserved.
 * Errors: as ts_cuda_gl_check; TS_ERROR_INVALID_ARGUMENT (a vector in the application's memory),
 * TS_ERROR_LIMIT (the driver has no buffer textures of this size), memory. */
TS_API ts_status ts_cuda_vector_gl_texture(ts_vector *vector, ts_cuda_gl_texture *texture);

/* Moves all vectors of this context out of OpenGL's buffers and deletes these with their textures. Call it
 * before the OpenGL context is destroyed if the vectors are used afterwards. Errors: memory. */
TS_API ts_status ts_cuda_gl_release(ts_context *context);

#ifdef __cplusplus
}
#endif
#endif
