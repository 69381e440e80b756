/* The product of a row and a vector in every format, for the kernels that need one.
 *
 * `sum` is a float, double or cuda_exact and must be 0. It becomes this thread's share of row . x. If x is a
 * pointer, it is read with plain loads, since a kernel whose blocks wait for each other may have written it.
 * Otherwise x is any type with a cuda_load<N>(x, j) that returns the components of index j. */
#ifndef CUDA_ROWS_CUH
#define CUDA_ROWS_CUH

#include <type_traits>

#include "cuda/core/cuda_kernels.cuh"
#include "cuda_matrix.h"
#include "cuda_operands.cuh"

/* The N components of an index. */
template <int N> struct cuda_components {
  float c[N];
  __device__ __forceinline__ float number(int i) const { return c[i]; }
};

/* Kept as floats until they are multiplied, because a conversion would wait for the loads in flight. */
template <int N> struct cuda_pair_components {
  cuda_components<N> high, low;
  __device__ __forceinline__ double number(int i) const { return (double)high.c[i] + (double)low.c[i]; }
};

template <int N> static __device__ __forceinline__ cuda_components<N> cuda_load(const float *x, int32_t j) {
  cuda_components<N> v;
  if constexpr (N == 4) {
    const float4 t = ((const float4 *)x)[j];
    v.c[0] = t.x, v.c[1] = t.y, v.c[2] = t.z, v.c[3] = t.w;
  } else if constexpr (N == 2) {
    const float2 t = ((const float2 *)x)[j];
    v.c[0] = t.x, v.c[1] = t.y;
  } else {
    for (int c = 0; c < N; c++) v.c[c] = x[(size_t)j * N + c];
  }
  return v;
}

template <int N>
static __device__ __forceinline__ cuda_pair_components<N> cuda_load(const cuda_pair &x, int32_t j) {
  cuda_pair_components<N> v = {cuda_load<N>(x.high, j), {}};
  if (x.low) v.low = cuda_load<N>(x.low, j);
  return v;
}

/* The sum over the neighbouring threads that share a row, in each of them. */
template <int N, typename Real>
static __device__ __forceinline__ void cuda_subwarp_sum(int log2_subwarp, Real sum[N]) {
  for (int offset = 1 << log2_subwarp >> 1; offset > 0; offset >>= 1)
    for (int c = 0; c < N; c++) sum[c] += cuda_shuffle_xor(sum[c], offset);
}

/* ---- Selection of items ---- */

/* Item `number` of those that the threads of a kernel share (cuda_matrix.h). If all items of a matrix are one
 * run, the selection costs only a uniform branch. */
template <typename Number>
static __device__ __forceinline__ Number cuda_item(const cuda_runs &items, Number number) {
  Number shift = (Number)items.shift[0];
  if (items.end[0] != INT32_MAX) {
#pragma unroll /* constant indices keep the arrays in parameter memory */
    for (int r = 0; r < CUDA_MOST_RUNS; r++)
      if (number >= (Number)items.end[r]) shift = (Number)items.shift[r + 1];
  }
  return number + shift;
}

/* The rows of a product. A product in pairs waits for all ghosts first, so it computes all rows. */
template <typename Operands> static inline tsi_rows cuda_rows_of(const ts_matrix *A) {
  return std::is_same<Operands, cuda_pair_operands>::value ? TSI_ALL_ROWS : A->rows;
}

static inline cuda_runs cuda_items_of(const cuda_interior &of, tsi_rows rows, int32_t all) {
  if (rows == TSI_ALL_ROWS) return {all, {INT32_MAX}, {0}};
  return rows == TSI_INTERIOR_ROWS ? of.interior : of.boundary;
}

/* ---- A run of entries ---- */

/* Adds entries k, k + step, ... before `end`, with MANY loads in flight. Indices are unsigned, because those
 * past the last of 2^31 entries must not overflow. */
template <int N, int MANY = N == 1 ? 8 : 4, typename Real, typename Index, typename X>
static __device__ __forceinline__ void cuda_run(const float *values, const Index *columns, uint32_t k,
                                                uint32_t end, uint32_t step, const X &x, Real sum[N]) {
  for (; k < end; k += MANY * step) {
    const float *own_values = values + k;
    const Index *own_columns = columns + k;
    float value[MANY];
    int32_t column[MANY];
    decltype(cuda_load<N>(x, 0)) xj[MANY];
#pragma unroll
    for (int u = 0; u < MANY; u++)
      if (k + u * step < end) {
        value[u] = own_values[u * step];
        column[u] = (int32_t)own_columns[u * step];
      }
#pragma unroll
    for (int u = 0; u < MANY; u++)
      if (k + u * step < end) xj[u] = cuda_load<N>(x, column[u]);
#pragma unroll
    for (int u = 0; u < MANY; u++)
      if (k + u * step < end)
        for (int c = 0; c < N; c++) sum[c] += (Real)value[u] * xj[u].number(c);
  }
}

/* `lane` is the number of this thread among the 1 << log2_subwarp that share the row. */
template <int N, typename Real, typename X>
static __device__ __forceinline__ void cuda_csr_row(const cuda_csr &m, int32_t row, int lane, const X &x,
                                                    Real sum[N]) {
  cuda_run<N>(m.values, m.columns, (uint32_t)m.row_offsets[row] + (uint32_t)lane,
              (uint32_t)m.row_offsets[row + 1], 1u << m.log2_subwarp, x, sum);
}

/* ---- Slices ---- */

/* The column of an entry of a slice, relative to its base. */
template <int BYTES>
static __device__ __forceinline__ int32_t cuda_slice_column(const uint32_t *words, uint32_t entry) {
  if constexpr (BYTES == 1) return (int32_t)__ldcs((const uint8_t *)words + entry);
  if constexpr (BYTES == 2) return (int32_t)__ldcs((const uint16_t *)words + entry);
  return (int32_t)__ldcs(words + entry);
}

template <int BYTES>
using cuda_slice_index =
    std::conditional_t<BYTES == 1, uint8_t, std::conditional_t<BYTES == 2, uint16_t, int32_t>>;

/* Adds the next MANY entries of a row, a multiple of four, or the first `left` of them. They are 32 apart. All
 * loads are issued before the first one is waited for. That requires addresses that differ by constants and,
 * except at the end of a row, no conditions. If registers for addresses and predicates run out, loads wait for
 * earlier ones. On an H200, an elastic beam of 1 M rows in two parts took 227 us per iteration that way, and
 * takes 168 us now. Entries that are not loaded are zeroed first; otherwise they would occupy registers across
 * loops. */
template <int N, typename Real, int MANY, bool ALL, typename Column, typename X>
static __device__ __forceinline__ void cuda_add_entries(const float *values, const Column *columns,
                                                        const int32_t *bases, int left, const X &x,
                                                        Real sum[N]) {
  float value[MANY] = {};
  int32_t column[MANY] = {}, base[MANY] = {};
  decltype(cuda_load<N>(x, 0)) xj[MANY] = {};
#pragma unroll
  for (int u = 0; u < MANY; u++)
    if (ALL || u < left) column[u] = (int32_t)__ldcs(columns + u * TSI_SLICE_ROWS);
  if constexpr (sizeof(Column) < 4) { /* braces are required: nvcc ignores `#pragma unroll` alone here */
#pragma unroll
    for (int u = 0; u < MANY; u += 4)
      if (ALL || u < left) {
        const int4 four = *(const int4 *)(bases + u);
        base[u] = four.x, base[u + 1] = four.y, base[u + 2] = four.z, base[u + 3] = four.w;
      }
  }
#pragma unroll
  for (int u = 0; u < MANY; u++)
    if (ALL || u < left) value[u] = __ldcs(values + u * TSI_SLICE_ROWS);
#pragma unroll
  for (int u = 0; u < MANY; u++)
    if (ALL || u < left) xj[u] = cuda_load<N>(x, column[u] + base[u]);
#pragma unroll
  for (int u = 0; u < MANY; u++)
    for (int c = 0; c < N; c++) sum[c] += (Real)value[u] * xj[u].number(c);
}

/* Sums this thread's row in a padded slice. */
template <int N, typename Real, int BYTES, int MANY, typename X>
static __device__ __forceinline__ void cuda_sum_padded(const cuda_slices &m, const tsi_slice &s, int lane,
                                                       int length, const X &x, Real sum[N]) {
  const float *values = m.values + s.first + lane;
  const cuda_slice_index<BYTES> *columns = (const cuda_slice_index<BYTES> *)(m.words + s.first_word) + lane;
  const int32_t *bases = m.bases + s.first_base;
#pragma unroll 1
  for (; length >= MANY; length -= MANY) {
    cuda_add_entries<N, Real, MANY, true>(values, columns, bases, MANY, x, sum);
    values += MANY * TSI_SLICE_ROWS, columns += MANY * TSI_SLICE_ROWS, bases += MANY;
  }
  if (length > 0) cuda_add_entries<N, Real, MANY, false>(values, columns, bases, length, x, sum);
}

/* Sums this thread's row in an unpadded slice: the position of an entry is the count of rows before it that
 * have one. */
template <int N, typename Real, int BYTES, int MANY, typename X>
static __device__ __forceinline__ void cuda_sum_unpadded(const cuda_slices &m, const tsi_slice &s, int lane,
                                                         int length, const X &x, Real sum[N]) {
  const float *values = m.values + s.first;
  const uint32_t *words = m.words + s.first_word;
  const int4 *bases = (const int4 *)(m.bases + s.first_base);
  uint32_t before = 0; /* number of entries with smaller k */
  for (int k = 0; k < s.longest; k += MANY) {
    float value[MANY];
    int32_t column[MANY];
    decltype(cuda_load<N>(x, 0)) xj[MANY];
    int32_t base[MANY] = {};
    if constexpr (BYTES < 4) {
#pragma unroll
      for (int u = 0; u < MANY; u += 4)
        if (u == 0 || k + u < s.longest) {
          const int4 four = bases[(k + u) / 4];
          base[u] = four.x, base[u + 1] = four.y, base[u + 2] = four.z, base[u + 3] = four.w;
        }
    }
#pragma unroll
    for (int u = 0; u < MANY; u++) {
      const bool mine = k + u < length;
      const unsigned have = __ballot_sync(0xffffffffu, mine);
      const uint32_t entry = before + (uint32_t)__popc(have & ((1u << lane) - 1));
      before += (uint32_t)__popc(have);
      if (mine) {
        value[u] = __ldcs(values + entry);
        column[u] = cuda_slice_column<BYTES>(words, entry) + base[u];
      }
    }
#pragma unroll
    for (int u = 0; u < MANY; u++)
      if (k + u < length) xj[u] = cuda_load<N>(x, column[u]);
#pragma unroll
    for (int u = 0; u < MANY; u++)
      if (k + u < length)
        for (int c = 0; c < N; c++) sum[c] += (Real)value[u] * xj[u].number(c);
  }
}

template <int N, typename Real, int BYTES, bool PADDED, int MANY, typename X>
static __device__ __forceinline__ void cuda_slice_entries(const cuda_slices &m, const tsi_slice &s, int lane,
                                                          int length, const X &x, Real sum[N]) {
  if constexpr (PADDED)
    cuda_sum_padded<N, Real, BYTES, MANY>(m, s, lane, length, x, sum);
  else
    cuda_sum_unpadded<N, Real, BYTES, MANY>(m, s, lane, length, x, sum);
}

/* Dispatches by the bytes per column. */
template <int N, typename Real, bool PADDED, int MANY, typename X>
static __device__ __forceinline__ void cuda_slice_sum(const cuda_slices &m, const tsi_slice &s, int lane,
                                                      int length, const X &x, Real sum[N]) {
  if (s.column_bytes == 1)
    cuda_slice_entries<N, Real, 1, PADDED, MANY>(m, s, lane, length, x, sum);
  else if (s.column_bytes == 2)
    cuda_slice_entries<N, Real, 2, PADDED, MANY>(m, s, lane, length, x, sum);
  else
    cuda_slice_entries<N, Real, 4, PADDED, MANY>(m, s, lane, length, x, sum);
}

/* A slice, and this thread's row in it with its length. They are -1 and 0 if the thread has no row, a row that
 * row blocks cover, or one beyond the last. Only the pattern is read. */
struct cuda_place {
  tsi_slice slice;
  int32_t row;
  int length;
};

static __device__ __forceinline__ cuda_place cuda_place_of(const cuda_slices &m, int32_t slice, int lane) {
  union {
    int4 words;
    tsi_slice slice;
  } u;
  u.words = __ldg((const int4 *)(m.slices + slice));
  const int32_t place = slice * TSI_SLICE_ROWS + lane;
  cuda_place p = {u.slice, place, m.lengths[place]};
  if (m.order) p.row = place / TSI_WINDOW_ROWS * TSI_WINDOW_ROWS + m.order[place];
  if (p.length == TSI_NOT_IN_SLICE) p.row = -1, p.length = 0;
  return p;
}

/* Prefetches all entries of a padded slice, up to 32 per row. Threads that later wait for one entry after
 * another then wait for the cache and not for memory. Unlike loads in flight, prefetches need no registers. */
static __device__ __forceinline__ void cuda_prefetch_slice(const cuda_slices &m, const tsi_slice &s, int lane) {
  constexpr int line = 128 / 4; /* words of four bytes: the values of one k */
  if (lane < s.longest) cuda_prefetch(m.values + s.first + lane * line);
  if (4 * lane < s.longest * s.column_bytes) cuda_prefetch(m.words + s.first_word + lane * line);
}

/* Adds this thread's row . x. All 32 threads of a warp must call it. */
template <int N, typename Real, typename X>
static __device__ __forceinline__ void cuda_slice_row(const cuda_slices &m, const cuda_place &p, int lane,
                                                      const X &x, Real sum[N]) {
  constexpr int many = N == 1 && std::is_pointer<X>::value ? 8 : 4; /* limited by registers */
  if (p.slice.padded)
    cuda_slice_sum<N, Real, true, many>(m, p.slice, lane, p.length, x, sum);
  else
    cuda_slice_sum<N, Real, false, 4>(m, p.slice, lane, p.length, x, sum);
}

#endif
