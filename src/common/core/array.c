/* Arrays of the application. Only this file reads a ts_array, so that the rest of the library works with
 * pointers to host memory of known types. */
#include <limits.h>
#include <string.h>

#include "array.h"
#include "device_pointer.h"

/* ---- Checks ---- */

static const char *type_text(int types) {
  if (types == 1 << TS_TYPE_INT32) return "integers of 32 bits";
  return types == TSI_INTEGER ? "integers of 32 or 64 bits" : "floats or doubles";
}

static const char *const type_names[] = {"none", "floats", "doubles", "integers of 32 bits",
                                         "integers of 64 bits"};

static ts_status check_memory(ts_context *context, const char *name, const ts_array *array) {
  const tsi_array_ops *ops = context ? context->device_ops->arrays : NULL;
  if (array->memory != TS_MEMORY_HOST && array->memory != TS_MEMORY_CUDA)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s.memory is %d, not a ts_memory", name,
                    array->memory);
  if (array->memory == TS_MEMORY_CUDA && !ops)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED,
                    "%s is in CUDA memory; %s%s accepts only arrays in host memory", name,
                    context ? "backend " : "this function", context ? context->backend_name : "");
  if (array->memory == TS_MEMORY_CUDA) return array->count ? ops->check(context, name, array) : TS_OK;
  if (array->stream)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is in host memory and its stream is set", name);
  if (tsi_is_device_pointer(array->data))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "%s points to memory of a CUDA device and its memory is TS_MEMORY_HOST", name);
  return TS_OK;
}

ts_status tsi_array_check(ts_context *context, const char *name, const ts_array *array, size_t count, int types,
                          tsi_access access) {
  if (!array->data && count)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s is NULL; it must have %zu numbers", name, count);
  if ((unsigned)array->type > TS_TYPE_INT64)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s.type is %d, not a ts_type", name, array->type);
  if (array->type == TS_TYPE_NONE ? count > 0 : !(1 << array->type & types))
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s holds %s; it must hold %s", name,
                    type_names[array->type], type_text(types));
  if (array->count != count)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s has %zu numbers; it must have %zu", name,
                    array->count, count);
  if (count > SIZE_MAX / 8)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s.count is %zu, more than memory can hold", name,
                    count);
  if (access == TSI_WRITE && array->read_only)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "%s was made from a pointer to const and cannot be written", name);
  if (array->reserved)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "%s.reserved is %d; it must be 0", name,
                    array->reserved);
  return check_memory(context, name, array);
}

/* ---- Loans ---- */

void tsi_loans_free(ts_context *context, tsi_loans *loans) {
  while (loans->count > 0) tsi_free(context, loans->blocks[--loans->count]);
}

ts_status tsi_loan(ts_context *context, const char *what, size_t count, ts_type type, tsi_loans *loans,
                   void **block) {
  *block = tsi_malloc(context, count ? count : 1, tsi_type_size(type));
  if (!*block) return tsi_out_of_memory(context, what, count * tsi_type_size(type));
  loans->blocks[loans->count++] = *block;
  return TS_OK;
}

ts_status tsi_array_borrow(ts_context *context, const char *name, const ts_array *array, size_t count,
                           int types, tsi_loans *loans, const void **numbers) {
  void *copy;
  TSI_TRY(tsi_array_check(context, name, array, count, types, TSI_READ));
  *numbers = array->data;
  if (array->memory == TS_MEMORY_HOST || count == 0) return TS_OK;
  TSI_TRY(tsi_loan(context, name, count, array->type, loans, &copy));
  TSI_TRY(context->device_ops->arrays->read(context, array, copy, count * tsi_type_size(array->type)));
  *numbers = copy;
  return TS_OK;
}

ts_status tsi_array_borrow_doubles(ts_context *context, const char *name, const ts_array *array, size_t count,
                                   tsi_loans *loans, const double **numbers) {
  const void *given = NULL;
  void *converted;
  *numbers = NULL;
  if (!tsi_is_given(array)) return TS_OK;
  TSI_TRY(tsi_array_borrow(context, name, array, count, TSI_FLOATING, loans, &given));
  *numbers = given;
  if (array->type != TS_TYPE_FLOAT) return TS_OK;
  const float *floats = given;
  TSI_TRY(tsi_loan(context, name, count, TS_TYPE_DOUBLE, loans, &converted));
  double *doubles = converted;
  for (size_t k = 0; k < count; k++) doubles[k] = (double)floats[k];
  *numbers = doubles;
  return TS_OK;
}

ts_status tsi_array_borrow_floats(ts_context *context, const char *name, const ts_array *array, size_t count,
                                  tsi_loans *loans, const float **numbers) {
  const void *given = NULL;
  void *converted;
  *numbers = NULL;
  if (!tsi_is_given(array)) return TS_OK;
  TSI_TRY(tsi_array_borrow(context, name, array, count, TSI_FLOATING, loans, &given));
  *numbers = given;
  if (array->type != TS_TYPE_DOUBLE) return TS_OK;
  const double *doubles = given;
  TSI_TRY(tsi_loan(context, name, count, TS_TYPE_FLOAT, loans, &converted));
  float *floats = converted;
  for (size_t k = 0; k < count; k++) floats[k] = (float)doubles[k];
  *numbers = floats;
  return TS_OK;
}

ts_status tsi_array_borrow_int32(ts_context *context, const char *name, const ts_array *array, size_t count,
                                 tsi_loans *loans, const int32_t **numbers) {
  const void *given = NULL;
  void *converted;
  *numbers = NULL;
  TSI_TRY(tsi_array_borrow(context, name, array, count, TSI_INTEGER, loans, &given));
  *numbers = given;
  if (array->type != TS_TYPE_INT64) return TS_OK;
  const int64_t *wide = given;
  TSI_TRY(tsi_loan(context, name, count, TS_TYPE_INT32, loans, &converted));
  int32_t *narrow = converted;
  for (size_t k = 0; k < count; k++) {
    if (wide[k] < INT32_MIN || wide[k] > INT32_MAX)
      return tsi_fail(context, TS_ERROR_LIMIT, "%s[%zu] is %lld; one device has at most 2^31 - 1 %s", name, k,
                      (long long)wide[k], "entries, rows and columns");
    narrow[k] = (int32_t)wide[k];
  }
  *numbers = narrow;
  return TS_OK;
}

ts_status tsi_array_borrow_int64(ts_context *context, const char *name, const ts_array *array, size_t count,
                                 tsi_loans *loans, const int64_t **numbers) {
  const void *given = NULL;
  void *converted;
  *numbers = NULL;
  TSI_TRY(tsi_array_borrow(context, name, array, count, TSI_INTEGER, loans, &given));
  *numbers = given;
  if (array->type != TS_TYPE_INT32) return TS_OK;
  const int32_t *narrow = given;
  TSI_TRY(tsi_loan(context, name, count, TS_TYPE_INT64, loans, &converted));
  int64_t *wide = converted;
  for (size_t k = 0; k < count; k++) wide[k] = narrow[k];
  *numbers = wide;
  return TS_OK;
}

ts_status tsi_array_borrow_values(ts_context *context, const char *name, const ts_array *array, size_t count,
                                  tsi_loans *loans, const float **floats, const double **doubles) {
  const void *given = NULL;
  *floats = NULL;
  *doubles = NULL;
  if (!tsi_is_given(array)) return TS_OK;
  TSI_TRY(tsi_array_borrow(context, name, array, count, TSI_FLOATING, loans, &given));
  if (array->type == TS_TYPE_DOUBLE)
    *doubles = given;
  else
    *floats = given;
  return TS_OK;
}

ts_status tsi_array_lend(ts_context *context, const ts_array *array, tsi_loans *loans, void **numbers) {
  *numbers = array->data;
  if (array->memory == TS_MEMORY_HOST) return TS_OK;
  return tsi_loan(context, "an array", array->count, array->type, loans, numbers);
}

ts_status tsi_array_return(ts_context *context, const ts_array *array, const void *numbers) {
  if (array->memory == TS_MEMORY_HOST) return TS_OK;
  return context->device_ops->arrays->write(context, array, numbers, array->count * tsi_type_size(array->type));
}

static ts_status put(ts_context *context, const ts_array *array, const void *numbers, ts_type type) {
  const ts_array from = ts_array_make(numbers, array->count, type, 1);
  tsi_loans loans = {0};
  void *converted;
  TSI_TRY(tsi_array_lend(context, array, &loans, &converted));
  const ts_array host = ts_array_make(converted, array->count, array->type, 0);
  for (size_t k = 0; k < array->count; k++) tsi_array_set(&host, k, tsi_array_number(&from, k, 0));
  const ts_status status = tsi_array_return(context, array, converted);
  tsi_loans_free(context, &loans);
  return status;
}

ts_status tsi_array_put(ts_context *context, const ts_array *array, const double *numbers) {
  return put(context, array, numbers, TS_TYPE_DOUBLE);
}

ts_status tsi_array_put_floats(ts_context *context, const ts_array *array, const float *numbers) {
  return put(context, array, numbers, TS_TYPE_FLOAT);
}
