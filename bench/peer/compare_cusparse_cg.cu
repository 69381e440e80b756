/* Conjugate gradients with Jacobi's preconditioner as a program would write them with cuSPARSE and cuBLAS.
 * Every scalar stays on the device, and two single-thread kernels divide. The residual is checked every
 * PEER_CHECK_INTERVAL iterations. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare_cusparse.h"

/* Scalars on the device. */
enum { DELTA, DELTA_NEW, CURVATURE, ALPHA, MINUS_ALPHA, BETA, ONE, SCALARS };

typedef struct solver {
  device *d;
  product p; /* q = A d */
  int n;
  float *x, *r, *z, *direction, *q, *inverse_diagonal, *b, *s;
  cudaGraphExec_t iterations; /* PEER_CHECK_INTERVAL of them; NULL: separate calls */
  float delta;                /* at the last check */
} solver;

static __global__ void step_length(float *s) {
  s[ALPHA] = s[CURVATURE] != 0 ? s[DELTA] / s[CURVATURE] : 0;
  s[MINUS_ALPHA] = -s[ALPHA];
}

static __global__ void direction_weight(float *s) {
  s[BETA] = s[DELTA] != 0 ? s[DELTA_NEW] / s[DELTA] : 0;
  s[DELTA] = s[DELTA_NEW];
}

/* z = M^-1 r and delta = r . z */
static void precondition(const solver *c, int delta) {
  CUBLAS_REQUIRE(
      cublasSdgmm(c->d->blas, CUBLAS_SIDE_LEFT, c->n, 1, c->r, c->n, c->inverse_diagonal, 1, c->z, c->n));
  CUBLAS_REQUIRE(cublasSdot(c->d->blas, c->n, c->r, 1, c->z, 1, c->s + delta));
}

static void iterate(const solver *c) {
  cublasHandle_t blas = c->d->blas;
  CUSPARSE_REQUIRE(product_enqueue(&c->p));
  CUBLAS_REQUIRE(cublasSdot(blas, c->n, c->direction, 1, c->q, 1, c->s + CURVATURE));
  step_length<<<1, 1, 0, c->d->stream>>>(c->s);
  CUBLAS_REQUIRE(cublasSaxpy(blas, c->n, c->s + ALPHA, c->direction, 1, c->x, 1));
  CUBLAS_REQUIRE(cublasSaxpy(blas, c->n, c->s + MINUS_ALPHA, c->q, 1, c->r, 1));
  precondition(c, DELTA_NEW);
  direction_weight<<<1, 1, 0, c->d->stream>>>(c->s);
  CUBLAS_REQUIRE(cublasSscal(blas, c->n, c->s + BETA, c->direction, 1));
  CUBLAS_REQUIRE(cublasSaxpy(blas, c->n, c->s + ONE, c->z, 1, c->direction, 1));
}

static int solve_run(void *user, long count) {
  solver *c = (solver *)user;
  cudaStream_t stream = c->d->stream;
  const size_t bytes = (size_t)c->n * 4;
  for (long i = 0; i < count; ++i) {
    CUDA_REQUIRE(cudaMemsetAsync(c->x, 0, bytes, stream));
    CUDA_REQUIRE(cudaMemcpyAsync(c->r, c->b, bytes, cudaMemcpyDeviceToDevice, stream));
    precondition(c, DELTA);
    CUDA_REQUIRE(cudaMemcpyAsync(c->direction, c->z, bytes, cudaMemcpyDeviceToDevice, stream));
    for (int k = 0; k < PEER_ITERATIONS; k += PEER_CHECK_INTERVAL) {
      if (c->iterations)
        CUDA_REQUIRE(cudaGraphLaunch(c->iterations, stream));
      else
        for (int j = 0; j < PEER_CHECK_INTERVAL; ++j) iterate(c);
      CUDA_REQUIRE(cudaMemcpyAsync(&c->delta, c->s + DELTA, 4, cudaMemcpyDeviceToHost, stream));
      CUDA_REQUIRE(cudaStreamSynchronize(stream));
    }
  }
  CUDA_REQUIRE(cudaGetLastError());
  return 0;
}

static float *inverse_diagonal(const generated_matrix *A, size_t padded) {
  float *d = (float *)calloc(padded, sizeof *d);
  if (!d) peer_fail("no host memory for a diagonal");
  for (int32_t i = 0; i < A->rows; ++i)
    for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; ++k)
      if (A->column_indices[k] == i) d[i] += A->values[k];
  for (int32_t i = 0; i < A->rows; ++i) d[i] = d[i] != 0 ? 1 / d[i] : 0;
  return d;
}

/* ||b - A x|| / ||b|| in double precision. */
static double residual(const peer *common, const solver *c) {
  const generated_matrix *A = &common->A;
  float *x = (float *)malloc((size_t)A->rows * sizeof *x);
  if (!x) peer_fail("no host memory for a vector");
  CUDA_REQUIRE(cudaMemcpy(x, c->x, (size_t)A->rows * 4, cudaMemcpyDeviceToHost));
  double sum = 0, norm = 0;
  for (int32_t i = 0; i < A->rows; ++i) {
    double r = common->y[i];
    norm += r * r;
    for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; ++k)
      r -= (double)A->values[k] * (double)x[A->column_indices[k]];
    sum += r * r;
  }
  free(x);
  return sqrt(sum / norm);
}

static void capture(solver *c) {
  cudaGraph_t graph;
  CUDA_REQUIRE(cudaStreamBeginCapture(c->d->stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < PEER_CHECK_INTERVAL; ++i) iterate(c);
  CUDA_REQUIRE(cudaStreamEndCapture(c->d->stream, &graph));
  CUDA_REQUIRE(cudaGraphInstantiate(&c->iterations, graph, 0));
  CUDA_REQUIRE(cudaGraphDestroy(graph));
}

void measure_cg(const peer *common, device *d, const format *f, cusparseSpMVAlg_t algorithm) {
  const generated_matrix *A = &common->A;
  /* Blocks may extend beyond the last row. */
  const size_t padded = (size_t)(f->rows > f->columns ? f->rows : f->columns), bytes = padded * 4;
  float scalars[SCALARS] = {0}, *diagonal = inverse_diagonal(A, padded);
  solver c = {.d = d, .n = A->rows};
  float **const arrays[] = {&c.x, &c.r, &c.z, &c.direction, &c.q, &c.b};
  const int array_count = (int)(sizeof arrays / sizeof *arrays);
  for (int i = 0; i < array_count; ++i) *arrays[i] = (float *)device_array(NULL, bytes);
  scalars[ONE] = 1;
  c.inverse_diagonal = (float *)device_array(diagonal, bytes);
  c.s = (float *)device_array(scalars, sizeof scalars);
  free(diagonal);
  CUDA_REQUIRE(cudaMemcpy(c.b, common->y, (size_t)A->rows * 4, cudaMemcpyHostToDevice));
  CUBLAS_REQUIRE(cublasSetPointerMode(d->blas, CUBLAS_POINTER_MODE_DEVICE));
  if (product_prepare(&c.p, d, f, algorithm, c.direction, c.q)) peer_fail("cuSPARSE lost a product");

  solve_run(&c, 1);
  const double left = residual(common, &c);
  if (left < 10) {
    peer_measure(common, "cuSPARSE", "CG calls", "cg", PEER_ITERATIONS, 0, solve_run, &c);
    capture(&c);
    peer_measure(common, "cuSPARSE", "CG graph", "cg", PEER_ITERATIONS, 0, solve_run, &c);
    CUDA_REQUIRE(cudaGraphExecDestroy(c.iterations));
  } else {
    fprintf(stderr,
            "compare-cusparse: conjugate gradients of cuSPARSE are left out: after %d iterations the residual "
            "is %.1e\n",
            (int)PEER_ITERATIONS, left);
  }
  product_release(&c.p);
  CUBLAS_REQUIRE(cublasSetPointerMode(d->blas, CUBLAS_POINTER_MODE_HOST));
  for (int i = 0; i < array_count; ++i) cudaFree(*arrays[i]);
  cudaFree(c.inverse_diagonal);
  cudaFree(c.s);
}
