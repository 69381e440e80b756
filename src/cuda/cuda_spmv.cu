/* y = A x, and r = b - A x in double precision.
 *
 * csr: neighbouring threads share a row; or, with works, a block multiplies the entries of its rows as they lie
 * in memory and then adds up each row's products. jagged: a warp has a slice. A row that is longer than a work
 * is shared by blocks; the one that arrives last adds up their sums, in the order of the pieces. */
#include "cuda_grid.h"
#include "cuda_spmv_slices.cuh"

/* ---- CSR ---- */

template <int N, typename Real> __global__ static void multiply_csr(const cuda_csr m, const operands o) {
  const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const size_t row = thread >> m.log2_lanes;
  const int lane = threadIdx.x & ((1 << m.log2_lanes) - 1);
  Real sum[N] = {};
  cuda_overlap_begin();
  if (row < (size_t)m.rows) cuda_csr_row<N>(m, (int32_t)row, lane, o.x, sum);
  cuda_sum_lanes<N>(m.log2_lanes, sum);
  if (row < (size_t)m.rows && lane == 0) store<N>(o, (int32_t)row, sum);
}

/* Blocks that a multiprocessor is to hold: what hides the time of memory is threads. */
template <int N, typename Real>
constexpr int work_blocks = N == 1 && sizeof(Real) == 4 ? MULTIPROCESSOR_THREADS / WORK_THREADS : 1;

/* Entries begin .. end-1 of the row of this thread, counted from the work's first one; none behind the rows. */
static __device__ __forceinline__ void bounds_of(const cuda_csr &m, const tsi_row_work &work, int row,
                                                 int *begin, int *end) {
  *begin = *end = 0;
  if (row >= work.rows) return;
  *begin = m.row_offsets[work.row + row] - work.first;
  *end = m.row_offsets[work.row + row + 1] - work.first;
}

/* The sum of products begin .. end-1 of the thread `from` of the warp, taken by all of it, in that thread. */
template <int N, typename Real>
static __device__ __forceinline__ void sum_by_warp(const Real (*products)[TSI_WORK_ENTRIES], int begin, int end,
                                                   int from, Real sum[N]) {
  const int lane = threadIdx.x % 32;
  Real part[N] = {};
  begin = __shfl_sync(0xffffffffu, begin, from), end = __shfl_sync(0xffffffffu, end, from);
  for (int k = begin + lane; k < end; k += 32)
    for (int c = 0; c < N; c++) part[c] += products[c][k];
  cuda_sum_lanes<N>(5, part);
  for (int c = 0; c < N; c++)
    if (lane == from) sum[c] = part[c];
}

/* Steps of a thread from which on the whole warp takes a row. */
enum { MANY_STEPS = 16 };

template <int N, typename Real>
__global__ static void __launch_bounds__(WORK_THREADS, work_blocks<N, Real>)
    multiply_works(const cuda_csr m, const cuda_works w, const operands o) {
  __shared__ Real products[N][TSI_WORK_ENTRIES];
  cuda_overlap_trigger();
  const tsi_row_work work = w.works[blockIdx.x];
  if (work.rows == 0) {
    piece_of_row<N, WORK_THREADS, Real>(w, work, (int)blockIdx.x, o);
    return;
  }
  /* As many threads a row as there are. */
  int log2_lanes = 0;
  while (log2_lanes < 5 && work.rows << (log2_lanes + 1) <= WORK_THREADS) log2_lanes++;
  const int lane = threadIdx.x & ((1 << log2_lanes) - 1);
  const int together = WORK_THREADS >> log2_lanes;
  int mine = (int)(threadIdx.x >> log2_lanes), begin, end;
  /* What belongs to the pattern is on its way before the kernel before has ended. */
  constexpr int steps = TSI_WORK_ENTRIES / WORK_THREADS;
  const int count = work.end - work.first;
  const int32_t *columns = m.columns + work.first;
  const float *values = m.values + work.first;
  int32_t column[steps];
#pragma unroll
  for (int u = 0; u < steps; u++) {
    const int at = u * WORK_THREADS + (int)threadIdx.x;
    if (at < count) column[u] = __ldcs(columns + at);
  }
  bounds_of(m, work, mine, &begin, &end);
  cuda_overlap_wait();
#pragma unroll
  for (int u = 0; u < steps; u++) {
    const int at = u * WORK_THREADS + (int)threadIdx.x;
    if (at < count) {
      const Real value = __ldcs(values + at);
      const cuda_components<N> xj = cuda_load<N>(o.x, column[u]);
      for (int c = 0; c < N; c++) products[c][at] = value * xj.c[c];
    }
  }
  __syncthreads();
  for (int row = 0; row < work.rows; row += together) {
    if (row > 0) {
      mine += together;
      bounds_of(m, work, mine, &begin, &end);
    }
    Real sum[N] = {};
    const bool is_long = end - begin > MANY_STEPS << log2_lanes;
    if (!is_long)
      for (int k = begin + lane; k < end; k += 1 << log2_lanes)
        for (int c = 0; c < N; c++) sum[c] += products[c][k];
    unsigned long_ones = __ballot_sync(0xffffffffu, is_long && lane == 0);
    for (; long_ones; long_ones &= long_ones - 1)
      sum_by_warp<N>(products, begin, end, __ffs((int)long_ones) - 1, sum);
    cuda_sum_lanes<N>(log2_lanes, sum);
    if (mine < work.rows && lane == 0) store<N>(o, work.row + mine, sum);
  }
}

/* ---- Segments ---- */

template <int N, typename Real>
__global__ static void multiply_segments(const cuda_segments m, const operands o) {
  const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  Real sum[N] = {};
  cuda_overlap_begin();
  if (m.diagonal) {
    const Real value = m.diagonal[row];
    const cuda_components<N> own = cuda_load<N>(o.x, (int32_t)row);
    /* A row without a diagonal does not see its own x, which may be no number. */
    if (value != 0)
      for (int c = 0; c < N; c++) sum[c] = value * own.c[c];
  }
  cuda_run<N>(m.values, m.pointers, m.starts[row], m.starts[row + 1], 1, o.x, sum);
  store<N>(o, (int32_t)row, sum);
}

/* ---- Operations ---- */

template <int N, typename Real>
static ts_status start(ts_context *context, const cuda_matrix &m, const operands &o) {
  const cuda_works &w = m.works;
  if (m.format == TS_FORMAT_JAGGED) {
    const unsigned blocks = (unsigned)w.count + cuda_blocks_for((size_t)m.slices.count, SLICE_WARPS);
    return m.slices.streamed ? cuda_start(context, "multiply_streamed", multiply_streamed<N, Real>, blocks,
                                          SLICE_THREADS, m.slices, w, o)
                             : cuda_start(context, "multiply_slices", multiply_slices<N, Real>, blocks,
                                          SLICE_THREADS, m.slices, w, o);
  }
  if (m.format == TS_FORMAT_SEGMENTS)
    return cuda_start(context, "multiply_segments", multiply_segments<N, Real>,
                      cuda_blocks_for((size_t)m.segments.rows), CUDA_THREADS, m.segments, o);
  if (w.count)
    return cuda_start(context, "multiply_works", multiply_works<N, Real>, (unsigned)w.count, WORK_THREADS,
                      m.csr, w, o);
  return cuda_start(context, "multiply_csr", multiply_csr<N, Real>,
                    cuda_blocks_for((size_t)m.csr.rows << m.csr.log2_lanes), CUDA_THREADS, m.csr, o);
}

template <typename Real> static ts_status run(const ts_matrix *A, int components, const operands &o) {
  const cuda_matrix &m = *cuda_matrix_of(A);
  switch (components) {
  case 1:
    return start<1, Real>(A->context, m, o);
  case 2:
    return start<2, Real>(A->context, m, o);
  case 3:
    return start<3, Real>(A->context, m, o);
  default:
    return start<4, Real>(A->context, m, o);
  }
}

ts_status cuda_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  if (A->stencil) return cuda_stencil_spmv(y, A, x);
  if (A->layout->blocks.log2_size) return cuda_bcrs_spmv(y, A, x);
  return run<float>(A, y->components, {cuda_data(y), cuda_data(x), NULL, NULL});
}

/* b - A x is the difference of nearly equal numbers when x is good. */
ts_status cuda_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  if (A->stencil) return cuda_stencil_plain_residual(r, b, A, x);
  if (A->layout->blocks.log2_size) return cuda_bcrs_residual(r, b, A, x);
  return run<double>(A, r->components, {cuda_data(r), cuda_data(x), cuda_data(b), cuda_matrix_of(A)->locked});
}
