/* texsolve with CUDA programs: the memory behind vectors, the stream of a context, and vectors that OpenGL
 * draws without a copy. In an application's stream, with its numbers in device memory:
 *
 *   ts_context_desc device = {.backend = "cuda"};
 *   ts_context_create(&device, &context);
 *   ts_cuda_set_stream(context, stream);
 *   // ... a matrix and vectors of size `count`
 *   ts_vector_write(b, ts_cuda(numbers, count, stream));   // enqueued, without waiting
 *   ts_matrix_multiply(x, A, b);
 *   ts_vector_read(x, ts_cuda(numbers, count, stream));
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

/* Returns the device memory of a vector as an array of floats, aligned to 16 bytes, whose stream is the
 * context's: component c of index i is number i * components + c. The library owns the memory. It is valid
 * until the vector is destroyed or lent to OpenGL (ts_cuda_vector_get_gl_texture), after which it may change.
 * Work on the context's stream, or on one that waits for it, sees the results of all earlier calls; later calls
 * see what was written on the context's stream. A vector of ts_cuda_vector_from_array returns the application's
 * array. */
TS_API ts_status ts_cuda_vector_get_array(ts_vector *vector, ts_array *array);

/* Creates a vector over `space` in the application's device memory, stored as above: size * components floats
 * or doubles. Its contents become the vector's: those of now, ordered with the array's stream, then what is in
 * the memory at each call, ordered with the context's stream. The application keeps ownership; the memory must
 * outlive the vector and the work enqueued with it. Destroy the vector with ts_vector_destroy.
 *
 * Floats are the vector. Doubles are mirrored by a vector of precision double: while it exists, each call that
 * uses the device splits the doubles into the vector's three floats at its beginning, and adds up those that it
 * changed at its end. The host does not wait. The cost is 12 bytes of memory per number, and at each call 28
 * bytes that are read and 12 that are written per number, with 8 for each that changed. Numbers that no call
 * changed keep all of their bits. In calculations numbers beyond the range of floats are infinite, and numbers
 * below 2^-97 lose digits.
 * Errors: TS_ERROR_INVALID_ARGUMENT (`array`: memory of the host or of another device, a count other than size
 * times components, floats that are not aligned to 16 bytes), memory. */
TS_API ts_status ts_cuda_vector_from_array(ts_space *space, int components, ts_array array, ts_vector **vector);

/* Returns the stream of a context: one of its own, which does not synchronise with the default stream, unless
 * ts_cuda_set_stream replaced it. */
TS_API ts_status ts_cuda_get_stream(const ts_context *context, struct CUstream_st **stream);

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
  uint64_t reserved[2];
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
 * Errors: as ts_cuda_gl_check; TS_ERROR_INVALID_ARGUMENT (a vector of ts_cuda_vector_from_array),
 * TS_ERROR_LIMIT (the driver has no buffer textures of this size), memory. */
TS_API ts_status ts_cuda_vector_get_gl_texture(ts_vector *vector, ts_cuda_gl_texture *texture);

/* Moves all vectors of this context out of OpenGL's buffers and deletes these with their textures. Call it
 * before the OpenGL context is destroyed if the vectors are used afterwards. Errors: memory. */
TS_API ts_status ts_cuda_gl_release(ts_context *context);

#ifdef __cplusplus
}
#endif
#endif
