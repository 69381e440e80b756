/* y = A x and r = b - A x in CSR with works: a block has rows of about equally many entries together, or a
 * piece of a long row.
 *
 * Each thread takes WORK_STEPS neighbouring entries, whatever rows they are of, and adds up each row's. A row
 * that begins in one thread and ends in another is put together in two steps: every thread learns by shuffles
 * what the threads of its warp before it have of the row, then what the warps before have. That every thread
 * has equally many entries is worth more than that neighbouring threads read neighbouring ones. The idea is the
 * segmented sum's of Blelloch, Heroux and Zagha 1993. */
#ifndef CUDA_SPMV_WORKS_CUH
#define CUDA_SPMV_WORKS_CUH

#include "cuda_spmv.cuh"

enum { WORK_STEPS = 8, WORK_THREADS = 128, WORK_WARPS = WORK_THREADS / 32 };
/* A thread's entries begin at a multiple of WORK_STEPS, so some are of the work before; behind the last one has
 * to be room for the place where the next row begins. */
static_assert(WORK_THREADS * WORK_STEPS >= TSI_WORK_ENTRIES + WORK_STEPS, "a work is too large for a block");

template <int N, typename Real>
constexpr int work_blocks = N == 1 && sizeof(Real) == 4 ? MULTIPROCESSOR_THREADS / WORK_THREADS : 1;

static __device__ __forceinline__ void load_steps(int32_t (&to)[WORK_STEPS], const int32_t *from) {
  for (int q = 0; q < WORK_STEPS / 4; q++) {
    const int4 four = __ldcs((const int4 *)from + q);
    to[4 * q] = four.x, to[4 * q + 1] = four.y, to[4 * q + 2] = four.z, to[4 * q + 3] = four.w;
  }
}
static __device__ __forceinline__ void load_steps(float (&to)[WORK_STEPS], const float *from) {
  for (int q = 0; q < WORK_STEPS / 4; q++) {
    const float4 four = __ldcs((const float4 *)from + q);
    to[4 * q] = four.x, to[4 * q + 1] = four.y, to[4 * q + 2] = four.z, to[4 * q + 3] = four.w;
  }
}

/* What the threads of a work tell each other. */
template <int N, typename Real> struct work_memory {
  Real at[N][WORK_THREADS * WORK_STEPS]; /* the sum of each row, at the place of its last entry */
  Real of_warp[WORK_WARPS][N];
  bool begins_in[WORK_WARPS];
  __device__ __forceinline__ void keep(int entry, const Real (&sum)[N]) {
    for (int c = 0; c < N; c++) at[c][entry] = sum[c];
  }
};

/* What the threads before have of the row in which the entries of thread t begin. `sum`: what it has of the
 * row in which they end; begins: some row begins among them. All threads of the block together. */
template <int N, typename Real>
static __device__ __forceinline__ void sum_before(int t, bool begins, Real (&sum)[N], Real (&before)[N],
                                                  work_memory<N, Real> &memory) {
  const int lane = t % 32, warp = t / 32;
  const unsigned beginners = __ballot_sync(0xffffffffu, begins), below = (1u << lane) - 1;
  const int first = max(31 - __clz((int)(beginners & (below | 1u << lane))), 0);
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
  if (lane == 31) memory.begins_in[warp] = beginners != 0;
  __syncthreads();
  if (beginners & below) return;
  for (int w = warp - 1; w >= 0; w--) {
    for (int c = 0; c < N; c++) before[c] += memory.of_warp[w][c];
    if (memory.begins_in[w]) break;
  }
}

/* The entry behind which a work's places in memory.at begin. */
static __device__ __forceinline__ uint32_t work_start(const tsi_row_work &work) {
  return (uint32_t)work.first / WORK_STEPS * WORK_STEPS;
}

/* Whole rows, or none, times x, by threads t of WORK_THREADS: then row_of_work has the sums. Before x is read,
 * `ready` is called. All threads of the block together, of which others may have other works. */
template <int N, typename Real, typename X, typename Ready>
static __device__ __forceinline__ void add_up_work(const cuda_csr &m, const tsi_row_work &work, int t,
                                                   const X &x, Ready ready, work_memory<N, Real> &memory) {
  /* Counted without a sign: behind the last of 2^31 entries are numbers too. */
  const int own = t * WORK_STEPS;
  const uint32_t at = work_start(work) + (uint32_t)own, end = (uint32_t)work.end;
  const unsigned begins = work.rows && at <= end ? m.begins[at / WORK_STEPS] : 0;
  const bool has_entries = work.rows && at < end;
  int32_t column[WORK_STEPS];
  if (has_entries) load_steps(column, m.columns + at);
  ready();
  Real sum[N] = {}, first[N] = {}, before[N];
  if (has_entries) {
    float value[WORK_STEPS];
    cuda_components<N> xj[WORK_STEPS];
    load_steps(value, m.values + at);
#pragma unroll
    for (int u = 0; u < WORK_STEPS; u++) xj[u] = cuda_load<N>(x, column[u]);
#pragma unroll
    for (int u = 0; u < WORK_STEPS; u++) {
      if (begins >> u & 1) {
        const bool is_first = (begins & ((1u << u) - 1)) == 0;
        if (!is_first) memory.keep(own + u - 1, sum);
        for (int c = 0; c < N; c++) {
          if (is_first) first[c] = sum[c];
          sum[c] = 0;
        }
      }
      for (int c = 0; c < N; c++) sum[c] += (Real)value[u] * xj[u].c[c];
    }
  }
  sum_before<N>(t, begins != 0, sum, before, memory);
  if (begins) {
    const int ends = own + __ffs((int)begins) - 2;
    for (int c = 0; c < N; c++) before[c] += first[c];
    if (ends >= 0) memory.keep(ends, before);
  }
  __syncthreads();
}

/* Where the entries of row number `row` of the work begin and end, if it has so many. */
static __device__ __forceinline__ uint2 ends_of_row(const cuda_csr &m, const tsi_row_work &work, int row) {
  if (row >= work.rows) return make_uint2(0, 0);
  return make_uint2((uint32_t)m.row_offsets[work.row + row], (uint32_t)m.row_offsets[work.row + row + 1]);
}

template <int N, typename Real>
static __device__ __forceinline__ void row_of_work(const tsi_row_work &work, uint2 ends,
                                                   const work_memory<N, Real> &memory, Real (&sum)[N]) {
  for (int c = 0; c < N; c++) sum[c] = ends.x < ends.y ? memory.at[c][ends.y - 1 - work_start(work)] : (Real)0;
}

template <int N, typename Real>
__global__ static void __launch_bounds__(WORK_THREADS, work_blocks<N, Real>)
    multiply_works(const cuda_csr m, const cuda_works w, const operands o) {
  __shared__ work_memory<N, Real> memory;
  cuda_overlap_trigger();
  const tsi_row_work work = w.works[blockIdx.x];
  if (work.rows == 0) {
    piece_of_row<N, WORK_THREADS, Real, 4>(w, work, (int)blockIdx.x, o);
    return;
  }
  /* What belongs to the pattern is on its way before the kernel before has ended, and before sums are. */
  uint2 ends = ends_of_row(m, work, (int)threadIdx.x);
  add_up_work<N>(
      m, work, (int)threadIdx.x, o.x, [] { cuda_overlap_wait(); }, memory);
  for (int row = (int)threadIdx.x; row < work.rows; row += WORK_THREADS) {
    Real sum[N];
    row_of_work<N>(work, ends, memory, sum);
    store<N>(o, work.row + row, sum);
    ends = ends_of_row(m, work, row + WORK_THREADS);
  }
}

#endif
