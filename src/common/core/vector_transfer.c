/* Transfers the numbers of vectors from and to arrays in the order of indices. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "array.h"
#include "core.h"
#include "doubles.h"
#include "pool.h"
#include "ranks.h"

static size_t numbers_of(const ts_vector *v) {
  return (size_t)v->space->tiling.size * (size_t)v->components;
}

static size_t texel_floats(const ts_vector *v) {
  const tsi_tiling *t = &v->space->tiling;
  return (size_t)t->width * (size_t)t->height * (size_t)tsi_texel_floats(v);
}

/* A copy between values in the order of indices and texels. */
typedef struct texels {
  const ts_vector *v;
  float *values, *texels;
  int to_texels;
} texels;

/* The number of consecutive indices from i on in a row of texels: of a rectangle, or of a grid, which has
 * rectangles of one texel. */
static int32_t run_from(const tsi_tiling *t, int32_t i) {
  const int of_one = t->log2_width == 0 && t->log2_height == 0;
  const int32_t row = (of_one ? t->rectangles_x : 1 << t->log2_width) << t->log2_block;
  return t->positions ? 1 : row - i % row;
}

static void copy_run(float *to, size_t to_step, const float *from, size_t from_step, size_t components,
                     size_t run) {
  if (to_step == from_step) {
    memcpy(to, from, run * to_step * sizeof *to);
    return;
  }
  for (size_t k = 0; k < run; k++)
    for (size_t c = 0; c < components; c++) to[k * to_step + c] = from[k * from_step + c];
}

static void copy_texels(const void *arguments, size_t first, size_t last) {
  const texels *job = arguments;
  const tsi_tiling *t = &job->v->space->tiling;
  const size_t components = (size_t)job->v->components, stride = (size_t)tsi_texel_floats(job->v);
  const size_t step = t->log2_block ? components : stride;
  const int32_t end = tsi_block_begin(t->size, last);
  for (int32_t i = tsi_block_begin(t->size, first), run; i < end; i += run) {
    float *texel =
        job->texels + (size_t)tsi_texel_number(t, tsi_position(t, i)) * stride + (size_t)tsi_channel(t, i);
    float *values = job->values + (size_t)i * components;
    run = run_from(t, i);
    if (run > end - i) run = end - i;
    if (job->to_texels)
      copy_run(texel, step, values, components, components, (size_t)run);
    else
      copy_run(values, components, texel, step, components, (size_t)run);
  }
}

static ts_status run_texels(const texels *job) {
  TSI_TRY(tsi_threads_for(job->v->context, job->v->space->tiling.size));
  tsi_in_blocks(job->v->context, job->v->space->tiling.size, copy_texels, job);
  return TS_OK;
}

ts_status tsi_write_floats(ts_vector *v, const float *values) {
  if (v->space->tiling.linear) return v->context->ops->vector_write(v, values);
  float *all = tsi_calloc(v->context, texel_floats(v), sizeof *all);
  if (!all) return tsi_out_of_memory(v->context, "writing a vector", texel_floats(v) * sizeof *all);
  ts_status status = run_texels(&(texels){v, (float *)values, all, 1});
  if (status == TS_OK) status = v->context->ops->vector_write(v, all);
  tsi_free(v->context, all);
  return status;
}

ts_status tsi_read_floats(const ts_vector *v, float *values) {
  v->context->host_synchronisations++;
  if (v->space->tiling.linear) return v->context->ops->vector_read(v, values);
  float *all = tsi_malloc(v->context, texel_floats(v), sizeof *all);
  if (!all) return tsi_out_of_memory(v->context, "reading a vector", texel_floats(v) * sizeof *all);
  ts_status status = v->context->ops->vector_read(v, all);
  if (status == TS_OK) status = run_texels(&(texels){v, values, all, 0});
  tsi_free(v->context, all);
  return status;
}

ts_status tsi_vector_write_floats(ts_vector *vector, const float *values) {
  TSI_TRY(tsi_enter(vector->context));
  ts_status status = tsi_write_floats(vector, values);
  if (status == TS_OK) status = tsi_clear_low(vector);
  if (status == TS_OK) vector->exponent = 0;
  return tsi_leave(vector->context, status);
}

/* An error if the largest number is outside the range of floats: it would become 0 or infinite. */
static ts_status check_largest(const ts_vector *v, double largest) {
  if (largest == 0 || (largest <= FLT_MAX && largest >= FLT_MIN)) return TS_OK;
  return tsi_fail(v->context, TS_ERROR_INVALID_ARGUMENT,
                  "the largest number of the vector is %g, which is %s the range of floats; "
                  "an array of doubles holds it",
                  largest, largest > FLT_MAX ? "beyond" : "below");
}

/* Multiplies numbers by 2^exponent. */
static ts_status multiply_floats(const ts_vector *v, float *values, size_t count) {
  double largest = 0;
  for (size_t k = 0; k < count; k++) {
    const double value = ldexp((double)values[k], v->exponent);
    if (isfinite(values[k])) largest = fmax(largest, fabs(value));
    values[k] = (float)value;
  }
  return check_largest(v, largest);
}

/* In single precision, the sum of the parts of a normalised vector is the first part. */
static ts_status read_floats_on_host(const ts_vector *vector, float *values) {
  const size_t count = numbers_of(vector);
  TSI_TRY(tsi_enter(vector->context));
  TSI_TRY(tsi_leave(vector->context, tsi_read_floats(vector, values)));
  return vector->exponent ? multiply_floats(vector, values, count) : TS_OK;
}

/* ---- Doubles on the host ---- */

static ts_status fail_range(const ts_vector *v, size_t k, double value) {
  return tsi_fail(v->context, TS_ERROR_INVALID_ARGUMENT,
                  "component %zu of index %zu is %g, out of the range of single precision",
                  k % (size_t)v->components, k / (size_t)v->components, value);
}

static ts_status write_parts(ts_vector *v, const double *values, size_t count, float *floats, int exponent) {
  const int parts = tsi_parts(v);
  ts_vector *part = v;
  for (int p = 0; p < parts; p++, part = part->low) {
    TSI_TRY(tsi_doubles_split(v->context, values, count, exponent, p, floats));
    TSI_TRY(tsi_write_floats(part, floats));
  }
  return TS_OK;
}

ts_status tsi_write_parts(ts_vector *v, const double *values, size_t count, float *floats) {
  return write_parts(v, values, count, floats, 0);
}

static ts_status read_parts(const ts_vector *v, double *values, size_t count, float *floats, int exponent) {
  const ts_vector *parts[3] = {v, v->low, v->low ? v->low->low : NULL};
  int is_first = 1;
  for (int p = 2; p >= 0; p--) { /* smallest first: the sum is the rounded double */
    if (!parts[p]) continue;
    TSI_TRY(tsi_read_floats(parts[p], floats));
    const tsi_joined with = {floats, is_first, p == 0 ? exponent : 0};
    TSI_TRY(tsi_doubles_join(v->context, values, count, with));
    is_first = 0;
  }
  return TS_OK;
}

/* With an exponent all numbers are in the range of floats. */
static ts_status check_range(const ts_vector *v, const tsi_looked *found, int exponent) {
  return exponent || found->out_of_range == SIZE_MAX ? TS_OK : fail_range(v, found->out_of_range, found->value);
}

ts_status tsi_vector_write_looked(ts_vector *vector, const double *values, const tsi_looked *found,
                                  int exponent) {
  ts_context *context = vector->context;
  const size_t count = numbers_of(vector);
  TSI_TRY(check_range(vector, found, exponent));
  float *floats = tsi_malloc(context, count, sizeof *floats);
  if (!floats) return tsi_out_of_memory(context, "writing a vector", count * sizeof *floats);
  ts_status status = tsi_enter(context);
  if (status == TS_OK) status = tsi_leave(context, write_parts(vector, values, count, floats, exponent));
  if (status == TS_OK) vector->exponent = exponent;
  tsi_free(context, floats);
  return status;
}

/* Whether the rows are distributed over ranks: each rank would find a different exponent. */
static int is_of_ranks(const ts_vector *v) {
  const tsi_ranks_ops *ranks = v->context->ops->ranks;
  return ranks && ranks->is_of_ranks(v->space);
}

static ts_status write_on_host(ts_vector *vector, const double *values) {
  tsi_looked found;
  TSI_TRY(tsi_doubles_look(vector->context, values, numbers_of(vector), &found));
  if (tsi_may_grow(vector) && (is_of_ranks(vector) || !found.are_floats)) {
    TSI_TRY(tsi_enter(vector->context));
    TSI_TRY(tsi_leave(vector->context, tsi_hold_doubles(vector)));
  }
  const int exponent = is_of_ranks(vector) ? 0 : tsi_exponent_for(vector, found.exponents);
  return tsi_vector_write_looked(vector, values, &found, exponent);
}

static ts_status read_doubles_on_host(const ts_vector *vector, double *values) {
  const size_t count = numbers_of(vector);
  ts_context *context = vector->context;
  float *floats = tsi_malloc(context, count, sizeof *floats);
  if (!floats) return tsi_out_of_memory(context, "reading a vector", count * sizeof *floats);
  ts_status status = tsi_enter(context);
  if (status == TS_OK) status = tsi_leave(context, read_parts(vector, values, count, floats, vector->exponent));
  tsi_free(context, floats);
  return status;
}

/* ---- Arrays in device memory ---- */

static ts_status write_on_device(ts_vector *v, const ts_array *values) {
  const tsi_array_ops *ops = v->context->device_ops->arrays;
  tsi_looked found = {.are_floats = 1, .exponents = tsi_no_exponents, .out_of_range = SIZE_MAX};
  if (values->type == TS_TYPE_DOUBLE) TSI_TRY(ops->look(v->context, values, &found));
  if (tsi_may_grow(v) && !found.are_floats) TSI_TRY(tsi_hold_doubles(v));
  const int exponent = tsi_exponent_for(v, found.exponents);
  TSI_TRY(check_range(v, &found, exponent));
  TSI_TRY(ops->split(v, values, exponent));
  v->exponent = exponent;
  return TS_OK;
}

static ts_status read_on_device(const ts_vector *v, const ts_array *values) {
  const tsi_array_ops *ops = v->context->device_ops->arrays;
  if (v->exponent && values->type == TS_TYPE_FLOAT) {
    float largest;
    TSI_TRY(ops->largest(v, &largest));
    TSI_TRY(check_largest(v, ldexp((double)largest, v->exponent)));
  }
  return ops->join(v, values);
}

/* ---- Host arrays through device memory ---- */

/* Below this size, copying each part takes less time than an allocation and kernels. */
enum { STAGED = 16384 };

/* Whether the device accepts arrays of doubles. The check backend watches floats that the host computes from
 * them. */
static int device_accepts_doubles(const ts_vector *v) {
  return v->context->ops->arrays && v->context->ops == v->context->device_ops;
}

static int is_staged(const ts_vector *v) {
  return device_accepts_doubles(v) && numbers_of(v) >= STAGED;
}

static ts_status write_staged(ts_vector *v, const double *values) {
  ts_context *context = v->context;
  const tsi_array_ops *ops = context->ops->arrays;
  ts_array stage;
  TSI_TRY(ops->alloc(context, numbers_of(v), TS_TYPE_DOUBLE, &stage));
  ts_status status = ops->write(context, &stage, values, stage.count * sizeof *values);
  if (status == TS_OK) status = write_on_device(v, &stage);
  ops->free(context, &stage);
  return status;
}

static ts_status read_staged(const ts_vector *v, void *values, ts_type type) {
  ts_context *context = v->context;
  const tsi_array_ops *ops = context->ops->arrays;
  ts_array stage;
  TSI_TRY(ops->alloc(context, numbers_of(v), type, &stage));
  ts_status status = read_on_device(v, &stage);
  if (status == TS_OK) status = ops->read(context, &stage, values, stage.count * tsi_type_size(type));
  ops->free(context, &stage);
  return status;
}

/* Whether there was not enough memory for a copy of the array. The host then splits or joins it, one part at a
 * time. */
static int lacks_room(ts_context *context, ts_status status) {
  if (status != TS_ERROR_OUT_OF_DEVICE_MEMORY) return 0;
  tsi_clear_error(context);
  return 1;
}

ts_status tsi_vector_write_doubles(ts_vector *vector, const double *values) {
  ts_context *context = vector->context;
  if (!is_staged(vector)) return write_on_host(vector, values);
  TSI_TRY(tsi_enter(context));
  const ts_status status = tsi_leave(context, write_staged(vector, values));
  return lacks_room(context, status) ? write_on_host(vector, values) : status;
}

static ts_status read_on_host(const ts_vector *v, void *values, ts_type type) {
  return type == TS_TYPE_DOUBLE ? read_doubles_on_host(v, values) : read_floats_on_host(v, values);
}

static ts_status stage_and_read(const ts_vector *v, void *values, ts_type type) {
  ts_context *context = v->context;
  TSI_TRY(tsi_enter(context));
  const ts_status status = tsi_leave(context, read_staged(v, values, type));
  return lacks_room(context, status) ? read_on_host(v, values, type) : status;
}

ts_status tsi_vector_read_doubles(const ts_vector *vector, double *values) {
  return (is_staged(vector) ? stage_and_read : read_on_host)(vector, values, TS_TYPE_DOUBLE);
}

/* Without an exponent, the floats of a vector are its first part. */
ts_status tsi_vector_read_floats(const ts_vector *vector, float *values) {
  return (vector->exponent && is_staged(vector) ? stage_and_read : read_on_host)(vector, values, TS_TYPE_FLOAT);
}

/* ---- ts_vector_write and ts_vector_read ---- */

ts_status ts_vector_write(ts_vector *vector, ts_array values) {
  TSI_BEGIN(vector, vector->context);
  const size_t count = numbers_of(vector);
  TSI_TRY(tsi_array_check(vector->context, "values", &values, count, TSI_FLOATING, TSI_READ));
  if (values.memory == TS_MEMORY_CUDA) {
    TSI_TRY(tsi_enter(vector->context));
    return tsi_leave(vector->context, write_on_device(vector, &values));
  }
  return values.type == TS_TYPE_DOUBLE ? tsi_vector_write_doubles(vector, values.data)
                                       : tsi_vector_write_floats(vector, values.data);
}

ts_status ts_vector_read(const ts_vector *vector, ts_array values) {
  TSI_BEGIN(vector, vector->context);
  ts_context *context = vector->context;
  const size_t count = numbers_of(vector);
  TSI_TRY(tsi_array_check(context, "values", &values, count, TSI_FLOATING, TSI_WRITE));
  if (values.memory == TS_MEMORY_CUDA) {
    TSI_TRY(tsi_enter(context));
    return tsi_leave(context, read_on_device(vector, &values));
  }
  return values.type == TS_TYPE_DOUBLE ? tsi_vector_read_doubles(vector, values.data)
                                       : tsi_vector_read_floats(vector, values.data);
}

/* ---- Rounding ---- */

static ts_status round_on_host(ts_vector *v) {
  const size_t count = numbers_of(v);
  double *values = tsi_malloc(v->context, count, sizeof *values);
  float *floats = tsi_malloc(v->context, count, sizeof *floats);
  ts_status status = values && floats
                         ? read_parts(v, values, count, floats, 0)
                         : tsi_out_of_memory(v->context, "rounding a vector", count * sizeof *values);
  if (status == TS_OK) status = write_parts(v, values, count, floats, 0);
  tsi_free(v->context, floats);
  tsi_free(v->context, values);
  return status;
}

static ts_status round_on_device(ts_vector *v) {
  const tsi_array_ops *ops = v->context->ops->arrays;
  ts_vector stored = *v;
  ts_array stage;
  stored.exponent = 0;
  TSI_TRY(ops->alloc(v->context, numbers_of(v), TS_TYPE_DOUBLE, &stage));
  ts_status status = ops->join(&stored, &stage);
  if (status == TS_OK) status = ops->split(v, &stage, 0);
  ops->free(v->context, &stage);
  return status;
}

ts_status tsi_round_to_doubles(ts_vector *v) {
  if (!device_accepts_doubles(v)) return round_on_host(v);
  const ts_status status = round_on_device(v);
  return lacks_room(v->context, status) ? round_on_host(v) : status;
}
