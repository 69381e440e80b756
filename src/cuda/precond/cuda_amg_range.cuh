/* The smallest and the largest of many numbers. */
#ifndef CUDA_AMG_RANGE_CUH
#define CUDA_AMG_RANGE_CUH

#include "cuda/core/cuda_kernels.cuh"

/* Lowers range[0] to the threads' smallest number and raises range[1] to the largest. All threads of a warp
 * must call it. A thread without a number has INT32_MAX and -1. Each thread should have many numbers: ascending
 * ones would otherwise raise the largest once per warp. */
static __device__ __forceinline__ void cuda_amg_raise_range(int32_t least, int32_t most, int32_t *range) {
  for (int offset = 16; offset > 0; offset /= 2) {
    least = min(least, __shfl_xor_sync(0xffffffffu, least, offset));
    most = max(most, __shfl_xor_sync(0xffffffffu, most, offset));
  }
  if (threadIdx.x % 32 > 0 || most < 0) return;
  if (least < *(volatile int32_t *)&range[0]) atomicMin(&range[0], least);
  if (most > *(volatile int32_t *)&range[1]) atomicMax(&range[1], most);
}

/* Blocks for that many numbers. */
static inline unsigned cuda_amg_blocks_of_range(ts_context *context, int64_t count) {
  const unsigned all = cuda_blocks_for((size_t)count),
                 most = 4 * (unsigned)cuda_state_of(context)->multiprocessors;
  return all < most ? all : most;
}

#endif
