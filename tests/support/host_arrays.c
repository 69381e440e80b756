#include "host_arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/doubles.h"

static tsi_ops table;
static host_arrays *counted;

static ts_status alloc_array(ts_context *context, size_t count, ts_type type, ts_array *array) {
  if (counted->allocated >= counted->most)
    return tsi_fail(context, TS_ERROR_OUT_OF_DEVICE_MEMORY, "no memory for an array of %zu", count);
  *array = ts_array_make(malloc(count * tsi_type_size(type)), count, type, 0);
  counted->allocated++;
  counted->held++;
  return TS_OK;
}

static void free_array(ts_context *context, const ts_array *array) {
  (void)context;
  free(array->data);
  counted->held--;
}

static ts_status read_array(ts_context *context, const ts_array *array, void *host, size_t bytes) {
  context->host_synchronisations++;
  memcpy(host, array->data, bytes);
  return TS_OK;
}

static ts_status write_array(ts_context *context, const ts_array *array, const void *host, size_t bytes) {
  context->host_synchronisations++;
  memcpy(array->data, host, bytes);
  return TS_OK;
}

static ts_status look(ts_context *context, const ts_array *array, tsi_looked *found) {
  counted->looks++;
  context->host_synchronisations++;
  return tsi_doubles_look(context, array->data, array->count, found);
}

static ts_status split(ts_vector *v, const ts_array *array, int exponent) {
  float *floats = malloc(array->count * sizeof *floats);
  ts_status status = TS_OK;
  ts_vector *part = v;
  counted->splits++;
  for (int p = 0; part && status == TS_OK; p++, part = part->low) {
    status = tsi_doubles_split(v->context, array->data, array->count, exponent, p, floats);
    if (status == TS_OK) status = v->context->ops->vector_write(part, floats);
  }
  free(floats);
  return status;
}

static ts_status largest(const ts_vector *v, float *found) {
  const size_t count = (size_t)v->space->tiling.size * (size_t)v->components;
  float *floats = malloc(count * sizeof *floats);
  const ts_status status = v->context->ops->vector_read(v, floats);
  *found = 0;
  for (size_t k = 0; k < count && status == TS_OK; k++)
    if (isfinite(floats[k])) *found = fmaxf(*found, fabsf(floats[k]));
  v->context->host_synchronisations++;
  free(floats);
  return status;
}

static ts_status join(const ts_vector *v, const ts_array *array) {
  const ts_vector *parts[3] = {v, v->low, v->low ? v->low->low : NULL};
  float *floats = malloc(array->count * sizeof *floats);
  double *sums = calloc(array->count, sizeof *sums);
  ts_status status = TS_OK;
  counted->joins++;
  for (int p = array->type == TS_TYPE_FLOAT ? 0 : 2; p >= 0 && status == TS_OK; p--) {
    if (!parts[p]) continue;
    status = v->context->ops->vector_read(parts[p], floats);
    for (size_t k = 0; k < array->count && status == TS_OK; k++) sums[k] += (double)floats[k];
  }
  for (size_t k = 0; k < array->count; k++) tsi_array_set(array, k, ldexp(sums[k], v->exponent));
  free(floats), free(sums);
  return status;
}

static const tsi_array_ops operations = {.read = read_array,
                                         .write = write_array,
                                         .look = look,
                                         .largest = largest,
                                         .split = split,
                                         .join = join,
                                         .alloc = alloc_array,
                                         .free = free_array};

void host_arrays_install(ts_context *context, host_arrays *counts) {
  table = *context->ops;
  table.arrays = &operations;
  context->ops = context->device_ops = &table;
  counted = counts;
}
