/* Programs that use CUDA directly: the memory of vectors, vectors in the application's memory, the stream,
 * which calls synchronise with the host, and a kernel that fails. The test calls the CUDA runtime as an
 * application would. */
#include <stdatomic.h>
#include <time.h>

#include <cuda_runtime_api.h>
#include <texsolve/cuda.h>
#include <texsolve/operator.h>
#include <texsolve/solver.h>

#include "cuda_break.h"
#include "helpers.h"

enum { size = 1003 };

static ts_context *context;

#define CHECK_CUDA(call) CHECK_INT(call, cudaSuccess)

static float *read_device(const float *pointer, size_t count) {
  float *values = calloc(count, sizeof *values);
  CHECK_CUDA(cudaMemcpy(values, pointer, count * sizeof *values, cudaMemcpyDeviceToHost));
  return values;
}

static void pointer_of_a_vector(void) {
  for (int components = 1; components <= 4; components++) {
    ts_space *space = make_space(context, size);
    const size_t expected = (size_t)size * (size_t)components;
    float *values = ref_values(expected, 3, -1, 1), *pointer = NULL;
    ts_vector *x = make_vector(space, components, values);
    struct CUstream_st *stream = NULL;
    ts_array array = {0};
    test_context_label("%d components", components);
    REQUIRE_OK(context, ts_cuda_vector_get_array(x, &array));
    pointer = array.data;
    CHECK_INT(array.count, expected);
    CHECK(array.type == TS_TYPE_FLOAT && array.memory == TS_MEMORY_CUDA && !array.read_only);
    CHECK_INT((uintptr_t)pointer % 16, 0);
    CHECK_OK(context, ts_cuda_get_stream(context, &stream));
    CHECK(array.stream == stream);
    CHECK_OK(context, ts_vector_scale(x, ts_constant(2)));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    float *found = read_device(pointer, expected);
    for (size_t i = 0; i < expected; i++)
      if (!CHECK_CLOSE(found[i], 2 * values[i], 0)) break;
    /* The reverse direction. */
    CHECK_CUDA(cudaMemcpyAsync(pointer, values, expected * sizeof *values, cudaMemcpyHostToDevice, stream));
    float *read = read_vector(x);
    CHECK(memcmp(read, values, expected * sizeof *values) == 0);
    free(values), free(found), free(read);
    ts_vector_destroy(&x);
    ts_space_destroy(&space);
  }
}

static void vector_in_own_memory(void) {
  for (int components = 1; components <= 4; components++) {
    ts_space *space = make_space(context, size);
    const size_t count = (size_t)size * (size_t)components;
    float *values = ref_values(count, 5, -1, 1), *memory = NULL;
    ts_vector *x = NULL, *y = make_vector(space, components, values);
    const size_t before = context_info(context).bytes_device;
    test_context_label("%d components", components);
    /* One more element shows a write past the end. */
    CHECK_CUDA(cudaMalloc((void **)&memory, (count + 1) * sizeof *memory));
    CHECK_CUDA(cudaMemset(memory, 0x7f, (count + 1) * sizeof *memory));
    CHECK_CUDA(cudaMemcpy(memory, values, count * sizeof *values, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaDeviceSynchronize()); /* the library's stream does not wait for the default one */
    REQUIRE_OK(context, ts_cuda_vector_from_array(space, components, ts_cuda(memory, count, NULL), &x));
    CHECK_INT(context_info(context).bytes_device, before);
    CHECK_INT(ts_vector_get_components(x), components);
    CHECK_OK(context, ts_vector_axpby(x, ts_constant(1), y, ts_constant(3)));
    ts_scalars *scalars = make_scalars(context, 1);
    CHECK_OK(context, ts_vector_fill(y, 1));
    CHECK_OK(context, ts_vector_dot(scalars, 0, x, y));
    float sums[4];
    read_slot(scalars, 0, sums);
    double expected = 0;
    for (size_t i = 0; i < count; i += (size_t)components) expected += 4.0 * values[i];
    CHECK_CLOSE(sums[0], expected, 1e-4);
    ts_scalars_destroy(&scalars);
    ts_vector_destroy(&x);
    CHECK_OK(context, ts_context_finish(context));
    float *found = read_device(memory, count + 1);
    for (size_t i = 0; i < count; i++)
      if (!CHECK_CLOSE(found[i], 4 * values[i], 1e-6)) break;
    uint32_t behind;
    memcpy(&behind, &found[count], sizeof behind);
    CHECK_INT(behind, 0x7f7f7f7f);
    CHECK_CUDA(cudaFree(memory));
    free(values), free(found);
    ts_vector_destroy(&y);
    ts_space_destroy(&space);
  }
}

/* Blocks read whole blocks of x, and the memory after the application's last number is NaN here. */
static void blocks_of_own_memory(void) {
  static const ts_format formats[] = {TS_FORMAT_BCRS2, TS_FORMAT_BCRS4};
  ref_matrix m = ref_random_spd(size, 6, 2);
  float *values = ref_values(size, 7, -1, 1);
  for (int f = 0; f < 2; f++) {
    ts_matrix *A = make_matrix(context, &m, formats[f]);
    ts_space *space = ts_matrix_get_column_space(A);
    ts_vector *x = make_vector(space, 1, values), *own = NULL, *y = make_vector(space, 1, NULL);
    float *memory = NULL;
    test_context_label("%s", ts_format_name(formats[f]));
    CHECK_CUDA(cudaMalloc((void **)&memory, (size + 4) * sizeof *memory));
    CHECK_CUDA(cudaMemset(memory, 0xff, (size + 4) * sizeof *memory));
    CHECK_CUDA(cudaMemcpy(memory, values, size * sizeof *values, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaDeviceSynchronize());
    REQUIRE_OK(context, ts_cuda_vector_from_array(space, 1, ts_cuda(memory, size, NULL), &own));
    for (int residual = 0; residual < 2; residual++) {
      float *expected, *found;
      CHECK_OK(context, residual ? ts_matrix_residual(y, x, A, x) : ts_matrix_multiply(y, A, x));
      expected = read_vector(y);
      CHECK_OK(context, residual ? ts_matrix_residual(y, x, A, own) : ts_matrix_multiply(y, A, own));
      found = read_vector(y);
      CHECK(memcmp(expected, found, size * sizeof *found) == 0);
      free(expected), free(found);
    }
    ts_vector_destroy(&own);
    CHECK_OK(context, ts_context_finish(context));
    CHECK_CUDA(cudaFree(memory));
    ts_vector_destroy(&x);
    ts_vector_destroy(&y);
    ts_matrix_destroy(&A);
  }
  free(values);
  ref_free(&m);
}

static void another_backend(void) {
  ts_context *cpu = NULL;
  struct CUstream_st *stream = NULL;
  ts_array array = {0};
  REQUIRE_OK(NULL, ts_context_create(&(ts_context_desc){.backend = "cpu"}, &cpu));
  ts_space *space = make_space(cpu, 5);
  ts_vector *x = make_vector(space, 1, NULL), *y = NULL;
  CHECK_FAILS(cpu, ts_cuda_vector_get_array(x, &array), TS_ERROR_UNSUPPORTED, "cpu", "CUDA");
  CHECK_FAILS(cpu, ts_cuda_vector_from_array(space, 1, ts_cuda((float *)16, 5, NULL), &y), TS_ERROR_UNSUPPORTED,
              "cpu");
  CHECK_FAILS(cpu, ts_cuda_get_stream(cpu, &stream), TS_ERROR_UNSUPPORTED, "cpu");
  CHECK_FAILS(cpu, ts_cuda_set_stream(cpu, NULL), TS_ERROR_UNSUPPORTED, "cpu");
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
  ts_context_destroy(&cpu);
  REQUIRE_OK(NULL, ts_context_create(&(ts_context_desc){.backend = "multi:cpu+cpu"}, &cpu));
  CHECK_FAILS(cpu, ts_cuda_get_stream(cpu, &stream), TS_ERROR_UNSUPPORTED, "multi:cpu+cpu", "2 parts");
  ts_context_destroy(&cpu);
}

/* ---- Calls that synchronise with the host ---- */

static atomic_int released, passed;

/* Blocks a stream until it is released, for at most 20 seconds. */
static void CUDART_CB hold(void *user) {
  (void)user;
  for (int i = 0; i < 20000 && !atomic_load(&released); i++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  atomic_store(&passed, 1);
}

static void hold_stream(struct CUstream_st *stream) {
  atomic_store(&released, 0);
  atomic_store(&passed, 0);
  CHECK_CUDA(cudaLaunchHostFunc(stream, hold, NULL));
}

static void only_reading_synchronises(void) {
  if (test_is_check()) return; /* the check backend reads results */
  struct CUstream_st *stream = NULL;
  ts_space *space = make_space(context, size);
  float *values = ref_values(size, 7, -1, 1), seven[4] = {7, 7, 7, 7}, read[4];
  ts_vector *x = make_vector(space, 1, values), *y = make_vector(space, 1, NULL);
  ts_scalars *scalars = make_scalars(context, 4);
  CHECK_OK(context, ts_vector_dot(scalars, 3, x, x)); /* loads the kernels */
  CHECK_OK(context, ts_vector_axpby(x, ts_constant(2), y, ts_constant(1)));
  CHECK_OK(context, ts_cuda_get_stream(context, &stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  hold_stream(stream);
  CHECK_OK(context, ts_scalars_write(scalars, 0, ts_host(seven, 4)));
  CHECK_OK(context, ts_vector_write(y, ts_host(values, size)));
  CHECK_OK(context, ts_vector_axpby(x, ts_scaled(2, scalars, 0), y, ts_constant(0)));
  CHECK_OK(context, ts_vector_dot(scalars, 1, x, y));
  ts_vector *z = make_vector(space, 1, NULL);
  CHECK_OK(context, ts_vector_copy(z, x));
  ts_vector_destroy(&z);
  CHECK_INT(atomic_load(&passed), 0); /* everything is only queued */
  atomic_store(&released, 1);
  read_slot(scalars, 1, read);
  CHECK_INT(atomic_load(&passed), 1);
  double expected = 0;
  for (int i = 0; i < size; i++) expected += 14.0 * values[i] * values[i];
  CHECK_CLOSE(read[0], expected, 1e-3);
  free(values);
  ts_scalars_destroy(&scalars);
  ts_vector_destroy(&x);
  ts_vector_destroy(&y);
  ts_space_destroy(&space);
}

static void CUDART_CB sleep_a_while(void *user) {
  (void)user;
  nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
}

/* The device reads page-locked memory when it reaches the copy, and the caller does not wait for it. */
static void write_from_page_locked_memory(void) {
  ts_space *space = make_space(context, size);
  ts_vector *x = make_vector(space, 1, NULL);
  ts_scalars *scalars = make_scalars(context, 1);
  float *values = ref_values(size, 4, -1, 1), *locked = NULL, slot[4];
  struct CUstream_st *stream = NULL;
  REQUIRE_OK(context, ts_cuda_get_stream(context, &stream));
  CHECK_CUDA(cudaMallocHost((void **)&locked, size * sizeof *locked));
  memcpy(locked, values, size * sizeof *values);
  CHECK_CUDA(cudaLaunchHostFunc(stream, sleep_a_while, NULL));
  CHECK_OK(context, ts_vector_write(x, ts_host(locked, size)));
  memset(locked, 0, size * sizeof *locked);
  float *found = read_vector(x);
  CHECK(memcmp(found, values, size * sizeof *found) == 0);
  memcpy(locked, values, sizeof slot);
  CHECK_CUDA(cudaLaunchHostFunc(stream, sleep_a_while, NULL));
  CHECK_OK(context, ts_scalars_write(scalars, 0, ts_host(locked, 4)));
  memset(locked, 0, sizeof slot);
  read_slot(scalars, 0, slot);
  CHECK(memcmp(slot, values, sizeof slot) == 0);
  CHECK_CUDA(cudaFreeHost(locked));
  free(values), free(found);
  ts_scalars_destroy(&scalars);
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
}

static void own_stream(void) {
  struct CUstream_st *before = NULL, *now = NULL;
  cudaStream_t mine;
  ts_space *space = make_space(context, size);
  ts_vector *x = make_vector(space, 1, NULL);
  ts_array array = {0};
  CHECK_OK(context, ts_cuda_vector_get_array(x, &array));
  float *pointer = array.data;
  CHECK_CUDA(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking));
  CHECK_OK(context, ts_cuda_get_stream(context, &before));
  /* Work queued earlier runs first, */
  if (!test_is_check()) hold_stream(before);
  CHECK_OK(context, ts_vector_fill(x, 1));
  CHECK_OK(context, ts_cuda_set_stream(context, mine));
  CHECK_OK(context, ts_cuda_get_stream(context, &now));
  CHECK(now == mine);
  CHECK_OK(context, ts_vector_scale(x, ts_constant(5)));
  atomic_store(&released, 1);
  CHECK_CUDA(cudaStreamSynchronize(mine));
  float *found = read_device(pointer, size);
  for (int i = 0; i < size; i++)
    if (!CHECK_CLOSE(found[i], 5, 0)) break;
  /* and the application's own work on its stream is in order too. */
  CHECK_CUDA(cudaMemsetAsync(pointer, 0, size * sizeof *pointer, mine));
  float *read = read_vector(x);
  for (int i = 0; i < size; i++)
    if (!CHECK_CLOSE(read[i], 0, 0)) break;
  CHECK_OK(context, ts_cuda_set_stream(context, NULL));
  CHECK_OK(context, ts_cuda_get_stream(context, &now));
  CHECK(now == before);
  CHECK_CUDA(cudaStreamDestroy(mine));
  CHECK_OK(context, ts_vector_fill(x, 2));
  free(read), free(found);
  read = read_vector(x);
  CHECK_CLOSE(read[size - 1], 2, 0);
  free(read);
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
}

/* The library does not change the current device of a thread. */
static void current_device(void) {
  int count = 0, device = -1;
  CHECK_CUDA(cudaGetDeviceCount(&count));
  for (int other = 0; other < count; other++) {
    CHECK_CUDA(cudaSetDevice(other));
    ts_context *second = test_open();
    ts_space *space = make_space(second, 10);
    ts_vector *x = make_vector(space, 1, NULL);
    CHECK_OK(second, ts_vector_fill(x, 1));
    CHECK_CUDA(cudaGetDevice(&device));
    CHECK_INT(device, other);
    ts_vector_destroy(&x);
    ts_space_destroy(&space);
    test_close(&second);
    CHECK_CUDA(cudaGetDevice(&device));
    CHECK_INT(device, other);
  }
  CHECK_CUDA(cudaSetDevice(0));
}

static void no_memory_left(void) {
  if (test_is_check()) return; /* the check backend would read all vectors */
  size_t available = 0, all = 0;
  CHECK_CUDA(cudaMemGetInfo(&available, &all));
  ts_space *space = make_space(context, 2000000000);
  ts_vector *vectors[200];
  const size_t before = context_info(context).bytes_device;
  int made = 0;
  ts_status status = TS_OK;
  while (made < 200 && status == TS_OK) {
    status = ts_vector_create(space, &(ts_vector_desc){.components = 4}, &vectors[made]);
    if (status == TS_OK) made++;
  }
  CHECK_INT(status, TS_ERROR_OUT_OF_DEVICE_MEMORY);
  CHECK_CONTAINS(ts_last_error(context), "a vector");
  CHECK_CONTAINS(ts_last_error(context), "32000000000");
  CHECK(made >= 1 && (size_t)made <= all / 32000000000u);
  CHECK_INT(context_info(context).bytes_device, before + (size_t)made * 32000000000u);
  /* The existing objects still work, */
  if (made) CHECK_OK(context, ts_vector_fill(vectors[0], 1));
  while (made > 0) ts_vector_destroy(&vectors[--made]);
  CHECK_INT(context_info(context).bytes_device, before);
  /* and so do new ones. */
  ts_vector *x = make_vector(space, 1, NULL);
  CHECK_OK(context, ts_vector_fill(x, 1));
  CHECK_OK(context, ts_context_finish(context));
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
}

/* The last case, because the process cannot use the device afterwards. */
static void kernel_that_fails(void) {
  struct CUstream_st *stream = NULL;
  ts_space *space = make_space(context, size);
  ts_vector *x = make_vector(space, 1, NULL);
  ts_scalars *scalars = make_scalars(context, 1);
  float slot[4];
  CHECK_OK(context, ts_cuda_get_stream(context, &stream));
  CHECK_INT(cuda_break(stream), cudaSuccess);
  CHECK_FAILS(context, ts_context_finish(context), TS_ERROR_DEVICE, "CUDA", "a kernel failed");
  CHECK_FAILS(context, ts_vector_fill(x, 1), TS_ERROR_DEVICE, "CUDA");
  CHECK_FAILS(context, ts_scalars_read(scalars, 0, ts_host(slot, 4)), TS_ERROR_DEVICE, "CUDA");
  ts_context *second = NULL;
  const ts_context_desc desc = test_desc();
  CHECK_FAILS(NULL, ts_context_create(&desc, &second), TS_ERROR_DEVICE, "CUDA");
  ts_scalars_destroy(&scalars);
  ts_vector_destroy(&x);
  ts_space_destroy(&space);
}

/* y = x, computed by the application in the vectors' memory on the context's stream. */
static ts_status copy_memory(void *user, ts_vector *y, const ts_vector *x) {
  ts_array from = {0}, to = {0};
  ts_status status = ts_cuda_vector_get_array((ts_vector *)x, &from);
  if (status == TS_OK) status = ts_cuda_vector_get_array(y, &to);
  if (status < 0) return status;
  CHECK_CUDA(
      cudaMemcpyAsync(to.data, from.data, from.count * sizeof(float), cudaMemcpyDeviceToDevice, to.stream));
  ++*(int *)user;
  return ts_vector_scale(y, ts_constant(3));
}

static void operator_on_pointers(void) {
  static const ts_method methods[] = {TS_METHOD_CG, TS_METHOD_BICGSTAB, TS_METHOD_GMRES, TS_METHOD_IDR};
  ts_space *space = make_space(context, size);
  int calls = 0;
  ts_matrix *A = NULL;
  const ts_operator_desc desc = {
      .apply = copy_memory, .user = &calls, .symmetric = 1, .precision = TS_PRECISION_SINGLE};
  float *bs = ref_values(size, 8, -1, 1);
  ts_vector *b = make_vector(space, 1, bs), *x = make_vector(space, 1, NULL);
  REQUIRE_OK(context, ts_operator_create(space, space, &desc, &A));
  for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++) {
    const ts_solver_desc how = {
        .method = methods[k], .preconditioner_kind = TS_PRECONDITIONER_NONE, .zero_start = 1};
    test_context_label("%s", ts_method_name(methods[k]));
    CHECK_OK(context, solve_vectors(A, b, x, &how, NULL));
    float *xs = read_vector(x);
    for (int i = 0; i < size; i++)
      if (!CHECK_CLOSE(xs[i], bs[i] / 3, 1e-5)) break;
    free(xs);
  }
  CHECK(calls > 3);
  free(bs);
  ts_vector_destroy(&b);
  ts_vector_destroy(&x);
  ts_matrix_destroy(&A);
  ts_space_destroy(&space);
}

TEST_MAIN(CASES(current_device),
          CASES_IN_CONTEXT(pointer_of_a_vector, vector_in_own_memory, blocks_of_own_memory, another_backend,
                           only_reading_synchronises, write_from_page_locked_memory, own_stream,
                           operator_on_pointers, no_memory_left, kernel_that_fails))
