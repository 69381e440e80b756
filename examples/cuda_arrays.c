/* Solves with arrays in CUDA memory, such as those of CuPy or of your own kernels: the matrix, b and x stay
 * there.
 * Build: cc cuda_arrays.c $(pkg-config --cflags --libs texsolve) -I$CUDA/include -L$CUDA/lib64 -lcudart -lm
 * Run: ./a.out. Prints the iterations and x in the middle, which is 1. */
#include <math.h>
#include <stdio.h>
#include <cuda_runtime_api.h>
#include <texsolve/solver.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { N = 1000 };

/* A copy in device memory; NULL if that fails. */
static void *on_device(const void *host, size_t bytes) {
  void *device = NULL;
  if (cudaMalloc(&device, bytes) != cudaSuccess) return NULL;
  if (cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice) != cudaSuccess) return NULL;
  return device;
}

int main(void) {
  static int32_t offsets[N + 1], columns[3 * N];
  static double values[3 * N], b[N], x[N];
  ts_context_desc desc = {.backend = "cuda"};
  ts_context *context = NULL;
  ts_matrix *A = NULL;
  ts_result result;
  int32_t count = 0;

  for (int32_t i = 0; i < N; i++) { // -1 3 -1
    for (int32_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < N; j++)
      columns[count] = j, values[count++] = j == i ? 3 : -1;
    offsets[i + 1] = count;
    b[i] = 1;
  }
  CHECK(ts_context_create(&desc, &context));
  int32_t *device_offsets = on_device(offsets, sizeof offsets);
  int32_t *device_columns = on_device(columns, sizeof columns);
  double *device_values = on_device(values, sizeof values);
  double *device_b = on_device(b, sizeof b), *device_x = on_device(x, sizeof x);

  ts_matrix_desc system = {.csr = ts_csr_make(N, N, ts_cuda(device_offsets, N + 1, NULL),
                                              ts_cuda(device_columns, count, NULL),
                                              ts_cuda(device_values, count, NULL))};
  CHECK(ts_matrix_create(context, &system, &A));
  CHECK(ts_solve(A, ts_cuda(device_b, N, NULL), ts_cuda(device_x, N, NULL), NULL, &result));
  if (cudaMemcpy(x, device_x, sizeof x, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  printf("%d iterations, middle %.4f\n", result.iterations, x[N / 2]);
  ts_matrix_destroy(&A);
  ts_context_destroy(&context);
  void *const arrays[] = {device_offsets, device_columns, device_values, device_b, device_x};
  for (int k = 0; k < 5; k++) cudaFree(arrays[k]);
  return fabs(x[N / 2] - 1) > 1e-3;
}
