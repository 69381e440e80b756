/* The momentum of accelerated sweeps (lcp/lcp_accelerate.c) in one launch: sums over the grid, then the start
 * of the next sweep. */
#include "cuda/krylov/cuda_grid_sum.cuh"
#include "cuda_lcp.cuh"

struct momentum_job {
  lcp_vector z, from, last;
  float *state; /* k, and d^T d of the previous sweep */
  double growth;
  size_t count;
  cuda_grid_barrier barrier;
};

static __global__ __launch_bounds__(CUDA_THREADS) void momentum(momentum_job job) {
  const size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x, threads = (size_t)gridDim.x * blockDim.x;
  double products[2] = {0, 0}, sums[2];
  unsigned passed = 0;
  for (size_t i = first; i < job.count; i += threads) {
    const double z = lcp_number(job.z, i), d = z - lcp_number(job.from, i), m = z - lcp_number(job.last, i);
    products[0] += d * d;
    products[1] += d * m;
  }
  const float k = job.state[0], before = job.state[1];
  cuda_grid_sum<2>(job.barrier, &passed, 2, products, sums);
  const bool goes_on = sums[0] < job.growth * (double)before && sums[1] > 0;
  const double next = goes_on ? (double)k + 1 : 0, weight = next / (next + 3);
  for (size_t i = first; i < job.count; i += threads) {
    const double z = lcp_number(job.z, i);
    lcp_put_number(job.from, i, z + weight * (z - lcp_number(job.last, i)));
    lcp_put_number(job.last, i, z);
  }
  if (first == 0) job.state[0] = (float)next, job.state[1] = (float)sums[0];
  cuda_barrier_leave(job.barrier);
}

ts_status cuda_lcp_add_momentum(const ts_lcp *lcp, ts_vector *from, ts_vector *last, ts_vector *state,
                                double growth) {
  ts_context *context = lcp->context;
  momentum_job job = {
      lcp_vector_of(lcp->z), lcp_vector_of(from),          lcp_vector_of(last), cuda_data(state), growth,
      tsi_lcp_unknowns(lcp), cuda_grid_barrier_of(context)};
  const unsigned wanted = cuda_blocks_for(job.count);
  unsigned blocks = 1;
  if (cuda_state_of(context)->cooperative)
    TSI_TRY(cuda_blocks_at_once(context, (const void *)momentum, CUDA_THREADS, &blocks));
  if (blocks > wanted) blocks = wanted;
  if (blocks == 1) return cuda_launch(context, "lcp_momentum", momentum, dim3(1), dim3(CUDA_THREADS), job);
  return cuda_start_together(context, (const void *)momentum, blocks, CUDA_THREADS, &job);
}
