/* y = A x, and r = b - A x in double precision.
 *
 * csr: neighbouring threads share a row; or, with works, a block multiplies the entries of its rows as they lie
 * in memory and then adds up each row's products. jagged: a warp has a slice. A row that is longer than a work
 * is shared by blocks; the one that arrives last adds up their sums, in the order of the pieces. */
#include "cuda_grid.h"
#include "cuda_rows.cuh"

enum { WORK_THREADS = 128, WORK_WARPS = WORK_THREADS / 32 };

typedef struct operands {
  float *y;
  const float *x;
  const float *b;              /* NULL: y = A x */
  const unsigned char *locked; /* of rows where r is 0, NULL: none; locked rows of A are empty */
} operands;

/* What the row's first thread writes. */
template <int N, typename Real>
static __device__ __forceinline__ void store(const operands &o, int32_t row, const Real sum[N]) {
  const size_t first = (size_t)row * N;
  const bool locked = o.b && o.locked && o.locked[row];
  for (int c = 0; c < N; c++)
    o.y[first + c] = (float)(locked ? 0 : o.b ? (Real)o.b[first + c] - sum[c] : sum[c]);
}

/* ---- Long rows ---- */

/* The sum over the block, in its first thread. */
template <int N, typename Real> static __device__ __forceinline__ void sum_block(Real sum[N]) {
  __shared__ Real warps[WORK_WARPS][N];
  cuda_sum_lanes<N>(5, sum);
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    for (int c = 0; c < N; c++) warps[threadIdx.x / 32][c] = sum[c];
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < WORK_WARPS; w++)
      for (int c = 0; c < N; c++) sum[c] += warps[w][c];
}

template <int N, typename Real>
static __device__ void piece_of_row(const cuda_works &m, const tsi_row_work &work, int number,
                                    const operands &o) {
  __shared__ bool last;
  Real sum[N] = {};
  cuda_run<N>(m.values, m.columns, work.first + (int)threadIdx.x, work.end, WORK_THREADS, o.x, sum);
  sum_block<N>(sum);
  if (work.pieces > 1) {
    const int first = number - work.piece;
    double *partials = m.partials + 4 * (size_t)first;
    if (threadIdx.x == 0) {
      for (int c = 0; c < N; c++) partials[4 * work.piece + c] = sum[c];
      __threadfence();
      last = atomicAdd(m.arrivals + first, 1) == (unsigned)work.pieces - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (int c = 0; c < N; c++) sum[c] = 0;
    for (int p = threadIdx.x; p < work.pieces; p += WORK_THREADS)
      for (int c = 0; c < N; c++) sum[c] += (Real)__ldcg(partials + 4 * p + c);
    sum_block<N>(sum);
    if (threadIdx.x == 0) m.arrivals[first] = 0;
  }
  if (threadIdx.x == 0) store<N>(o, work.row, sum);
}

/* ---- CSR ---- */

template <int N, typename Real> __global__ static void multiply_csr(const cuda_csr m, const operands o) {
  const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const size_t row = thread >> m.log2_lanes;
  const int lane = threadIdx.x & ((1 << m.log2_lanes) - 1);
  Real sum[N] = {};
  if (row < (size_t)m.rows) cuda_csr_row<N>(m, (int32_t)row, lane, o.x, sum);
  cuda_sum_lanes<N>(m.log2_lanes, sum);
  if (row < (size_t)m.rows && lane == 0) store<N>(o, (int32_t)row, sum);
}

template <int N, typename Real>
__global__ static void __launch_bounds__(WORK_THREADS)
    multiply_works(const cuda_csr m, const cuda_works w, const operands o) {
  __shared__ Real products[N][TSI_WORK_ENTRIES];
  const tsi_row_work work = w.works[blockIdx.x];
  if (work.rows == 0) {
    piece_of_row<N, Real>(w, work, (int)blockIdx.x, o);
    return;
  }
  /* As many threads a row as there are. */
  int log2_lanes = 0;
  while (log2_lanes < 5 && work.rows << (log2_lanes + 1) <= WORK_THREADS) log2_lanes++;
  const int lane = threadIdx.x & ((1 << log2_lanes) - 1);
  const int together = WORK_THREADS >> log2_lanes;
#pragma unroll
  for (int u = 0; u < TSI_WORK_ENTRIES / WORK_THREADS; u++) {
    const int at = u * WORK_THREADS + (int)threadIdx.x;
    if (work.first + at < work.end) {
      const Real value = __ldcs(m.values + work.first + at);
      const cuda_components<N> xj = cuda_load<N>(o.x, __ldcs(m.columns + work.first + at));
      for (int c = 0; c < N; c++) products[c][at] = value * xj.c[c];
    }
  }
  __syncthreads();
  for (int row = 0; row < work.rows; row += together) {
    const int mine = row + (int)(threadIdx.x >> log2_lanes);
    Real sum[N] = {};
    if (mine < work.rows) {
      const int end = m.row_offsets[work.row + mine + 1] - work.first;
      for (int k = m.row_offsets[work.row + mine] - work.first + lane; k < end; k += 1 << log2_lanes)
        for (int c = 0; c < N; c++) sum[c] += products[c][k];
    }
    cuda_sum_lanes<N>(log2_lanes, sum);
    if (mine < work.rows && lane == 0) store<N>(o, work.row + mine, sum);
  }
}

/* ---- Jagged, segments ---- */

/* Blocks that a multiprocessor is to hold: what hides the time of memory is threads. */
template <int N, typename Real> constexpr int slice_blocks = N == 1 && sizeof(Real) == 4 ? 16 : 8;

template <int N, typename Real>
__global__ static void __launch_bounds__(WORK_THREADS, slice_blocks<N, Real>)
    multiply_slices(const cuda_slices m, const cuda_works w, const operands o) {
  if ((int)blockIdx.x < w.count) { /* the long rows first: they take longest */
    piece_of_row<N, Real>(w, w.works[blockIdx.x], (int)blockIdx.x, o);
    return;
  }
  const int slice = ((int)blockIdx.x - w.count) * WORK_WARPS + (int)threadIdx.x / 32;
  if (slice >= m.count) return;
  Real sum[N] = {};
  const int32_t row = cuda_slice_row<N, Real>(m, slice, threadIdx.x % 32, o.x, sum);
  if (row >= 0) store<N>(o, row, sum);
}

template <int N, typename Real>
__global__ static void multiply_segments(const cuda_segments m, const operands o) {
  const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  Real sum[N] = {};
  if (m.diagonal) {
    const Real value = m.diagonal[row];
    const cuda_components<N> own = cuda_load<N>(o.x, (int32_t)row);
    /* A row without a diagonal does not see its own x, which may be no number. */
    if (value != 0)
      for (int c = 0; c < N; c++) sum[c] = value * own.c[c];
  }
  cuda_run<N>(m.values, m.pointers, (int32_t)m.starts[row], (int32_t)m.starts[row + 1], 1, o.x, sum);
  store<N>(o, (int32_t)row, sum);
}

/* ---- Operations ---- */

template <int N, typename Real>
static void start(cudaStream_t stream, const cuda_matrix &m, const operands &o) {
  const cuda_works &w = m.works;
  if (m.format == TS_FORMAT_JAGGED) {
    const unsigned blocks = (unsigned)w.count + cuda_blocks_for((size_t)m.slices.count, WORK_WARPS);
    multiply_slices<N, Real><<<blocks, WORK_THREADS, 0, stream>>>(m.slices, w, o);
  } else if (m.format == TS_FORMAT_SEGMENTS) {
    const unsigned blocks = cuda_blocks_for((size_t)m.segments.rows);
    multiply_segments<N, Real><<<blocks, CUDA_THREADS, 0, stream>>>(m.segments, o);
  } else if (w.count) {
    multiply_works<N, Real><<<(unsigned)w.count, WORK_THREADS, 0, stream>>>(m.csr, w, o);
  } else {
    const unsigned blocks = cuda_blocks_for((size_t)m.csr.rows << m.csr.log2_lanes);
    multiply_csr<N, Real><<<blocks, CUDA_THREADS, 0, stream>>>(m.csr, o);
  }
}

template <typename Real> static ts_status run(const ts_matrix *A, int components, const operands &o) {
  const cuda_matrix &m = *cuda_matrix_of(A);
  const cudaStream_t stream = cuda_stream(A->context);
  switch (components) {
  case 1:
    start<1, Real>(stream, m, o);
    break;
  case 2:
    start<2, Real>(stream, m, o);
    break;
  case 3:
    start<3, Real>(stream, m, o);
    break;
  default:
    start<4, Real>(stream, m, o);
  }
  CUDA_LAUNCHED(A->context, "multiply");
  return TS_OK;
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
