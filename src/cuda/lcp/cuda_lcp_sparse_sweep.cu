/* Sweeps of sparse complementarity problems by one kernel whose thread blocks stay: step by step of
 * lcp_sparse.h, with a barrier over all of them behind each. A warp has a unit and solves its contacts in
 * order:
 *
 *   u_c = q_c + sum of M_ck z_k   or   q_c + H_c v;   z_c by its law;   v += G_c^T dz
 *
 * Lanes share the numbers of a contact's blocks; a lane that reads a body's number is the one that changes it,
 * so that within a unit, whose contacts have the same bodies, nothing is to be waited for. */
#include "cuda/krylov/cuda_grid_sum.cuh"
#include "cuda_lcp_contacts.cuh"
#include "cuda_lcp_sparse.cuh"

enum {
  SPARSE_THREADS = 128, /* few, so that the units of a step have a multiprocessor each as far as possible */
  SPARSE_WARPS = SPARSE_THREADS / 32,
  RENEWAL = 16 /* sweeps after which v is computed from z, for what rounding has left in it */
};

template <typename T> struct sparse_job {
  lcp_data<T> d;
  const T *blocks, *mass_blocks, *diagonal; /* mass_blocks: NULL for blocks of M */
  T *v;
  const int *row_start, *columns, *unit_start;
  const int *body_start, *body_blocks, *body_contacts; /* of factors, as in lcp_sparse */
  const int *step_start, *step_units;                  /* NULL: all units in their order, by one warp */
  int contacts, units, steps, width, bodies, sweeps, exact;
  cuda_grid_barrier barrier;
};

/* ---- One contact, by one warp ---- */

/* Lanes take the numbers `width` a block, one block after the other, of blocks first .. last - 1. */
#define FOR_NUMBERS(e, job, first, last, lane) for (int e = lane; e < ((last) - (first)) * (job).width; e += 32)

/* The sums of all lanes, in all of them. */
template <typename T, int DIM> LCP_INLINE void sum_lanes(T (&u)[DIM]) {
#pragma unroll
  for (int half = 16; half > 0; half /= 2)
#pragma unroll
    for (int i = 0; i < DIM; i++) u[i] += __shfl_xor_sync(0xffffffffu, u[i], half);
}

/* The blocks times what they stand for, in all lanes: of M without the contact's own. */
template <typename T, int DIM>
LCP_INLINE void gather(const sparse_job<T> &job, int contact, int lane, T (&u)[DIM]) {
  const int first = job.row_start[contact], last = job.row_start[contact + 1], width = job.width;
#pragma unroll
  for (int i = 0; i < DIM; i++) u[i] = 0;
  FOR_NUMBERS(e, job, first, last, lane) {
    const int k = first + e / width, l = e % width, column = job.columns[k];
    const T x = __ldcg(job.mass_blocks ? job.v + (size_t)column * width + l
                                       : job.d.z + (size_t)lcp_first_row<DIM>(column) + l);
#pragma unroll
    for (int i = 0; i < DIM; i++) u[i] += job.blocks[((size_t)k * DIM + i) * width + l] * x;
  }
  sum_lanes(u);
}

/* v += G^T change. */
template <typename T, int DIM>
LCP_INLINE void scatter(const sparse_job<T> &job, int contact, int lane, const T (&change)[DIM]) {
  const int first = job.row_start[contact], last = job.row_start[contact + 1], width = job.width;
  FOR_NUMBERS(e, job, first, last, lane) {
    const int k = first + e / width, l = e % width;
    T *v = job.v + (size_t)job.columns[k] * width + l, sum = __ldcg(v);
#pragma unroll
    for (int i = 0; i < DIM; i++) sum += job.mass_blocks[((size_t)k * DIM + i) * width + l] * change[i];
    __stcg(v, sum);
  }
}

/* u += sign M_cc z. */
template <typename T, int DIM>
LCP_INLINE void add_own(const T (&W)[DIM * DIM], const T (&z)[DIM], T sign, T (&u)[DIM]) {
#pragma unroll
  for (int i = 0; i < DIM; i++)
#pragma unroll
    for (int k = 0; k < DIM; k++) u[i] += sign * W[i * DIM + k] * z[k];
}

template <typename T, int DIM>
LCP_INLINE void load_contact(const sparse_job<T> &job, int contact, T (&W)[DIM * DIM], T (&z)[DIM]) {
  const int row = lcp_first_row<DIM>(contact);
#pragma unroll
  for (int k = 0; k < DIM * DIM; k++) W[k] = job.diagonal[(size_t)contact * DIM * DIM + k];
#pragma unroll
  for (int k = 0; k < DIM; k++) z[k] = __ldcg(job.d.z + row + k);
}

/* The contact's law, and z; `next` begins as z. All lanes solve it, with the same numbers. */
template <typename T, int DIM>
LCP_INLINE void solve_law(const sparse_job<T> &job, int row, int lane, const T (&W)[DIM * DIM],
                          const T (&z)[DIM], const T (&u)[DIM], T friction, T (&change)[DIM]) {
  T next[DIM];
#pragma unroll
  for (int k = 0; k < DIM; k++) next[k] = z[k];
  if constexpr (DIM == 1)
    next[0] = lcp_clamp(z[0] - u[0] / W[0], job.d.lower[row], job.d.upper[row]);
  else
    lcp_law<T>::lcp_contact(next, W, u, friction, DIM, job.exact);
#pragma unroll
  for (int k = 0; k < DIM; k++) {
    change[k] = next[k] - z[k];
    if (lane == k) __stcg(job.d.z + row + k, next[k]);
  }
}

/* What a contact of any kind changes by. */
template <typename T, int DIM>
LCP_INLINE void solve_contact(const sparse_job<T> &job, int contact, int lane, T (&change)[DIM]) {
  const int row = lcp_first_row<DIM>(contact);
  T W[DIM * DIM], z[DIM], u[DIM];
  load_contact<T, DIM>(job, contact, W, z);
  gather<T, DIM>(job, contact, lane, u);
#pragma unroll
  for (int k = 0; k < DIM; k++) u[k] += job.d.q[row + k];
  if ((DIM > 1) == (job.mass_blocks != NULL)) add_own<T, DIM>(W, z, DIM > 1 ? -1 : 1, u);
  solve_law<T, DIM>(job, row, lane, W, z, u, job.d.friction[row], change);
}

/* ---- Contacts of the same few bodies, whose numbers stay in the lanes' registers ---- */

/* A contact's, on their way while the one before it is solved. */
template <typename T, int DIM> struct sparse_contact {
  T H[DIM], G[DIM]; /* of the lane's number */
  T W[DIM * DIM], q[DIM], z[DIM], friction;
};

template <typename T, int DIM>
LCP_INLINE void load_ahead(const sparse_job<T> &job, int contact, int lane, int count,
                           sparse_contact<T, DIM> *c) {
  const int row = lcp_first_row<DIM>(contact), width = job.width;
  const size_t first = (size_t)job.row_start[contact] * DIM * width;
#pragma unroll
  for (int i = 0; i < DIM; i++) {
    const size_t at = first + (size_t)(lane / width * DIM + i) * width + lane % width;
    c->H[i] = lane < count ? job.blocks[at] : (T)0;
    c->G[i] = lane < count ? job.mass_blocks[at] : (T)0;
    c->q[i] = job.d.q[row + i];
  }
  load_contact<T, DIM>(job, contact, c->W, c->z);
  c->friction = DIM > 1 ? job.d.friction[row] : (T)0;
}

template <typename T, int DIM>
LCP_INLINE void solve_bodies(const sparse_job<T> &job, int begin, int end, int lane, int count) {
  T *const place =
      job.v + (lane < count
                   ? (size_t)job.columns[job.row_start[begin] + lane / job.width] * job.width + lane % job.width
                   : 0);
  T v = lane < count ? __ldcg(place) : (T)0;
  sparse_contact<T, DIM> c, next;
  load_ahead<T, DIM>(job, begin, lane, count, &next);
  for (int contact = begin; contact < end; contact++) {
    T u[DIM], change[DIM];
    c = next;
    if (contact + 1 < end) load_ahead<T, DIM>(job, contact + 1, lane, count, &next);
#pragma unroll
    for (int i = 0; i < DIM; i++) u[i] = c.H[i] * v;
    sum_lanes(u);
#pragma unroll
    for (int i = 0; i < DIM; i++) u[i] += c.q[i];
    if (DIM > 1) add_own<T, DIM>(c.W, c.z, -1, u);
    solve_law<T, DIM>(job, lcp_first_row<DIM>(contact), lane, c.W, c.z, u, c.friction, change);
#pragma unroll
    for (int i = 0; i < DIM; i++) v += c.G[i] * change[i];
  }
  if (lane < count) __stcg(place, v);
}

/* ---- Sweeps ---- */

template <typename T, int DIM> LCP_INLINE void do_unit(const sparse_job<T> &job, int unit, int lane) {
  const int begin = job.unit_start[unit], end = job.unit_start[unit + 1];
  const int count = (job.row_start[begin + 1] - job.row_start[begin]) * job.width;
  if (job.mass_blocks && count <= 32) {
    solve_bodies<T, DIM>(job, begin, end, lane, count);
    return;
  }
  for (int contact = begin; contact < end; contact++) {
    T change[DIM];
    solve_contact<T, DIM>(job, contact, lane, change);
    if (job.mass_blocks) scatter<T, DIM>(job, contact, lane, change);
    __syncwarp(); /* blocks of M: the next contact reads what one lane has written */
  }
}

/* The first of a warp's units, bodies or contacts, and how many warps there are. */
LCP_INLINE int first_of_warp(void) {
  return (int)(blockIdx.x + gridDim.x * (threadIdx.x / 32));
}
LCP_INLINE int warps_of_grid(void) {
  return (int)(gridDim.x * (blockDim.x / 32));
}

template <typename T, int DIM> LCP_INLINE void do_steps(const sparse_job<T> &job, unsigned *passed) {
  const int lane = (int)threadIdx.x % 32;
  for (int step = 0; step < job.steps; step++) {
    const int first = job.step_start ? job.step_start[step] : 0;
    const int last = job.step_start ? job.step_start[step + 1] : job.units;
    for (int k = first + first_of_warp(); k < last; k += warps_of_grid())
      do_unit<T, DIM>(job, job.step_units ? job.step_units[k] : k, lane);
    cuda_barrier_wait(job.barrier, passed);
  }
}

/* A body's v from all its contacts' z. Groups of lanes, each with a lane for each of the body's numbers as far
 * as they go, share the contacts. */
template <typename T, int DIM> LCP_INLINE void renew_body(const sparse_job<T> &job, int body, int lane) {
  const int width = job.width, across = width < 32 ? width : 32, groups = 32 / across;
  for (int first = 0; first < width; first += across) {
    const int l = first + lane % across;
    T sum = 0;
    for (int e = job.body_start[body] + lane / across; e < job.body_start[body + 1]; e += groups) {
      if (lane >= groups * across || l >= width) break;
      const T *G = job.mass_blocks + (size_t)job.body_blocks[e] * DIM * width + l;
      const T *z = job.d.z + lcp_first_row<DIM>(job.body_contacts[e]);
#pragma unroll
      for (int i = 0; i < DIM; i++) sum += G[i * width] * __ldcg(z + i);
    }
    T all = sum;
    for (int g = 1; g < groups; g++) {
      const T other = __shfl_sync(0xffffffffu, sum, (lane + g * across) % 32);
      if (lane < across) all += other;
    }
    if (lane < across && l < width) __stcg(job.v + (size_t)body * width + l, all);
  }
}

template <typename T, int DIM> LCP_INLINE void renew(const sparse_job<T> &job, unsigned *passed) {
  for (int body = first_of_warp(); body < job.bodies; body += warps_of_grid())
    renew_body<T, DIM>(job, body, (int)threadIdx.x % 32);
  cuda_barrier_wait(job.barrier, passed);
}

template <typename T, int DIM>
static __global__ __launch_bounds__(SPARSE_THREADS) void sweep(sparse_job<T> job) {
  unsigned passed = 0;
  for (int k = 0; k < job.sweeps; k++) {
    if (job.mass_blocks && k % RENEWAL == 0) renew<T, DIM>(job, &passed);
    do_steps<T, DIM>(job, &passed);
  }
  cuda_barrier_leave(job.barrier);
}

template <typename T, int DIM>
static __global__ __launch_bounds__(SPARSE_THREADS) void velocities(sparse_job<T> job) {
  const int body = first_of_warp();
  if (body < job.bodies) renew_body<T, DIM>(job, body, (int)threadIdx.x % 32);
}

/* sums = M z, a warp a contact. */
template <typename T, int DIM>
static __global__ __launch_bounds__(SPARSE_THREADS) void product(sparse_job<T> job) {
  const int contact = first_of_warp(), lane = (int)threadIdx.x % 32;
  if (contact >= job.contacts) return;
  T W[DIM * DIM], z[DIM], u[DIM];
  load_contact<T, DIM>(job, contact, W, z);
  gather<T, DIM>(job, contact, lane, u);
  if (!job.mass_blocks) add_own<T, DIM>(W, z, 1, u);
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
  made.bytes = (starts + units) * sizeof(int);
  TSI_TRY(cuda_take(lcp->context, &made.block, made.bytes, "steps of contacts"));
  made.start = (int *)made.block, made.units = made.start + starts;
  made.count = of->count;
  for (int k = 0; k < of->count; k++)
    if (of->start[k + 1] - of->start[k] > made.most) made.most = of->start[k + 1] - of->start[k];
  ts_status status = cuda_upload(lcp->context, made.start, of->start, starts * sizeof(int));
  if (status == TS_OK) status = cuda_upload(lcp->context, made.units, of->units, units * sizeof(int));
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
  job.diagonal = (const T *)sparse->diagonal, job.v = (T *)sparse->v;
  job.row_start = sparse->row_start, job.columns = sparse->columns, job.unit_start = sparse->unit_start;
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

/* As many thread blocks as the longest step has work for and the device holds at once. */
template <typename T, typename KERNEL>
static ts_status start(ts_context *context, KERNEL kernel, sparse_job<T> job, int most) {
  unsigned blocks = 1;
  const unsigned wanted = blocks_for(most);
  if (!job.step_units) return cuda_launch(context, "lcp_sweep", kernel, dim3(1), dim3(32), job);
  if (cuda_state_of(context)->cooperative)
    TSI_TRY(cuda_blocks_at_once(context, (const void *)kernel, SPARSE_THREADS, &blocks));
  if (blocks > wanted) blocks = wanted;
  if (blocks == 1) return cuda_launch(context, "lcp_sweep", kernel, dim3(1), dim3(SPARSE_THREADS), job);
  return cuda_start_together(context, (const void *)kernel, blocks, SPARSE_THREADS, &job);
}

template <typename T>
static ts_status start_sweeps(const ts_lcp *lcp, lcp_sparse *sparse, ts_lcp_scheme scheme, int sweeps,
                              const lcp_data<T> *data) {
  sparse_job<T> job = job_of(lcp, sparse, data);
  const lcp_steps *steps = NULL;
  if (scheme != TS_LCP_SCHEME_ROW) TSI_TRY(steps_of(lcp, scheme, sparse, &steps));
  job.sweeps = sweeps;
  job.steps = steps ? steps->count : 1;
  job.step_start = steps ? steps->start : NULL, job.step_units = steps ? steps->units : NULL;
  const int most = steps ? steps->most : 1;
  return lcp->dimension == 1   ? start(lcp->context, sweep<T, 1>, job, most)
         : lcp->dimension == 2 ? start(lcp->context, sweep<T, 2>, job, most)
                               : start(lcp->context, sweep<T, 3>, job, most);
}

ts_status cuda_lcp_sweep_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_run *run,
                                const lcp_data<float> *data) {
  return start_sweeps(lcp, sparse, run->scheme, run->sweeps, data);
}
ts_status cuda_lcp_sweep_sparse(const ts_lcp *lcp, lcp_sparse *sparse, const lcp_run *run,
                                const lcp_data<double> *data) {
  return start_sweeps(lcp, sparse, run->scheme, run->sweeps, data);
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
