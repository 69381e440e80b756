/* Iterations of conjugate gradients in one kernel, with the works of CSR: cuda_spmv_csr.cuh. A block has
 * several works side by side. */
#include "cuda_cg_kernels.cuh"
#include "cuda/matrix/cuda_spmv_csr.cuh"

struct cg_works {
  cuda_csr m;
  cuda_works w;
  static constexpr bool few_registers = false;
};

/* As many works as there is shared memory for. */
template <int N> constexpr int pass_threads<N, cg_works> = N == 1 ? PASS_THREADS : PASS_THREADS / 2;

template <int N> struct works_memory {
  work_memory<N, float> rows;
  float of_piece[WORK_WARPS][N]; /* of a piece of a long row, the sum of each warp */
};

/* The first warp of a work that is piece of a long row has its sum in all threads. True in all of them where
 * that was the last piece: then `sum` is that of the row. */
template <int N>
static __device__ __forceinline__ bool finish_row(const cuda_works &w, const tsi_row_work &work, int number,
                                                  float (&sum)[N]) {
  if (work.pieces == 1) return true;
  const int lane = (int)threadIdx.x % 32, first = number - work.piece;
  double *partials = w.partials + 4 * (size_t)first;
  unsigned arrived = 0;
  if (lane == 0) {
    for (int c = 0; c < N; c++) partials[4 * work.piece + c] = sum[c];
    __threadfence();
    arrived = atomicAdd(w.arrivals + first, 1) + 1;
    __threadfence();
  }
  if (__shfl_sync(0xffffffffu, arrived, 0) != (unsigned)work.pieces) return false;
  double all[N] = {};
  for (int p = lane; p < work.pieces; p += 32)
    for (int c = 0; c < N; c++) all[c] += __ldcg(partials + 4 * p + c);
  cuda_sum_lanes<N>(5, all);
  for (int c = 0; c < N; c++) sum[c] = (float)all[c];
  if (lane == 0) w.arrivals[first] = 0;
  return true;
}

/* Of no rows behind the last one. */
static __device__ __forceinline__ tsi_row_work work_in_turn(const cuda_works &w, int turn, bool backward) {
  tsi_row_work none = {};
  return turn < w.count ? w.works[backward ? w.count - 1 - turn : turn] : none;
}

/* q = A d and the sums of d q. */
template <int N>
static __device__ __forceinline__ void multiply_pass(const cg_work<cg_works> &work, bool backward,
                                                     double (&dq)[N]) {
  constexpr int side_by_side = pass_threads<N, cg_works> / WORK_THREADS;
  __shared__ works_memory<N> memories[side_by_side];
  const cg_job &job = work.job;
  const cuda_csr &m = work.rows.m;
  const cuda_works &w = work.rows.w;
  const int place = (int)threadIdx.x / WORK_THREADS, t = (int)threadIdx.x % WORK_THREADS;
  works_memory<N> &memory = memories[place];
  const float *x = job.d;
  const int stride = (int)gridDim.x * side_by_side;
  tsi_row_work next = work_in_turn(w, (int)blockIdx.x * side_by_side + place, backward);
  for (int begin = (int)blockIdx.x * side_by_side; begin < w.count; begin += stride) {
    const int turn = begin + place, number = backward ? w.count - 1 - turn : turn;
    const tsi_row_work own = next;
    next = work_in_turn(w, turn + stride, backward);
    const bool is_piece = turn < w.count && own.rows == 0;
    add_up_work<N>(
        m, own, t, x, [] {}, memory.rows);
    float sum[N] = {};
    if (is_piece) {
      cuda_run<N, 2>(w.values, w.columns, (uint32_t)own.first + (uint32_t)t, (uint32_t)own.end, WORK_THREADS, x,
                     sum);
      cuda_sum_lanes<N>(5, sum);
      if (t % 32 == 0)
        for (int c = 0; c < N; c++) memory.of_piece[t / 32][c] = sum[c];
    }
    for (int row = t; row < own.rows; row += WORK_THREADS) {
      row_of_work<N>(own, ends_of_row(m, own, row), memory.rows, sum);
      keep_product<N>(job, own.row + row, sum, dq);
    }
    __syncthreads(); /* the sums have been read */
    if (!is_piece || t >= 32) continue;
    for (int c = 0; c < N; c++) {
      sum[c] = 0;
      for (int warp = 0; warp < WORK_WARPS; warp++) sum[c] += memory.of_piece[warp][c];
    }
    if (finish_row<N>(w, own, number, sum) && t == 0) keep_product<N>(job, own.row, sum, dq);
  }
}

template <int N> static ts_status start_works(ts_context *context, cg_work<cg_works> *work) {
  constexpr int threads = pass_threads<N, cg_works>;
  const size_t quads = (work->job.count + 3) / 4, works = (size_t)work->rows.w.count;
  const unsigned for_works = cuda_blocks_for(works, threads / WORK_THREADS),
                 for_quads = cuda_blocks_for(quads, threads);
  return start_passes<N>(context, work, for_works > for_quads ? for_works : for_quads);
}

ts_status cuda_cg_iterate_works(ts_context *context, const cuda_matrix *m, const cg_job *job, int components) {
  cg_work<cg_works> work = {{m->csr, m->works}, *job};
  switch (components) {
  case 1:
    return start_works<1>(context, &work);
  case 2:
    return start_works<2>(context, &work);
  case 3:
    return start_works<3>(context, &work);
  default:
    return start_works<4>(context, &work);
  }
}
