/* Sums over the entries of rows. SUBWARP neighbouring threads share a row, or the rows of a node. A block
 * shares a long row. */
#ifndef CUDA_AMG_ENTRIES_CUH
#define CUDA_AMG_ENTRIES_CUH

#include "cuda/core/cuda_kernels.cuh"
#include "cuda_amg.h"

enum {
  SUBWARP = TSI_AMG_LANES, /* maximum unknowns per node */
  SUBWARPS = CUDA_THREADS / SUBWARP,
  LONG_ROW = 2048 /* maximum entries of a row for one subwarp */
};

/* The number of this thread's subwarp, this thread's lane in it, and the mask of its lanes. */
static __device__ __forceinline__ int64_t subwarp_number(void) {
  return ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / SUBWARP;
}
static __device__ __forceinline__ int subwarp_lane(void) {
  return (int)threadIdx.x % SUBWARP;
}
static __device__ __forceinline__ unsigned subwarp_mask(void) {
  return ((1u << SUBWARP) - 1) << (threadIdx.x % 32 / SUBWARP * SUBWARP);
}

/* ---- Sums ---- */

/* The sum and the maximum over the subwarp, in every lane. The host adds in the same pairs. */
static __device__ __forceinline__ double subwarp_sum(double value) {
  for (int offset = SUBWARP / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(subwarp_mask(), value, offset, SUBWARP);
  return value;
}
static __device__ __forceinline__ double subwarp_largest(double value) {
  for (int offset = SUBWARP / 2; offset > 0; offset /= 2)
    value = fmax(value, __shfl_xor_sync(subwarp_mask(), value, offset, SUBWARP));
  return value;
}

/* The sums of N terms over a row's entries, by a subwarp. If IS_LONG, by the block, whose subwarps take
 * consecutive runs. term(k, terms) adds the terms of entry k. */
template <bool IS_LONG, int N, typename Term>
static __device__ __forceinline__ void add_entries(int32_t length, Term term, double (&sums)[N]) {
  __shared__ double runs[IS_LONG ? SUBWARPS : 1][N];
  const int32_t own = IS_LONG ? (int32_t)threadIdx.x / SUBWARP : 0;
  for (int32_t from = 0; from < length; from += TSI_AMG_LANES_RUN * (IS_LONG ? SUBWARPS : 1)) {
    const int64_t begin = from + (int64_t)own * TSI_AMG_LANES_RUN;
    const int64_t end = begin + TSI_AMG_LANES_RUN < length ? begin + TSI_AMG_LANES_RUN : length;
    double run[N] = {};
#pragma unroll(IS_LONG ? 4 : 1)
    for (int64_t k = begin + subwarp_lane(); k < end; k += SUBWARP) term((int32_t)k, run);
    for (int n = 0; n < N; n++) run[n] = subwarp_sum(run[n]);
    if (!IS_LONG) {
      for (int n = 0; n < N; n++) sums[n] += run[n];
      continue;
    }
    if (subwarp_lane() == 0)
      for (int n = 0; n < N; n++) runs[own][n] = run[n];
    __syncthreads();
    for (int k = 0; k < SUBWARPS; k++)
      for (int n = 0; n < N; n++) sums[n] += runs[k][n];
    __syncthreads();
  }
}

/* The maximum over a subwarp or a block. */
template <bool IS_LONG> static __device__ __forceinline__ double largest_of(double value) {
  __shared__ double found[IS_LONG ? SUBWARPS : 1];
  value = subwarp_largest(value);
  if (!IS_LONG) return value;
  if (subwarp_lane() == 0) found[threadIdx.x / SUBWARP] = value;
  __syncthreads();
  for (int k = 0; k < SUBWARPS; k++) value = fmax(value, found[k]);
  __syncthreads();
  return value;
}

/* ---- Rows ---- */

/* The row of this subwarp, and whether it is long. A row after the last one has no entries. */
static __device__ __forceinline__ int32_t own_row(const cuda_amg_csr &A, bool *is_row, bool *is_long) {
  const int64_t number = subwarp_number();
  const int32_t length = number < A.rows ? A.offsets[number + 1] - A.offsets[number] : 0;
  *is_long = length > LONG_ROW;
  *is_row = number < A.rows && !*is_long;
  return (int32_t)number;
}

/* Loops over the long rows of the block's subwarps. */
#define EACH_LONG_ROW(A, i, is_long)                                                                           \
  if (__syncthreads_or(is_long))                                                                               \
    for (int32_t i = (int32_t)blockIdx.x * SUBWARPS; i < (A).rows && i / SUBWARPS == (int32_t)blockIdx.x; i++) \
      if ((A).offsets[i + 1] - (A).offsets[i] > LONG_ROW)

#endif
