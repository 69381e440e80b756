#include "device_arrays.h"

#include <string.h>

#include "bench.h"

#ifdef TEXSOLVE_HAVE_CUDA
#include <cuda_runtime_api.h>
#include <texsolve/cuda.h>

int device_arrays_are_known(const char *backend) {
  return !strcmp(backend, "cuda");
}

static size_t bytes_of(const ts_array *array) {
  return array->count * (array->type == TS_TYPE_FLOAT || array->type == TS_TYPE_INT32 ? 4 : 8);
}

int device_arrays_upload(ts_array *const arrays[], int count) {
  for (int k = 0; k < count; k++) {
    void *copy;
    cudaError_t error = cudaMalloc(&copy, bytes_of(arrays[k]));
    if (error == cudaSuccess) {
      error = cudaMemcpy(copy, arrays[k]->data, bytes_of(arrays[k]), cudaMemcpyHostToDevice);
      arrays[k]->data = copy;
      *arrays[k] = ts_array_on_cuda(*arrays[k], NULL);
    }
    if (error == cudaSuccess) continue;
    bench_error("CUDA memory: %s", cudaGetErrorString(error));
    return 1;
  }
  return 0;
}

int device_arrays_download(const ts_array *array, void *host) {
  if (array->memory != TS_MEMORY_CUDA) return 0;
  const cudaError_t error = cudaMemcpy(host, array->data, bytes_of(array), cudaMemcpyDeviceToHost);
  if (error == cudaSuccess) return 0;
  bench_error("CUDA memory: %s", cudaGetErrorString(error));
  return 1;
}

void device_arrays_free(ts_array *const arrays[], int count) {
  for (int k = 0; k < count; k++)
    if (arrays[k]->memory == TS_MEMORY_CUDA) cudaFree(arrays[k]->data);
}

#else

int device_arrays_are_known(const char *backend) {
  (void)backend;
  return 0;
}

int device_arrays_upload(ts_array *const arrays[], int count) {
  (void)arrays, (void)count;
  return 1;
}

int device_arrays_download(const ts_array *array, void *host) {
  (void)array, (void)host;
  return 0;
}

void device_arrays_free(ts_array *const arrays[], int count) {
  (void)arrays, (void)count;
}

#endif
