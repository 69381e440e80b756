/* The product of one row with a vector, for every kernel that needs one. */
#ifndef CUDA_ROWS_CUH
#define CUDA_ROWS_CUH

#include "cuda_kernels.cuh"
#include "cuda_matrix.h"

/* The N components of index j. */
template <int N> struct cuda_components { float c[N]; };

template <int N> static __device__ __forceinline__ cuda_components<N> cuda_load(const float *x, int32_t j) {
  cuda_components<N> v;
  if constexpr (N == 4) {
    const float4 t = ((const float4 *)x)[j];
    v.c[0] = t.x, v.c[1] = t.y, v.c[2] = t.z, v.c[3] = t.w;
  } else if constexpr (N == 2) {
    const float2 t = ((const float2 *)x)[j];
    v.c[0] = t.x, v.c[1] = t.y;
  } else {
    for (int c = 0; c < N; c++) v.c[c] = x[(size_t)j * N + c];
  }
  return v;
}

/* `sum`, float or double, is to be 0; it becomes what this thread, number `lane` of those that share the row,
 * has of row . x. */
template <int N, typename Real>
static __device__ __forceinline__ void cuda_csr_row(const cuda_csr &m, int32_t row, int lane, const float *x,
                                                    Real sum[N]) {
  const int32_t end = m.row_offsets[row + 1], step = 1 << m.log2_lanes;
#pragma unroll 4
  for (int32_t k = m.row_offsets[row] + lane; k < end; k += step) {
    const Real value = m.values[k];
    const cuda_components<N> xj = cuda_load<N>(x, m.columns[k]);
    for (int c = 0; c < N; c++) sum[c] += value * xj.c[c];
  }
}

/* The sum over the neighbouring threads that share a row, in each of them. */
template <int N, typename Real>
static __device__ __forceinline__ void cuda_sum_lanes(int log2_lanes, Real sum[N]) {
  for (int offset = 1 << log2_lanes >> 1; offset > 0; offset >>= 1)
    for (int c = 0; c < N; c++) sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], offset);
}

#endif
