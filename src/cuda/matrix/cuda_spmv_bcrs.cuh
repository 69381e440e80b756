/* The product of block rows and a vector.
 *
 * A row of a 4 x 4 block has 16 bytes: four threads share a block, one per row, so neighbouring threads load
 * neighbouring 16 bytes. A 2 x 2 block has 16 bytes and one thread. The threads of a warp that share a block
 * row take every second, fourth ... of its blocks, and their sums are added in a fixed order. Values are read
 * once and bypass the caches. Nearby rows read x again. */
#ifndef CUDA_BCRS_CUH
#define CUDA_BCRS_CUH

#include "cuda_rows.cuh"

/* The threads that share a block: 1 << cuda_log2_parts. */
template <int SIZE> constexpr int cuda_log2_parts = SIZE == 4 ? 2 : 0;

/* Loads the N components of the SIZE indices of a block of x, one index after the other. With one component,
 * zeros pad the vector to a multiple of 16 bytes. With several, a last block that extends beyond the matrix is
 * read number by number. x has plain loads, as in cuda_rows.cuh. */
template <int SIZE, int N>
static __device__ __forceinline__ void cuda_load_block(const cuda_bcrs &m, const float *x, int32_t column,
                                                       float (&block)[SIZE * N]) {
  if (N > 1 && column >= m.width / SIZE) {
    const size_t first = (size_t)column * SIZE * N, end = (size_t)m.width * N;
    for (int i = 0; i < SIZE * N; i++) block[i] = first + i < end ? x[first + i] : 0;
    return;
  }
  if constexpr (SIZE == 4) {
    const float4 *from = (const float4 *)x + (size_t)column * N;
    for (int i = 0; i < N; i++) {
      const float4 v = from[i];
      block[4 * i] = v.x, block[4 * i + 1] = v.y, block[4 * i + 2] = v.z, block[4 * i + 3] = v.w;
    }
  } else {
    const float2 *from = (const float2 *)x + (size_t)column * N;
    for (int i = 0; i < N; i++) {
      const float2 v = from[i];
      block[2 * i] = v.x, block[2 * i + 1] = v.y;
    }
  }
}

template <int SIZE, int N>
static __device__ __forceinline__ void cuda_load_block(const cuda_bcrs &m, const cuda_pair &x, int32_t column,
                                                       double (&block)[SIZE * N]) {
  float high[SIZE * N], low[SIZE * N] = {};
  cuda_load_block<SIZE, N>(m, x.high, column, high);
  if (x.low) cuda_load_block<SIZE, N>(m, x.low, column, low);
  for (int i = 0; i < SIZE * N; i++) block[i] = (double)high[i] + (double)low[i];
}

/* Adds this thread's 16 bytes of blocks k, k + step, ... before `end`, with AHEAD loads in flight. A part is a
 * row of a 4 x 4 block, or both rows of a 2 x 2 block. Indices are unsigned, as in cuda_run. Past the end, the
 * first block is loaded again, because conditional loads may wait for earlier ones. With them, 4 x 4 blocks of
 * fem4 with 4 M rows in two parts on one H200 take 208 us per iteration, without 188. */
template <int SIZE, int N, int AHEAD, typename Real, typename X>
static __device__ __forceinline__ void cuda_add_blocks(const cuda_bcrs &m, uint32_t k, uint32_t end,
                                                       uint32_t step, int part, const X &x,
                                                       Real (&sum)[4 / SIZE][N]) {
  constexpr int log2_parts = cuda_log2_parts<SIZE>;
  const float4 *values = (const float4 *)m.values + part;
  for (; k < end; k += AHEAD * step) {
    float4 a[AHEAD];
    int32_t column[AHEAD];
    decltype(cuda_load<N>(x, 0).number(0)) block[AHEAD][SIZE * N];
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      const uint32_t own = k + u * step < end ? k + u * step : k;
      column[u] = m.columns[own];
      a[u] = __ldcs(values + ((size_t)own << log2_parts));
    }
#pragma unroll
    for (int u = 0; u < AHEAD; u++) cuda_load_block<SIZE, N>(m, x, column[u], block[u]);
#pragma unroll
    for (int u = 0; u < AHEAD; u++)
      if (k + u * step < end) {
        const float row[4] = {a[u].x, a[u].y, a[u].z, a[u].w};
#pragma unroll
        for (int q = 0; q < 4; q++)
          for (int c = 0; c < N; c++) sum[q / SIZE][c] += (Real)row[q] * block[u][q % SIZE * N + c];
      }
  }
}

/* Sums blocks begin .. end-1 over the 1 << m.log2_subwarp threads that share a block row; `lane` is this
 * thread's number. Each thread receives the sum of row lane % 4 of 4 x 4 blocks, or of both rows of 2 x 2
 * blocks. All threads of a warp must call it; begin = end if a thread has no row. */
template <int SIZE, int N, int AHEAD, typename Real, typename X>
static __device__ __forceinline__ void cuda_block_row(const cuda_bcrs &m, int32_t begin, int32_t end, int lane,
                                                      const X &x, Real (&sum)[4 / SIZE][N]) {
  constexpr int log2_parts = cuda_log2_parts<SIZE>, parts = 1 << log2_parts;
  cuda_add_blocks<SIZE, N, AHEAD>(m, (uint32_t)begin + (uint32_t)(lane >> log2_parts), (uint32_t)end,
                                  1u << (m.log2_subwarp - log2_parts), lane & (parts - 1), x, sum);
  for (int offset = 1 << m.log2_subwarp >> 1; offset >= parts; offset >>= 1)
    for (int r = 0; r < 4 / SIZE; r++)
      for (int c = 0; c < N; c++) sum[r][c] += cuda_shuffle_xor(sum[r][c], offset);
}

/* Blocks per thread, measured with 7, 13 and 27 blocks per row: four to six, up to ten with two or three
 * components. For 2 x 2 blocks, two. */
static inline double cuda_blocks_a_thread(const cuda_bcrs &m, int components) {
  return m.log2_block == 1 ? 2.5 : components == 1 || components == 4 ? 6.6 : 10;
}

/* The log2 of the threads per block row so that each has at most `each` blocks; at least `least`. */
static inline int cuda_block_subwarp(const cuda_bcrs &m, double each, int least) {
  const double blocks = m.rows ? (double)m.count / m.rows : 0;
  const int log2_parts = m.log2_block == 2 ? 2 : 0;
  int log2_subwarp = least;
  while (log2_subwarp < 5 && blocks > each * (1 << (log2_subwarp - log2_parts))) log2_subwarp++;
  return log2_subwarp;
}

#endif
