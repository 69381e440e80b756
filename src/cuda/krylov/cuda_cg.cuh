/* Iterations of conjugate gradients in one kernel: code shared by the kernels of cuda_cg.cu and their
 * formats. */
#ifndef CUDA_CG_CUH
#define CUDA_CG_CUH

#include "common/krylov/cg_operations.h"
#include "cuda_peers.cuh"
#include "cuda/matrix/cuda_rows.cuh"

extern "C" {
TSI_CG_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, cuda_cg_)
}

/* A kernel with two arguments, `work` and a cuda_parts, that starts when the kernels of all parts are ready. */
struct cuda_plan {
  const void *kernel;
  unsigned threads, most, multiple; /* per block; maximum of blocks with work; divisor of their number */
  bool pushes_rows;                 /* if all parts support it */
  alignas(16) unsigned char work[1024];
};

struct cg_job {
  float *e, *r, *d, *q;
  const float *m; /* NULL: 1 */
  size_t count;   /* elements per vector */
  float *ring;    /* slots of delta and d^T q for each iteration */
  int ring_size, iteration, iterations;
  float *rr;
  float *done;
  float enough[4], visible[4]; /* as in tsi_cg_iterations */
  int stop_by_residual;
  cuda_grid_barrier barrier;
  /* Only for one of several parts: its ghosts are the elements from first_ghost on. `plan` is in host memory
   * and receives the kernel. If it is NULL, the kernel starts at once, alone. */
  size_t first_ghost, ghosts;
  cuda_plan *plan;
};

/* The functions for one kind of matrix. */
struct tsi_cg_kernels {
  int (*fits)(const ts_matrix *A); /* NULL: always */
  ts_status (*iterate)(ts_context *context, const ts_matrix *A, const cg_job *job, int components);
};

/* The job for iterations on this device alone. */
cg_job cuda_cg_job_of(const tsi_cg_iterations *run);

/* cuda_cg_csr.cu */
ts_status cuda_cg_iterate_row_blocks(ts_context *context, const cuda_matrix *m, const cg_job *job,
                                     int components);

static __device__ __forceinline__ float *delta_slot(const cg_job &job, int k) {
  return job.ring + 8 * (size_t)((job.iteration + k) % job.ring_size);
}

/* The numbers of an iteration, equal in every thread. */
template <int N> struct cg_numbers { float delta[N], dq[N], alpha[N], beta[N], rr[N]; };

template <int N> static __device__ __forceinline__ void write_slot(float *slot, const float (&value)[N]) {
#pragma unroll
  for (int c = 0; c < 4; c++) slot[c] = c < N ? value[c < N ? c : 0] : 0;
}

template <int N> static __device__ __forceinline__ void read_delta(const cg_job &job, cg_numbers<N> *n) {
  for (int c = 0; c < N; c++) n->delta[c] = __ldcg(delta_slot(job, 0) + c);
}

template <int N>
static __device__ __forceinline__ void update_alpha(const cg_job &job, int k, const double (&sum)[N],
                                                    cg_numbers<N> *n) {
  for (int c = 0; c < N; c++) {
    n->dq[c] = (float)sum[c];
    n->alpha[c] = n->dq[c] == 0 ? 0 : __fdiv_rn(n->delta[c], n->dq[c]);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) write_slot<N>(delta_slot(job, k) + 4, n->dq);
}

/* Returns whether the iterations end. `sum` has delta of each component, then r^T r of each. */
template <int N>
static __device__ __forceinline__ bool update_beta(const cg_job &job, int k, const double (&sum)[2 * N],
                                                   cg_numbers<N> *n) {
  bool enough = true, broken = false;
  for (int c = 0; c < N; c++) {
    const float delta = (float)sum[c], rr = (float)sum[N + c];
    n->beta[c] = n->delta[c] == 0 ? 0 : __fdiv_rn(delta, n->delta[c]);
    broken |= !isfinite(delta) || (!(n->dq[c] > 0) && n->delta[c] > job.visible[c]);
    enough &= (job.stop_by_residual ? rr : fabsf(delta)) <= job.enough[c];
    n->delta[c] = delta;
    n->rr[c] = rr;
  }
  const bool ends = enough || broken || k + 1 == job.iterations;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    write_slot<N>(delta_slot(job, k + 1), n->delta);
    if (ends) write_slot<N>(job.rr, n->rr);
    const float done[1] = {(float)(k + 1)};
    if (ends) write_slot<1>(job.done, done);
  }
  return ends;
}

/* The directions of an iteration, computed on the fly: d = z + beta d. */
template <int N> struct cg_directions {
  const float *z, *d;
  float beta[N];
  __device__ __forceinline__ cg_directions(const float *z_, const float *d_, const float (&beta_)[N])
      : z(z_), d(d_) {
    for (int c = 0; c < N; c++) beta[c] = beta_[c];
  }
};

template <int N>
static __device__ __forceinline__ cuda_components<N> cuda_load(const cg_directions<N> &x, int32_t j) {
  cuda_components<N> z = cuda_load<N>(x.z, j);
  const cuda_components<N> d = cuda_load<N>(x.d, j);
  for (int c = 0; c < N; c++) z.c[c] += x.beta[c] * d.c[c];
  return z;
}

template <int N>
static __device__ __forceinline__ void cuda_keep(float *x, int32_t j, const cuda_components<N> &v) {
  if constexpr (N == 4)
    ((float4 *)x)[j] = make_float4(v.c[0], v.c[1], v.c[2], v.c[3]);
  else if constexpr (N == 2)
    ((float2 *)x)[j] = make_float2(v.c[0], v.c[1]);
  else
    for (int c = 0; c < N; c++) x[(size_t)j * N + c] = v.c[c];
}

#endif
