/* y = A x and r = b - A x in jagged diagonals, SELL-32-sigma with compressed indices: one warp per slice.
 *
 *   multiply_slices     loads eight entries of a row at a time into registers. If the matrix fits the cache
 *                       and rows are short, the slice is prefetched first. That takes no registers and need
 *                       not wait for the previous kernel
 *   multiply_streamed   beyond the cache: streams through shared memory, two chunks of eight entries ahead.
 *                       There, bytes in flight matter more, and they cost no registers
 *   multiply_lean       in between, and for short rows: twice as many threads with half the registers each.
 *                       They prefetch their slice and then load four entries of a row at a time
 *
 * cuda_matrix.c selects. A padded slice computes the position of entry k of a row. An unpadded one counts the
 * rows before it with a ballot, which takes about twice as long. */
#ifndef CUDA_SPMV_SLICES_CUH
#define CUDA_SPMV_SLICES_CUH

#include <cuda_pipeline.h>
#include <type_traits>

#include "cuda_spmv.cuh"

template <int N, typename Real> struct row_sum { Real c[N]; };

/* Sums an unpadded slice; not inlined, so that it takes no registers from the other code. */
template <int N, typename Real, typename X>
static __device__ __noinline__ row_sum<N, Real> sum_unpadded(const cuda_slices &m, const tsi_slice s, int lane,
                                                             int length, const X x) {
  row_sum<N, Real> sum = {};
  cuda_slice_sum<N, Real, false, 4>(m, s, lane, length, x, sum.c);
  return sum;
}

/* Stores the sum of x y over a slice if it is wanted. All threads of a warp must call it. */
template <int N, typename Operands, typename Real>
static __device__ __forceinline__ void keep_dot(const Operands &o, int slice, int32_t row, const Real sum[N]) {
  if constexpr (N == 1 && std::is_same<Operands, cuda_pair_operands>::value) {
    if (!o.dots) return;
    double dot = row >= 0 ? cuda_load<1>(o.x, row).number(0) * sum[0] : 0;
    dot = cuda_warp_sum(dot);
    if (threadIdx.x % 32 == 0) o.dots[slice] = dot;
  }
}

/* True for products of conjugate gradients, not for residuals. */
template <typename Operands, typename Real>
constexpr bool is_product = sizeof(Real) == 4 || std::is_same<Operands, cuda_pair_operands>::value;

/* Half of the threads that a multiprocessor can hold, with many loads each. With four components in pairs,
 * fewer threads. */
template <int N, typename Operands>
constexpr int
    slices_blocks = MULTIPROCESSOR_THREADS *(N < 4 || std::is_same<Operands, cuda_operands>::value ? 4 : 3) /
                    8 / SLICE_THREADS;

template <int N, typename Real, typename Operands>
__global__ static void __launch_bounds__(SLICE_THREADS, slices_blocks<N, Operands>)
    multiply_slices(const cuda_slices m, const cuda_row_blocks w, const Operands o, const cuda_runs items) {
  cuda_dependent_trigger();
  if ((int)blockIdx.x < w.count) { /* the long rows first, because they take longest */
    piece_of_row<N, SLICE_THREADS, Real>(w, w.row_blocks[blockIdx.x], (int)blockIdx.x, o);
    return;
  }
  const int number = ((int)blockIdx.x - w.count) * SLICE_WARPS + (int)threadIdx.x / 32, lane = threadIdx.x % 32;
  if (number >= items.count) return;
  const int slice = cuda_item(items, number);
  const cuda_place p = cuda_place_of(m, slice, lane);
  if (m.prefetched && p.slice.padded && p.slice.longest <= 8) cuda_prefetch_slice(m, p.slice, lane);
  cuda_dependent_wait();
  row_sum<N, Real> sum = {};
  if (p.slice.padded)
    cuda_slice_sum<N, Real, true, N == 1 && is_product<Operands, Real> ? 8 : 4>(m, p.slice, lane, p.length, o.x,
                                                                                sum.c);
  else
    sum = sum_unpadded<N, Real>(m, p.slice, lane, p.length, o.x);
  if (p.row >= 0) cuda_write_row<N>(o, p.row, sum.c);
  keep_dot<N>(o, slice, p.row, sum.c);
}

/* All threads that a multiprocessor can hold, with fewer loads each. */
__global__ static void __launch_bounds__(SLICE_THREADS, MULTIPROCESSOR_THREADS / SLICE_THREADS)
    multiply_lean(const cuda_slices m, const cuda_row_blocks w, const cuda_operands o, const cuda_runs items) {
  cuda_dependent_trigger();
  if ((int)blockIdx.x < w.count) {
    piece_of_row<1, SLICE_THREADS, float>(w, w.row_blocks[blockIdx.x], (int)blockIdx.x, o);
    return;
  }
  const int number = ((int)blockIdx.x - w.count) * SLICE_WARPS + (int)threadIdx.x / 32, lane = threadIdx.x % 32;
  if (number >= items.count) return;
  const int slice = cuda_item(items, number);
  const cuda_place p = cuda_place_of(m, slice, lane);
  if (p.slice.padded) cuda_prefetch_slice(m, p.slice, lane);
  cuda_dependent_wait();
  row_sum<1, float> sum = {};
  if (p.slice.padded)
    cuda_slice_sum<1, float, true, 4>(m, p.slice, lane, p.length, o.x, sum.c);
  else
    sum = sum_unpadded<1, float>(m, p.slice, lane, p.length, o.x);
  if (p.row >= 0) cuda_write_row<1>(o, p.row, sum.c);
}

/* ---- Streamed: entries are copied to shared memory two chunks ahead, without registers ---- */

enum { CHUNK_VALUES = 1024, CHUNK_COLUMNS = 512, CHUNK_BYTES = CHUNK_VALUES + CHUNK_COLUMNS + 32, CHUNKS = 2 };

/* Copies `count` times 16 bytes, 32 at most. */
static __device__ __forceinline__ void copy_ahead(unsigned char *to, const void *from, int lane, int count) {
  if (lane < count) __pipeline_memcpy_async(to + 16 * lane, (const char *)from + 16 * lane, 16);
}

/* Copies MANY entries of each row, or fewer at the end of the slice. */
template <int BYTES, int MANY>
static __device__ __forceinline__ void copy_chunk(const cuda_slices &m, const tsi_slice &s, int lane, int chunk,
                                                  unsigned char (*chunks)[CHUNK_BYTES]) {
  const int k = chunk * MANY, count = s.longest - k < MANY ? s.longest - k : MANY;
  unsigned char *to = chunks[chunk % CHUNKS];
  if (count > 0) {
    const float *values = m.values + s.first + k * TSI_SLICE_ROWS;
    const char *columns = (const char *)(m.words + s.first_word) + k * TSI_SLICE_ROWS * BYTES;
    copy_ahead(to, values, lane, 8 * count);
    if (MANY == 8) copy_ahead(to + 512, values + 128, lane, 8 * count - 32);
    copy_ahead(to + CHUNK_VALUES, columns, lane, 2 * BYTES * count);
    if (BYTES < 4)
      copy_ahead(to + CHUNK_VALUES + CHUNK_COLUMNS, m.bases + s.first_base + k, lane, (count + 3) / 4);
  }
  __pipeline_commit();
}

template <int N, typename Real, int BYTES, typename X>
static __device__ __forceinline__ void sum_chunks(const cuda_slices &m, const cuda_place &p, int lane,
                                                  unsigned char (*chunks)[CHUNK_BYTES], const X &x,
                                                  Real sum[N]) {
  constexpr int many = BYTES == 4 ? 4 : 8;
  const int count = (p.slice.longest + many - 1) / many;
  for (int c = 0; c < CHUNKS; c++) copy_chunk<BYTES, many>(m, p.slice, lane, c, chunks);
  for (int c = 0; c < count; c++) {
    __pipeline_wait_prior(CHUNKS - 1);
    __syncwarp();
    const unsigned char *chunk = chunks[c % CHUNKS];
    const float *values = (const float *)chunk;
    const uint32_t *words = (const uint32_t *)(chunk + CHUNK_VALUES);
    const int32_t *bases = (const int32_t *)(chunk + CHUNK_VALUES + CHUNK_COLUMNS);
    decltype(cuda_load<N>(x, 0)) xj[many];
#pragma unroll
    for (int u = 0; u < many; u++)
      if (c * many + u < p.length) {
        const int entry = u * TSI_SLICE_ROWS + lane;
        const int32_t column = BYTES == 1   ? ((const uint8_t *)words)[entry] + bases[u]
                               : BYTES == 2 ? ((const uint16_t *)words)[entry] + bases[u]
                                            : (int32_t)words[entry];
        xj[u] = cuda_load<N>(x, column);
      }
#pragma unroll
    for (int u = 0; u < many; u++)
      if (c * many + u < p.length)
        for (int i = 0; i < N; i++) sum[i] += (Real)values[u * TSI_SLICE_ROWS + lane] * xj[u].number(i);
    __syncwarp(); /* before chunk c + CHUNKS overwrites this one */
    copy_chunk<BYTES, many>(m, p.slice, lane, c + CHUNKS, chunks);
  }
}

/* Not with several components in pairs, which need too many registers, and not for exact residuals, which are
 * rare. */
template <int N, typename Operands>
constexpr bool streams = std::is_same<Operands, cuda_operands>::value ||
                         (N <= 2 && std::is_same<Operands, cuda_pair_operands>::value);

/* Eighths of the threads that a multiprocessor can hold, limited by registers. */
template <int N, typename Real, typename Operands>
constexpr int streamed_eighths = N == 1 && sizeof(Real) == 4            ? 6
                                 : N == 1 && is_product<Operands, Real> ? 5
                                                                        : 4;

template <int N, typename Real, typename Operands>
__global__ static void __launch_bounds__(SLICE_THREADS,
                                         MULTIPROCESSOR_THREADS *streamed_eighths<N, Real, Operands> / 8 /
                                             SLICE_THREADS)
    multiply_streamed(const cuda_slices m, const cuda_row_blocks w, const Operands o, const cuda_runs items) {
  __shared__ __align__(16) unsigned char chunks[SLICE_WARPS][CHUNKS][CHUNK_BYTES];
  cuda_dependent_trigger();
  if ((int)blockIdx.x < w.count) {
    piece_of_row<N, SLICE_THREADS, Real>(w, w.row_blocks[blockIdx.x], (int)blockIdx.x, o);
    return;
  }
  const int warp = (int)threadIdx.x / 32, lane = threadIdx.x % 32;
  const int number = ((int)blockIdx.x - w.count) * SLICE_WARPS + warp;
  if (number >= items.count) return;
  const int slice = cuda_item(items, number);
  const cuda_place p = cuda_place_of(m, slice, lane);
  cuda_dependent_wait();
  row_sum<N, Real> sum = {};
  if (!p.slice.padded)
    sum = sum_unpadded<N, Real>(m, p.slice, lane, p.length, o.x);
  else if (p.slice.column_bytes == 1)
    sum_chunks<N, Real, 1>(m, p, lane, chunks[warp], o.x, sum.c);
  else if (p.slice.column_bytes == 2)
    sum_chunks<N, Real, 2>(m, p, lane, chunks[warp], o.x, sum.c);
  else
    sum_chunks<N, Real, 4>(m, p, lane, chunks[warp], o.x, sum.c);
  if (p.row >= 0) cuda_write_row<N>(o, p.row, sum.c);
  keep_dot<N>(o, slice, p.row, sum.c);
}

#endif
