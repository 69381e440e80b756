/* Kernels whose blocks wait for each other, and sums over the whole grid in the middle of such a kernel.
 *
 * All blocks must be on the device at once (cuda_start_together). Every block leaves its partial sums in
 * memory, they wait, and every block adds all of them up, in one order and in double precision: the same bits
 * in each. A grid barrier takes about 1 us on an H200. A partial sum that carries a mark, for which others
 * poll, instead of the counter, was slower (1.7 us): the polling disturbs the memory. */
#ifndef CUDA_GRID_SUM_CUH
#define CUDA_GRID_SUM_CUH

#include "cuda/core/cuda_kernels.cuh"

enum { CUDA_GRID_SUM_KINDS = 8 }; /* of numbers in a sum */

struct cuda_grid_barrier {
  double *partials; /* two areas that take turns: one is written while another block may still read the other */
  unsigned *arrived, *left; /* 0 before and after the kernel */
};

/* threadIdx.x, from which the compiler does not compute things once and keeps them in registers through a whole
 * kernel of many passes: for one that has no room for them. */
static __device__ __forceinline__ unsigned cuda_thread(void) {
  unsigned thread = threadIdx.x;
  asm volatile("" : "+r"(thread));
  return thread;
}

/* At the start of a kernel: what registers have no room for goes to shared memory. Local memory of as many
 * threads as a device holds at once takes megabytes of the cache from vectors. */
static __device__ __forceinline__ void cuda_spill_to_shared_memory(void) {
#if __CUDACC_VER_MAJOR__ >= 13
  asm volatile(".pragma \"enable_smem_spilling\";");
#endif
}

static inline cuda_grid_barrier cuda_grid_barrier_of(const ts_context *context) {
  const cuda_state *state = cuda_state_of(context);
  return {(double *)state->partials, state->tickets + 1, state->tickets + 2};
}

/* Starts a kernel of one argument on `blocks` blocks that run at the same time. */
static inline ts_status cuda_start_together(ts_context *context, const void *kernel, unsigned blocks,
                                            unsigned threads, void *job) {
  void *arguments[] = {job};
  CUDA_TRY(context, cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), arguments, 0,
                                                cuda_stream(context)));
  return TS_OK;
}

/* Blocks of a kernel that the device holds at once; no more than there is room for their sums. */
static inline ts_status cuda_blocks_at_once(ts_context *context, const void *kernel, unsigned threads,
                                            unsigned *blocks) {
  TSI_TRY(cuda_blocks_of(context, kernel, threads, blocks));
  *blocks *= (unsigned)cuda_state_of(context)->multiprocessors;
  if (*blocks > CUDA_MAX_BLOCKS) *blocks = CUDA_MAX_BLOCKS;
  return TS_OK;
}

/* Waits for the other blocks; what their threads wrote before is visible after. `passed` counts the barriers
 * passed. */
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

/* The same by release and acquire in place of fences, for passes over vectors. On an H100 an iteration of
 * conjugate gradients in passes over 1 M rows takes 32.6 us so and 33.8 with fences, but one that keeps 64 k
 * rows in registers 7.1 us and 6.9. Fences before and after that do not order all of memory are slower than
 * both. */
static __device__ __forceinline__ void cuda_barrier_arrive(const cuda_grid_barrier &barrier) {
#if __CUDA_ARCH__ >= 700
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(barrier.arrived) : "memory");
#else
  __threadfence();
  atomicAdd(barrier.arrived, 1);
#endif
}

/* Whether so many have arrived. */
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

/* At the end of the kernel: the counters are 0 again. */
static __device__ __forceinline__ void cuda_barrier_leave(const cuda_grid_barrier &barrier) {
  if (threadIdx.x == 0 && atomicInc(barrier.left, gridDim.x - 1) == gridDim.x - 1) *barrier.arrived = 0;
}

/* Where the partial sums of the next barrier are. */
static __device__ __forceinline__ double *cuda_partials(const cuda_grid_barrier &barrier, unsigned passed) {
  return barrier.partials + (size_t)(passed % 2) * CUDA_GRID_SUM_KINDS * gridDim.x;
}

/* The sums over a block of `value`, numbers of `kinds` kinds (at most KINDS): all lanes of a warp have one and
 * keep(kind, sum) it. Blocks of whole warps; between two of these the block waits for itself. */
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

/* The block's sums to where all blocks find them after a barrier. */
template <int KINDS>
static __device__ __forceinline__ void cuda_leave_partials(double *partials, unsigned kinds,
                                                           const double (&value)[KINDS]) {
  cuda_sum_of_block<KINDS>(kinds, value, [=](unsigned kind, double sum) {
    if (threadIdx.x % 32 == 0) partials[(size_t)kind * gridDim.x + blockIdx.x] = sum;
  });
}

/* The sums of what all blocks have left there, in `total`, which the block shares. By
 * a warp for each kind: by a thread for each block and all warps it takes 0.2 us longer. */
template <int KINDS>
static __device__ __forceinline__ void cuda_add_partials(const double *partials, unsigned kinds,
                                                         double (&total)[KINDS]) {
  constexpr unsigned LOADS = 4; /* on their way at once */
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

/* The sums over the grid of `value`, numbers of `kinds` kinds (at most KINDS), in every thread, and 0 for other
 * kinds; one barrier, in kernels of passes over vectors cuda_barrier_pass. Blocks of whole warps. */
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
