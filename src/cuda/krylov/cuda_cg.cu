/* Iterations of conjugate gradients in one kernel (cg.c has the method). Its blocks wait for each other when a
 * sum is needed. Every thread evaluates alpha, beta and the stopping rule.
 *
 * If every row has its own thread, e, r, d and m stay in registers, and an iteration has two barriers. A row
 * then reads the z = M^-1 r and d of its neighbours from the previous iteration and computes their new d
 * itself. Larger systems make three passes over the vectors, each with a barrier. Each pass runs in the
 * opposite direction to the previous one, so that it begins with data that is still in the cache. */
#include "cuda_cg_kernels.cuh"

/* ---- Rows of the formats ---- */

struct cg_csr {
  cuda_csr m;
  static constexpr bool few_registers = true, in_parts = true;
  struct place {
    int32_t row;
    uint32_t first, end; /* this thread's entries: first, first + threads per row, ... */
  };
  __host__ __device__ size_t threads() const { return (size_t)m.rows << m.log2_subwarp; }
  __device__ __forceinline__ place place_of(size_t thread) const {
    const size_t row = thread >> m.log2_subwarp;
    if (row >= (size_t)m.rows) return {-1, 0, 0};
    const uint32_t lane = (uint32_t)thread & ((1u << m.log2_subwarp) - 1);
    return {lane ? -1 : (int32_t)row, (uint32_t)m.row_offsets[row] + lane, (uint32_t)m.row_offsets[row + 1]};
  }
  template <int N, typename X>
  __device__ __forceinline__ void multiply(const place &p, const X &x, float sum[N]) const {
    /* Faster here than cuda_run, because loads in flight there take registers from other threads. */
#pragma unroll 4
    for (uint32_t k = p.first; k < p.end; k += 1u << m.log2_subwarp) {
      const float value = m.values[k];
      const cuda_components<N> xj = cuda_load<N>(x, m.columns[k]);
      for (int c = 0; c < N; c++) sum[c] += value * xj.c[c];
    }
    cuda_subwarp_sum<N>(m.log2_subwarp, sum);
  }
};

/* Sums the row of an unpadded slice, with one load in flight. */
template <int N, typename X>
static __device__ __forceinline__ void sum_lean_without_gaps(const cuda_slices &m, const cuda_place &p,
                                                             int lane, const X &x, float sum[N]) {
  const tsi_slice &s = p.slice;
  const uint32_t *words = m.words + s.first_word;
  uint32_t before = 0;
#pragma unroll 1
  for (int k = 0; k < s.longest; k++) {
    const unsigned have = __ballot_sync(0xffffffffu, k < p.length);
    const uint32_t entry = before + (uint32_t)__popc(have & ((1u << lane) - 1));
    before += (uint32_t)__popc(have);
    if (k >= p.length) continue;
    const int32_t column = s.column_bytes == 1 ? m.bases[s.first_base + k] + cuda_slice_column<1>(words, entry)
                           : s.column_bytes == 2
                               ? m.bases[s.first_base + k] + cuda_slice_column<2>(words, entry)
                               : cuda_slice_column<4>(words, entry);
    const float value = __ldcs(m.values + s.first + entry);
    const cuda_components<N> xj = cuda_load<N>(x, column);
    for (int c = 0; c < N; c++) sum[c] += value * xj.c[c];
  }
}

/* One warp per slice; for matrices without long rows. If the matrix exceeds the cache, more threads are needed
 * to keep memory busy: LEAN ones with fewer registers. Within the cache, and in long rows, more loads per
 * thread are faster. With several components both would be the same code in padded slices. */
template <bool LEAN> struct cg_slices {
  cuda_slices m;
  static constexpr bool few_registers = LEAN, in_parts = true;
  typedef cuda_place place;
  __host__ __device__ size_t threads() const { return (size_t)m.count * TSI_SLICE_ROWS; }
  __device__ __forceinline__ place place_of(size_t thread) const {
    if (thread < threads()) return cuda_place_of(m, (int32_t)(thread / TSI_SLICE_ROWS), (int)(thread % 32));
    place none = {};
    none.row = -1;
    return none;
  }
  template <int N, typename X>
  __device__ __forceinline__ void multiply(const place &p, const X &x, float sum[N]) const {
    const int lane = (int)(threadIdx.x % 32);
    if (!LEAN)
      cuda_slice_row<N, float>(m, p, lane, x, sum);
    else if (!p.slice.padded)
      sum_lean_without_gaps<N>(m, p, lane, x, sum);
    else
      cuda_slice_sum<N, float, true, 4>(m, p.slice, lane, p.length, x, sum);
  }
};

/* Loops over slices instead of threads, which takes fewer registers, and prefetches each slice first. On an
 * H200, an iteration of 8 M rows of 7 entries took 224 us instead of 258, with sequential loads (now 208).
 * Slower were: prefetching the next slice too (230), reading its place ahead (267), and more loads per thread
 * with fewer threads (271 to 289). */
template <int N, bool LEAN>
static __device__ __forceinline__ void multiply_pass(const cg_work<cg_slices<LEAN>> &work, unsigned thread,
                                                     bool backward, double (&dq)[N]) {
  const cuda_slices &m = work.rows.m;
  const int lane = (int)thread % 32, warps = (int)(blockDim.x / 32), stride = (int)gridDim.x * warps;
  for (int position = (int)blockIdx.x * warps + (int)thread / 32; position < m.count; position += stride) {
    const cuda_place place = cuda_place_of(m, backward ? m.count - 1 - position : position, lane);
    if (place.slice.padded) cuda_prefetch_slice(m, place.slice, lane);
    float sum[N] = {};
    work.rows.template multiply<N>(place, (const float *)work.job.d, sum);
    if (place.row >= 0) keep_product<N>(work.job, place.row, sum, dq);
  }
}

static ts_status iterate_csr(ts_context *context, const ts_matrix *A, const cg_job *job, int components) {
  const cuda_matrix *m = cuda_matrix_of(A);
  if (m->row_blocks.count) return cuda_cg_iterate_row_blocks(context, m, job, components);
  return start_components(context, cg_csr{m->csr}, *job, components);
}

const tsi_cg_kernels cuda_csr_cg = {NULL, iterate_csr};

/* Matrices with long rows use the separate operations. */
static int slices_fit(const ts_matrix *A) {
  return cuda_matrix_of(A)->row_blocks.count == 0;
}

static ts_status iterate_slices(ts_context *context, const ts_matrix *A, const cg_job *job, int components) {
  const cuda_slices &m = cuda_matrix_of(A)->slices;
  if (m.lean && components == 1) {
    cg_work<cg_slices<true>> work = {{m}, *job};
    return start<1>(context, &work);
  }
  return start_components(context, cg_slices<false>{m}, *job, components);
}

const tsi_cg_kernels cuda_jagged_cg = {slices_fit, iterate_slices};

int cuda_cg_fits(const ts_matrix *A) {
  const tsi_cg_kernels *kernels = A->kind->cg;
  return cuda_state_of(A->context)->cooperative && kernels && (!kernels->fits || kernels->fits(A));
}

cg_job cuda_cg_job_of(const tsi_cg_iterations *run) {
  cg_job job = {};
  job.e = cuda_data(run->e), job.r = cuda_data(run->r), job.d = cuda_data(run->d), job.q = cuda_data(run->q);
  job.m = run->m ? cuda_data(run->m) : NULL;
  job.count = cuda_count(run->e);
  job.ring = cuda_slot(run->slots, run->ring);
  job.ring_size = run->ring_size, job.iteration = run->iteration, job.iterations = run->count;
  job.rr = cuda_slot(run->slots, run->rr), job.done = cuda_slot(run->slots, run->done);
  job.stop_by_residual = run->stop_by_residual;
  for (int c = 0; c < 4; c++) job.enough[c] = run->enough[c], job.visible[c] = run->visible[c];
  job.barrier = cuda_grid_barrier_of(run->e->context);
  return job;
}

ts_status cuda_cg_iterate(const tsi_cg_iterations *run) {
  const cg_job job = cuda_cg_job_of(run);
  return run->matrix->kind->cg->iterate(run->e->context, run->matrix, &job, run->e->components);
}

const tsi_cg_ops cuda_cg_ops = {TSI_CG_OPERATIONS(TSI_ENTRY, TSI_ENTRY, cuda_cg_)};
