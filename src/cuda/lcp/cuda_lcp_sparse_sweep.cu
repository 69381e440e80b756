/* Sweeps of sparse complementarity problems by one kernel whose thread blocks stay: step by step of
 * lcp_sparse.h, with a barrier over all of them behind each. A warp has a unit and solves its contacts in
 * order:
 *
 *   u_c = q_c + sum of M_ck z_k   or   q_c + H_c v;   z_c by its law;   v += G_c^T dz
 *
 * Lanes share the numbers of a contact's blocks; a lane that reads a body's number is the one that changes it,
 * so that within a unit, whose contacts have the same bodies, nothing is to be waited for. With momentum each
 * sweep begins with v of what it starts from, to which every unit has added its share. */
#include "cuda_lcp_sparse_unit.cuh"

enum {
  SPARSE_THREADS = 256, /* units of a step have a multiprocessor each as far as possible, bodies a warp */
  SPARSE_WARPS = SPARSE_THREADS / 32,
  RENEWAL = 16,    /* sweeps after which v is computed from z, for what rounding has left in it */
  KNOWN_STEPS = 32 /* whose first units are in shared memory */
};

/* ---- Sweeps ---- */

/* The first of a warp's units, bodies or contacts, and how many warps there are. */
LCP_INLINE int first_of_warp(void) {
  return (int)(blockIdx.x + gridDim.x * (threadIdx.x / 32));
}
LCP_INLINE int warps_of_grid(void) {
  return (int)(gridDim.x * (blockDim.x / 32));
}

LCP_INLINE int first_of_step(const int *step_start, int step) {
  return step_start ? step_start[step] : 0;
}

LCP_INLINE int end_of_step(const int *step_start, int units, int step) {
  return step_start ? step_start[step + 1] : units;
}

/* A body's v from all its contacts' z. Groups of lanes, each with a lane for each of the body's numbers as far
 * as they go, share the contacts. */
template <typename T, int DIM> LCP_INLINE void renew_body(const sparse_job<T> &job, int body, int lane, T *v) {
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
    if (lane < across && l < width) __stcg(v + (size_t)body * width + l, all);
  }
}

template <typename T, int DIM> LCP_INLINE void renew(const sparse_job<T> &job, T *v) {
  for (int body = first_of_warp(); body < job.bodies; body += warps_of_grid())
    renew_body<T, DIM>(job, body, (int)threadIdx.x % 32, v);
}

/* Blocks of M read each other's z. */
template <typename T, int DIM> LCP_INLINE void copy_start(const sparse_job<T> &job) {
  const int threads = (int)(gridDim.x * blockDim.x), rows = job.contacts * DIM;
  for (int k = (int)(blockIdx.x * blockDim.x + threadIdx.x); k < rows; k += threads)
    __stcg(job.d.z + row_of_unit<DIM>(0, k), __ldcg(job.from + row_of_unit<DIM>(0, k)));
}

/* A single thread block need not ask in memory. */
template <typename T> LCP_INLINE void wait_for_all(const sparse_job<T> &job, unsigned *passed) {
  if (gridDim.x == 1)
    __syncthreads();
  else
    cuda_barrier_pass(job.barrier, passed);
}

/* Contacts of any kind, from memory. */
template <typename T, int DIM>
LCP_INLINE void do_contacts(const sparse_job<T> &job, const lcp_unit &unit, int lane) {
  for (int contact = unit.begin; contact < unit.end; contact++) {
    T change[DIM];
    solve_contact<T, DIM>(job, contact, lane, change);
    if (job.mass_blocks) scatter<T, DIM>(job, contact, lane, change);
    __syncwarp(); /* blocks of M: the next contact reads what one lane has written */
  }
  if (job.from) add_momentum<T, DIM>(job, unit.begin, unit.end, lane);
  __syncwarp();
}

template <typename T, int DIM>
static __global__ __launch_bounds__(SPARSE_THREADS) void sweep_contacts(sparse_job<T> job) {
  const int lane = (int)threadIdx.x % 32;
  unsigned passed = 0;
  for (int k = 0; k < job.sweeps; k++) {
    const bool renews = job.mass_blocks && (job.from || k % RENEWAL == 0);
    if (renews) renew<T, DIM>(job, job.v);
    if (job.from && !job.mass_blocks) copy_start<T, DIM>(job);
    if (renews || job.from) wait_for_all(job, &passed);
    for (int step = 0; step < job.steps; step++) {
      const int last = end_of_step(job.step_start, job.units, step);
      for (int u = first_of_step(job.step_start, step) + first_of_warp(); u < last; u += warps_of_grid())
        do_contacts<T, DIM>(job, job.order[u], lane);
      wait_for_all(job, &passed);
    }
  }
  cuda_barrier_leave(job.barrier);
}

/* ---- Units in registers ---- */

/* The warps' first units of the first steps, so that one load leads to a unit's numbers, and where the steps
 * begin. */
struct known_steps {
  lcp_unit first[KNOWN_STEPS][SPARSE_WARPS]; /* of no contacts: there is none */
  int start[KNOWN_STEPS + 1];
};

template <typename T> LCP_INLINE void find_steps(const sparse_job<T> &job, known_steps *known) {
  const int warp = (int)threadIdx.x / 32;
  for (int step = (int)threadIdx.x % 32; step < KNOWN_STEPS && step < job.steps; step += 32) {
    const int k = first_of_step(job.step_start, step) + first_of_warp();
    const int end = end_of_step(job.step_start, job.units, step);
    const lcp_unit none = {};
    known->first[step][warp] = k < end ? job.order[k] : none;
    if (warp == 0) known->start[step] = first_of_step(job.step_start, step), known->start[step + 1] = end;
  }
  __syncthreads();
}

/* The warp's units of a step: this one, and of the order `next` and every so many up to `end`. */
struct warp_step {
  lcp_unit unit;
  int next, end;
};

template <typename T>
LCP_INLINE warp_step step_of(const sparse_job<T> &job, const known_steps &known, int step) {
  const bool is_known = step < KNOWN_STEPS;
  const int begin = is_known ? known.start[step] : first_of_step(job.step_start, step),
            k = begin + first_of_warp();
  warp_step s = {{}, k + warps_of_grid(), is_known ? known.start[step + 1] : job.step_start[step + 1]};
  if (is_known)
    s.unit = known.first[step][threadIdx.x / 32];
  else if (k < s.end)
    s.unit = job.order[k];
  return s;
}

template <typename T, int DIM, bool AHEAD>
static __global__ __launch_bounds__(SPARSE_THREADS) void sweep_units(sparse_job<T> job) {
  __shared__ known_steps known;
  const int lane = (int)threadIdx.x % 32;
  unsigned passed = 0;
  find_steps(job, &known);
  for (int k = 0; k < job.sweeps; k++) {
    if (k % RENEWAL == 0) {
      if (k) wait_for_all(job, &passed);
      renew<T, DIM>(job, AHEAD ? job.next : job.v);
    }
    for (int step = 0; step < job.steps; step++) {
      warp_step s = step_of(job, known, step);
      for (bool waits = true;; waits = false) {
        sparse_unit<T, DIM> unit;
        const bool has_unit = s.unit.begin < s.unit.end;
        if (has_unit) load_unit<T, DIM, AHEAD>(job, s.unit, lane, &unit);
        if (waits) wait_for_all(job, &passed); /* for the step before */
        if (has_unit) solve_unit<T, DIM, AHEAD>(job, unit, lane);
        if (s.next >= s.end) break;
        s.unit = job.order[s.next];
        s.next += warps_of_grid();
      }
    }
  }
  cuda_barrier_leave(job.barrier);
}

template <typename T, int DIM>
static __global__ __launch_bounds__(SPARSE_THREADS) void velocities(sparse_job<T> job) {
  const int body = first_of_warp();
  if (body < job.bodies) renew_body<T, DIM>(job, body, (int)threadIdx.x % 32, job.v);
}

/* sums = M z, a warp a contact. */
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

/* ---- Starting ---- */

static ts_status steps_of(const ts_lcp *lcp, ts_lcp_scheme scheme, lcp_sparse *sparse, const lcp_steps **out) {
  lcp_steps *steps = scheme == TS_LCP_SCHEME_COLOUR ? &sparse->colours : &sparse->levels;
  *out = steps;
  if (steps->block) return TS_OK;
  const tsi_lcp_steps *of;
  TSI_TRY(tsi_lcp_steps_of(lcp, scheme, &of));
  const size_t starts = (size_t)of->count + 1, units = (size_t)lcp->sparse->units;
  lcp_steps made = {};
  made.bytes = starts * sizeof(int) + units * sizeof(lcp_unit);
  TSI_TRY(cuda_take(lcp->context, &made.block, made.bytes, "steps of contacts"));
  made.units = (lcp_unit *)made.block, made.start = (int *)(made.units + units);
  made.count = of->count;
  for (int k = 0; k < of->count; k++)
    if (of->start[k + 1] - of->start[k] > made.most) made.most = of->start[k + 1] - of->start[k];
  ts_status status = cuda_upload(lcp->context, made.start, of->start, starts * sizeof(int));
  if (status == TS_OK) status = cuda_lcp_write_units(lcp->context, lcp->sparse, of->units, made.units);
  if (status < 0) {
    cuda_give(lcp->context, made.block, made.bytes);
    return status;
  }
  *steps = made;
  return TS_OK;
}

template <typename T>
static sparse_job<T> job_of(const ts_lcp *lcp, const lcp_sparse *sparse, const lcp_data<T> *data) {
  const tsi_lcp_sparse *s = lcp->sparse;
  sparse_job<T> job = {};
  job.d = *data;
  job.blocks = (const T *)sparse->blocks, job.mass_blocks = (const T *)sparse->mass_blocks;
  job.diagonal = (const T *)sparse->diagonal, job.laws = (const T *)sparse->laws;
  job.v = (T *)sparse->v;
  job.row_start = sparse->row_start, job.columns = sparse->columns, job.order = sparse->units;
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

/* As many thread blocks as the longest step has work for, or the bodies, where each sweep renews them; at most
 * one a multiprocessor: what each adds to a barrier is more than it saves. */
template <typename T, typename KERNEL>
static ts_status start(ts_context *context, KERNEL kernel, sparse_job<T> job, int most) {
  unsigned blocks = 1;
  const unsigned wanted = blocks_for(most);
  if (!job.step_start) return cuda_launch(context, "lcp_sweep", kernel, dim3(1), dim3(32), job);
  if (cuda_state_of(context)->cooperative)
    TSI_TRY(cuda_blocks_at_once(context, (const void *)kernel, SPARSE_THREADS, &blocks));
  if (blocks > (unsigned)cuda_state_of(context)->multiprocessors)
    blocks = (unsigned)cuda_state_of(context)->multiprocessors;
  if (blocks > wanted) blocks = wanted;
  if (blocks == 1) return cuda_launch(context, "lcp_sweep", kernel, dim3(1), dim3(SPARSE_THREADS), job);
  return cuda_start_together(context, (const void *)kernel, blocks, SPARSE_THREADS, &job);
}

template <typename T, int DIM>
static ts_status start_kernel(const ts_lcp *lcp, const lcp_sparse *sparse, const sparse_job<T> &job, int most) {
  if (sparse->is_wide)
    return start(lcp->context, sweep_contacts<T, DIM>, job, job.bodies > most ? job.bodies : most);
  if constexpr (DIM > 1)
    if (job.from) return start(lcp->context, sweep_units<T, DIM, true>, job, most);
  return start(lcp->context, sweep_units<T, DIM, false>, job, most);
}

template <typename T>
static ts_status start_sweeps(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_run *run,
                              const lcp_data<T> *data) {
  sparse_job<T> job = job_of(lcp, sparse, data);
  const lcp_steps *steps = NULL;
  if (run->scheme != TS_LCP_SCHEME_ROW) TSI_TRY(steps_of(lcp, run->scheme, sparse, &steps));
  job.sweeps = run->sweeps;
  if (run->ahead) {
    job.from = data->from, job.last = data->last, job.counts = data->counts;
    job.next = (T *)sparse->next;
    job.exact *= 2; /* lcp_contact_of: who extrapolates need not have each law to the last bit */
  }
  job.steps = steps ? steps->count : 1;
  if (steps) job.step_start = steps->start, job.order = steps->units;
  const int most = steps ? steps->most : 1;
  return lcp->dimension == 1   ? start_kernel<T, 1>(lcp, sparse, job, most)
         : lcp->dimension == 2 ? start_kernel<T, 2>(lcp, sparse, job, most)
                               : start_kernel<T, 3>(lcp, sparse, job, most);
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
