/* Vectors in device memory and their element-wise operations. */
#include "cuda_kernels.cuh"

/* ---- Storage ---- */

static size_t bytes_of(size_t count) {
  return (count * sizeof(float) + 15) / 16 * 16;
}

ts_status cuda_vector_create(ts_vector *v) {
  ts_context *context = v->context;
  cuda_vector *impl = (cuda_vector *)tsi_calloc(context, 1, sizeof *impl);
  if (!impl) return tsi_out_of_memory(context, "a vector", sizeof *impl);
  impl->count = (size_t)v->space->tiling.size * (size_t)v->components;
  impl->bytes = bytes_of((size_t)tsi_columns_of(v->space) * (size_t)v->components);
  const ts_status status = cuda_alloc_zeroed(context, (void **)&impl->data, impl->bytes, "a vector");
  if (status < 0) {
    tsi_free(context, impl);
    return status;
  }
  v->impl = impl;
  return TS_OK;
}

void cuda_vector_destroy(ts_vector *v) {
  cuda_vector *impl = cuda_vector_of(v);
  if (impl->mirrored) cuda_mirror_forget(v->context, impl);
  if (impl->shared)
    cuda_gl_destroy(v->context, impl);
  else if (!impl->borrowed)
    cuda_free(v->context, impl->data, impl->bytes);
  tsi_free(v->context, impl);
  v->impl = NULL;
}

ts_status cuda_vector_write(ts_vector *v, const float *texels) {
  return cuda_upload(v->context, cuda_data(v), texels, cuda_count(v) * sizeof(float));
}

ts_status cuda_vector_read(const ts_vector *v, float *texels) {
  return cuda_download(v->context, texels, cuda_data(v), cuda_count(v) * sizeof(float));
}

/* ---- Operations; vectors may be identical ---- */

static __global__ void fill(size_t count, float *out, float value) {
  cuda_dependent_begin();
  CUDA_EACH_QUAD(i, count) {
    cuda_store(out, i, {value, value, value, value}, count);
  }
}

template <typename Vector>
static __global__ void scale(size_t count, int components, Vector out, typename cuda_of<Vector>::coefficient a,
                             Vector x) {
  cuda_dependent_begin();
  const auto as = cuda_lanes(a, components);
  CUDA_EACH_QUAD(i, count) {
    auto v = cuda_load(x, i, count);
    CUDA_EACH_LANE(l) v.lane[l] *= as.lane[l];
    cuda_store(out, i, v, count);
  }
}

template <typename Vector>
static __global__ void axpby(size_t count, int components, Vector out, typename cuda_of<Vector>::coefficient a,
                             Vector x, typename cuda_of<Vector>::coefficient b, Vector y) {
  cuda_dependent_begin();
  const auto as = cuda_lanes(a, components), bs = cuda_lanes(b, components);
  CUDA_EACH_QUAD(i, count) {
    auto v = cuda_load(x, i, count);
    const auto w = cuda_load(y, i, count);
    CUDA_EACH_LANE(l) v.lane[l] = as.lane[l] * v.lane[l] + bs.lane[l] * w.lane[l];
    cuda_store(out, i, v, count);
  }
}

template <typename Vector> static __global__ void multiply(size_t count, Vector out, Vector x, Vector y) {
  cuda_dependent_begin();
  CUDA_EACH_QUAD(i, count) {
    auto v = cuda_load(x, i, count);
    const auto w = cuda_load(y, i, count);
    CUDA_EACH_LANE(l) v.lane[l] *= w.lane[l];
    cuda_store(out, i, v, count);
  }
}

template <typename Vector> static __global__ void reciprocal(size_t count, Vector out, Vector x) {
  cuda_dependent_begin();
  CUDA_EACH_QUAD(i, count) {
    auto v = cuda_load(x, i, count);
    CUDA_EACH_LANE(l) v.lane[l] = v.lane[l] == 0 ? 0 : 1 / v.lane[l];
    cuda_store(out, i, v, count);
  }
}

static __global__ void zero_constrained(size_t count, int components, float *out, const float *x,
                                        const unsigned char *constrained) {
  cuda_dependent_begin();
  CUDA_EACH_QUAD(i, count) {
    cuda_quad v = cuda_load(x, i, count);
    CUDA_EACH_LANE(l) {
      const size_t element = 4 * i + l;
      if (element < count && constrained[element / components]) v.lane[l] = 0;
    }
    cuda_store(out, i, v, count);
  }
}

ts_status cuda_fill(ts_vector *y, float value) {
  CUDA_RUN_QUADS(y, fill, cuda_data(y), value);
  return TS_OK;
}

template <typename Vector>
static ts_status run_axpby(ts_vector *out, ts_coefficient a, const ts_vector *x, ts_coefficient b,
                           const ts_vector *y) {
  typedef cuda_of<Vector> of;
  if (b.scale == 0)
    CUDA_RUN_QUADS(out, scale<Vector>, out->components, of::vector(out), of::evaluated(a), of::vector(x));
  else
    CUDA_RUN_QUADS(out, axpby<Vector>, out->components, of::vector(out), of::evaluated(a), of::vector(x),
                   of::evaluated(b), of::vector(y));
  return TS_OK;
}

ts_status cuda_axpby(ts_vector *out, ts_coefficient a, const ts_vector *x, ts_coefficient b,
                     const ts_vector *y) {
  if (a.scale == 0 && b.scale == 0) {
    TSI_TRY(cuda_fill(out, 0));
    return out->low ? cuda_fill(out->low, 0) : TS_OK;
  }
  if (a.scale == 0) return cuda_axpby(out, b, y, a, x);
  return out->low ? run_axpby<cuda_pair>(out, a, x, b, y) : run_axpby<float *>(out, a, x, b, y);
}

template <typename Vector>
static ts_status run_multiply(ts_vector *out, const ts_vector *x, const ts_vector *y) {
  typedef cuda_of<Vector> of;
  CUDA_RUN_QUADS(out, multiply<Vector>, of::vector(out), of::vector(x), of::vector(y));
  return TS_OK;
}

ts_status cuda_multiply(ts_vector *out, const ts_vector *x, const ts_vector *y) {
  return out->low ? run_multiply<cuda_pair>(out, x, y) : run_multiply<float *>(out, x, y);
}

template <typename Vector> static ts_status run_reciprocal(ts_vector *out, const ts_vector *x) {
  CUDA_RUN_QUADS(out, reciprocal<Vector>, cuda_of<Vector>::vector(out), cuda_of<Vector>::vector(x));
  return TS_OK;
}

ts_status cuda_reciprocal(ts_vector *out, const ts_vector *x) {
  return out->low ? run_reciprocal<cuda_pair>(out, x) : run_reciprocal<float *>(out, x);
}

ts_status cuda_zero_constrained(ts_vector *out, const ts_vector *x) {
  const unsigned char *constrained;
  TSI_TRY(cuda_constrained(out->space, &constrained));
  if (!constrained) return out == x ? TS_OK : run_axpby<float *>(out, ts_constant(1), x, ts_constant(0), x);
  CUDA_RUN_QUADS(out, zero_constrained, out->components, cuda_data(out), cuda_data(x), constrained);
  return TS_OK;
}

/* ---- Vectors of several parts ---- */

/* (x + low) + lowest is exact in two doubles. With e added, it is a sum and its rounding error (Knuth's
 * two-sum). */
static __global__ void add_to_parts(size_t count, int components, float *xs, float *lows, float *lowests,
                                    cuda_coefficient a, const float *es) {
  cuda_dependent_begin();
  const cuda_quad as = cuda_lanes(a, components);
  CUDA_EACH_QUAD(i, count) {
    cuda_quad x = cuda_load(xs, i, count), low = cuda_load(lows, i, count), lowest = {};
    const cuda_quad es_i = cuda_load(es, i, count);
    if (lowests) lowest = cuda_load(lowests, i, count);
    CUDA_EACH_LANE(l) {
      const double e = as.lane[l] * es_i.lane[l], high = x.lane[l], next = low.lane[l], before = high + next;
      const double sum = before + e, part = sum - before;
      const double error =
          (before - (sum - part)) + (e - part) + ((high - before) + next) + (double)lowest.lane[l];
      x.lane[l] = (float)(sum + error);
      const double remainder = (sum - (double)x.lane[l]) + error;
      low.lane[l] = (float)remainder;
      lowest.lane[l] = (float)(remainder - (double)low.lane[l]);
    }
    cuda_store(xs, i, x, count);
    cuda_store(lows, i, low, count);
    if (lowests) cuda_store(lowests, i, lowest, count);
  }
}

ts_status cuda_add_to_parts(ts_vector *x, ts_coefficient a, const ts_vector *e) {
  float *lowest = x->low->low ? cuda_data(x->low->low) : NULL;
  CUDA_RUN_QUADS(x, add_to_parts, x->components, cuda_data(x), cuda_data(x->low), lowest,
                 cuda_coefficient_of(a), cuda_data(e));
  return TS_OK;
}

/* ---- Constrained flags, uploaded on first use ---- */

ts_status cuda_constrained(ts_space *space, const unsigned char **flags) {
  *flags = NULL;
  if (!space->constrained) return TS_OK;
  ts_context *context = space->context;
  cuda_space *impl = (cuda_space *)space->impl;
  if (!impl) {
    impl = (cuda_space *)tsi_calloc(context, 1, sizeof *impl);
    if (!impl) return tsi_out_of_memory(context, "an index space", sizeof *impl);
    impl->bytes = (size_t)space->tiling.size;
    const ts_status status = cuda_alloc_copy(context, (void **)&impl->constrained, space->constrained,
                                             impl->bytes, "constrained flags");
    if (status < 0) {
      tsi_free(context, impl);
      return status;
    }
    space->impl = impl;
  }
  *flags = impl->constrained;
  return TS_OK;
}

void cuda_space_destroy(ts_space *space) {
  cuda_space *impl = (cuda_space *)space->impl;
  if (!impl) return;
  cuda_free(space->context, impl->constrained, impl->bytes);
  tsi_free(space->context, impl);
  space->impl = NULL;
}
