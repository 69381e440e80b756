/* Iterations of conjugate gradients in one kernel, with the row blocks of CSR (cuda_spmv_csr.cuh). A thread
 * block has several row blocks side by side. */
#include "cuda_cg_kernels.cuh"
#include "cuda/matrix/cuda_spmv_csr.cuh"

struct cg_row_blocks {
  cuda_csr m;
  cuda_row_blocks w;
  static constexpr bool few_registers = false, in_parts = true;
};

template <> constexpr bool pushes_rows<cg_row_blocks> = true;

/* Sized by the shared memory of the row blocks. */
template <int N> constexpr int pass_threads<N, cg_row_blocks> = N == 1 ? PASS_THREADS : PASS_THREADS / 2;

/* The row block at one of `side_by_side` places in a round, which begins after `before` row blocks. Neighbours
 * have similar columns, so they are side by side. SPREADS: row blocks of the last round are spread over all
 * thread blocks. That helps if there are few rounds, and costs 1 % otherwise. */
template <bool SPREADS>
static __device__ __forceinline__ int row_block_in_round(int count, int before, int place, int side_by_side) {
  const int block = (int)blockIdx.x, grid = (int)gridDim.x;
  const bool spread = SPREADS && count - before < grid * side_by_side;
  return before + (spread ? place * grid + block : block * side_by_side + place);
}

/* After the last row block, returns one without rows. */
static __device__ __forceinline__ tsi_row_block row_block_of(const cuda_row_blocks &w, int position,
                                                             bool backward) {
  tsi_row_block none = {};
  return position < w.count ? load_row_block(w.row_blocks + (backward ? w.count - 1 - position : position))
                            : none;
}

/* Adds a piece's contribution to the sums of d q, so that their order of additions is always the same. The last
 * row block to arrive stores q of the row. */
template <int N, typename Push>
static __device__ __forceinline__ void keep_piece(const cg_job &job, const cuda_row_blocks &w, int number,
                                                  row_piece<N, float> &own, double (&dq)[N], Push push) {
  const bool is_first = threadIdx.x % 32 == 0;
  if (is_first) {
    const cuda_components<N> d = cuda_load<N>(job.d, own.row);
    for (int c = 0; c < N; c++) dq[c] += (double)d.c[c] * (double)own.sum[c];
  }
  if (!hand_in<N>(w, number, own.piece, own.pieces, own.sum) || !is_first) return;
  cuda_components<N> q;
  for (int c = 0; c < N; c++) q.c[c] = own.sum[c];
  cuda_keep<N>(job.q, own.row, q);
  push(own.row, own.sum);
}

/* q = A d and the sums of d q. */
template <int N, typename Push = push_no_rows>
static __device__ __forceinline__ void multiply_pass(const cg_work<cg_row_blocks> &work, unsigned thread,
                                                     bool backward, double (&dq)[N], Push push = {}) {
  constexpr int side_by_side = pass_threads<N, cg_row_blocks> / ROW_BLOCK_THREADS;
  __shared__ row_block_memory<N, float> memories[side_by_side];
  const cg_job &job = work.job;
  const cuda_csr &m = work.rows.m;
  const cuda_row_blocks &w = work.rows.w;
  const int place = (int)thread / ROW_BLOCK_THREADS, t = (int)thread % ROW_BLOCK_THREADS;
  row_block_memory<N, float> &memory = memories[place];
  const float *x = job.d;
  const int stride = (int)gridDim.x * side_by_side;
  int position = row_block_in_round<Push::is_part>(w.count, 0, place, side_by_side);
  tsi_row_block next = row_block_of(w, position, backward);
  for (int before = 0; row_block_in_round<Push::is_part>(w.count, before, 0, side_by_side) < w.count;
       before += stride) {
    const int number = backward ? w.count - 1 - position : position;
    const tsi_row_block own = next;
    position = row_block_in_round<Push::is_part>(w.count, before + stride, place, side_by_side);
    next = row_block_of(w, position, backward);
    add_up_row_block<N>(
        m, own, t, x, [] {}, memory);
    for (int row = t == 0 && own.pieces_before ? ROW_BLOCK_THREADS : t; row < own.rows;
         row += ROW_BLOCK_THREADS) {
      float sum[N];
      row_of_row_block<N>(m, own, row, memory, sum);
      keep_product<N>(job, own.row + row, sum, dq);
      push(own.row + row, sum);
    }
    row_piece<N, float> piece = piece_of_row_block<N>(own, t, memory);
    __syncthreads(); /* the sums have been read */
    if (piece.pieces) keep_piece<N>(job, w, number, piece, dq, push);
  }
}

template <int N> static ts_status start_row_blocks(ts_context *context, cg_work<cg_row_blocks> *work) {
  constexpr int threads = pass_threads<N, cg_row_blocks>;
  const bool is_part = work->job.plan != NULL;
  const void *kernel = is_part ? (const void *)iterate_in_parts<N, cg_row_blocks>
                               : (const void *)iterate_in_passes<N, cg_row_blocks>;
  TSI_TRY(cuda_spare_cache(context, (is_part ? CUDA_PART_ROW_BLOCKS : CUDA_CG_ROW_BLOCKS) + N - 1, kernel,
                           threads));
  const unsigned most =
      blocks_for<N>(*work, cuda_blocks_for((size_t)work->rows.w.count, threads / ROW_BLOCK_THREADS));
  return is_part ? plan_parts<N>(work, most) : start_passes<N>(context, work, most);
}

ts_status cuda_cg_iterate_row_blocks(ts_context *context, const cuda_matrix *m, const cg_job *job,
                                     int components) {
  cg_work<cg_row_blocks> work = {{m->csr, m->row_blocks}, *job};
  switch (components) {
  case 1:
    return start_row_blocks<1>(context, &work);
  case 2:
    return start_row_blocks<2>(context, &work);
  case 3:
    return start_row_blocks<3>(context, &work);
  default:
    return start_row_blocks<4>(context, &work);
  }
}
