/* Vectors in device memory, and the operations on their elements. */
#include "cuda_kernels.cuh"

static size_t bytes_of(size_t count) {
  return (count * sizeof(float) + 15) / 16 * 16;
}

ts_status cuda_vector_create(ts_vector *v) {
  ts_context *context = v->context;
  cuda_vector *impl = (cuda_vector *)tsi_calloc(context, 1, sizeof *impl);
  if (!impl) return tsi_out_of_memory(context, "a vector", sizeof *impl);
  impl->count = (size_t)v->space->tiling.size * (size_t)v->components;
  impl->bytes = bytes_of(impl->count);
  const ts_status status = cuda_take_zeroed(context, (void **)&impl->data, impl->bytes, "a vector");
  if (status < 0) {
    tsi_free(context, impl);
    return status;
  }
  v->impl = impl;
  return TS_OK;
}

void cuda_vector_destroy(ts_vector *v) {
  cuda_vector *impl = cuda_vector_of(v);
  cuda_give(v->context, impl->data, impl->bytes);
  tsi_free(v->context, impl);
  v->impl = NULL;
}

ts_status cuda_vector_write(ts_vector *v, const float *texels) {
  return cuda_upload(v->context, cuda_data(v), texels, cuda_count(v) * sizeof(float));
}

ts_status cuda_vector_read(const ts_vector *v, float *texels) {
  return cuda_download(v->context, texels, cuda_data(v), cuda_count(v) * sizeof(float));
}
