/* Operations of an iteration in one kernel instead of several: each saves passes over memory. */
#include <float.h>

#include "cuda/core/cuda_reduce.cuh"

static __global__ void multiply_add(size_t count, int components, float *out, const float *w, const float *x,
                                    cuda_coefficient b, const float *y) {
  cuda_dependent_begin();
  const cuda_quad bs = cuda_lanes(b, components);
  CUDA_EACH_QUAD(i, count) {
    cuda_quad v = cuda_load(x, i, count);
    const cuda_quad ws = cuda_load(w, i, count), ys = cuda_load(y, i, count);
    CUDA_EACH_LANE(l) v.lane[l] = ws.lane[l] * v.lane[l] + bs.lane[l] * ys.lane[l];
    cuda_store(out, i, v, count);
  }
}

ts_status cuda_multiply_add(ts_vector *out, const ts_vector *w, const ts_vector *x, ts_coefficient b,
                            const ts_vector *y) {
  if (b.scale == 0) return cuda_multiply(out, w, x);
  CUDA_RUN_QUADS(out, multiply_add, out->components, cuda_data(out), cuda_data(w), cuda_data(x),
                 cuda_coefficient_of(b), cuda_data(y));
  return TS_OK;
}

/* ---- x = x + a d;  r = r + b q;  and the sum of r r w ---- */

struct axpy2_job {
  float *x;
  const float *d;
  float *r;
  const float *q, *w; /* w may be NULL: 1 */
  cuda_coefficient a, b;
};

/* Returns the new quad of r. */
static __device__ __forceinline__ cuda_quad axpy2_quad(const axpy2_job &job, const cuda_quad &as,
                                                       const cuda_quad &bs, size_t i, size_t count) {
  cuda_quad x = cuda_load(job.x, i, count), r = cuda_load(job.r, i, count);
  const cuda_quad d = cuda_load(job.d, i, count), q = cuda_load(job.q, i, count);
  CUDA_EACH_LANE(l) x.lane[l] += as.lane[l] * d.lane[l];
  CUDA_EACH_LANE(l) r.lane[l] += bs.lane[l] * q.lane[l];
  cuda_store(job.x, i, x, count);
  cuda_store(job.r, i, r, count);
  return r;
}

static __global__ void axpy2(size_t count, int components, axpy2_job job) {
  cuda_dependent_begin();
  const cuda_quad as = cuda_lanes(job.a, components), bs = cuda_lanes(job.b, components);
  CUDA_EACH_QUAD(i, count) axpy2_quad(job, as, bs, i, count);
}

static __global__ void __launch_bounds__(CUDA_THREADS)
    axpy2_dot(size_t count, cuda_reduction reduction, axpy2_job job, cuda_result result) {
  cuda_dependent_begin();
  const cuda_quad as = cuda_lanes(job.a, reduction.components), bs = cuda_lanes(job.b, reduction.components);
  cuda_sums<1> sums = {};
  CUDA_EACH_QUAD(i, count) {
    cuda_quad w = {};
    if (job.w) w = cuda_load(job.w, i, count);
    const cuda_quad r = axpy2_quad(job, as, bs, i, count);
    cuda_sums_add(&sums, 0, r, r, 1, w, job.w != NULL);
  }
  cuda_sums_by_component(&sums, reduction.components);
  const cuda_result results[1] = {result};
  cuda_finish_sums(reduction, sums, results);
}

ts_status cuda_axpy2(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                     const ts_vector *q) {
  if (a.scale == 0 || b.scale == 0) {
    TSI_TRY(cuda_axpby(x, a, d, ts_constant(1), x));
    return cuda_axpby(r, b, q, ts_constant(1), r);
  }
  const axpy2_job job = {cuda_data(x), cuda_data(d),           cuda_data(r),          cuda_data(q),
                         NULL,         cuda_coefficient_of(a), cuda_coefficient_of(b)};
  CUDA_RUN_QUADS(x, axpy2, x->components, job);
  return TS_OK;
}

ts_status cuda_axpy2_dot(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                         const ts_vector *q, const ts_vector *w, ts_scalars *out, int index) {
  if (a.scale == 0 || b.scale == 0) {
    TSI_TRY(cuda_axpy2(x, a, d, r, b, q));
    return w ? cuda_dot3(out, index, r, r, w) : cuda_reduce(out, index, TSI_REDUCE_DOT, r, r);
  }
  const axpy2_job job = {
      cuda_data(x),           cuda_data(d),          cuda_data(r), cuda_data(q), w ? cuda_data(w) : NULL,
      cuda_coefficient_of(a), cuda_coefficient_of(b)};
  const cuda_result result = {cuda_slot(out, index), 0};
  CUDA_RUN_QUADS(x, axpy2_dot, cuda_reduction_of(x), job, result);
  return TS_OK;
}
