/* ts_array describes an array of the application: its address, length, element type and memory.
 *
 * Functions that read or write numbers of the application take a ts_array. It points to the numbers and does
 * not own them. ts_host() makes a ts_array from a host pointer, and ts_cuda() from a CUDA device pointer; the
 * type of the pointer selects the element type. In this example x is a vector with 3 indices:
 *
 *   const double numbers[] = {1, 2, 3};
 *   float rounded[3];
 *   ts_vector_write(x, ts_host(numbers, 3));
 *   ts_vector_read(x, ts_host(rounded, 3));
 *   // With float *device of cudaMalloc: ts_vector_read(x, ts_cuda(device, 3, stream));
 *
 * C before C11 does not have ts_host() and ts_cuda(): use ts_array_make() and ts_array_on_cuda().
 * texsolve/texsolve.h includes this header. */
#ifndef TEXSOLVE_ARRAY_H
#define TEXSOLVE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

struct CUstream_st; /* cudaStream_t is a pointer to this struct */

/* Element type of an array. */
typedef enum ts_type {
  TS_TYPE_NONE = 0, /* no array is given */
  TS_TYPE_FLOAT = 1,
  TS_TYPE_DOUBLE = 2,
  TS_TYPE_INT32 = 3,
  TS_TYPE_INT64 = 4
} ts_type;

/* Memory of an array. */
typedef enum ts_memory {
  TS_MEMORY_HOST = 0,
  TS_MEMORY_CUDA = 1 /* the context's CUDA device, or managed or page-locked memory */
} ts_memory;

/* An array in the application's memory. If `data` is NULL, no array is given, and the other fields are ignored.
 * Each function documents the types and the count that it accepts. With other types or counts it returns
 * TS_ERROR_INVALID_ARGUMENT, and the message names the argument or field. If a function only reads an array, it
 * converts the numbers from any of the documented types.
 *
 * TS_MEMORY_CUDA requires a context of the backend "cuda". The library accesses the array after all work that
 * is in `stream` at the time of the call. Work added to `stream` later waits for that access, so it may
 * overwrite the array. The host waits only for numbers that it needs itself; each function documents this.
 * Page-locked memory may be passed as either kind of memory. On other backends, and for arrays that the library
 * keeps on the host, TS_MEMORY_CUDA is TS_ERROR_UNSUPPORTED. */
typedef struct ts_array {
  void *data;
  size_t count; /* number of elements */
  ts_type type;
  ts_memory memory;
  int read_only;              /* 1: functions that would write to the array fail */
  int reserved;               /* 0 */
  struct CUstream_st *stream; /* TS_MEMORY_CUDA; NULL: the default stream */
} ts_array;

/* Makes a ts_array of `count` numbers in host memory. Any thread may call the functions of this header. */
static inline ts_array ts_array_make(const void *data, size_t count, ts_type type, int read_only) {
  ts_array array = {NULL, 0, TS_TYPE_NONE, TS_MEMORY_HOST, 0, 0, NULL};
  array.data = (void *)(uintptr_t)data;
  array.count = count;
  array.type = type;
  array.read_only = read_only;
  return array;
}

/* Returns a copy of `array`, marked as memory of a CUDA device. `stream` is the stream in which its numbers are
 * used. */
static inline ts_array ts_array_on_cuda(ts_array array, struct CUstream_st *stream) {
  array.memory = TS_MEMORY_CUDA;
  array.stream = stream;
  return array;
}

#if defined(__cplusplus) /* ts_host and ts_cuda as functions; the macros below are for C */

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

/* Makes a ts_array of `count` numbers in host memory. The pointer is to float, double or a signed integer of 32
 * or 64 bits, const or not. ts_host(NULL, 0) means that no array is given. In C++ this is a function. */
#define ts_host(pointer, count) ts_array_make((pointer), (count), TS_TYPE_OF(pointer), TS_IS_CONSTANT(pointer))
/* Makes a ts_array in the memory of a CUDA device; `stream` is the stream in which its numbers are used. */
#define ts_cuda(pointer, count, stream) ts_array_on_cuda(ts_host((pointer), (count)), (stream))

#endif

#endif
