/* Device memory in stream order, and copies through pinned memory. */
#include <string.h>

#include "cuda.h"

ts_status cuda_take(ts_context *context, void **block, size_t bytes, const char *what) {
  cuda_state *state = cuda_state_of(context);
  *block = NULL;
  if (bytes == 0) bytes = 16;
  TSI_TRY(tsi_device_take(context, bytes, what));
  const cudaError_t error =
      state->pools ? cudaMallocAsync(block, bytes, state->stream) : cudaMalloc(block, bytes);
  if (error == cudaSuccess) return TS_OK;
  tsi_device_give(context, bytes);
  *block = NULL;
  cudaGetLastError();
  if (error != cudaErrorMemoryAllocation) return cuda_report(context, error, "cudaMalloc", __FILE__, __LINE__);
  return tsi_fail(context, TS_ERROR_OUT_OF_DEVICE_MEMORY, "no device memory for %s (%zu bytes)", what, bytes);
}

ts_status cuda_take_zeroed(ts_context *context, void **block, size_t bytes, const char *what) {
  TSI_TRY(cuda_take(context, block, bytes, what));
  const cudaError_t error = cudaMemsetAsync(*block, 0, bytes, cuda_stream(context));
  if (error == cudaSuccess) return TS_OK;
  cuda_give(context, *block, bytes);
  *block = NULL;
  return cuda_report(context, error, "cudaMemsetAsync", __FILE__, __LINE__);
}

void cuda_give(ts_context *context, void *block, size_t bytes) {
  if (!block) return;
  const cuda_state *state = cuda_state_of(context);
  if (state->pools)
    cudaFreeAsync(block, state->stream);
  else
    cudaFree(block);
  tsi_device_give(context, bytes ? bytes : 16);
}

/* Room for a piece of a copy; large copies go through it piece by piece. */
static ts_status reserve_staging(ts_context *context, size_t bytes) {
  cuda_state *state = cuda_state_of(context);
  enum { most = 8 << 20, least = 64 << 10 };
  if (bytes > most) bytes = most;
  if (bytes < least) bytes = least;
  if (state->staging_bytes >= bytes) return TS_OK;
  CUDA_TRY(context, cudaStreamSynchronize(state->stream));
  if (state->staging) cudaFreeHost(state->staging);
  state->staging = NULL;
  state->staging_bytes = 0;
  CUDA_TRY(context, cudaMallocHost(&state->staging, bytes));
  state->staging_bytes = bytes;
  return TS_OK;
}

ts_status cuda_upload(ts_context *context, void *to, const void *from, size_t bytes) {
  if (bytes == 0) return TS_OK;
  TSI_TRY(reserve_staging(context, bytes));
  const cuda_state *state = cuda_state_of(context);
  for (size_t done = 0; done < bytes; done += state->staging_bytes) {
    const size_t piece = bytes - done < state->staging_bytes ? bytes - done : state->staging_bytes;
    /* The copy before this one may still read the staging memory. */
    CUDA_TRY(context, cudaStreamSynchronize(state->stream));
    memcpy(state->staging, (const char *)from + done, piece);
    CUDA_TRY(context,
             cudaMemcpyAsync((char *)to + done, state->staging, piece, cudaMemcpyHostToDevice, state->stream));
  }
  return TS_OK;
}

ts_status cuda_download(ts_context *context, void *to, const void *from, size_t bytes) {
  if (bytes == 0) return TS_OK;
  TSI_TRY(reserve_staging(context, bytes));
  const cuda_state *state = cuda_state_of(context);
  for (size_t done = 0; done < bytes; done += state->staging_bytes) {
    const size_t piece = bytes - done < state->staging_bytes ? bytes - done : state->staging_bytes;
    CUDA_TRY(context, cudaMemcpyAsync(state->staging, (const char *)from + done, piece, cudaMemcpyDeviceToHost,
                                      state->stream));
    CUDA_TRY(context, cudaStreamSynchronize(state->stream));
    memcpy((char *)to + done, state->staging, piece);
  }
  return TS_OK;
}

ts_status cuda_take_copy(ts_context *context, void **block, const void *from, size_t bytes, const char *what) {
  TSI_TRY(cuda_take(context, block, bytes, what));
  const ts_status status = cuda_upload(context, *block, from, bytes);
  if (status == TS_OK) return TS_OK;
  cuda_give(context, *block, bytes);
  *block = NULL;
  return status;
}
