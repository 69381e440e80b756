/* Restriction and interpolation at a point. */
#ifndef CUDA_LEVEL_TRANSFER_CUH
#define CUDA_LEVEL_TRANSFER_CUH

#include "cuda_level.cuh"

/* A quarter of the weighted sum of value(p, u, v) over the fine points p around coarse point I. p is 2 I + (u,
 * v) - 1, or its periodic image. */
template <typename F>
static __device__ __forceinline__ float cuda_restrict_at(const cuda_level_view &fine, cuda_point I,
                                                         bool general, F value) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 9; k++) {
    const int u = k % 3, v = k / 3, towards = cuda_towards_coarse(u, v);
    cuda_point p = {2 * I.i + u - 1, 2 * I.j + v - 1};
    if (!cuda_find_fine(fine, &p)) continue;
    float weight = (u == 1 ? 1.0f : 0.5f) * (v == 1 ? 1.0f : 0.5f);
    if (general && towards != CUDA_C) weight = cuda_weight(fine, p, towards);
    if (weight != 0) sum += weight * value(p, u, v);
  }
  return 0.25f * sum;
}

/* fine x = x + S coarse x, or S coarse x if not `add`. */
static __device__ __forceinline__ void cuda_prolong_at(const cuda_level_view &fine,
                                                       const cuda_level_view &coarse, cuda_point p, int add,
                                                       float *x, const float *coarse_x) {
  const int at = cuda_place(fine, p.i, p.j);
  if (fine.sides[at] == 0) return;
  const float e = cuda_interpolate(fine, coarse, p, coarse_x, *fine.general);
  x[at] = add ? x[at] + e : e;
}

#endif
