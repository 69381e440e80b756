/* What products in CSR and in jagged diagonals share: operands, and long rows. */
#ifndef CUDA_SPMV_CUH
#define CUDA_SPMV_CUH

#include "cuda_rows.cuh"

enum { SLICE_THREADS = 128, SLICE_WARPS = SLICE_THREADS / 32 };

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
template <int N, int THREADS, typename Real> static __device__ __forceinline__ void sum_block(Real sum[N]) {
  __shared__ Real warps[THREADS / 32][N];
  cuda_sum_lanes<N>(5, sum);
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    for (int c = 0; c < N; c++) warps[threadIdx.x / 32][c] = sum[c];
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < THREADS / 32; w++)
      for (int c = 0; c < N; c++) sum[c] += warps[w][c];
}

/* MANY entries of a thread are on their way at a time. */
template <int N, int THREADS, typename Real, int MANY = 2>
static __device__ void piece_of_row(const cuda_works &m, const tsi_row_work &work, int number,
                                    const operands &o) {
  __shared__ bool last;
  Real sum[N] = {};
  cuda_overlap_wait();
  cuda_run<N, MANY>(m.values, m.columns, (uint32_t)work.first + threadIdx.x, (uint32_t)work.end, THREADS, o.x,
                    sum);
  sum_block<N, THREADS>(sum);
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
    for (int p = threadIdx.x; p < work.pieces; p += THREADS)
      for (int c = 0; c < N; c++) sum[c] += (Real)__ldcg(partials + 4 * p + c);
    sum_block<N, THREADS>(sum);
    if (threadIdx.x == 0) m.arrivals[first] = 0;
  }
  if (threadIdx.x == 0) store<N>(o, work.row, sum);
}

#endif
