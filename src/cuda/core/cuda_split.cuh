/* Doubles and their representation as sums of floats. */
#ifndef CUDA_SPLIT_CUH
#define CUDA_SPLIT_CUH

#include "cuda_arrays.h"
#include "cuda_kernels.cuh"

struct cuda_three {
  float part[3];
};

/* Each part is the rounded remainder of the parts before it. */
static __device__ __forceinline__ cuda_three cuda_split(double value) {
  cuda_three to;
  for (int p = 0; p < 3; p++) {
    to.part[p] = p == 0 || isfinite(value) ? (float)value : 0;
    if (isfinite(value)) value -= (double)to.part[p];
  }
  return to;
}

/* Adds the smallest part first, so that the sum is exact for every double that was split. */
static __device__ __forceinline__ double cuda_join(const cuda_three &from) {
  return ((0 + (double)from.part[2]) + (double)from.part[1]) + (double)from.part[0];
}

static __device__ __forceinline__ cuda_three cuda_load_parts(const cuda_parts &from, size_t i) {
  cuda_three parts;
  for (int p = 0; p < 3; p++) parts.part[p] = from.part[p] ? from.part[p][i] : 0;
  return parts;
}

static __device__ __forceinline__ void cuda_store_parts(const cuda_parts &to, size_t i,
                                                        const cuda_three &parts) {
  for (int p = 0; p < 3; p++)
    if (to.part[p]) to.part[p][i] = parts.part[p];
}

#define CUDA_EACH(i, count) for (size_t i = cuda_first_quad(); i < (count); i += (size_t)gridDim.x * blockDim.x)

/* Extremes of exponents, encoded so that larger is more extreme and 0 means that nothing was found. */
enum { CUDA_EXPONENT_OFFSET = 2048 };
struct cuda_range {
  int largest, smallest; /* 2048 + the maximum exponent, 2048 - the minimum */
};

static __device__ __forceinline__ void cuda_count_exponent(cuda_range *range, double value) {
  if (!isfinite(value) || value == 0) return;
  int exponent;
  frexp(value, &exponent);
  range->largest = max(range->largest, CUDA_EXPONENT_OFFSET + exponent);
  range->smallest = max(range->smallest, CUDA_EXPONENT_OFFSET - exponent);
}

/* Stores the maximum over the block's threads, or over the grid, in `to`, which must be 0 before. */
template <typename Number> static __device__ __forceinline__ void cuda_store_largest(Number *to, Number mine) {
  for (int offset = 16; offset > 0; offset >>= 1) {
    const Number other = __shfl_xor_sync(0xffffffffu, mine, offset);
    if (other > mine) mine = other;
  }
  if (threadIdx.x % 32 == 0 && mine != 0) atomicMax(to, mine);
}

static inline tsi_exponents cuda_exponents_of(const cuda_range &range) {
  if (!range.largest) return tsi_no_exponents;
  return {range.largest - CUDA_EXPONENT_OFFSET, CUDA_EXPONENT_OFFSET - range.smallest};
}

/* Blocks for a loop of threads over `count` items. */
static inline unsigned cuda_blocks_each(const ts_context *context, size_t count) {
  const size_t all = (count + CUDA_THREADS - 1) / CUDA_THREADS,
               most = 16 * (size_t)cuda_state_of(context)->multiprocessors;
  return (unsigned)(all < 1 ? 1 : all < most ? all : most);
}

#endif
