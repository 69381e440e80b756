/* Reductions: sums of products in double precision, and maxima, each in one kernel. */
#include "cuda_reduce.cuh"

/* ---- Sums ---- */

struct dot_term {
  const float *x, *y, *w; /* y and w may be NULL: 1 */
};

template <int SUMS> struct dot_job {
  dot_term term[SUMS];
  cuda_result result[SUMS];
};

template <int SUMS>
static __global__ void __launch_bounds__(CUDA_THREADS)
    dot(size_t count, cuda_reduction reduction, const __grid_constant__ dot_job<SUMS> job) {
  cuda_dependent_begin();
  cuda_sums<SUMS> sums = {};
  CUDA_EACH_QUAD(i, count) {
#pragma unroll
    for (int s = 0; s < SUMS; s++) {
      const dot_term t = job.term[s];
      const cuda_quad x = cuda_load(t.x, i, count);
      cuda_quad y = {}, w = {};
      if (t.y) y = t.y == t.x ? x : cuda_load(t.y, i, count);
      if (t.w) w = cuda_load(t.w, i, count);
      cuda_sums_add(&sums, s, x, y, t.y != NULL, w, t.w != NULL);
    }
  }
  cuda_sums_by_component(&sums, reduction.components);
  cuda_finish_sums(reduction, sums, job.result);
}

static dot_term term_of(const ts_vector *x, const ts_vector *y, const ts_vector *w) {
  return {cuda_data(x), y ? cuda_data(y) : NULL, w ? cuda_data(w) : NULL};
}

static ts_status single(ts_scalars *out, int index, int root, const ts_vector *x, const ts_vector *y,
                        const ts_vector *w) {
  const dot_job<1> job = {{term_of(x, y, w)}, {{cuda_slot(out, index), root}}};
  CUDA_RUN_QUADS(x, dot<1>, cuda_reduction_of(x), job);
  return TS_OK;
}

template <int SUMS> static ts_status several(ts_scalars *out, const tsi_dot *sums) {
  const ts_vector *x = sums[0].x;
  dot_job<SUMS> job;
  for (int s = 0; s < SUMS; s++) {
    job.term[s] = term_of(sums[s].x, sums[s].y, sums[s].w);
    job.result[s] = {cuda_slot(out, sums[s].index), 0};
  }
  CUDA_RUN_QUADS(x, dot<SUMS>, cuda_reduction_of(x), job);
  return TS_OK;
}

/* ---- Maxima ---- */

/* The larger one, or NaN once there is one. */
static __device__ __forceinline__ float larger(float most, float value) {
  return value > most || isnan(value) ? value : most;
}

static __device__ __forceinline__ float warp_largest(float value) {
  for (int offset = 16; offset > 0; offset >>= 1)
    value = larger(value, __shfl_xor_sync(0xffffffffu, value, offset));
  return value;
}

/* Of component k to thread k. */
static __device__ __forceinline__ float block_largest(const float (&value)[4]) {
  __shared__ float of_warp[32][4];
  CUDA_EACH_LANE(k) {
    const float most = warp_largest(value[k]);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32][k] = most;
  }
  __syncthreads();
  float most = -INFINITY;
  if (threadIdx.x < 4)
    for (int w = 0; w < (int)(blockDim.x / 32); w++) most = larger(most, of_warp[w][threadIdx.x]);
  __syncthreads();
  return most;
}

template <int ABSOLUTE>
static __global__ void __launch_bounds__(CUDA_THREADS)
    largest(size_t count, cuda_reduction reduction, const float *x, float *slot) {
  cuda_dependent_begin();
  float of_lane[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  CUDA_EACH_QUAD(i, count) {
    const cuda_quad v = cuda_load(x, i, count);
    CUDA_EACH_LANE(l)
    if (4 * i + l < count) of_lane[l] = larger(of_lane[l], ABSOLUTE ? fabsf(v.lane[l]) : v.lane[l]);
  }
  const int first = cuda_first_component(reduction.components);
  float values[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  CUDA_EACH_LANE(l) {
    const int component = cuda_component_of_lane(first, l, reduction.components);
    CUDA_EACH_LANE(c) if (c == component) values[c] = larger(values[c], of_lane[l]);
  }
  float most = block_largest(values);
  if (gridDim.x > 1) {
    float *partials = (float *)reduction.partials;
    if (threadIdx.x < 4) partials[(size_t)blockIdx.x * 4 + threadIdx.x] = most;
    if (!cuda_takes_last_ticket(reduction.tickets)) return;
    CUDA_EACH_LANE(c) values[c] = -INFINITY;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x)
      CUDA_EACH_LANE(c) values[c] = larger(values[c], __ldcg(&partials[(size_t)block * 4 + c]));
    most = block_largest(values);
  }
  if (threadIdx.x < 4) slot[threadIdx.x] = (int)threadIdx.x < reduction.components ? most : 0;
}

/* ---- The operations ---- */

ts_status cuda_reduce(ts_scalars *out, int index, tsi_reduction kind, const ts_vector *x, const ts_vector *y) {
  switch (kind) {
  case TSI_REDUCE_DOT:
    return single(out, index, 0, x, y, NULL);
  case TSI_REDUCE_NORM2:
    return single(out, index, 1, x, x, NULL);
  case TSI_REDUCE_SUM:
    return single(out, index, 0, x, NULL, NULL);
  case TSI_REDUCE_MAX:
    CUDA_RUN_QUADS(x, largest<0>, cuda_reduction_of(x), cuda_data(x), cuda_slot(out, index));
    return TS_OK;
  case TSI_REDUCE_MAX_ABS:
    CUDA_RUN_QUADS(x, largest<1>, cuda_reduction_of(x), cuda_data(x), cuda_slot(out, index));
    return TS_OK;
  }
  return tsi_fail(out->context, TS_ERROR_UNSUPPORTED, "reduction %d is unknown to the CUDA backend", (int)kind);
}

ts_status cuda_dot3(ts_scalars *out, int index, const ts_vector *x, const ts_vector *y, const ts_vector *w) {
  return single(out, index, 0, x, y, w);
}

ts_status cuda_dots(ts_scalars *out, const tsi_dot *sums, int count) {
  switch (count) {
  case 1:
    return several<1>(out, sums);
  case 2:
    return several<2>(out, sums);
  default:
    return several<3>(out, sums);
  }
}
