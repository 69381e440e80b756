/* A program that assembles an equation on the GPU and solves it there, written with the public headers only. In
 * a stream of the program kernels compute the entries of a Laplacian, one by one without any order, and the
 * right-hand side. ts_solve reads and writes these arrays. Only the residual is copied to the host. */
#include <cstdio>
#include <cstdlib>

#include <texsolve/cuda.h>
#include <texsolve/solver.h>

static const int width = 100, points = width * width;

/* Each point adds 1 to itself and -1 to its neighbour for each side that has one, and 0.01 to itself. */
static __global__ void assemble(int *rows, int *columns, double *values, double *b) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= points) return;
  const int steps[4] = {-1, 1, -width, width}, x = i % width, y = i / width;
  const bool inside[4] = {x > 0, x<width - 1, y> 0, y < width - 1};
  b[i] = i % 7 - 3.0;
  for (int k = 0; k < 9; k++) {
    const int at = k * points + i, side = k / 2; /* a missing neighbour adds 0 */
    const bool neighbour = k < 8 && k % 2 && inside[side];
    rows[at] = i;
    columns[at] = neighbour ? i + steps[side] : i;
    values[at] = k == 8 ? 0.01 : !inside[side] ? 0 : neighbour ? -1 : 1;
  }
}

/* The largest |b - A x|. The bits of positive doubles, as integers, are in the same order as the numbers. */
static __global__ void measure(const int *rows, const int *columns, const double *values, const double *b,
                               const double *x, unsigned long long *worst) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= points) return;
  double r = b[i];
  for (int k = 0; k < 9; k++) r -= values[k * points + i] * x[columns[k * points + i]];
  atomicMax(worst, (unsigned long long)__double_as_longlong(fabs(r)));
}

static void check(ts_status status, const ts_context *context) {
  if (status >= 0) return;
  fprintf(stderr, "%s\n", ts_last_error(context));
  exit(1);
}

int main() {
  ts_context_desc desc = {};
  ts_context *context = NULL;
  desc.backend = "cuda";
  if (ts_context_create(&desc, &context) < 0) {
    printf("skipped: %s\n", ts_last_error(NULL));
    return 77;
  }
  int *rows, *columns;
  double *values, *b, *x, residual = 0;
  unsigned long long *worst;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMalloc(&rows, 9 * points * sizeof *rows);
  cudaMalloc(&columns, 9 * points * sizeof *columns);
  cudaMalloc(&values, 9 * points * sizeof *values);
  cudaMalloc(&b, points * sizeof *b);
  cudaMalloc(&x, points * sizeof *x);
  cudaMalloc(&worst, sizeof *worst);
  assemble<<<points / 100, 100, 0, stream>>>(rows, columns, values, b);
  cudaMemsetAsync(x, 0, points * sizeof *x, stream);
  cudaMemsetAsync(worst, 0, sizeof *worst, stream);

  ts_triplets triplets = {};
  triplets.rows = triplets.columns = points;
  triplets.row_indices = ts_cuda(rows, 9 * points, stream);
  triplets.column_indices = ts_cuda(columns, 9 * points, stream);
  triplets.values = ts_cuda(values, 9 * points, stream);
  ts_matrix_desc matrix = {};
  ts_matrix *A = NULL;
  matrix.triplets = &triplets;
  check(ts_matrix_create(context, &matrix, &A), context);

  ts_solver_desc solver = {};
  ts_result result = {};
  solver.rtol = 1e-12;
  check(ts_solve(A, ts_cuda(b, points, stream), ts_cuda(x, points, stream), &solver, &result), context);
  measure<<<points / 100, 100, 0, stream>>>(rows, columns, values, b, x, worst);
  cudaMemcpyAsync(&residual, worst, sizeof residual, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  printf("%d iterations, largest residual %.2g\n", result.iterations, residual);

  ts_matrix_destroy(&A);
  ts_context_destroy(&context);
  cudaFree(rows), cudaFree(columns), cudaFree(values), cudaFree(b), cudaFree(x), cudaFree(worst);
  cudaStreamDestroy(stream);
  return residual < 1e-9 ? 0 : 1;
}
