/* The functions of texsolve/cuda.h: the memory of vectors and the context's stream, for programs that use
 * CUDA. */
#include <stdint.h>

#include <texsolve/cuda.h>

#include "cuda_arrays.h"

ts_status cuda_require(ts_context *context, const char *function) {
  if (context->device_ops == &tsi_cuda_ops) return TS_OK;
  const int parts = context->caps.parts;
  if (parts)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "%s: backend %s keeps its vectors in %d part%s", function,
                    context->backend_name, parts, parts == 1 ? "" : "s");
  return tsi_fail(context, TS_ERROR_UNSUPPORTED, "%s: backend %s does not use CUDA memory", function,
                  context->backend_name);
}

ts_status ts_cuda_vector_get_array(ts_vector *vector, ts_array *array) {
  TSI_BEGIN(vector, vector->context);
  ts_context *context = vector->context;
  TSI_REQUIRE(context, array);
  TSI_TRY(cuda_require(context, __func__));
  const cuda_vector *impl = cuda_vector_of(vector);
  if (!impl->mirrored) TSI_TRY(tsi_lend(vector));
  /* A vector that OpenGL holds has no address until it is taken back. */
  TSI_TRY(tsi_enter(context));
  *array = impl->mirrored ? ts_cuda(impl->mirrored, impl->count, cuda_stream(context))
                          : ts_cuda(impl->data, impl->count, cuda_stream(context));
  return tsi_leave(context, TS_OK);
}

/* ---- A vector in the application's memory ---- */

static ts_status wrap_floats(ts_space *space, int components, const ts_array *array, ts_vector **vector) {
  ts_context *context = space->context;
  TSI_TRY(cuda_after(context, array));
  ts_vector *v = tsi_calloc(context, 1, sizeof *v);
  cuda_vector *impl = tsi_calloc(context, 1, sizeof *impl);
  if (!v || !impl) {
    tsi_free(context, v);
    tsi_free(context, impl);
    return tsi_out_of_memory(context, "a vector", sizeof *v);
  }
  *impl = (cuda_vector){.data = array->data, .count = array->count, .borrowed = 1};
  *v = (ts_vector){.context = context, .space = space, .components = components, .impl = impl};
  tsi_space_retain(space);
  *vector = v;
  return TS_OK;
}

/* Every call into the library splits the doubles, starting with the next one. */
static ts_status mirror_doubles(ts_space *space, int components, const ts_array *array, ts_vector **vector) {
  cuda_state *state = cuda_state_of(space->context);
  TSI_TRY(cuda_after(space->context, array));
  const ts_status status = tsi_arena_create(space, components, 3, vector, 1, 0, NULL);
  ts_vector *v = *vector;
  if (status < 0 || !v) return status;
  cuda_vector *impl = cuda_vector_of(v);
  v->is_lent = 1;
  impl->mirrored = array->data;
  impl->mirror = v;
  impl->next_mirror = state->mirrors;
  return TS_OK;
}

/* Called after tsi_leave, which would otherwise join parts that were never split. */
static void link_mirror(const ts_vector *v) {
  if (cuda_vector_of(v)->mirrored) cuda_state_of(v->context)->mirrors = cuda_vector_of(v);
}

ts_status ts_cuda_vector_from_array(ts_space *space, int components, ts_array array, ts_vector **vector) {
  TSI_BEGIN(space, space->context);
  ts_context *context = space->context;
  TSI_REQUIRE(context, vector);
  *vector = NULL;
  TSI_TRY(cuda_require(context, __func__));
  if (components < 1 || components > 4)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "components is %d; it must be 1 to 4", components);
  if (array.memory == TS_MEMORY_HOST)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "array is in host memory; it must be in CUDA memory");
  TSI_TRY(tsi_array_check(context, "array", &array, (size_t)space->tiling.size * (size_t)components,
                          TSI_FLOATING, TSI_WRITE));
  if (array.type == TS_TYPE_FLOAT && (uintptr_t)array.data % 16)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "array points to %p, which is not aligned to 16 bytes",
                    array.data);
  TSI_TRY(tsi_enter(context));
  ts_status status = array.type == TS_TYPE_FLOAT ? wrap_floats(space, components, &array, vector)
                                                 : mirror_doubles(space, components, &array, vector);
  status = tsi_leave(context, status);
  if (*vector) link_mirror(*vector);
  return status;
}

/* ---- The stream ---- */

ts_status ts_cuda_get_stream(const ts_context *context, struct CUstream_st **stream) {
  TSI_REQUIRE(NULL, context);
  ts_context *c = (ts_context *)context;
  tsi_clear_error(c);
  TSI_REQUIRE(c, stream);
  TSI_TRY(cuda_require(c, __func__));
  *stream = cuda_stream(context);
  return TS_OK;
}

/* Orders later work on `to` after all work on `from`. */
static ts_status follow(ts_context *context, cudaStream_t from, cudaStream_t to, cudaEvent_t event) {
  /* Also a check: an event of this device cannot be recorded on a stream of another device. */
  CUDA_TRY(context, cudaEventRecord(event, to));
  CUDA_TRY(context, cudaEventRecord(event, from));
  CUDA_TRY(context, cudaStreamWaitEvent(to, event, 0));
  return TS_OK;
}

static ts_status change_stream(ts_context *context, cudaStream_t stream) {
  cuda_state *state = cuda_state_of(context);
  cudaEvent_t event;
  if (!stream) stream = state->own_stream;
  if (stream == state->stream) return TS_OK;
  CUDA_TRY(context, cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  const ts_status status = follow(context, state->stream, stream, event);
  cudaEventDestroy(event);
  if (status == TS_OK) state->stream = stream;
  return status;
}

ts_status ts_cuda_set_stream(ts_context *context, struct CUstream_st *stream) {
  TSI_BEGIN(context, context);
  TSI_TRY(cuda_require(context, __func__));
  TSI_TRY(tsi_enter(context));
  return tsi_leave(context, change_stream(context, stream));
}
