/* Sweeps of sparse complementarity problems in one kernel of resident thread blocks. A warp has a unit and
 * solves its contacts in order:
 *
 *   u_c = q_c + sum of M_ck z_k   or   q_c + H_c v;   z_c by its law;   v += G_c^T dz
 *
 * The lanes share the numbers of a contact's blocks. The lane that reads a body's number also changes it, so no
 * waits are needed within a unit, since its contacts have the same bodies. Units that fit the registers of a
 * warp wait for earlier units of the same bodies in any order, like the graph schemes of Courtecuisse and
 * Allard 2009 (section III.D). Others advance step by step, with a barrier over all units after each step. On
 * an H100 a barrier takes 1 us. In a heap with ten colours each barrier would also wait for its slowest unit,
 * which takes twice the mean time. */
#include "cuda_lcp_sparse_unit.cuh"

enum {
  SPARSE_THREADS = 256, /* spreads units over multiprocessors as far as possible; one warp per body */
  SPARSE_WARPS = SPARSE_THREADS / 32,
  RENEWAL = 16,   /* sweeps after which v is recomputed from z to remove rounding errors */
  KNOWN_UNITS = 8 /* units per warp with their descriptions in shared memory */
};

/* ---- Sweeps ---- */

/* The first unit, body or contact of a warp, and the number of warps. */
LCP_INLINE int first_of_warp(void) {
  return (int)(blockIdx.x + gridDim.x * (threadIdx.x / 32));
}
LCP_INLINE int warps_of_grid(void) {
  return (int)(gridDim.x * (blockDim.x / 32));
}

/* Recomputes v of a body from z of all its contacts and calls keep(place, number) for each number. Groups of
 * lanes, with up to one lane per number, share the contacts. */
template <typename T, int DIM, typename KEEP>
LCP_INLINE void renew_body(const sparse_job<T> &job, int body, int lane, const KEEP &keep) {
  const int width = job.width, across = width < 32 ? width : 32, groups = 32 / across;
  for (int first = 0; first < width; first += across) {
    const int l = first + lane % across;
    T sum = 0;
    for (int e = job.body_start[body] + lane / across; e < job.body_start[body + 1]; e += groups) {
      if (lane >= groups * across || l >= width) break;
      const T *G = job.mass_blocks + (size_t)job.body_blocks[e] * DIM * width + l;
      const T *z = start_of(job) + lcp_first_row<DIM>(job.body_contacts[e]);
#pragma unroll
      for (int i = 0; i < DIM; i++) sum += G[i * width] * __ldcg(z + i);
    }
    T all = sum;
    for (int g = 1; g < groups; g++) {
      const T other = __shfl_sync(0xffffffffu, sum, (lane + g * across) % 32);
      if (lane < across) all += other;
    }
    if (lane < across && l < width) keep((size_t)body * width + l, all);
  }
}

template <typename T, int DIM, typename KEEP>
LCP_INLINE void renew(const sparse_job<T> &job, const KEEP &keep) {
  for (int body = first_of_warp(); body < job.bodies; body += warps_of_grid())
    renew_body<T, DIM>(job, body, (int)threadIdx.x % 32, keep);
}

/* With blocks of M, contacts read each other's z, so it must be the start of the sweep. */
template <typename T, int DIM> LCP_INLINE void copy_start(const sparse_job<T> &job) {
  const int threads = (int)(gridDim.x * blockDim.x), rows = job.contacts * DIM;
  for (int k = (int)(blockIdx.x * blockDim.x + threadIdx.x); k < rows; k += threads)
    __stcg(job.d.z + row_of_unit<DIM>(0, k), __ldcg(job.from + row_of_unit<DIM>(0, k)));
}

/* A single thread block needs no barrier in memory. */
template <typename T> LCP_INLINE void wait_for_all(const sparse_job<T> &job, unsigned *passed) {
  if (gridDim.x == 1)
    __syncthreads();
  else
    cuda_barrier_pass(job.barrier, passed);
}

/* Solves contacts of any kind, from memory. */
template <typename T, int DIM>
LCP_INLINE void do_contacts(const sparse_job<T> &job, const lcp_unit &unit, int lane) {
  for (int contact = unit.begin; contact < unit.end; contact++) {
    T change[DIM];
    solve_contact<T, DIM>(job, contact, lane, change);
    if (job.mass_blocks) scatter<T, DIM>(job, contact, lane, change);
    __syncwarp(); /* with blocks of M, the next contact reads the writes of one lane */
  }
  if (job.from) add_momentum<T, DIM>(job, unit.begin, unit.end, lane);
  __syncwarp();
}

template <typename T, int DIM>
static __global__ __launch_bounds__(SPARSE_THREADS) void sweep_contacts(sparse_job<T> job) {
  const int lane = (int)threadIdx.x % 32, *start = job.order.start;
  unsigned passed = 0;
  for (int k = 0; k < job.sweeps; k++) {
    const bool renews = job.mass_blocks && (job.from || k % RENEWAL == 0);
    if (renews) renew<T, DIM>(job, [&](size_t place, T number) { __stcg(job.v + place, number); });
    if (job.from && !job.mass_blocks) copy_start<T, DIM>(job);
    if (renews || job.from) wait_for_all(job, &passed);
    for (int step = 0; step < job.order.steps; step++) {
      const int last = start ? start[step + 1] : job.units;
      for (int u = (start ? start[step] : 0) + first_of_warp(); u < last; u += warps_of_grid())
        do_contacts<T, DIM>(job, job.order.units[u], lane);
      wait_for_all(job, &passed);
    }
  }
  cuda_barrier_leave(job.barrier);
}

/* For units in registers. */
template <typename T, int DIM, bool AHEAD>
static __global__ __launch_bounds__(SPARSE_THREADS) void sweep_units(sparse_job<T> job) {
  __shared__ lcp_unit known[KNOWN_UNITS][SPARSE_WARPS];
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, first = first_of_warp();
  unsigned passed = 0;
  if (lane < KNOWN_UNITS && first + lane * warps_of_grid() < job.units)
    known[lane][warp] = job.order.units[first + lane * warps_of_grid()];
  __syncwarp();
  for (int k = 0; k < job.sweeps; k++) {
    if (k % RENEWAL == 0) {
      if (k) wait_for_all(job, &passed);
      renew<T, DIM>(job, [&](size_t place, T number) {
        lcp_publish(words_of(job, place), 0, number);
        if (AHEAD) lcp_publish(words_of(job, place) + lcp_words<T>::count, 0, number);
      });
      wait_for_all(job, &passed);
    }
    for (int u = first, n = 0; u < job.units; u += warps_of_grid(), n++) {
      sparse_unit<T, DIM> unit;
      load_unit<T, DIM, AHEAD>(job, n < KNOWN_UNITS ? known[n][warp] : job.order.units[u], lane, &unit);
      solve_unit<T, DIM, AHEAD>(job, unit, lane, k % RENEWAL);
    }
  }
  cuda_barrier_leave(job.barrier);
}

template <typename T, int DIM>
static __global__ __launch_bounds__(SPARSE_THREADS) void velocities(sparse_job<T> job) {
  const int body = first_of_warp();
  if (body >= job.bodies) return;
  renew_body<T, DIM>(job, body, (int)threadIdx.x % 32, [&](size_t place, T number) { job.v[place] = number; });
}

/* sums = M z, one warp per contact. */
template <typename T, int DIM>
static __global__ __launch_bounds__(SPARSE_THREADS) void product(sparse_job<T> job) {
  const int contact = first_of_warp(), lane = (int)threadIdx.x % 32;
  if (contact >= job.contacts) return;
  T z[DIM], u[DIM];
  load_start<T, DIM>(job, contact, z);
  gather<T, DIM>(job, contact, lane, u);
  if (!job.mass_blocks) add_own<T, DIM>(load_law<T, DIM>(job, contact).W, z, 1, u);
#pragma unroll
  for (int k = 0; k < DIM; k++)
    if (lane == k) job.d.sums[lcp_first_row<DIM>(contact) + k] = u[k];
}

/* ---- Launch ---- */

template <typename T>
static sparse_job<T> job_of(const ts_lcp *lcp, const lcp_sparse *sparse, const lcp_data<T> *data) {
  const tsi_lcp_sparse *s = lcp->sparse;
  sparse_job<T> job = {};
  job.d = *data;
  job.blocks = (const T *)sparse->blocks, job.mass_blocks = (const T *)sparse->mass_blocks;
  job.diagonal = (const T *)sparse->diagonal, job.laws = (const T *)sparse->laws;
  job.v = (T *)sparse->v, job.words = (unsigned long long *)sparse->words;
  job.row_start = sparse->row_start, job.columns = sparse->columns;
  job.body_start = sparse->body_start, job.body_blocks = sparse->body_blocks;
  job.body_contacts = sparse->body_contacts;
  job.contacts = s->contacts, job.units = s->units, job.width = s->width, job.bodies = s->bodies;
  job.exact = lcp->local != TS_LCP_LOCAL_PROJECTION;
  job.barrier = cuda_grid_barrier_of(lcp->context);
  return job;
}

static unsigned blocks_for(int warps) {
  return ((unsigned)warps + SPARSE_WARPS - 1) / SPARSE_WARPS;
}

/* Launches one thread block per SPARSE_WARPS of the `warps` with work, at most one per multiprocessor. */
template <typename T, typename KERNEL>
static ts_status start(ts_context *context, KERNEL kernel, sparse_job<T> job, int warps) {
  unsigned blocks = 1;
  const unsigned wanted = blocks_for(warps);
  if (!job.order.start) return cuda_launch(context, "lcp_sweep", kernel, dim3(1), dim3(32), job);
  if (cuda_state_of(context)->cooperative)
    TSI_TRY(cuda_blocks_at_once(context, (const void *)kernel, SPARSE_THREADS, &blocks));
  if (blocks > (unsigned)cuda_state_of(context)->multiprocessors)
    blocks = (unsigned)cuda_state_of(context)->multiprocessors;
  if (blocks > wanted) blocks = wanted;
  if (blocks == 1) return cuda_launch(context, "lcp_sweep", kernel, dim3(1), dim3(SPARSE_THREADS), job);
  return cuda_start_together(context, (const void *)kernel, blocks, SPARSE_THREADS, &job);
}

template <typename T, int DIM>
static ts_status start_kernel(const ts_lcp *lcp, const lcp_sparse *sparse, const sparse_job<T> &job) {
  const int most = job.order.most;
  if (sparse->is_wide)
    return start(lcp->context, sweep_contacts<T, DIM>, job, job.bodies > most ? job.bodies : most);
  if constexpr (DIM > 1)
    if (job.from) return start(lcp->context, sweep_units<T, DIM, true>, job, job.units);
  return start(lcp->context, sweep_units<T, DIM, false>, job, job.units);
}

template <typename T>
static ts_status start_sweeps(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_run *run,
                              const lcp_data<T> *data) {
  sparse_job<T> job = job_of(lcp, sparse, data);
  const lcp_order *order = NULL;
  TSI_TRY(cuda_lcp_order_of(lcp, run->scheme, sparse, &order));
  job.order = *order;
  job.sweeps = run->sweeps;
  if (run->ahead) {
    job.from = data->from, job.last = data->last, job.counts = data->counts;
    job.exact *= 2; /* lcp_contact_of: extrapolation does not need each law to the last bit */
  }
  return lcp->dimension == 1   ? start_kernel<T, 1>(lcp, sparse, job)
         : lcp->dimension == 2 ? start_kernel<T, 2>(lcp, sparse, job)
                               : start_kernel<T, 3>(lcp, sparse, job);
}

ts_status cuda_lcp_sweep_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_run *run,
                                const lcp_data<float> *data) {
  return start_sweeps(lcp, sparse, run, data);
}
ts_status cuda_lcp_sweep_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_run *run,
                                const lcp_data<double> *data) {
  return start_sweeps(lcp, sparse, run, data);
}

template <typename T, int DIM>
static ts_status multiply(const ts_lcp *lcp, const lcp_sparse *sparse, const lcp_data<T> *data) {
  const sparse_job<T> job = job_of(lcp, sparse, data);
  const dim3 threads(SPARSE_THREADS);
  if (job.mass_blocks && job.bodies)
    TSI_TRY(cuda_launch(lcp->context, "lcp_velocities", velocities<T, DIM>, dim3(blocks_for(job.bodies)),
                        threads, job));
  return cuda_launch(lcp->context, "lcp_product", product<T, DIM>, dim3(blocks_for(job.contacts)), threads,
                     job);
}

template <typename T>
static ts_status multiply_any(const ts_lcp *lcp, const lcp_sparse *sparse, const lcp_data<T> *data) {
  return lcp->dimension == 1   ? multiply<T, 1>(lcp, sparse, data)
         : lcp->dimension == 2 ? multiply<T, 2>(lcp, sparse, data)
                               : multiply<T, 3>(lcp, sparse, data);
}

ts_status cuda_lcp_product_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_data<float> *data) {
  return multiply_any(lcp, sparse, data);
}
ts_status cuda_lcp_product_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_data<double> *data) {
  return multiply_any(lcp, sparse, data);
}
