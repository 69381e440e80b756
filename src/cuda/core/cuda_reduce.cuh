/* Sums over a whole grid in one kernel: every block stores its partial sums in memory, and the last block to
 * arrive adds them. All additions are in double precision. Their order depends only on the size of the grid, so
 * the same input gives the same bits.
 *
 * Only one reduction runs at a time, since all use the `partials` and `tickets` of the context's stream. */
#ifndef CUDA_REDUCE_CUH
#define CUDA_REDUCE_CUH

#include "cuda_kernels.cuh"

struct cuda_reduction {
  double *partials;
  unsigned *tickets; /* 0 before and after */
  int components;
};

static inline cuda_reduction cuda_reduction_of(const ts_vector *v) {
  const cuda_state *state = cuda_state_of(v->context);
  return {(double *)state->partials, state->tickets, v->components};
}

/* The destination of a result: four floats, or four of each part. Components that the vectors do not have
 * become 0. */
struct cuda_result {
  float *slot, *low; /* low: NULL if slots have one part */
  int root;          /* stores the square root of the sum */
};

static inline cuda_result cuda_result_of(ts_scalars *out, int index, int root) {
  return {cuda_slot(out, index), out->low ? cuda_slot(out->low, index) : NULL, root};
}

static __device__ __forceinline__ void cuda_put(const cuda_result &result, int component, double value) {
  const float high = (float)value;
  result.slot[component] = high;
  if (result.low) result.low[component] = cuda_low_part(value, high);
}

/* ---- Sums in a thread: four lanes per sum ---- */

template <int SUMS> struct cuda_sums { double lane[SUMS][4]; };

/* Adds x to sum s, multiplied by y and w if present. Conversions to double precision are slow, so an absent
 * factor is skipped instead of multiplied as 1. */
template <int SUMS, typename Quad>
static __device__ __forceinline__ void cuda_sums_add(cuda_sums<SUMS> *sums, int s, const Quad &x, const Quad &y,
                                                     int has_y, const Quad &w, int has_w) {
  double product[4];
  CUDA_EACH_LANE(l) product[l] = (double)x.lane[l];
  if (has_y) CUDA_EACH_LANE(l) product[l] *= (double)y.lane[l];
  if (has_w) CUDA_EACH_LANE(l) product[l] *= (double)w.lane[l];
  CUDA_EACH_LANE(l) sums->lane[s][l] += product[l];
}

/* Adds the lanes up by component. */
template <int SUMS>
static __device__ __forceinline__ void cuda_sums_by_component(cuda_sums<SUMS> *sums, int components) {
  const int first = cuda_first_component(components);
#pragma unroll
  for (int s = 0; s < SUMS; s++) {
    double by_component[4] = {0, 0, 0, 0};
    CUDA_EACH_LANE(l) {
      const int component = cuda_component_of_lane(first, l, components);
      CUDA_EACH_LANE(c) if (c == component) by_component[c] += sums->lane[s][l];
    }
    CUDA_EACH_LANE(c) sums->lane[s][c] = by_component[c];
  }
}

/* ---- Over a block ----
 * `value` has KINDS numbers per thread, four per sum. Components that the vectors do not have are skipped.
 * Thread k returns the sum of kind k. */
template <int KINDS>
static __device__ __forceinline__ double cuda_block_sum(const double (&value)[KINDS], int components) {
  __shared__ double of_warp[32][KINDS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
#pragma unroll
  for (int k = 0; k < KINDS; k++) {
    if (k % 4 >= components) continue;
    const double sum = cuda_warp_sum(value[k]);
    if (lane == 0) of_warp[warp][k] = sum;
  }
  __syncthreads();
  double total = 0;
  if (threadIdx.x < KINDS && (int)threadIdx.x % 4 < components)
    for (int w = 0; w < warps; w++) total += of_warp[w][threadIdx.x];
  __syncthreads();
  return total;
}

/* True in the last block of the grid to call this. The writes of all other blocks are then visible. */
static __device__ __forceinline__ int cuda_is_last_block(unsigned *tickets) {
  __shared__ int last;
  __threadfence();
  __syncthreads();
  /* The counter wraps to 0 after the last block. */
  if (threadIdx.x == 0) last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (last) __threadfence();
  return last;
}

/* ---- Over the grid: ends a kernel. `sums` is by component. Blocks have at least 32 threads. ---- */
template <int SUMS>
static __device__ __forceinline__ void cuda_finish_sums(const cuda_reduction &reduction,
                                                        const cuda_sums<SUMS> &sums,
                                                        const cuda_result (&results)[SUMS]) {
  constexpr int kinds = SUMS * 4;
  double values[kinds];
#pragma unroll
  for (int k = 0; k < kinds; k++) values[k] = sums.lane[k / 4][k % 4];
  const int components = reduction.components;
  double total = cuda_block_sum<kinds>(values, components);
  if (gridDim.x > 1) {
    if (threadIdx.x < kinds) reduction.partials[(size_t)blockIdx.x * kinds + threadIdx.x] = total;
    if (!cuda_is_last_block(reduction.tickets)) return;
#pragma unroll
    for (int k = 0; k < kinds; k++) values[k] = 0;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
#pragma unroll
      for (int k = 0; k < kinds; k++)
        if (k % 4 < components) values[k] += __ldcg(&reduction.partials[(size_t)block * kinds + k]);
    }
    total = cuda_block_sum<kinds>(values, components);
  }
  const int component = threadIdx.x % 4, exists = component < components;
#pragma unroll /* an index would place every thread's results in local memory */
  for (int s = 0; s < SUMS; s++)
    if ((int)threadIdx.x / 4 == s)
      cuda_put(results[s], component, exists ? results[s].root ? sqrt(total) : total : 0);
}

#endif
