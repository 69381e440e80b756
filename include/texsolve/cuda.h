/* texsolve in CUDA programs: the memory of vectors, the stream of a context, and vectors that OpenGL draws
 * without a copy. In this example the application has a stream, and its numbers are in device memory:
 *
 *   ts_context_desc device = {.backend = "cuda"};
 *   ts_context_create(&device, &context);
 *   ts_cuda_set_stream(context, stream);
 *   // ... a matrix and vectors of size `count`
 *   ts_vector_write(b, ts_cuda(numbers, count, stream));   // enqueued, without waiting
 *   ts_matrix_multiply(x, A, b);
 *   ts_vector_read(x, ts_cuda(numbers, count, stream));
 *
 * Include this header before or after those of CUDA and of your OpenGL loader, or without them. All functions
 * return TS_ERROR_UNSUPPORTED for objects of another backend. A library built without CUDA does not contain
 * them. Threads, version and errors are as in texsolve.h: the thread that uses the context may call all
 * functions.
 *
 * A context of the backend "cuda" enqueues all of its work on one stream, in the order of the calls. A call
 * synchronises only if it returns results to the host. It makes its device current and restores the thread's
 * current device before it returns. Device memory is allocated from the device's default pool
 * (cudaMallocAsync), which the library configures to keep memory as long as possible. */
#ifndef TEXSOLVE_CUDA_H
#define TEXSOLVE_CUDA_H

#include <texsolve/texsolve.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the device memory of a vector as an array of floats, aligned to 16 bytes, with the context's stream.
 * Component c of index i is number i * components + c. The library owns the memory. It is valid until the
 * vector is destroyed or lent to OpenGL (ts_cuda_vector_get_gl_texture), after which it may change. Work on the
 * context's stream, or on a stream that waits for it, sees the results of all earlier calls. Later calls see
 * numbers written on the context's stream. For a vector of ts_cuda_vector_from_array it returns the
 * application's array. */
TS_API ts_status ts_cuda_vector_get_array(ts_vector *vector, ts_array *array);

/* Creates a vector over `space` in the application's device memory: size * components floats or doubles, in the
 * order above. The vector has the present contents, ordered with the array's stream. At each later call it has
 * the contents of that time, ordered with the context's stream. The application keeps ownership; the memory
 * must outlive the vector and the work enqueued with it. Destroy the vector with ts_vector_destroy.
 *
 * Floats are used in place. Doubles are mirrored by a vector of precision double. While that vector exists,
 * each call that uses the device first splits the doubles into the vector's three floats, and finally sums
 * those that it changed. The host does not wait. This costs 12 bytes of memory per number. Each call reads 28
 * bytes and writes 12 bytes per number, and writes 8 bytes for each number that changed. Numbers that no call
 * changed keep all of their bits. Calculations treat numbers beyond the range of floats as infinite, and
 * numbers below 2^-97 lose digits.
 * Errors: TS_ERROR_INVALID_ARGUMENT (`array`: host memory or that of another device, a count other than size
 * times components, floats that are not aligned to 16 bytes), memory. */
TS_API ts_status ts_cuda_vector_from_array(ts_space *space, int components, ts_array array, ts_vector **vector);

/* Returns the stream of a context. By default it is the context's own, which does not synchronise with the
 * default stream; ts_cuda_set_stream replaces it. */
TS_API ts_status ts_cuda_get_stream(const ts_context *context, struct CUstream_st **stream);

/* Sets the stream for all later work of the context; it waits for the work enqueued before. The stream must
 * belong to the context's device, and must outlive the context or its use of it. NULL selects the context's own
 * stream. To select the default stream, pass cudaStreamLegacy or cudaStreamPerThread.
 * Errors: TS_ERROR_DEVICE (a stream of another device). */
TS_API ts_status ts_cuda_set_stream(ts_context *context, struct CUstream_st *stream);

/* ---- Drawing with OpenGL ---- */

/* A GL_TEXTURE_BUFFER over the buffer object that holds a vector. Index i is texel i, in the format R32F, RG32F
 * or RGBA32F for 1, 2 or 4 components. With 3 components the format is R32F, and index i has the texels 3 i, 3
 * i + 1 and 3 i + 2. A shader reads it with texelFetch from a samplerBuffer. */
typedef struct ts_cuda_gl_texture {
  unsigned texture, buffer;
  unsigned internal_format;
  int32_t texels;
  uint64_t reserved[2];
} ts_cuda_gl_texture;

/* Checks whether the OpenGL context that is current on this thread can share vectors with this context: it must
 * be on the same device. Returns TS_ERROR_UNSUPPORTED if it cannot, or if the library was built without OpenGL;
 * ts_last_error says why. One case is not detected: an NVIDIA driver stops sharing, without an error, once a
 * kernel of any program has accessed an invalid address on that GPU (observed with driver 580.159.04). */
TS_API ts_status ts_cuda_gl_check(ts_context *context);

/* Returns the buffer texture of a vector, for drawing in the current OpenGL context. The first call moves the
 * vector into a buffer object of that context, where it stays. The library owns the buffer and the texture.
 * Each call lends OpenGL all vectors moved so far, in order and without host synchronisation: later draws see
 * the results of all earlier calls. The next call of another function with this library's context takes all of
 * them back, ordered after the draws so far. In each frame, compute, get the textures, and draw.
 *
 * While the vector exists, the same OpenGL context must be current in every call that uses the library's
 * context; otherwise the call fails with TS_ERROR_DEVICE. OpenGL bindings are preserved.
 * Errors: as ts_cuda_gl_check; TS_ERROR_INVALID_ARGUMENT (a vector of ts_cuda_vector_from_array),
 * TS_ERROR_LIMIT (larger than the driver's buffer textures), memory. */
TS_API ts_status ts_cuda_vector_get_gl_texture(ts_vector *vector, ts_cuda_gl_texture *texture);

/* Moves all vectors of this context out of OpenGL's buffers, and deletes the buffers and their textures. If the
 * vectors are used afterwards, call it before the OpenGL context is destroyed. Errors: memory. */
TS_API ts_status ts_cuda_gl_release(ts_context *context);

#ifdef __cplusplus
}
#endif
#endif
