/* y = A x and r = b - A x in CSR with row blocks. All row blocks have about the same number of entries. At both
 * ends a row block may have a piece of a row that it shares with its neighbours.
 *
 * Each thread takes TSI_ROW_BLOCK_STEPS neighbouring entries, regardless of their rows, and sums each row. A
 * row that begins in one thread and ends in another is combined in two steps. First, shuffles give every thread
 * the partial sum of the row from earlier threads of its warp, then shared memory gives the sums of earlier
 * warps. The number of rows that end earlier is found in the same steps. Equal numbers of entries per thread
 * matter more than coalesced reads. The idea is the segmented sum of Blelloch, Heroux and Zagha 1993. */
#ifndef CUDA_SPMV_WORKS_CUH
#define CUDA_SPMV_WORKS_CUH

#include "cuda_spmv.cuh"

enum {
  ROW_BLOCK_THREADS = TSI_ROW_BLOCK_ENTRIES / TSI_ROW_BLOCK_STEPS,
  ROW_BLOCK_WARPS = ROW_BLOCK_THREADS / 32
};

template <int N, typename Real>
constexpr int row_block_blocks = N == 1 && sizeof(Real) == 4 ? MULTIPROCESSOR_THREADS / ROW_BLOCK_THREADS : 1;

static __device__ __forceinline__ void load_steps(int32_t (&to)[TSI_ROW_BLOCK_STEPS], const int32_t *from) {
  for (int q = 0; q < TSI_ROW_BLOCK_STEPS / 4; q++) {
    const int4 four = __ldcs((const int4 *)from + q);
    to[4 * q] = four.x, to[4 * q + 1] = four.y, to[4 * q + 2] = four.z, to[4 * q + 3] = four.w;
  }
}
static __device__ __forceinline__ void load_steps(float (&to)[TSI_ROW_BLOCK_STEPS], const float *from) {
  for (int q = 0; q < TSI_ROW_BLOCK_STEPS / 4; q++) {
    const float4 four = __ldcs((const float4 *)from + q);
    to[4 * q] = four.x, to[4 * q + 1] = four.y, to[4 * q + 2] = four.z, to[4 * q + 3] = four.w;
  }
}

/* The shared memory of a row block. */
template <int N, typename Real> struct row_block_memory {
  /* The sums of the rows that end in the row block, then of the piece of a row that continues. The elements
   * before place 0 are for up to TSI_ROW_BLOCK_STEPS - 1 rows that end in entries of the previous row block. */
  Real sums[N][TSI_ROW_BLOCK_ROWS + TSI_ROW_BLOCK_STEPS];
  Real of_warp[ROW_BLOCK_WARPS][N];
  int ends_in[ROW_BLOCK_WARPS];
  int16_t place[ROW_BLOCK_THREADS]; /* if some rows are empty: place of each thread's first sum */
  __device__ __forceinline__ Real &at(int c, int place) { return sums[c][TSI_ROW_BLOCK_STEPS - 1 + place]; }
};

/* Loads both halves at once. */
static __device__ __forceinline__ tsi_row_block load_row_block(const tsi_row_block *from) {
  union {
    int4 half[2];
    tsi_row_block work;
  } both;
  static_assert(sizeof both.work == sizeof both.half, "a row block is not two int4");
  both.half[0] = ((const int4 *)from)[0], both.half[1] = ((const int4 *)from)[1];
  return both.work;
}

/* Sets `before` to the partial sum, from earlier threads, of the row in which the entries of thread t begin.
 * Returns how many rows of the row block end before these entries. `sum` is the thread's sum of the row in
 * which its entries end. `ends` is nonzero if a row ends among them; `place` counts the row ends earlier in the
 * warp. All threads of the block must call it. */
template <int N, typename Real>
static __device__ __forceinline__ int sum_before(int t, unsigned ends, int place, Real (&sum)[N],
                                                 Real (&before)[N], row_block_memory<N, Real> &memory) {
  const int lane = t % 32, warp = t / 32;
  const unsigned enders = __ballot_sync(0xffffffffu, ends != 0), below = (1u << lane) - 1;
  const int first = max(31 - __clz((int)(enders & (below | 1u << lane))), 0);
#pragma unroll
  for (int offset = 1; offset < 32; offset <<= 1)
    for (int c = 0; c < N; c++) {
      const Real other = __shfl_up_sync(0xffffffffu, sum[c], offset);
      if (lane - offset >= first) sum[c] += other;
    }
  for (int c = 0; c < N; c++) {
    before[c] = __shfl_up_sync(0xffffffffu, sum[c], 1);
    if (lane == 0) before[c] = 0;
    if (lane == 31) memory.of_warp[warp][c] = sum[c];
  }
  if (lane == 31) memory.ends_in[warp] = place + __popc(ends); /* wrong without entries, but unused then */
  __syncthreads();
  Real warps[N] = {};
#pragma unroll
  for (int w = 0; w < ROW_BLOCK_WARPS - 1; w++) {
    if (w >= warp) break;
    const int ends_in = memory.ends_in[w];
    for (int c = 0; c < N; c++) warps[c] = (ends_in ? 0 : warps[c]) + memory.of_warp[w][c];
    place += ends_in;
  }
  if (!(enders & below))
    for (int c = 0; c < N; c++) before[c] += warps[c];
  return place;
}

/* Multiplies a row block by x with ROW_BLOCK_THREADS threads t. row_of_row_block and piece_of_row_block then
 * return the sums. `ready` is called before x is read. All threads of the block must call it; other threads of
 * the block may have other row blocks. */
template <int N, typename Real, typename X, typename Ready>
static __device__ __forceinline__ void add_up_row_block(const cuda_csr &m, const tsi_row_block &work, int t,
                                                        const X &x, Ready ready,
                                                        row_block_memory<N, Real> &memory) {
  /* Unsigned, because indices past the last of 2^31 entries must not overflow. */
  const uint32_t start = (uint32_t)work.first / TSI_ROW_BLOCK_STEPS * TSI_ROW_BLOCK_STEPS;
  const uint32_t at = start + (uint32_t)t * TSI_ROW_BLOCK_STEPS, left = (uint32_t)work.end - at;
  const bool has_entries = at < (uint32_t)work.end;
  const unsigned steps = has_entries ? m.ends[at / TSI_ROW_BLOCK_STEPS] : 0;
  unsigned ends = steps & 0xff;
  /* The row block ends with a row or with a piece of one; later entries belong to other row blocks. */
  if (has_entries && left <= TSI_ROW_BLOCK_STEPS) ends = (ends | 1u << (left - 1)) & ((2u << (left - 1)) - 1);
  int32_t column[TSI_ROW_BLOCK_STEPS];
  if (has_entries) load_steps(column, m.columns + at);
  ready();
  Real sum[N] = {}, part[TSI_ROW_BLOCK_STEPS][N], before[N];
  if (has_entries) {
    float value[TSI_ROW_BLOCK_STEPS];
    decltype(cuda_load<N>(x, 0)) xj[TSI_ROW_BLOCK_STEPS];
    load_steps(value, m.values + at);
#pragma unroll
    for (int u = 0; u < TSI_ROW_BLOCK_STEPS; u++) xj[u] = cuda_load<N>(x, column[u]);
#pragma unroll
    for (int u = 0; u < TSI_ROW_BLOCK_STEPS; u++)
      for (int c = 0; c < N; c++) {
        sum[c] += (Real)value[u] * xj[u].number(c);
        part[u][c] = sum[c];
        if (ends >> u & 1) sum[c] = 0;
      }
  }
  /* Earlier entries also belong to others: their rows have negative places. */
  const int place_in_warp =
      t == 0 ? -__popc(ends & ((1u << ((uint32_t)work.first - start)) - 1)) : (int)(steps >> 8);
  int place = sum_before<N>(t, ends, place_in_warp, sum, before, memory);
  if (work.filled < work.rows) memory.place[t] = (int16_t)place;
#pragma unroll
  for (int u = 0; u < TSI_ROW_BLOCK_STEPS; u++)
    if (ends >> u & 1) {
      for (int c = 0; c < N; c++) {
        memory.at(c, place) = before[c] + part[u][c];
        before[c] = 0;
      }
      place++;
    }
  __syncthreads();
}

/* The sum of row number `row` among those that end in the row block. */
template <int N, typename Real>
static __device__ __forceinline__ void row_of_row_block(const cuda_csr &m, const tsi_row_block &work, int row,
                                                        row_block_memory<N, Real> &memory, Real (&sum)[N]) {
  int place = row;
  if (work.filled < work.rows) {
    const uint32_t first = (uint32_t)m.row_offsets[work.row + row],
                   end = (uint32_t)m.row_offsets[work.row + row + 1], last = end - 1;
    for (int c = 0; c < N; c++) sum[c] = 0;
    if (first == end) return;
    const uint32_t steps = last / TSI_ROW_BLOCK_STEPS;
    place = memory.place[steps - (uint32_t)work.first / TSI_ROW_BLOCK_STEPS] +
            __popc(m.ends[steps] & ((1u << last % TSI_ROW_BLOCK_STEPS) - 1));
  }
  for (int c = 0; c < N; c++) sum[c] = memory.at(c, place);
}

/* A piece of a row that several row blocks share. */
template <int N, typename Real> struct row_piece {
  int32_t row;
  int piece, pieces; /* 0: none */
  Real sum[N];
};

/* The first warp of a row block has the piece of its first row, the second that of the row that continues. */
template <int N, typename Real>
static __device__ __forceinline__ row_piece<N, Real> piece_of_row_block(const tsi_row_block &work, int t,
                                                                        row_block_memory<N, Real> &memory) {
  row_piece<N, Real> own = {};
  if (t < 32 && work.pieces_before > 0)
    own = {work.row, work.pieces_before, work.pieces_before + 1};
  else if (t >= 32 && t < 64 && work.pieces > 1)
    own = {work.row + work.rows, work.piece, work.pieces};
  if (own.pieces)
    for (int c = 0; c < N; c++) own.sum[c] = memory.at(c, t < 32 ? 0 : work.filled);
  return own;
}

template <int N, typename Real, typename Operands>
__global__ static void __launch_bounds__(ROW_BLOCK_THREADS, row_block_blocks<N, Real>)
    multiply_row_blocks(const cuda_csr m, const cuda_row_blocks w, const Operands o, const cuda_runs items) {
  __shared__ row_block_memory<N, Real> memory;
  cuda_dependent_trigger();
  const int t = (int)threadIdx.x;
  const unsigned number = cuda_item(items, blockIdx.x);
  const tsi_row_block work = load_row_block(w.row_blocks + number);
  if (work.rows == 0) {
    piece_of_row<N, ROW_BLOCK_THREADS, Real, 4>(w, work, (int)number, o);
    return;
  }
  const int begun = work.pieces_before > 0, shares = begun | (work.pieces > 1);
  add_up_row_block<N>(
      m, work, t, o.x, [] { cuda_dependent_wait(); }, memory);
  /* If the first row began earlier, the first warp finishes it below. */
  for (int row = t + begun; row < work.rows; row += ROW_BLOCK_THREADS) {
    Real sum[N];
    row_of_row_block<N>(m, work, row, memory, sum);
    cuda_write_row<N>(o, work.row + row, sum);
  }
  if (!shares || t >= 64) return;
  row_piece<N, Real> own =
      piece_of_row_block<N>(w.row_blocks[number], t, memory); /* read again to save registers */
  if (own.pieces && hand_in<N>(w, (int)number, own.piece, own.pieces, own.sum) && t % 32 == 0)
    cuda_write_row<N>(o, own.row, own.sum);
}

#endif
