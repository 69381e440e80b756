/* What kernels share: coefficients from slots, loops over elements, sums over warps and blocks. */
#ifndef CUDA_KERNELS_CUH
#define CUDA_KERNELS_CUH

#include <cuda_runtime.h>

#include "cuda.h"

enum { CUDA_THREADS = 256 };

/* A coefficient as a kernel takes it: scale * numerator / denominator of the component, 0 where the denominator
 * is 0. Slots that are not given count as 1. */
struct cuda_coefficient {
  float scale;
  const float *numerator, *denominator; /* four floats each, or NULL */
};

static inline const float *cuda_slot_pointer(ts_slot slot) {
  if (!slot.scalars) return NULL;
  return ((const cuda_scalars *)slot.scalars->impl)->values + (size_t)slot.index * 4;
}

static inline cuda_coefficient cuda_coefficient_of(ts_coefficient c) {
  return {c.scale, cuda_slot_pointer(c.numerator), cuda_slot_pointer(c.denominator)};
}

static __device__ __forceinline__ float cuda_evaluate(const cuda_coefficient &c, int component) {
  const float numerator = c.numerator ? c.numerator[component] : 1.0f;
  const float denominator = c.denominator ? c.denominator[component] : 1.0f;
  return denominator == 0 ? 0 : __fdiv_rn(c.scale * numerator, denominator);
}

/* Where a reduction puts its result. */
static inline float *cuda_slot(ts_scalars *s, int index) {
  return ((cuda_scalars *)s->impl)->values + (size_t)index * 4;
}

/* Blocks that cover `items` with one thread each. */
static inline unsigned cuda_blocks_for(size_t items, unsigned threads = CUDA_THREADS) {
  return (unsigned)((items + threads - 1) / threads);
}

/* Blocks for a loop over `items` that strides by the whole grid: no more than keep the device full. */
static inline unsigned cuda_blocks_striding(const ts_context *context, size_t items,
                                            unsigned threads = CUDA_THREADS) {
  const size_t all = (items + threads - 1) / threads;
  const size_t full = (size_t)cuda_state_of(context)->multiprocessors * (2048 / threads);
  return (unsigned)(all < 1 ? 1 : all < full ? all : full);
}

/* The sum over the warp, in every lane; the order of additions is fixed. */
template <typename T> static __device__ __forceinline__ T cuda_warp_sum(T value) {
  for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

#endif
