/* Slots on the device. A read is a copy to page-locked memory and an event; a solver waits for nothing else. */
#include <string.h>

#include "cuda_kernels.cuh"

static cuda_scalars *scalars_of(const ts_scalars *s) {
  return (cuda_scalars *)s->impl;
}

static size_t slot_bytes(int count) {
  return (size_t)count * 4 * sizeof(float);
}

static ts_status make_snapshot(ts_context *context, cuda_scalars *impl, int count) {
  TSI_TRY(cuda_locked_alloc(context, (void **)&impl->snapshot, slot_bytes(count)));
  CUDA_TRY(context, cudaEventCreateWithFlags(&impl->copied, cudaEventDisableTiming));
  return TS_OK;
}

ts_status cuda_scalars_create(ts_scalars *s) {
  ts_context *context = s->context;
  cuda_scalars *impl = (cuda_scalars *)tsi_calloc(context, 1, sizeof *impl);
  if (!impl) return tsi_out_of_memory(context, "scalars", sizeof *impl);
  s->impl = impl;
  ts_status status = cuda_alloc_zeroed(context, (void **)&impl->values, slot_bytes(s->count), "scalars");
  if (status == TS_OK) status = make_snapshot(context, impl, s->count);
  if (status < 0) cuda_scalars_destroy(s);
  return status;
}

void cuda_scalars_destroy(ts_scalars *s) {
  cuda_scalars *impl = scalars_of(s);
  /* A pending copy still writes to the snapshot. */
  if (impl->copied) {
    cuda_wait_for_exchanges(s->context, impl->exchanges);
    cudaEventSynchronize(impl->copied);
    cudaEventDestroy(impl->copied);
  }
  cuda_locked_free(s->context, impl->snapshot, slot_bytes(s->count));
  cuda_free(s->context, impl->values, slot_bytes(s->count));
  tsi_free(s->context, impl);
  s->impl = NULL;
}

ts_status cuda_scalars_write(ts_scalars *s, int first, int count, const float *values) {
  return cuda_upload(s->context, cuda_slot(s, first), values, slot_bytes(count));
}

ts_status cuda_scalars_read_begin(ts_scalars *s, int first, int count) {
  cuda_scalars *impl = scalars_of(s);
  const cudaStream_t stream = cuda_stream(s->context);
  impl->snapshot_slots = count;
  impl->exchanges = cuda_exchanges(s->context);
  CUDA_TRY(s->context, cudaMemcpyAsync(impl->snapshot, cuda_slot(s, first), slot_bytes(count),
                                       cudaMemcpyDeviceToHost, stream));
  CUDA_TRY(s->context, cudaEventRecord(impl->copied, stream));
  return TS_OK;
}

ts_status cuda_scalars_read_end(ts_scalars *s, double *values) {
  const cuda_scalars *impl = scalars_of(s);
  TSI_TRY(cuda_wait_for_exchanges(s->context, impl->exchanges));
  CUDA_TRY(s->context, cudaEventSynchronize(impl->copied));
  for (int i = 0; i < 4 * impl->snapshot_slots; i++) values[i] = (double)impl->snapshot[i];
  return TS_OK;
}

__global__ static void normalise(const float *from, float *to) {
  const int c = threadIdx.x;
  const float largest = from[c];
  int exponent = 0;
  if (largest > 0 && isfinite(largest)) frexpf(largest, &exponent);
  exponent = min(120, max(-120, exponent));
  to[c] = ldexpf(1, -exponent);
  to[4 + c] = ldexpf(1, exponent);
}

ts_status cuda_scalars_normalise(ts_scalars *s, int from, int to) {
  TSI_TRY(cuda_launch(s->context, "normalise", normalise, 1, 4, cuda_slot(s, from), cuda_slot(s, to)));
  return TS_OK;
}
