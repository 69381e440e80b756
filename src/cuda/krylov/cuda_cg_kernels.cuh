/* The kernels of cuda_cg.cu, for any type Rows with:
 *
 *   size_t threads() const                  threads for all rows
 *   place place_of(size_t thread) const     the pattern of the thread's row; its `row` is -1 for a thread
 *                                           without a row, or with only a share of one
 *   void multiply<N>(place, x, sum) const   sum, 0 before, becomes row . x; all threads of a warp together
 *   bool few_registers                      for one component
 *   bool in_parts                           kernels for one of several parts exist (cuda_peers.cuh)
 *
 * If rows do not belong to single threads, Rows has its own multiply_pass. Without a place_of, only
 * start_passes is used. The passes receive threadIdx.x, or cuda_thread() in a part. */
#ifndef CUDA_CG_KERNELS_CUH
#define CUDA_CG_KERNELS_CUH

#include <limits.h>
#include <string.h>

#include "cuda_cg.cuh"

template <typename Rows> struct cg_work {
  Rows rows;
  cg_job job;
};

/* For one element: r - alpha q, and m r + beta d. The results are bitwise equal everywhere, because another
 * device computes them for its ghosts. */
static __device__ __forceinline__ float next_residual(float r, float alpha, float q) {
  return __fmaf_rn(-alpha, q, r);
}
static __device__ __forceinline__ float next_direction(float m, float r, float beta, float d) {
  return __fmaf_rn(m, r, __fmul_rn(beta, d));
}

/* Adds the contribution of one element to the sums. */
template <int N>
static __device__ __forceinline__ void sum_residual(const cuda_components<N> &r, const cuda_components<N> &m,
                                                    double (&sums)[2 * N]) {
  for (int c = 0; c < N; c++) {
    const double rr = (double)r.c[c] * (double)r.c[c];
    sums[c] += rr * (double)m.c[c];
    sums[N + c] += rr;
  }
}

/* ---- One thread per row ---- */

enum { RESIDENT_THREADS = 1024 };

template <int N, typename Rows>
static __global__ void __launch_bounds__(RESIDENT_THREADS, 1) iterate_resident(const cg_work<Rows> work) {
  const cg_job &job = work.job;
  const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const typename Rows::place place = work.rows.place_of(thread);
  const int32_t row = place.row;
  unsigned passed = 0;
  cg_numbers<N> n;
  cuda_components<N> e = {}, r = {}, d = {}, m, z = {};
  for (int c = 0; c < N; c++) m.c[c] = 1, n.beta[c] = 0;
  if (row >= 0) {
    e = cuda_load<N>(job.e, row), r = cuda_load<N>(job.r, row), d = cuda_load<N>(job.d, row);
    if (job.m) m = cuda_load<N>(job.m, row);
  }
  read_delta<N>(job, &n);
  bool ends = false;
  for (int k = 0; !ends; k++) {
    float q[N] = {};
    work.rows.template multiply<N>(place, cg_directions<N>(k ? job.q : job.d, job.d, n.beta), q);
    double dq[N], sums[2 * N] = {};
    for (int c = 0; c < N; c++) {
      if (k) d.c[c] = z.c[c] + n.beta[c] * d.c[c];
      dq[c] = row >= 0 ? (double)d.c[c] * (double)q[c] : 0;
    }
    cuda_grid_sum<N>(job.barrier, &passed, N, dq, dq);
    update_alpha<N>(job, k, dq, &n);
    if (row >= 0) {
      for (int c = 0; c < N; c++) {
        e.c[c] += n.alpha[c] * d.c[c];
        r.c[c] -= n.alpha[c] * q[c];
        z.c[c] = m.c[c] * r.c[c];
      }
      cuda_keep<N>(job.q, row, z);
      cuda_keep<N>(job.d, row, d);
      sum_residual<N>(r, m, sums);
    }
    cuda_grid_sum<2 * N>(job.barrier, &passed, job.stop_by_residual ? 2 * N : N, sums, sums);
    ends = update_beta<N>(job, k, sums, &n);
  }
  if (row >= 0) {
    for (int c = 0; c < N; c++) d.c[c] = z.c[c] + n.beta[c] * d.c[c];
    cuda_keep<N>(job.e, row, e);
    cuda_keep<N>(job.r, row, r);
    cuda_keep<N>(job.d, row, d);
  }
  cuda_barrier_leave(job.barrier);
}

/* ---- Passes over the vectors ---- */

enum { PASS_THREADS = 512 };
template <int N, typename Rows> constexpr int pass_threads = PASS_THREADS;

/* The thread whose row is number t of `end` in the order of multiplication: warps ascend, or descend if
 * `backward`. */
static __device__ __forceinline__ size_t multiply_order(size_t t, size_t end, bool backward) {
  return backward ? end - 32 - t / 32 * 32 + t % 32 : t;
}

/* Stores an element of q = A d and adds its contribution to the sums of d q. */
template <int N>
static __device__ __forceinline__ void keep_product(const cg_job &job, int32_t row, const float (&sum)[N],
                                                    double (&dq)[N]) {
  const cuda_components<N> d = cuda_load<N>(job.d, row);
  cuda_components<N> q;
  for (int c = 0; c < N; c++) q.c[c] = sum[c];
  cuda_keep<N>(job.q, row, q);
  for (int c = 0; c < N; c++) dq[c] += (double)d.c[c] * (double)q.c[c];
}

/* q = A d and the sums of d q. With few registers, the place of the next row is read while a row is multiplied.
 * If a thread has more loads in flight, that would only take registers from them. */
template <int N, typename Rows>
static __device__ __forceinline__ void multiply_pass(const cg_work<Rows> &work, unsigned thread, bool backward,
                                                     double (&dq)[N]) {
  const cg_job &job = work.job;
  const size_t end = (work.rows.threads() + 31) / 32 * 32, stride = (size_t)gridDim.x * blockDim.x;
  size_t t = (size_t)blockIdx.x * blockDim.x + thread;
  if (t >= end) return;
  typename Rows::place next;
  if (Rows::few_registers) next = work.rows.place_of(multiply_order(t, end, backward));
  for (; t < end; t += stride) {
    if (!Rows::few_registers) next = work.rows.place_of(multiply_order(t, end, backward));
    const typename Rows::place place = next;
    if (Rows::few_registers && t + stride < end)
      next = work.rows.place_of(multiply_order(t + stride, end, backward));
    float sum[N] = {};
    work.rows.template multiply<N>(place, (const float *)job.d, sum);
    if (place.row >= 0) keep_product<N>(job, place.row, sum, dq);
  }
}

/* An additional action on each row's q: none, or the push to other parts if they push by rows. */
struct push_no_rows {
  static constexpr bool is_part = false;
  template <int N> __device__ __forceinline__ void operator()(int32_t, const float (&)[N]) const {}
};
struct push_rows {
  static constexpr bool is_part = true;
  const cuda_parts &parts;
  unsigned buffer;
  template <int N> __device__ __forceinline__ void operator()(int32_t row, const float (&q)[N]) const {
    if (parts.by_rows) cuda_push_row<N>(parts, buffer, row, q);
  }
};

/* The quads of a pass over elements. */
struct quad_pass {
  size_t first, count, stride, last; /* last: of all quads */
  bool backward;
  int component; /* of lane 0 */
  __device__ __forceinline__ quad_pass(size_t elements, int components, unsigned thread, bool backward_)
      : first((size_t)blockIdx.x * blockDim.x + thread), count((elements + 3) / 4),
        stride((size_t)gridDim.x * blockDim.x), last(count - 1), backward(backward_) {
    component = first < count ? (int)(4 * at(first) % (size_t)components) : 0;
  }
  __device__ __forceinline__ size_t at(size_t i) const { return backward ? last - i : i; }
};

template <int N> static __device__ __forceinline__ cuda_quad lanes_of(const float (&value)[N], int first) {
  cuda_quad q;
  CUDA_EACH_LANE(l) {
    q.lane[l] = value[0];
    for (int c = 1; c < N; c++)
      if ((first + l) % N == c) q.lane[l] = value[c];
  }
  return q;
}

/* Adds the lanes up by component. A single component has one sum for all lanes. */
template <int N, int LANES>
static __device__ __forceinline__ void add_lanes(const double (&lanes)[LANES], int first, double *sums) {
#pragma unroll
  for (int l = 0; l < LANES; l++)
    for (int c = 0; c < N; c++)
      if ((first + l) % N == c) sums[c] += lanes[l];
}

/* r = r - alpha q, and its sums. */
template <int N>
static __device__ __forceinline__ void residual_pass(const cg_job &job, unsigned thread, bool backward,
                                                     const cg_numbers<N> &n, double (&sums)[2 * N]) {
  const quad_pass pass(job.count, N, thread, backward);
  const cuda_quad alpha = lanes_of<N>(n.alpha, pass.component);
  constexpr int sums_each = N == 1 ? 1 : 4;
  double delta[sums_each] = {}, rr[sums_each] = {};
  for (size_t u = pass.first; u < pass.count; u += pass.stride) {
    const size_t i = pass.at(u);
    cuda_quad r = cuda_load(job.r, i, job.count), m = {1, 1, 1, 1};
    const cuda_quad q = cuda_load(job.q, i, job.count);
    if (job.m) m = cuda_load(job.m, i, job.count);
    CUDA_EACH_LANE(l) {
      r.lane[l] = next_residual(r.lane[l], alpha.lane[l], q.lane[l]);
      const double square = (double)r.lane[l] * (double)r.lane[l];
      delta[l % sums_each] += square * (double)m.lane[l];
      rr[l % sums_each] += square;
    }
    cuda_store(job.r, i, r, job.count);
  }
  for (int s = 0; s < 2 * N; s++) sums[s] = 0;
  add_lanes<N>(delta, pass.component, sums);
  add_lanes<N>(rr, pass.component, sums + N);
}

/* e = e + alpha d;  d = M^-1 r + beta d. */
template <int N>
static __device__ __forceinline__ void direction_pass(const cg_job &job, unsigned thread, bool backward,
                                                      const cg_numbers<N> &n) {
  const quad_pass pass(job.count, N, thread, backward);
  const cuda_quad alpha = lanes_of<N>(n.alpha, pass.component), beta = lanes_of<N>(n.beta, pass.component);
  for (size_t u = pass.first; u < pass.count; u += pass.stride) {
    const size_t i = pass.at(u);
    cuda_quad e = cuda_load(job.e, i, job.count), d = cuda_load(job.d, i, job.count), m = {1, 1, 1, 1};
    const cuda_quad r = cuda_load(job.r, i, job.count);
    if (job.m) m = cuda_load(job.m, i, job.count);
    CUDA_EACH_LANE(l) {
      e.lane[l] += alpha.lane[l] * d.lane[l];
      d.lane[l] = next_direction(m.lane[l], r.lane[l], beta.lane[l], d.lane[l]);
    }
    cuda_store(job.e, i, e, job.count);
    cuda_store(job.d, i, d, job.count);
  }
}

/* Minimum blocks per multiprocessor. */
template <int N, typename Rows>
constexpr int pass_blocks = N == 1 && Rows::few_registers &&MULTIPROCESSOR_THREADS >= 3 * PASS_THREADS ? 3 : 2;

template <int N, typename Rows>
static __global__ void __launch_bounds__(pass_threads<N, Rows>, pass_blocks<N, Rows>)
    iterate_in_passes(const cg_work<Rows> work) {
  const cg_job &job = work.job;
  cuda_spill_to_shared_memory();
  unsigned passed = 0;
  cg_numbers<N> n;
  read_delta<N>(job, &n);
  bool ends = false, backward = false;
  for (int k = 0; !ends; k++) {
    double dq[N] = {}, sums[2 * N];
    multiply_pass<N>(work, threadIdx.x, backward, dq);
    cuda_grid_sum<N, true>(job.barrier, &passed, N, dq, dq);
    update_alpha<N>(job, k, dq, &n);
    residual_pass<N>(job, threadIdx.x, !backward, n, sums);
    cuda_grid_sum<2 * N, true>(job.barrier, &passed, job.stop_by_residual ? 2 * N : N, sums, sums);
    ends = update_beta<N>(job, k, sums, &n);
    direction_pass<N>(job, threadIdx.x, backward, n);
    if (!ends) cuda_barrier_pass(job.barrier, &passed);
    backward = !backward;
  }
  cuda_barrier_leave(job.barrier);
}

/* ---- Passes of one of several parts ----
 *
 * Each device has a part of the rows. The rounds of cuda_peers.cuh replace the barriers of the sums. The
 * numbers of an iteration are in shared memory, since in each thread they would take registers from the
 * products. On an H100, an elastic beam of 3 M rows in two parts on one device takes 679 us per iteration this
 * way, and 714 us otherwise. (The kernel without parts is faster with the numbers in each thread.)
 *
 * Each part computes the ghosts of d itself, from those of q, r and m, exactly as their owner does. So an
 * iteration has two rounds. q is pushed after the first round, when the owner's grid has computed all of it,
 * and published after the second. A device waits for the ghosts after its own directions are done. If many rows
 * of all parts are ghosts, each element of q is pushed as soon as it is known, and q is published after the
 * first round. With random rows, 1 M on two H200, an iteration takes 58 us this way, and 64 us otherwise.
 *
 * Ghosts of q are written after the first round of an iteration. A device joins that round after the directions
 * of the previous iteration, which read the ghosts. Pushes by rows are earlier, so they alternate between two
 * buffers, q and e. A device writes the ghosts of iteration k + 2 only after the first round of k + 1. The
 * ghosts of d, r and m are written before the first iteration, after the streams of all parts have joined.
 */

/* Whether the multiply_pass of these rows accepts a push_rows: for matrices of networks, where other parts may
 * need all rows. */
template <typename Rows> constexpr bool pushes_rows = false;

/* Applies the passes to the ghosts when they have arrived; those of q are in that buffer. Returns false if
 * the run has ended. */
template <int N>
static __device__ __forceinline__ bool ghost_pass(const cg_job &job, const cuda_parts &parts, unsigned round,
                                                  unsigned buffer, const cg_numbers<N> &n) {
  const size_t quads = (job.ghosts + 3) / 4, thread = cuda_thread_from_end();
  if ((size_t)(gridDim.x - 1 - blockIdx.x) * blockDim.x >= quads) return true; /* this block has none */
  if (!cuda_await_published(parts, round)) return false;
  float *ghosts_d = job.d + job.first_ghost, *ghosts_r = job.r + job.first_ghost;
  const float *ghosts_q = (buffer ? job.e : job.q) + job.first_ghost;
  const float *ghosts_m = job.m ? job.m + job.first_ghost : NULL;
  const int component = (int)(4 * thread % N);
  const cuda_quad alpha = lanes_of<N>(n.alpha, component), beta = lanes_of<N>(n.beta, component);
  for (size_t i = thread; i < quads; i += (size_t)gridDim.x * blockDim.x) {
    cuda_quad r = cuda_load(ghosts_r, i, job.ghosts), d = cuda_load(ghosts_d, i, job.ghosts), m = {1, 1, 1, 1};
    const cuda_quad q = cuda_load(ghosts_q, i, job.ghosts);
    if (ghosts_m) m = cuda_load(ghosts_m, i, job.ghosts);
    CUDA_EACH_LANE(l) {
      r.lane[l] = next_residual(r.lane[l], alpha.lane[l], q.lane[l]);
      d.lane[l] = next_direction(m.lane[l], r.lane[l], beta.lane[l], d.lane[l]);
    }
    cuda_store(ghosts_r, i, r, job.ghosts);
    cuda_store(ghosts_d, i, d, job.ghosts);
  }
  return true;
}

template <int N, typename Rows>
static __global__ void __launch_bounds__(pass_threads<N, Rows>, pass_blocks<N, Rows>)
    iterate_in_parts(const cg_work<Rows> work, const cuda_parts parts) {
  __shared__ cg_numbers<N> n; /* written by the first thread */
  __shared__ bool ends;
  const cg_job &job = work.job;
  cuda_spill_to_shared_memory();
  double dq[N] = {}, sums[2 * N];
  if (threadIdx.x == 0) read_delta<N>(job, &n);
  cuda_push_elements<N>(
      parts, [](const cuda_push &push) { return push.d; }, job.d);
  cuda_push_elements<N>(
      parts, [](const cuda_push &push) { return push.r; }, job.r);
  if (job.m)
    cuda_push_elements<N>(
        parts, [](const cuda_push &push) { return push.m; }, job.m);
  bool goes_on = cuda_peers_barrier(parts, job.barrier, 0), backward = false;
  if (goes_on) cuda_publish(parts, 0);
  goes_on = goes_on && cuda_await_published(parts, 0);
  for (unsigned k = 0; goes_on; k++) {
    const bool by_rows = pushes_rows<Rows> && parts.by_rows;
    const unsigned buffer = by_rows ? k % 2 : 0;
    for (int c = 0; c < N; c++) dq[c] = 0;
    if constexpr (pushes_rows<Rows>)
      multiply_pass<N>(work, cuda_thread(), backward, dq, push_rows{parts, buffer});
    else
      multiply_pass<N>(work, cuda_thread(), backward, dq);
    if (!cuda_peers_sum<N>(parts, job.barrier, {3 * k + 1, 2 * k + 1}, N, dq, dq)) break;
    if (threadIdx.x == 0) update_alpha<N>(job, (int)k, dq, &n);
    __syncthreads();
    if (by_rows)
      cuda_publish(parts, 2 * k + 2);
    else
      cuda_push_elements<N>(
          parts, [buffer](const cuda_push &push) { return push.q[buffer]; }, job.q);
    residual_pass<N>(job, cuda_thread(), !backward, n, sums);
    if (!cuda_peers_sum<2 * N>(parts, job.barrier, {3 * k + 2, 2 * k + 2}, job.stop_by_residual ? 2 * N : N,
                               sums, sums))
      break;
    if (!by_rows) cuda_publish(parts, 2 * k + 2);
    if (threadIdx.x == 0) ends = update_beta<N>(job, (int)k, sums, &n);
    __syncthreads();
    direction_pass<N>(job, cuda_thread(), backward, n);
    goes_on = ghost_pass<N>(job, parts, 2 * k + 2, buffer, n) && !ends &&
              cuda_peers_barrier(parts, job.barrier, 3 * k + 3);
    backward = !backward;
  }
  cuda_barrier_leave(job.barrier);
}

/* `most`: maximum of blocks with work. */
template <int N, typename Rows> static ts_status plan_parts(const cg_work<Rows> *work, unsigned most) {
  cuda_plan *plan = work->job.plan;
  static_assert(sizeof *work <= sizeof plan->work, "no room for a kernel's argument");
  plan->kernel = (const void *)iterate_in_parts<N, Rows>;
  plan->threads = pass_threads<N, Rows>;
  plan->most = most;
  plan->multiple = N == 3 ? 3 : 1;
  plan->pushes_rows = pushes_rows<Rows>;
  memcpy(plan->work, work, sizeof *work);
  return TS_OK;
}

/* ---- Launch ---- */

/* Launches the maximum of blocks that run at once on the device, but at most `most`. */
template <int N, typename Rows>
static ts_status start_passes(ts_context *context, cg_work<Rows> *work, unsigned most) {
  const void *kernel = (const void *)iterate_in_passes<N, Rows>;
  unsigned blocks = 0;
  TSI_TRY(cuda_blocks_at_once(context, kernel, pass_threads<N, Rows>, &blocks));
  if (blocks > most) blocks = most;
  /* A thread then has the same components in all its quads. */
  if (N == 3) blocks = blocks < 3 ? 3 : blocks - blocks % 3;
  return cuda_start_together(context, kernel, blocks, pass_threads<N, Rows>, work);
}

/* The number of blocks that cover all rows and all quads at once. */
template <int N, typename Rows> static unsigned blocks_for(const cg_work<Rows> &work, unsigned for_rows) {
  const unsigned for_quads = cuda_blocks_for((work.job.count + 3) / 4, pass_threads<N, Rows>);
  return for_rows > for_quads ? for_rows : for_quads;
}

template <int N, typename Rows> static ts_status start(ts_context *context, cg_work<Rows> *work) {
  const size_t threads = work->rows.threads();
  if constexpr (Rows::in_parts)
    if (work->job.plan)
      return plan_parts<N>(work, blocks_for<N>(*work, cuda_blocks_for(threads, pass_threads<N, Rows>)));
  const unsigned most = (unsigned)cuda_state_of(context)->multiprocessors;
  if (threads <= (size_t)most * RESIDENT_THREADS) {
    const unsigned least = 256;
    unsigned blocks = (unsigned)((threads + least - 1) / least);
    if (blocks > most) blocks = most;
    const unsigned each = ((unsigned)((threads + blocks - 1) / blocks) + 31) / 32 * 32;
    return cuda_start_together(context, (const void *)iterate_resident<N, Rows>, blocks, each, work);
  }
  return start_passes<N>(context, work, UINT_MAX);
}

template <typename Rows>
static ts_status start_components(ts_context *context, const Rows &rows, const cg_job &job, int components) {
  cg_work<Rows> work = {rows, job};
  switch (components) {
  case 1:
    return start<1>(context, &work);
  case 2:
    return start<2>(context, &work);
  case 3:
    return start<3>(context, &work);
  default:
    return start<4>(context, &work);
  }
}

#endif
