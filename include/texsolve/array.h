/* Arrays of the application: where numbers are, how many there are, and of which type.
 *
 * Functions that read or write the application's numbers take a ts_array. It points to them and owns nothing.
 * ts_host() makes one of a host pointer, and ts_cuda() one of a CUDA device pointer; the type follows from the
 * pointer's. x is a vector with 3 indices:
 *
 *   const double numbers[] = {1, 2, 3};
 *   float rounded[3];
 *   ts_vector_write(x, ts_host(numbers, 3));
 *   ts_vector_read(x, ts_host(rounded, 3));
 *   // With float *device of cudaMalloc: ts_vector_read(x, ts_cuda(device, 3, stream));
 *
 * Compilers older than C11 have no ts_host(): use ts_array_make(). texsolve/texsolve.h includes this header.
 */
#ifndef TEXSOLVE_ARRAY_H
#define TEXSOLVE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

struct CUstream_st; /* cudaStream_t is a pointer to it */

/* What an array holds. */
typedef enum ts_type {
  TS_TYPE_NONE = 0, /* of an array that is not given */
  TS_TYPE_FLOAT = 1,
  TS_TYPE_DOUBLE = 2,
  TS_TYPE_INT32 = 3,
  TS_TYPE_INT64 = 4
} ts_type;

/* Where an array is. */
typedef enum ts_memory {
  TS_MEMORY_HOST = 0,
  TS_MEMORY_CUDA = 1 /* of the context's CUDA device, managed or page-locked */
} ts_memory;

/* An array in memory of the application. Without data it is not given, whatever else it says. A function names
 * the types and the count that it needs; others are TS_ERROR_INVALID_ARGUMENT, and the message names the
 * argument or the field. An array that is only read may be any of the types named; numbers of other types are
 * converted.
 *
 * TS_MEMORY_CUDA is for contexts of the backend "cuda". The library reads and writes after all work that is in
 * `stream` at the call, and before later work in `stream`, which may change what was read. The host waits only
 * for numbers that it needs: see each function. Page-locked memory may be given as either. On other backends,
 * and for what is kept on the host, it is TS_ERROR_UNSUPPORTED. */
typedef struct ts_array {
  void *data;
  size_t count; /* numbers */
  ts_type type;
  ts_memory memory;
  int read_only;              /* 1: a function that would write to it fails */
  int reserved;               /* 0 */
  struct CUstream_st *stream; /* TS_MEMORY_CUDA; NULL: the default stream */
} ts_array;

/* An array of `count` numbers of a type in host memory. Any thread, here and below. */
static inline ts_array ts_array_make(const void *data, size_t count, ts_type type, int read_only) {
  ts_array array = {NULL, 0, TS_TYPE_NONE, TS_MEMORY_HOST, 0, 0, NULL};
  array.data = (void *)(uintptr_t)data;
  array.count = count;
  array.type = type;
  array.read_only = read_only;
  return array;
}

/* The same array in memory of a CUDA device. */
static inline ts_array ts_array_on_cuda(ts_array array, struct CUstream_st *stream) {
  array.memory = TS_MEMORY_CUDA;
  array.stream = stream;
  return array;
}

#if defined(__cplusplus) /* ts_host and ts_cuda as functions; see the macros below */

extern "C++" {
template <class T> struct ts_type_of;
template <> struct ts_type_of<float> { static const ts_type value = TS_TYPE_FLOAT; };
template <> struct ts_type_of<double> { static const ts_type value = TS_TYPE_DOUBLE; };
template <> struct ts_type_of<int> { static const ts_type value = TS_TYPE_INT32; };
template <> struct ts_type_of<long> {
  static const ts_type value = sizeof(long) == 8 ? TS_TYPE_INT64 : TS_TYPE_INT32;
};
template <> struct ts_type_of<long long> { static const ts_type value = TS_TYPE_INT64; };

template <class T> inline ts_array ts_host(T *pointer, size_t count) {
  return ts_array_make(pointer, count, ts_type_of<T>::value, 0);
}
template <class T> inline ts_array ts_host(const T *pointer, size_t count) {
  return ts_array_make(pointer, count, ts_type_of<T>::value, 1);
}
inline ts_array ts_host(decltype(nullptr), size_t) {
  return ts_array_make(0, 0, TS_TYPE_NONE, 0);
}
template <class T> inline ts_array ts_cuda(T *pointer, size_t count, struct CUstream_st *stream) {
  return ts_array_on_cuda(ts_host(pointer, count), stream);
}
}

#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L

#define TS_TYPE_OF_LONG (sizeof(long) == 8 ? TS_TYPE_INT64 : TS_TYPE_INT32)
#define TS_TYPE_OF(pointer)                                                                                    \
  _Generic((pointer),                                                                                          \
      float *: TS_TYPE_FLOAT,                                                                                  \
      const float *: TS_TYPE_FLOAT,                                                                            \
      double *: TS_TYPE_DOUBLE,                                                                                \
      const double *: TS_TYPE_DOUBLE,                                                                          \
      int *: TS_TYPE_INT32,                                                                                    \
      const int *: TS_TYPE_INT32,                                                                              \
      long *: TS_TYPE_OF_LONG,                                                                                 \
      const long *: TS_TYPE_OF_LONG,                                                                           \
      long long *: TS_TYPE_INT64,                                                                              \
      const long long *: TS_TYPE_INT64,                                                                        \
      void *: TS_TYPE_NONE)
#define TS_IS_CONSTANT(pointer)                                                                                \
  _Generic((pointer), const float * : 1, const double * : 1, const int * : 1, const long * : 1,                \
           const long long * : 1, default : 0)

/* An array in host memory of the pointer's type, which is float, double or a signed integer of 32 or 64 bits,
 * constant or not. ts_host(NULL, 0) is an array that is not given. In C++ this is a function. */
#define ts_host(pointer, count) ts_array_make((pointer), (count), TS_TYPE_OF(pointer), TS_IS_CONSTANT(pointer))
/* The same in memory of a CUDA device, with the stream that its numbers are used in. */
#define ts_cuda(pointer, count, stream) ts_array_on_cuda(ts_host((pointer), (count)), (stream))

#endif

#endif
