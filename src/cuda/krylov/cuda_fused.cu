/* Several operations of an iteration fused in one kernel. Each fusion saves passes over memory. */
#include <float.h>

#include "cuda/core/cuda_reduce.cuh"

template <typename Vector>
static __global__ void multiply_add(size_t count, int components, Vector out, Vector w, Vector x,
                                    typename cuda_of<Vector>::coefficient b, Vector y) {
  cuda_dependent_begin();
  const auto bs = cuda_lanes(b, components);
  CUDA_EACH_QUAD(i, count) {
    auto v = cuda_load(x, i, count);
    const auto ws = cuda_load(w, i, count), ys = cuda_load(y, i, count);
    CUDA_EACH_LANE(l) v.lane[l] = ws.lane[l] * v.lane[l] + bs.lane[l] * ys.lane[l];
    cuda_store(out, i, v, count);
  }
}

template <typename Vector>
static ts_status run_multiply_add(ts_vector *out, const ts_vector *w, const ts_vector *x, ts_coefficient b,
                                  const ts_vector *y) {
  typedef cuda_of<Vector> of;
  CUDA_RUN_QUADS(out, multiply_add<Vector>, out->components, of::vector(out), of::vector(w), of::vector(x),
                 of::evaluated(b), of::vector(y));
  return TS_OK;
}

ts_status cuda_multiply_add(ts_vector *out, const ts_vector *w, const ts_vector *x, ts_coefficient b,
                            const ts_vector *y) {
  if (b.scale == 0) return cuda_multiply(out, w, x);
  return out->low ? run_multiply_add<cuda_pair>(out, w, x, b, y) : run_multiply_add<float *>(out, w, x, b, y);
}

/* ---- x = x + a d;  r = r + b q;  and the sum of r r w ---- */

template <typename Vector> struct axpy2_job {
  Vector x, d, r, q, w; /* w may be NULL: 1 */
  typename cuda_of<Vector>::coefficient a, b;
};

/* Returns the new quad of r. */
template <typename Vector, typename Quad>
static __device__ __forceinline__ Quad axpy2_quad(const axpy2_job<Vector> &job, const Quad &as, const Quad &bs,
                                                  size_t i, size_t count) {
  Quad x = cuda_load(job.x, i, count), r = cuda_load(job.r, i, count);
  const Quad d = cuda_load(job.d, i, count), q = cuda_load(job.q, i, count);
  CUDA_EACH_LANE(l) x.lane[l] += as.lane[l] * d.lane[l];
  CUDA_EACH_LANE(l) r.lane[l] += bs.lane[l] * q.lane[l];
  cuda_store(job.x, i, x, count);
  cuda_store(job.r, i, r, count);
  return r;
}

template <typename Vector> static __global__ void axpy2(size_t count, int components, axpy2_job<Vector> job) {
  cuda_dependent_begin();
  const auto as = cuda_lanes(job.a, components), bs = cuda_lanes(job.b, components);
  CUDA_EACH_QUAD(i, count) axpy2_quad(job, as, bs, i, count);
}

template <typename Vector>
static __global__ void __launch_bounds__(CUDA_THREADS)
    axpy2_dot(size_t count, cuda_reduction reduction, axpy2_job<Vector> job, cuda_result result) {
  cuda_dependent_begin();
  const auto as = cuda_lanes(job.a, reduction.components), bs = cuda_lanes(job.b, reduction.components);
  const bool has_w = cuda_high(job.w) != NULL;
  cuda_sums<1> sums = {};
  CUDA_EACH_QUAD(i, count) {
    auto w = decltype(cuda_load(job.w, i, count)){};
    if (has_w) w = cuda_load(job.w, i, count);
    const auto r = axpy2_quad(job, as, bs, i, count);
    cuda_sums_add(&sums, 0, r, r, 1, w, has_w);
  }
  cuda_sums_by_component(&sums, reduction.components);
  const cuda_result results[1] = {result};
  cuda_finish_sums(reduction, sums, results);
}

template <typename Vector>
static axpy2_job<Vector> job_of(const ts_vector *x, ts_coefficient a, const ts_vector *d, const ts_vector *r,
                                ts_coefficient b, const ts_vector *q, const ts_vector *w) {
  typedef cuda_of<Vector> of;
  return {of::vector(x),    of::vector(d),   of::vector(r), of::vector(q), w ? of::vector(w) : Vector{},
          of::evaluated(a), of::evaluated(b)};
}

/* The kernels require both terms, and the same number of parts in x and r. */
static bool is_fused(const ts_vector *x, ts_coefficient a, const ts_vector *r, ts_coefficient b) {
  return a.scale != 0 && b.scale != 0 && !x->low == !r->low;
}

template <typename Vector>
static ts_status run_axpy2(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                           const ts_vector *q) {
  CUDA_RUN_QUADS(x, axpy2<Vector>, x->components, job_of<Vector>(x, a, d, r, b, q, NULL));
  return TS_OK;
}

ts_status cuda_axpy2(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                     const ts_vector *q) {
  if (!is_fused(x, a, r, b)) {
    TSI_TRY(cuda_axpby(x, a, d, ts_constant(1), x));
    return cuda_axpby(r, b, q, ts_constant(1), r);
  }
  return x->low ? run_axpy2<cuda_pair>(x, a, d, r, b, q) : run_axpy2<float *>(x, a, d, r, b, q);
}

template <typename Vector>
static ts_status run_axpy2_dot(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r,
                               ts_coefficient b, const ts_vector *q, const ts_vector *w, ts_scalars *out,
                               int index) {
  CUDA_RUN_QUADS(x, axpy2_dot<Vector>, cuda_reduction_of(x), job_of<Vector>(x, a, d, r, b, q, w),
                 cuda_result_of(out, index, 0));
  return TS_OK;
}

ts_status cuda_axpy2_dot(ts_vector *x, ts_coefficient a, const ts_vector *d, ts_vector *r, ts_coefficient b,
                         const ts_vector *q, const ts_vector *w, ts_scalars *out, int index) {
  if (!is_fused(x, a, r, b)) {
    TSI_TRY(cuda_axpy2(x, a, d, r, b, q));
    return w ? cuda_dot3(out, index, r, r, w) : cuda_reduce(out, index, TSI_REDUCE_DOT, r, r);
  }
  return x->low ? run_axpy2_dot<cuda_pair>(x, a, d, r, b, q, w, out, index)
                : run_axpy2_dot<float *>(x, a, d, r, b, q, w, out, index);
}
