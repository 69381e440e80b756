/* Shared by products in CSR and in jagged diagonals: long rows. */
#ifndef CUDA_SPMV_CUH
#define CUDA_SPMV_CUH

#include "cuda_rows.cuh"

enum { SLICE_THREADS = 128, SLICE_WARPS = SLICE_THREADS / 32 };

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

/* The location for the sum of a piece. The last piece belongs to a row that ends in the row block. */
static __device__ __forceinline__ volatile unsigned long long *sum_of_piece(const cuda_row_blocks &m, int work,
                                                                            bool ends) {
  return m.sums + (2 * (size_t)work + !ends) * CUDA_PIECE_WORDS;
}

/* A number of a piece in two words, each with a flag that it has arrived. So no fence is needed. A fence would
 * invalidate the elements of x that other blocks have in the first-level cache. */
template <typename Real> struct in_words { /* float and double: each word has half of a double and the flag */
  typedef double number;
  static constexpr unsigned long long has_come = 1ull << 32; /* 0 until then */
  static __device__ __forceinline__ void write(volatile unsigned long long *words, double value) {
    words[0] = has_come | (unsigned)__double2loint(value);
    words[1] = has_come | (unsigned)__double2hiint(value);
  }
  static __device__ __forceinline__ double read(const unsigned long long *words) {
    return __hiloint2double((int)words[1], (int)words[0]);
  }
};

template <>
struct in_words<cuda_exact> { /* two doubles with the flag as last bit; the second has the part that the first
                                 lost */
  typedef cuda_exact number;
  static constexpr unsigned long long has_come = 1;
  static __device__ __forceinline__ double number_of(unsigned long long word) {
    return __longlong_as_double((long long)(word & ~has_come));
  }
  static __device__ __forceinline__ void write(volatile unsigned long long *words, const cuda_exact &value) {
    const unsigned long long sum = (unsigned long long)__double_as_longlong(value.sum);
    const double error = value.error + (value.sum - number_of(sum));
    words[0] = has_come | sum;
    words[1] = has_come | (unsigned long long)__double_as_longlong(error);
  }
  static __device__ __forceinline__ cuda_exact read(const unsigned long long *words) {
    cuda_exact value = number_of(words[0]);
    value.error = number_of(words[1]);
    return value;
  }
};

/* Stores the sum of number `piece` of a row's `pieces`, from the warp's first thread; `number` is the row
 * block. Returns true in the last warp to arrive. There `sum` becomes the sum of the row, added in the order of
 * the pieces. All threads of a warp must call it. */
template <int N, typename Real>
static __device__ __forceinline__ bool hand_in(const cuda_row_blocks &m, int number, int piece, int pieces,
                                               Real (&sum)[N]) {
  static_assert(2 * N <= CUDA_PIECE_WORDS, "no room for the components");
  if (pieces == 1) return true;
  typedef in_words<Real> form;
  constexpr unsigned long long has_come = form::has_come;
  constexpr int many = N == 1 ? 4 : 1; /* loads in flight */
  const int lane = (int)threadIdx.x % 32, first = number - piece;
  unsigned arrived = 0;
  if (lane == 0) {
    volatile unsigned long long *words = sum_of_piece(m, number, piece == pieces - 1);
    for (int c = 0; c < N; c++) form::write(words + 2 * c, sum[c]);
    arrived = atomicAdd(m.tickets + first, 1) + 1;
  }
  if (__shfl_sync(0xffffffffu, arrived, 0) != (unsigned)pieces) return false;
  typename form::number all[N] = {};
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
      for (int c = 0; c < N; c++) all[c] += form::read(&word[u][2 * c]);
    }
  }
  cuda_subwarp_sum<N>(5, all);
  for (int c = 0; c < N; c++) sum[c] = (Real)all[c];
  if (lane == 0) m.tickets[first] = 0;
  return true;
}

/* A block sums a row block in which no row ends, or a row block of jagged. Each thread has MANY loads in
 * flight. */
template <int N, int THREADS, typename Real, int MANY = 2, typename Operands>
static __device__ void piece_of_row(const cuda_row_blocks &m, const tsi_row_block &work, int number,
                                    const Operands &o) {
  Real sum[N] = {};
  cuda_dependent_wait();
  cuda_run<N, MANY>(m.values, m.columns, (uint32_t)work.first + threadIdx.x, (uint32_t)work.end, THREADS, o.x,
                    sum);
  sum_block<N, THREADS>(sum);
  if (threadIdx.x >= 32) return;
  if (hand_in<N>(m, number, work.piece, work.pieces, sum) && threadIdx.x == 0)
    cuda_write_row<N>(o, work.row, sum);
}

#endif
