/* Device memory and copies in stream order. */
#include "cuda.h"

enum { STAGED_BYTES = 65536 /* up to this size, copies from pageable memory do not wait for the device */ };

ts_status cuda_alloc(ts_context *context, void **block, size_t bytes, const char *what) {
  cuda_state *state = cuda_state_of(context);
  *block = NULL;
  if (bytes == 0) bytes = 16;
  TSI_TRY(tsi_device_alloc(context, bytes, what));
  const cudaError_t error =
      state->pools ? cudaMallocAsync(block, bytes, state->stream) : cudaMalloc(block, bytes);
  if (error == cudaSuccess) return TS_OK;
  tsi_device_free(context, bytes);
  *block = NULL;
  cudaGetLastError();
  if (error != cudaErrorMemoryAllocation) return cuda_report(context, error, "cudaMalloc", __FILE__, __LINE__);
  return tsi_fail(context, TS_ERROR_OUT_OF_DEVICE_MEMORY, "no device memory for %s (%zu bytes)", what, bytes);
}

ts_status cuda_alloc_zeroed(ts_context *context, void **block, size_t bytes, const char *what) {
  TSI_TRY(cuda_alloc(context, block, bytes, what));
  const cudaError_t error = cudaMemsetAsync(*block, 0, bytes, cuda_stream(context));
  if (error == cudaSuccess) return TS_OK;
  cuda_free(context, *block, bytes);
  *block = NULL;
  return cuda_report(context, error, "cudaMemsetAsync", __FILE__, __LINE__);
}

void cuda_free(ts_context *context, void *block, size_t bytes) {
  if (!block) return;
  const cuda_state *state = cuda_state_of(context);
  if (state->pools)
    cudaFreeAsync(block, state->stream);
  else
    cudaFree(block);
  tsi_device_free(context, bytes ? bytes : 16);
}

/* ---- Page-locked memory ---- */

/* All small blocks have this size, so each serves all small requests. */
enum { SMALL_LOCKED = 1 << 14 };

ts_status cuda_locked_alloc(ts_context *context, void **block, size_t bytes) {
  void **spare = cuda_state_of(context)->spare_locked;
  const int is_small = bytes <= SMALL_LOCKED;
  for (int k = 0; k < CUDA_SPARE_LOCKED && is_small; k++)
    if (spare[k]) {
      *block = spare[k];
      spare[k] = NULL;
      return TS_OK;
    }
  CUDA_TRY(context, cudaMallocHost(block, is_small ? SMALL_LOCKED : bytes));
  return TS_OK;
}

void cuda_locked_free(ts_context *context, void *block, size_t bytes) {
  void **spare = cuda_state_of(context)->spare_locked;
  int k = 0;
  if (!block) return;
  while (k < CUDA_SPARE_LOCKED && spare[k]) k++;
  if (bytes <= SMALL_LOCKED && k < CUDA_SPARE_LOCKED)
    spare[k] = block;
  else
    cudaFreeHost(block);
}

void cuda_locked_destroy(ts_context *context) {
  void **spare = cuda_state_of(context)->spare_locked;
  for (int k = 0; k < CUDA_SPARE_LOCKED; k++)
    if (spare[k]) cudaFreeHost(spare[k]);
}

/* ---- Copies ---- */

/* Whether the device reads the memory asynchronously: page-locked or managed memory, where applications may
 * keep their data. Old runtimes return an error for pointers unknown to CUDA. */
static int is_read_later(const void *from) {
  struct cudaPointerAttributes found;
  if (cudaPointerGetAttributes(&found, from) == cudaSuccess) return found.type != cudaMemoryTypeUnregistered;
  cudaGetLastError();
  return 0;
}

/* The driver stages pageable memory before the call returns, unless cuda_staging.c does. A small copy does not
 * wait for work enqueued before it. */
ts_status cuda_upload(ts_context *context, void *to, const void *from, size_t bytes) {
  if (bytes == 0) return TS_OK;
  const int waits = is_read_later(from);
  if (waits || bytes > STAGED_BYTES) TSI_TRY(cuda_wait_for_messages(context));
  int done = 0;
  if (!waits) TSI_TRY(cuda_stage(context, to, from, bytes, &done));
  if (done) return TS_OK;
  CUDA_TRY(context, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, cuda_stream(context)));
  if (!waits) return TS_OK;
  context->host_synchronisations++;
  CUDA_TRY(context, cudaStreamSynchronize(cuda_stream(context)));
  return TS_OK;
}

ts_status cuda_download(ts_context *context, void *to, const void *from, size_t bytes) {
  if (bytes == 0) return TS_OK;
  TSI_TRY(cuda_wait_for_messages(context));
  CUDA_TRY(context, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, cuda_stream(context)));
  CUDA_TRY(context, cudaStreamSynchronize(cuda_stream(context)));
  return TS_OK;
}

ts_status cuda_alloc_copy(ts_context *context, void **block, const void *from, size_t bytes, const char *what) {
  TSI_TRY(cuda_alloc(context, block, bytes, what));
  const ts_status status = cuda_upload(context, *block, from, bytes);
  if (status == TS_OK) return TS_OK;
  cuda_free(context, *block, bytes);
  *block = NULL;
  return status;
}
