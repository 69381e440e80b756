/* Short forms of arrays with every kind of pointer, compiled as C and as C++. */
#include <texsolve/texsolve.h>

#ifdef __cplusplus
#define IS_TYPE(pointer_type, type)                                                                            \
  static_assert(ts_type_of<pointer_type>::value == (type), "the type of numbers")
IS_TYPE(float, TS_TYPE_FLOAT);
IS_TYPE(double, TS_TYPE_DOUBLE);
IS_TYPE(int32_t, TS_TYPE_INT32);
IS_TYPE(int64_t, TS_TYPE_INT64);
IS_TYPE(long long, TS_TYPE_INT64);
#else
#define IS_TYPE(pointer_type, type)                                                                            \
  _Static_assert(TS_TYPE_OF((pointer_type *)0) == (type), "the type of numbers");                              \
  _Static_assert(TS_TYPE_OF((const pointer_type *)0) == (type), "the type of constant numbers");               \
  _Static_assert(!TS_IS_CONSTANT((pointer_type *)0) && TS_IS_CONSTANT((const pointer_type *)0), "constness")
IS_TYPE(float, TS_TYPE_FLOAT);
IS_TYPE(double, TS_TYPE_DOUBLE);
IS_TYPE(int32_t, TS_TYPE_INT32);
IS_TYPE(int64_t, TS_TYPE_INT64);
IS_TYPE(long long, TS_TYPE_INT64);
#endif

/* One of each kind, as pointers and as arrays. */
#define USES(type)                                                                                             \
  static inline size_t use_##type(type *pointer, const type *constant, struct CUstream_st *stream) {           \
    type array[3] = {0, 0, 0};                                                                                 \
    const type constants[3] = {0, 0, 0};                                                                       \
    type *const fixed = pointer;                                                                               \
    return ts_host(pointer, 3).count + ts_host(constant, 3).count + ts_host(array, 3).count +                  \
           ts_host(constants, 3).count + ts_host(fixed, 3).count + ts_host(pointer + 1, 2).count +             \
           ts_host(&array[1], 2).count + ts_cuda(pointer, 3, stream).count +                                   \
           ts_cuda(constant, 3, stream).count + ts_cuda(array, 3, NULL).count;                                 \
  }
typedef long long long_long;
USES(float)
USES(double)
USES(int)
USES(long)
USES(long_long)
USES(int32_t)
USES(int64_t)

static inline ts_csr rows_of(const int32_t *offsets, const int64_t *wide, float *floats,
                             const double *doubles) {
  int32_t own[2] = {0, 1};
  const ts_csr all[] = {ts_host_csr(1, 1, offsets, wide, floats), ts_host_csr(1, 1, wide, offsets, doubles),
                        ts_host_csr(1, 1, own, own, NULL), ts_host_csr(0, 0, NULL, NULL, NULL)};
  return all[0].rows ? all[0] : all[3];
}

size_t check(void);
size_t check(void) {
  const int32_t offsets[2] = {0, 1};
  const int64_t columns[1] = {0};
  float value = 1;
  ts_array none = ts_host(NULL, 0);
  none = ts_array_on_cuda(ts_array_make(&value, 1, TS_TYPE_FLOAT, 0), NULL);
  return none.count + rows_of(offsets, columns, &value, NULL).column_indices.count +
         use_float(&value, NULL, NULL) + use_double(NULL, NULL, NULL) + use_int(NULL, NULL, NULL) +
         use_long(NULL, NULL, NULL) + use_long_long(NULL, NULL, NULL) + use_int32_t(NULL, NULL, NULL) +
         use_int64_t(NULL, NULL, NULL);
}
