/* The update of an iteration of conjugate gradients with one reduction. */
#include <float.h>

#include "cuda_cg.cuh"

struct cg_update_job {
  float *e, *r_new, *d_new;
  const float *r, *d, *q, *m; /* m may be NULL: 1 */
  const float *delta, *dq, *qmq;
};

static __global__ void cg_update(size_t count, int components, cg_update_job job) {
  cuda_dependent_begin();
  const int first = cuda_first_component(components);
  cuda_quad alpha, beta;
  CUDA_EACH_LANE(l) {
    const int c = cuda_component_of_lane(first, l, components);
    const float dq = job.dq[c];
    const int gone = fabsf(dq) < FLT_MIN;
    alpha.lane[l] = gone ? 0 : job.delta[c] / dq;
    beta.lane[l] = gone ? 0 : alpha.lane[l] * (job.qmq[c] / dq) - 1;
    if (!(beta.lane[l] > 1e-5f)) beta.lane[l] = 0;
  }
  CUDA_EACH_QUAD(i, count) {
    cuda_quad e = cuda_load(job.e, i, count), r = cuda_load(job.r, i, count), d = cuda_load(job.d, i, count);
    const cuda_quad q = cuda_load(job.q, i, count);
    cuda_quad m = {1, 1, 1, 1};
    if (job.m) m = cuda_load(job.m, i, count);
    CUDA_EACH_LANE(l) {
      e.lane[l] += alpha.lane[l] * d.lane[l];
      r.lane[l] -= alpha.lane[l] * q.lane[l];
      d.lane[l] = m.lane[l] * r.lane[l] + beta.lane[l] * d.lane[l];
    }
    cuda_store(job.e, i, e, count);
    cuda_store(job.r_new, i, r, count);
    cuda_store(job.d_new, i, d, count);
  }
}

ts_status cuda_cg_update(const tsi_cg_update *u) {
  const float *slots = ((const cuda_scalars *)u->slots->impl)->values;
  const cg_update_job job = {cuda_data(u->e),
                             cuda_data(u->r_new),
                             cuda_data(u->d_new),
                             cuda_data(u->r),
                             cuda_data(u->d),
                             cuda_data(u->q),
                             u->m ? cuda_data(u->m) : NULL,
                             slots + (size_t)u->delta * 4,
                             slots + (size_t)u->dq * 4,
                             slots + (size_t)u->qmq * 4};
  CUDA_RUN_QUADS(u->e, cg_update, u->e->components, job);
  return TS_OK;
}
