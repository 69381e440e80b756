/* Batches whose arrays are in CUDA memory: the bits that the same arrays on the host give, in order with the
 * application's stream; and device memory that runs out. */
#include <cuda_runtime_api.h>

#include "batch_samples.h"
#include "common/core/core.h"

static ts_context *context;

#define CHECK_CUDA(call) CHECK_INT(call, cudaSuccess)

static size_t bytes_of(const ts_array *array) {
  return array->count * (array->type == TS_TYPE_FLOAT || array->type == TS_TYPE_INT32 ? 4 : 8);
}

static ts_array to_device(ts_array host, struct CUstream_st *stream) {
  ts_array device = ts_array_on_cuda(host, stream);
  CHECK_CUDA(cudaMalloc(&device.data, bytes_of(&host)));
  CHECK_CUDA(cudaMemcpyAsync(device.data, host.data, bytes_of(&host), cudaMemcpyHostToDevice, stream));
  return device;
}

/* Reads the array back in its stream, and frees it. */
static void from_device(ts_array *device, void *host) {
  if (host)
    CHECK_CUDA(cudaMemcpyAsync(host, device->data, bytes_of(device), cudaMemcpyDeviceToHost, device->stream));
  CHECK_CUDA(cudaStreamSynchronize(device->stream));
  CHECK_CUDA(cudaFree(device->data));
}

/* Bit `k` of `on_device`: the pattern, the values, b and x are on the device. */
static void compare(int n, size_t systems, batch_family kind, ts_method method, unsigned on_device,
                    struct CUstream_st *stream) {
  batch s = batch_make(n, systems, kind), other = batch_make(n, systems, kind);
  ts_batch_desc desc = batch_desc(&s);
  const size_t numbers = batch_numbers(&s);
  ts_array b = ts_host((const double *)s.b, numbers), x = ts_host(other.x, numbers);
  desc.method = method;
  test_context_label("%zu systems of %d, %s, %x on the device", systems, n, ts_method_name(method), on_device);
  CHECK_OK(context, batch_solve(context, &s, &desc));
  for (size_t k = 0; k < systems; k++) batch_check_converged(&s, k, 1e-10);
  if (on_device & 1) {
    desc.row_offsets = to_device(desc.row_offsets, stream);
    desc.column_indices = to_device(desc.column_indices, stream);
  }
  if (on_device & 2) desc.values = to_device(desc.values, stream);
  if (on_device & 4) b = to_device(b, stream);
  if (on_device & 8) x = to_device(x, stream);
  CHECK_OK(context, ts_batch_solve(context, &desc, b, x, other.results));
  if (on_device & 1) from_device(&desc.row_offsets, NULL), from_device(&desc.column_indices, NULL);
  if (on_device & 2) from_device(&desc.values, NULL);
  if (on_device & 4) from_device(&b, NULL);
  if (on_device & 8) from_device(&x, other.x);
  CHECK(memcmp(s.x, other.x, numbers * sizeof *s.x) == 0);
  CHECK(memcmp(s.results, other.results, systems * sizeof *s.results) == 0);
  batch_free(&s);
  batch_free(&other);
}

/* One warp, a block, vectors in shared memory, and everything in the workspace. */
static void sizes(void) {
  static const int rows[] = {1, 24, 128, 129, 300, 700, 2500, 9000};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    compare(rows[k], 7, SYMMETRIC, TS_METHOD_AUTO, 15, NULL);
    compare(rows[k], 7, SYMMETRIC, TS_METHOD_CG, 15, NULL);
    compare(rows[k], 7, UNSYMMETRIC, TS_METHOD_BICGSTAB, 15, NULL);
  }
  compare(60, 3000, UNSYMMETRIC, TS_METHOD_AUTO, 15, NULL);
  compare(4000, 400, SYMMETRIC, TS_METHOD_CG, 15, NULL);
}

static void memories(void) {
  struct CUstream_st *stream = NULL;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (unsigned on_device = 0; on_device < 16; on_device++)
    compare(50, 40, UNSYMMETRIC, TS_METHOD_AUTO, on_device, on_device % 3 ? stream : NULL);
  CHECK_CUDA(cudaStreamDestroy(stream));
}

/* b and x are one array of floats. */
static void in_place(void) {
  enum { n = 70, systems = 30, count = n * systems };
  batch s = batch_make(n, systems, UNSYMMETRIC);
  ts_batch_desc desc = batch_desc(&s);
  float *on_host = malloc(count * sizeof *on_host), *found = malloc(count * sizeof *found);
  for (int k = 0; k < count; k++) found[k] = on_host[k] = (float)s.b[k];
  desc.zero_start = 1;
  ts_array both = to_device(ts_host(found, count), NULL);
  CHECK_OK(context, ts_batch_solve(context, &desc, both, both, s.results));
  from_device(&both, found);
  CHECK_OK(context, ts_batch_solve(context, &desc, ts_host(on_host, count), ts_host(on_host, count), NULL));
  CHECK(memcmp(on_host, found, count * sizeof *found) == 0);
  for (size_t k = 0; k < systems; k++)
    CHECK(s.results[k].relative_residual <= 1e-10 && s.results[k].rounded_residual > 1e-10);
  free(on_host), free(found);
  batch_free(&s);
}

/* A call gives all of its memory back. If there is too little, x is unchanged. Plain contexts solve on the
 * host. */
static void memory(void) {
  ts_context_desc limited = test_desc();
  ts_context *own = NULL;
  batch s = batch_make(40, 2000, SYMMETRIC);
  const ts_batch_desc desc = batch_desc(&s);
  size_t failed = 0;
  const int needs_memory = !(context->desc.flags & TS_CONTEXT_NO_FUSED_OPERATIONS);
  CHECK_OK(context, batch_solve(context, &s, &desc));
  CHECK_INT(context_info(context).bytes_device, 0);
  for (size_t bytes = 1 << 10; bytes <= 16 << 20; bytes *= 4) {
    limited.max_device_bytes = bytes;
    REQUIRE_OK(NULL, ts_context_create(&limited, &own));
    memset(s.x, 0, batch_numbers(&s) * sizeof *s.x);
    const ts_status status = batch_solve(own, &s, &desc);
    if (status < 0) {
      CHECK_INT(status, TS_ERROR_OUT_OF_DEVICE_MEMORY);
      CHECK(s.x[0] == 0 && s.x[batch_numbers(&s) - 1] == 0);
      failed++;
    } else {
      CHECK_INT(status, TS_OK);
    }
    test_close(&own);
  }
  CHECK(needs_memory ? failed > 0 && failed < 8 : failed == 0);
  batch_free(&s);
}

TEST_MAIN(CASES_IN_CONTEXT(sizes, memories, in_place, memory))
