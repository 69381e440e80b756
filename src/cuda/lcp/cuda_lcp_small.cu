/* Problems of at most one block of unknowns. A warp has a problem, with its matrix in shared memory and its
 * unknowns in registers, and runs all sweeps in one launch. */
#include "cuda_lcp_contacts.cuh"

template <typename T, int ROWS, int DIM>
static __global__ __launch_bounds__(32) void small(lcp_data<T> d, int sweeps, int exact) {
  constexpr int size = 32 * ROWS;
  __shared__ alignas(16) T a[size * size];
  __shared__ lcp_limit<T, DIM> limits[size / DIM];
  const size_t problem = blockIdx.x;
  const int lane = (int)threadIdx.x, count = d.n / DIM;
  lcp_rows<T, ROWS> r;
  lcp_load_block<T, size, DIM>(d, problem, 0, lane, 32, a);
#pragma unroll
  for (int h = 0; h < ROWS; h++) {
    const int i = lcp_row_of<ROWS>(lane, h);
    const size_t at = problem * d.pitch + (size_t)i;
    const bool is_there = i < d.n;
    if constexpr (DIM == 1) limits[i] = {is_there ? d.lower[at] : (T)0, is_there ? d.upper[at] : (T)0};
    r.z[h] = is_there ? d.z[at] : (T)0;
    r.base[h] = is_there ? -d.q[at] * d.inverse[at] : (T)0;
  }
  if constexpr (DIM > 1)
    if (lane < count)
      limits[lane] = lcp_load_limit<T, DIM>(d, problem, problem * d.pitch + (size_t)(DIM * lane), exact);
  __syncwarp();
  lcp_begin_block<T, ROWS>(a, lane, &r);
#pragma unroll 1
  for (int sweep = 0; sweep < sweeps; sweep++) lcp_solve_block(a, limits, count, lane, &r);
#pragma unroll
  for (int h = 0; h < ROWS; h++)
    if (lcp_row_of<ROWS>(lane, h) < d.n) d.z[problem * d.pitch + (size_t)lcp_row_of<ROWS>(lane, h)] = r.z[h];
}

template <typename T, int DIM> static ts_status start(const lcp_run *run, const lcp_data<T> *data) {
  const dim3 blocks((unsigned)data->batch), threads(32);
  if (data->n <= 32)
    return cuda_launch(run->context, "lcp_small", small<T, 1, DIM>, blocks, threads, *data, run->sweeps,
                       run->exact);
  return cuda_launch(run->context, "lcp_small", small<T, 2, DIM>, blocks, threads, *data, run->sweeps,
                     run->exact);
}

template <typename T> static ts_status sweep_small(const lcp_run *run, const lcp_data<T> *data) {
  return run->dimension == 1   ? start<T, 1>(run, data)
         : run->dimension == 2 ? start<T, 2>(run, data)
                               : start<T, 3>(run, data);
}

ts_status cuda_lcp_sweep_small(const lcp_run *run, const lcp_data<float> *data) {
  return sweep_small(run, data);
}
ts_status cuda_lcp_sweep_small(const lcp_run *run, const lcp_data<double> *data) {
  return sweep_small(run, data);
}
