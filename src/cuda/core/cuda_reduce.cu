/* Reductions: sums of products in double precision, and maxima, each in one kernel. */
#include "cuda_reduce.cuh"

/* ---- Sums ---- */

template <typename Vector> struct dot_term { Vector x, y, w; /* NULL as y or w: 1 */ };

template <int SUMS, typename Vector> struct dot_job {
  dot_term<Vector> term[SUMS];
  cuda_result result[SUMS];
};

template <int SUMS, typename Vector>
static __global__ void __launch_bounds__(CUDA_THREADS)
    dot(size_t count, cuda_reduction reduction, const __grid_constant__ dot_job<SUMS, Vector> job) {
  cuda_dependent_begin();
  cuda_sums<SUMS> sums = {};
  CUDA_EACH_QUAD(i, count) {
#pragma unroll
    for (int s = 0; s < SUMS; s++) {
      const dot_term<Vector> t = job.term[s];
      const float *ys = cuda_high(t.y), *ws = cuda_high(t.w);
      const auto x = cuda_load(t.x, i, count);
      auto y = decltype(x){}, w = decltype(x){};
      if (ys) y = ys == cuda_high(t.x) ? x : cuda_load(t.y, i, count);
      if (ws) w = cuda_load(t.w, i, count);
      cuda_sums_add(&sums, s, x, y, ys != NULL, w, ws != NULL);
    }
  }
  cuda_sums_by_component(&sums, reduction.components);
  cuda_finish_sums(reduction, sums, job.result);
}

/* If x has one part, only the first part of a factor is used. */
template <typename Vector> static Vector factor(const ts_vector *v, const ts_vector *x) {
  if (!v) return Vector{};
  const ts_vector first = tsi_first_part(v);
  return cuda_of<Vector>::vector(x->low ? v : &first);
}

template <int SUMS, typename Vector> static ts_status run_dots(ts_scalars *out, const tsi_dot *sums, int root) {
  const ts_vector *x = sums[0].x;
  dot_job<SUMS, Vector> job;
  for (int s = 0; s < SUMS; s++) {
    const tsi_dot *sum = &sums[s];
    job.term[s] = {cuda_of<Vector>::vector(sum->x), factor<Vector>(sum->y, sum->x),
                   factor<Vector>(sum->w, sum->x)};
    job.result[s] = cuda_result_of(out, sum->index, root);
  }
  CUDA_RUN_QUADS(x, (dot<SUMS, Vector>), cuda_reduction_of(x), job);
  return TS_OK;
}

template <int SUMS> static ts_status several(ts_scalars *out, const tsi_dot *sums, int root) {
  int pairs = 0;
  for (int s = 0; s < SUMS; s++) pairs |= sums[s].x->low != NULL;
  return pairs ? run_dots<SUMS, cuda_pair>(out, sums, root) : run_dots<SUMS, float *>(out, sums, root);
}

static ts_status single(ts_scalars *out, int index, int root, const ts_vector *x, const ts_vector *y,
                        const ts_vector *w) {
  const tsi_dot sum = {index, x, y, w};
  return several<1>(out, &sum, root);
}

/* ---- Maxima ---- */

/* The larger number, or NaN if either is NaN. */
template <typename Number> static __device__ __forceinline__ Number larger(Number most, Number value) {
  return value > most || isnan(value) ? value : most;
}

template <typename Number> static __device__ __forceinline__ Number warp_largest(Number value) {
  for (int offset = 16; offset > 0; offset >>= 1)
    value = larger(value, __shfl_xor_sync(0xffffffffu, value, offset));
  return value;
}

/* Thread k returns the maximum of component k. */
template <typename Number> static __device__ __forceinline__ Number block_largest(const Number (&value)[4]) {
  __shared__ Number of_warp[32][4];
  CUDA_EACH_LANE(k) {
    const Number most = warp_largest(value[k]);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32][k] = most;
  }
  __syncthreads();
  Number most = -INFINITY;
  if (threadIdx.x < 4)
    for (int w = 0; w < (int)(blockDim.x / 32); w++) most = larger(most, of_warp[w][threadIdx.x]);
  __syncthreads();
  return most;
}

template <int ABSOLUTE, typename Vector>
static __global__ void __launch_bounds__(CUDA_THREADS)
    largest(size_t count, cuda_reduction reduction, Vector x, cuda_result result) {
  typedef typename cuda_of<Vector>::number number;
  cuda_dependent_begin();
  number of_lane[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  CUDA_EACH_QUAD(i, count) {
    const auto v = cuda_load(x, i, count);
    CUDA_EACH_LANE(l)
    if (4 * i + l < count) of_lane[l] = larger(of_lane[l], ABSOLUTE ? fabs(v.lane[l]) : v.lane[l]);
  }
  const int first = cuda_first_component(reduction.components);
  number values[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  CUDA_EACH_LANE(l) {
    const int component = cuda_component_of_lane(first, l, reduction.components);
    CUDA_EACH_LANE(c) if (c == component) values[c] = larger(values[c], of_lane[l]);
  }
  number most = block_largest(values);
  if (gridDim.x > 1) {
    number *partials = (number *)reduction.partials;
    if (threadIdx.x < 4) partials[(size_t)blockIdx.x * 4 + threadIdx.x] = most;
    if (!cuda_is_last_block(reduction.tickets)) return;
    CUDA_EACH_LANE(c) values[c] = -INFINITY;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x)
      CUDA_EACH_LANE(c) values[c] = larger(values[c], __ldcg(&partials[(size_t)block * 4 + c]));
    most = block_largest(values);
  }
  if (threadIdx.x < 4) cuda_put(result, (int)threadIdx.x, (int)threadIdx.x < reduction.components ? most : 0);
}

template <int ABSOLUTE, typename Vector>
static ts_status run_largest(ts_scalars *out, int index, const ts_vector *x) {
  CUDA_RUN_QUADS(x, (largest<ABSOLUTE, Vector>), cuda_reduction_of(x), cuda_of<Vector>::vector(x),
                 cuda_result_of(out, index, 0));
  return TS_OK;
}

template <int ABSOLUTE> static ts_status find_largest(ts_scalars *out, int index, const ts_vector *x) {
  return x->low ? run_largest<ABSOLUTE, cuda_pair>(out, index, x)
                : run_largest<ABSOLUTE, float *>(out, index, x);
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
    return find_largest<0>(out, index, x);
  case TSI_REDUCE_MAX_ABS:
    return find_largest<1>(out, index, x);
  }
  return tsi_fail(out->context, TS_ERROR_UNSUPPORTED, "reduction %d is unknown to the CUDA backend", (int)kind);
}

ts_status cuda_dot3(ts_scalars *out, int index, const ts_vector *x, const ts_vector *y, const ts_vector *w) {
  return single(out, index, 0, x, y, w);
}

ts_status cuda_dots(ts_scalars *out, const tsi_dot *sums, int count) {
  switch (count) {
  case 1:
    return several<1>(out, sums, 0);
  case 2:
    return several<2>(out, sums, 0);
  default:
    return several<3>(out, sums, 0);
  }
}
