/* The functions of texsolve/cuda.h: memory behind vectors and the context's stream, for programs that use CUDA
 * themselves. */
#include <stdint.h>

#include <texsolve/cuda.h>

#include "cuda.h"

ts_status cuda_require(ts_context *context, const char *function) {
  if (context->device_ops == &tsi_cuda_ops) return TS_OK;
  const int parts = context->caps.parts;
  if (parts)
    return tsi_fail(context, TS_ERROR_UNSUPPORTED, "%s: backend %s keeps its vectors in %d part%s", function,
                    context->backend_name, parts, parts == 1 ? "" : "s");
  return tsi_fail(context, TS_ERROR_UNSUPPORTED, "%s: backend %s has no CUDA memory", function,
                  context->backend_name);
}
ts_status ts_cuda_vector_pointer(ts_vector *vector, float **pointer, size_t *count) {
  TSI_BEGIN(vector, vector->context);
  TSI_REQUIRE(vector->context, pointer);
  TSI_TRY(cuda_require(vector->context, __func__));
  TSI_TRY(tsi_lend(vector));
  /* What OpenGL has is somewhere else. */
  TSI_TRY(tsi_enter(vector->context));
  *pointer = cuda_data(vector);
  if (count) *count = cuda_count(vector);
  return tsi_leave(vector->context, TS_OK);
}

/* ---- A vector in the application's memory ---- */

static ts_status check_memory(ts_context *context, const float *pointer) {
  struct cudaPointerAttributes found;
  const int device = cuda_state_of(context)->device;
  const void *address = pointer;
  if ((uintptr_t)address % 16)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "pointer %p is not aligned to 16 bytes", address);
  CUDA_TRY(context, cudaPointerGetAttributes(&found, address));
  if (found.type != cudaMemoryTypeDevice && found.type != cudaMemoryTypeManaged)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "pointer %p is no device memory", address);
  if (found.type == cudaMemoryTypeDevice && found.device != device)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "pointer %p is memory of device %d; the context has %d",
                    address, found.device, device);
  return TS_OK;
}

static ts_status wrap(ts_space *space, int components, float *pointer, size_t count, ts_vector **vector) {
  ts_context *context = space->context;
  TSI_TRY(check_memory(context, pointer));
  ts_vector *v = tsi_calloc(context, 1, sizeof *v);
  cuda_vector *impl = tsi_calloc(context, 1, sizeof *impl);
  if (!v || !impl) {
    tsi_free(context, v);
    tsi_free(context, impl);
    return tsi_out_of_memory(context, "a vector", sizeof *v);
  }
  *impl = (cuda_vector){.data = pointer, .count = count, .borrowed = 1};
  *v = (ts_vector){.context = context, .space = space, .components = components, .impl = impl};
  tsi_space_retain(space);
  *vector = v;
  return TS_OK;
}

ts_status ts_cuda_vector_from_pointer(ts_space *space, int components, float *pointer, size_t count,
                                      ts_vector **vector) {
  TSI_BEGIN(space, space->context);
  ts_context *context = space->context;
  TSI_REQUIRE(context, vector);
  *vector = NULL;
  TSI_REQUIRE(context, pointer);
  TSI_TRY(cuda_require(context, __func__));
  if (components < 1 || components > 4)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT, "components is %d; it goes from 1 to 4", components);
  const size_t expected = (size_t)space->tiling.size * (size_t)components;
  if (count != expected)
    return tsi_fail(context, TS_ERROR_INVALID_ARGUMENT,
                    "count is %zu; vectors of this space have %d x %d = %zu floats", count, space->tiling.size,
                    components, expected);
  TSI_TRY(tsi_enter(context));
  return tsi_leave(context, wrap(space, components, pointer, count, vector));
}

/* ---- The stream ---- */

ts_status ts_cuda_stream(const ts_context *context, struct CUstream_st **stream) {
  TSI_REQUIRE(NULL, context);
  ts_context *c = (ts_context *)context;
  tsi_clear_error(c);
  TSI_REQUIRE(c, stream);
  TSI_TRY(cuda_require(c, __func__));
  *stream = cuda_stream(context);
  return TS_OK;
}

/* Everything on `from` comes before what follows on `to`. */
static ts_status follow(ts_context *context, cudaStream_t from, cudaStream_t to, cudaEvent_t event) {
  /* An event of this device cannot be recorded on a stream of another one. */
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
