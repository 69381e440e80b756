/* Kernels whose blocks wait for each other, and sums over the whole grid within such a kernel.
 *
 * All blocks must be resident at once (cuda_start_together). Every block stores its partial sums in memory and
 * waits for the others. Then every block adds all partial sums in the same order and in double precision, so
 * all blocks have the same bits. A grid barrier takes about 1 us on an H200. Marked partial sums that others
 * poll, instead of a counter, were slower (1.7 us), because the polling loads the memory system. */
#ifndef CUDA_GRID_SUM_CUH
#define CUDA_GRID_SUM_CUH

#include "cuda/core/cuda_kernels.cuh"

enum { CUDA_GRID_SUM_KINDS = 8 }; /* of numbers in one sum */

struct cuda_grid_barrier {
  double *partials; /* two alternating areas: one is written while another block may still read the other */
  unsigned *arrived, *left; /* 0 before and after the kernel */
};

/* threadIdx.x, hidden from the compiler. Otherwise it would keep values computed from threadIdx.x in registers
 * through all passes of a kernel. For kernels short of registers. */
static __device__ __forceinline__ unsigned cuda_thread(void) {
  unsigned thread = threadIdx.x;
  asm volatile("" : "+r"(thread));
  return thread;
}

/* Called at the start of a kernel: registers spill to shared memory instead of local memory. The local memory
 * of all resident threads would displace megabytes of vectors from the cache. */
static __device__ __forceinline__ void cuda_spill_to_shared_memory(void) {
#if __CUDACC_VER_MAJOR__ >= 13
  asm volatile(".pragma \"enable_smem_spilling\";");
#endif
}

static inline cuda_grid_barrier cuda_grid_barrier_of(const ts_context *context) {
  const cuda_state *state = cuda_state_of(context);
  return {(double *)state->partials, state->tickets + 1, state->tickets + 2};
}

/* Launches a kernel with one argument on `blocks` blocks that run at the same time. */
static inline ts_status cuda_start_together(ts_context *context, const void *kernel, unsigned blocks,
                                            unsigned threads, void *job) {
  void *arguments[] = {job};
  CUDA_TRY(context, cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), arguments, 0,
                                                cuda_stream(context)));
  return TS_OK;
}

/* The maximum of blocks that run at once on the device, limited by the room for their sums. */
static inline ts_status cuda_blocks_at_once(ts_context *context, const void *kernel, unsigned threads,
                                            unsigned *blocks) {
  TSI_TRY(cuda_blocks_of(context, kernel, threads, blocks));
  *blocks *= (unsigned)cuda_state_of(context)->multiprocessors;
  if (*blocks > CUDA_MAX_BLOCKS) *blocks = CUDA_MAX_BLOCKS;
  return TS_OK;
}

/* Waits for the other blocks. Afterwards the earlier writes of their threads are visible. `passed` counts
 * barriers. */
static __device__ __forceinline__ void cuda_barrier_wait(const cuda_grid_barrier &barrier, unsigned *passed) {
  const unsigned all = ++*passed * gridDim.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(barrier.arrived, 1);
    while (*(volatile unsigned *)barrier.arrived < all) continue;
    __threadfence();
  }
  __syncthreads();
}

/* The same barrier with release and acquire instead of fences, for passes over vectors. On an H100, an
 * iteration of conjugate gradients in passes over 1 M rows takes 32.6 us with it and 33.8 us with fences. With
 * 64 k rows in registers it takes 7.1 us and 6.9 us. Fences around relaxed operations are slower than both. */
static __device__ __forceinline__ void cuda_barrier_arrive(const cuda_grid_barrier &barrier) {
#if __CUDA_ARCH__ >= 700
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(barrier.arrived) : "memory");
#else
  __threadfence();
  atomicAdd(barrier.arrived, 1);
#endif
}

/* Whether `all` arrivals are complete. */
static __device__ __forceinline__ bool cuda_barrier_has(const cuda_grid_barrier &barrier, unsigned all) {
  unsigned arrived;
#if __CUDA_ARCH__ >= 700
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(arrived) : "l"(barrier.arrived) : "memory");
#else
  arrived = *(volatile unsigned *)barrier.arrived;
  __threadfence();
#endif
  return arrived >= all;
}

static __device__ __forceinline__ void cuda_barrier_pass(const cuda_grid_barrier &barrier, unsigned *passed) {
  const unsigned all = ++*passed * gridDim.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda_barrier_arrive(barrier);
    while (!cuda_barrier_has(barrier, all)) continue;
  }
  __syncthreads();
}

/* Called at the end of the kernel: resets the counters to 0. */
static __device__ __forceinline__ void cuda_barrier_leave(const cuda_grid_barrier &barrier) {
  if (threadIdx.x == 0 && atomicInc(barrier.left, gridDim.x - 1) == gridDim.x - 1) *barrier.arrived = 0;
}

/* The location of the partial sums of the next barrier. */
static __device__ __forceinline__ double *cuda_partials(const cuda_grid_barrier &barrier, unsigned passed) {
  return barrier.partials + (size_t)(passed % 2) * CUDA_GRID_SUM_KINDS * gridDim.x;
}

/* Sums `value` over a block, for `kinds` kinds of numbers (at most KINDS). All lanes of one warp receive each
 * sum and call keep(kind, sum). Blocks consist of whole warps and must synchronise between two calls. */
template <int KINDS, typename Keep>
static __device__ __forceinline__ void cuda_sum_of_block(unsigned kinds, const double (&value)[KINDS],
                                                         const Keep &keep) {
  static_assert(KINDS <= CUDA_GRID_SUM_KINDS, "no room for so many partial sums");
  __shared__ double of_warp[KINDS][32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
#pragma unroll
  for (int k = 0; k < KINDS; k++)
    if (k < (int)kinds) {
      const double part = cuda_warp_sum(value[k]);
      if (lane == 0) of_warp[k][warp] = part;
    }
  __syncthreads();
  for (unsigned k = warp; k < kinds; k += warps) keep(k, cuda_warp_sum(lane < warps ? of_warp[k][lane] : 0));
}

/* Stores the block's sums for all blocks to read after a barrier. */
template <int KINDS>
static __device__ __forceinline__ void cuda_leave_partials(double *partials, unsigned kinds,
                                                           const double (&value)[KINDS]) {
  cuda_sum_of_block<KINDS>(kinds, value, [=](unsigned kind, double sum) {
    if (threadIdx.x % 32 == 0) partials[(size_t)kind * gridDim.x + blockIdx.x] = sum;
  });
}

/* Adds the partial sums of all blocks into `total`, which is in shared memory. One warp adds each kind: with a
 * thread per block and all warps it takes 0.2 us longer. */
template <int KINDS>
static __device__ __forceinline__ void cuda_add_partials(const double *partials, unsigned kinds,
                                                         double (&total)[KINDS]) {
  constexpr unsigned LOADS = 4; /* in flight at once */
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (unsigned k = warp; k < kinds; k += warps) {
    const double *of_block = partials + (size_t)k * gridDim.x;
    double part = 0;
    for (unsigned block = lane; block < gridDim.x; block += 32 * LOADS) {
      double next[LOADS];
#pragma unroll
      for (unsigned l = 0; l < LOADS; l++)
        next[l] = block + 32 * l < gridDim.x ? __ldcg(of_block + block + 32 * l) : 0;
#pragma unroll
      for (unsigned l = 0; l < LOADS; l++) part += next[l];
    }
    part = cuda_warp_sum(part);
    if (lane == 0) total[k] = part;
  }
  __syncthreads();
}

/* The sums of `value` over the grid, for `kinds` kinds of numbers (at most KINDS), in every thread; 0 for other
 * kinds. Uses one barrier: cuda_barrier_pass in kernels of passes over vectors. Blocks consist of whole
 * warps. */
template <int KINDS, bool IN_PASSES = false>
static __device__ __forceinline__ void cuda_grid_sum(const cuda_grid_barrier &barrier, unsigned *passed,
                                                     unsigned kinds, const double (&value)[KINDS],
                                                     double (&sum)[KINDS]) {
  __shared__ double total[KINDS];
  double *partials = cuda_partials(barrier, *passed);
  cuda_leave_partials<KINDS>(partials, kinds, value);
  if (IN_PASSES)
    cuda_barrier_pass(barrier, passed);
  else
    cuda_barrier_wait(barrier, passed);
  cuda_add_partials<KINDS>(partials, kinds, total);
#pragma unroll
  for (int k = 0; k < KINDS; k++) sum[k] = k < (int)kinds ? total[k] : 0;
}

#endif
