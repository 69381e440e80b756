/* What products in CSR and in jagged diagonals share: operands, and long rows. */
#ifndef CUDA_SPMV_CUH
#define CUDA_SPMV_CUH

#include "cuda_rows.cuh"

enum { SLICE_THREADS = 128, SLICE_WARPS = SLICE_THREADS / 32 };

typedef struct operands {
  float *y;
  const float *x;
  const float *b;                   /* NULL: y = A x */
  const unsigned char *constrained; /* of rows where r is 0, NULL: none; constrained rows of A are empty */
} operands;

/* What the row's first thread writes. */
template <int N, typename Real>
static __device__ __forceinline__ void store(const operands &o, int32_t row, const Real sum[N]) {
  const size_t first = (size_t)row * N;
  const bool constrained = o.b && o.constrained && o.constrained[row];
  for (int c = 0; c < N; c++)
    o.y[first + c] = (float)(constrained ? 0 : o.b ? (Real)o.b[first + c] - sum[c] : sum[c]);
}

/* ---- Long rows ---- */

/* The sum over the block, in its first thread. */
template <int N, int THREADS, typename Real> static __device__ __forceinline__ void sum_block(Real sum[N]) {
  __shared__ Real warps[THREADS / 32][N];
  cuda_subwarp_sum<N>(5, sum);
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    for (int c = 0; c < N; c++) warps[threadIdx.x / 32][c] = sum[c];
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < THREADS / 32; w++)
      for (int c = 0; c < N; c++) sum[c] += warps[w][c];
}

/* Where the sum of a piece is handed in: the last one is that of a row which ends in the row block. */
static __device__ __forceinline__ volatile unsigned long long *sum_of_piece(const cuda_row_blocks &m, int work,
                                                                            bool ends) {
  return m.sums + (2 * (size_t)work + !ends) * CUDA_PIECE_WORDS;
}

/* Of a row in pieces, work number `number` has number `piece`, whose sum is in the warp's first thread. True in
 * the warp that comes last: then `sum` is the row's, which is added up in the order of the pieces. All threads
 * of a warp together.
 *
 * A word has half of a number, and a bit that says that it has come. So no fence is needed, which would empty
 * the first-level cache of all the x that other blocks have there. */
template <int N, typename Real>
static __device__ __forceinline__ bool hand_in(const cuda_row_blocks &m, int number, int piece, int pieces,
                                               Real (&sum)[N]) {
  static_assert(2 * N <= CUDA_PIECE_WORDS, "no room for the components");
  if (pieces == 1) return true;
  constexpr unsigned long long has_come = 1ull << 32; /* beside the half of a number */
  constexpr int many = N == 1 ? 4 : 1;                /* on their way at a time */
  const int lane = (int)threadIdx.x % 32, first = number - piece;
  unsigned arrived = 0;
  if (lane == 0) {
    volatile unsigned long long *words = sum_of_piece(m, number, piece == pieces - 1);
    for (int c = 0; c < N; c++) {
      words[2 * c] = has_come | (unsigned)__double2loint(sum[c]);
      words[2 * c + 1] = has_come | (unsigned)__double2hiint(sum[c]);
    }
    arrived = atomicAdd(m.tickets + first, 1) + 1;
  }
  if (__shfl_sync(0xffffffffu, arrived, 0) != (unsigned)pieces) return false;
  double all[N] = {};
  for (int begin = lane; begin < pieces; begin += 32 * many) {
    unsigned long long word[many][2 * N];
#pragma unroll
    for (int u = 0; u < many; u++) {
      const int p = begin + 32 * u;
      for (int k = 0; k < 2 * N; k++)
        word[u][k] = p < pieces ? sum_of_piece(m, first + p, p == pieces - 1)[k] : has_come;
    }
#pragma unroll
    for (int u = 0; u < many; u++) {
      const int p = begin + 32 * u;
      volatile unsigned long long *words = sum_of_piece(m, first + p, p == pieces - 1);
      for (int k = 0; k < 2 * N; k++) {
        while (!word[u][k]) word[u][k] = words[k];
        if (p < pieces) words[k] = 0;
      }
      for (int c = 0; c < N; c++) all[c] += __hiloint2double((int)word[u][2 * c + 1], (int)word[u][2 * c]);
    }
  }
  cuda_subwarp_sum<N>(5, all);
  for (int c = 0; c < N; c++) sum[c] = (Real)all[c];
  if (lane == 0) m.tickets[first] = 0;
  return true;
}

/* A row block in which no row ends, or one of jagged, by a block. MANY entries of a thread are on their way at
 * a time. */
template <int N, int THREADS, typename Real, int MANY = 2>
static __device__ void piece_of_row(const cuda_row_blocks &m, const tsi_row_block &work, int number,
                                    const operands &o) {
  Real sum[N] = {};
  cuda_dependent_wait();
  cuda_run<N, MANY>(m.values, m.columns, (uint32_t)work.first + threadIdx.x, (uint32_t)work.end, THREADS, o.x,
                    sum);
  sum_block<N, THREADS>(sum);
  if (threadIdx.x >= 32) return;
  if (hand_in<N>(m, number, work.piece, work.pieces, sum) && threadIdx.x == 0) store<N>(o, work.row, sum);
}

#endif
