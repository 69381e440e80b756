/* Iterations of conjugate gradients in one kernel, with block rows.
 *
 * Each row has its own thread: a block row has at least one thread for each of its rows. */
#include "cuda/matrix/cuda_spmv_bcrs.cuh"
#include "cuda_cg_kernels.cuh"

template <int SIZE, int N>
static __device__ __forceinline__ void cuda_load_block(const cuda_bcrs &m, const cg_directions<N> &x,
                                                       int32_t column, float (&block)[SIZE * N]) {
  float d[SIZE * N];
  cuda_load_block<SIZE, N>(m, x.z, column, block);
  cuda_load_block<SIZE, N>(m, x.d, column, d);
#pragma unroll
  for (int i = 0; i < SIZE * N; i++) block[i] += x.beta[i % N] * d[i];
}

/* Blocks that a thread has in flight, limited by registers. */
enum { MOST_AHEAD = 4 };
template <int SIZE, int N> constexpr int blocks_ahead = N == 1 ? MOST_AHEAD : SIZE == 4 && N == 4 ? 1 : 2;

template <int SIZE> struct cg_bcrs {
  cuda_bcrs m;
  int32_t matrix_rows;
  const unsigned char *constrained; /* flags of constrained rows, NULL: none */
  static constexpr bool few_registers = false, in_parts = true;
  struct place {
    int32_t row, begin, end;
    int lane;
    bool constrained;
  };
  __host__ __device__ size_t threads() const { return (size_t)m.rows << m.log2_subwarp; }
  /* Each of the first threads of a block row has one row. */
  __device__ __forceinline__ place place_of(size_t thread) const {
    const size_t block_row = thread >> m.log2_subwarp;
    const int lane = (int)thread & ((1 << m.log2_subwarp) - 1);
    if (block_row >= (size_t)m.rows) return {-1, 0, 0, lane, false};
    const size_t row = block_row * SIZE + (size_t)lane;
    const bool is_row = lane < SIZE && row < (size_t)matrix_rows;
    return {is_row ? (int32_t)row : -1, m.offsets[block_row], m.offsets[block_row + 1], lane,
            is_row && constrained && constrained[row]};
  }
  template <int N, typename X>
  __device__ __forceinline__ void multiply(const place &p, const X &x, float sum[N]) const {
    float sums[4 / SIZE][N] = {};
    cuda_block_row<SIZE, N, blocks_ahead<SIZE, N>>(m, p.begin, p.end, p.lane, x, sums);
    const bool second = SIZE == 2 && p.lane == 1;
    for (int c = 0; c < N; c++) sum[c] = p.constrained ? 0 : second ? sums[4 / SIZE - 1][c] : sums[0][c];
  }
};

/* With a thread per row: enough threads for all loads to be in flight at once, within the limit of the device.
 * In passes: the same number as for a product. With one component, however, the device holds half the threads
 * that it holds in a product, so each takes more blocks. */
static int subwarp_for(const ts_context *context, const cuda_bcrs &m, int components) {
  const size_t most = (size_t)cuda_state_of(context)->multiprocessors * RESIDENT_THREADS;
  const int least = m.log2_block; /* one thread per row */
  const double each = cuda_blocks_a_thread(m, components);
  if ((size_t)m.rows << least > most)
    return cuda_block_subwarp(m, components == 1 && each < MOST_AHEAD ? MOST_AHEAD : each, least);
  int log2_subwarp = cuda_block_subwarp(m, each < MOST_AHEAD ? each : MOST_AHEAD, least);
  while ((size_t)m.rows << log2_subwarp > most) log2_subwarp--;
  return log2_subwarp;
}

template <int SIZE>
static ts_status iterate_blocks(ts_context *context, const cuda_matrix *m, int32_t rows, const cg_job *job,
                                int components) {
  cg_bcrs<SIZE> blocks = {m->bcrs, rows, m->constrained};
  blocks.m.log2_subwarp = subwarp_for(context, m->bcrs, components);
  return start_components(context, blocks, *job, components);
}

static ts_status iterate(ts_context *context, const ts_matrix *A, const cg_job *job, int components) {
  const cuda_matrix *m = cuda_matrix_of(A);
  if (m->bcrs.log2_block == 1) return iterate_blocks<2>(context, m, A->info.rows, job, components);
  return iterate_blocks<4>(context, m, A->info.rows, job, components);
}

const tsi_cg_kernels cuda_bcrs_cg = {NULL, iterate};
