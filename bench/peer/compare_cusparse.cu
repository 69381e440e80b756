/* cuSPARSE and cuBLAS for `texsolve bench compare`: products by every applicable algorithm, preprocessed; axpy,
 * dot and nrm2; and conjugate gradients with both libraries. */
#include <math.h>
#include <stdlib.h>

#include "compare_cusparse.h"

/* An idle device has a low clock at first. */
static const double WARM_UP_SECONDS = 0.15;

static const float ONE = 1, ZERO = 0;

int product_prepare(product *p, device *d, const format *f, cusparseSpMVAlg_t algorithm, float *x, float *y) {
  size_t bytes = 0;
  *p = product{d, f->matrix, algorithm, NULL, NULL, NULL};
  CUSPARSE_REQUIRE(cusparseCreateDnVec(&p->x, f->columns, x, CUDA_R_32F));
  CUSPARSE_REQUIRE(cusparseCreateDnVec(&p->y, f->rows, y, CUDA_R_32F));
  if (cusparseSpMV_bufferSize(d->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &ONE, p->matrix, p->x, &ZERO, p->y,
                              CUDA_R_32F, algorithm, &bytes) != CUSPARSE_STATUS_SUCCESS) {
    product_release(p);
    return 1;
  }
  p->buffer = device_array(NULL, bytes);
  const cusparseStatus_t status =
      cusparseSpMV_preprocess(d->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &ONE, p->matrix, p->x, &ZERO, p->y,
                              CUDA_R_32F, algorithm, p->buffer);
  if (status != CUSPARSE_STATUS_SUCCESS || product_enqueue(p) != CUSPARSE_STATUS_SUCCESS) {
    product_release(p);
    return 1;
  }
  return 0;
}

void product_release(product *p) {
  CUDA_REQUIRE(cudaStreamSynchronize(p->d->stream));
  cudaFree(p->buffer);
  cusparseDestroyDnVec(p->x);
  cusparseDestroyDnVec(p->y);
}

cusparseStatus_t product_enqueue(const product *p) {
  return cusparseSpMV(p->d->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &ONE, p->matrix, p->x, &ZERO, p->y,
                      CUDA_R_32F, p->algorithm, p->buffer);
}

static int product_run(void *user, long count) {
  const product *p = (const product *)user;
  for (long i = 0; i < count; ++i) CUSPARSE_REQUIRE(product_enqueue(p));
  CUDA_REQUIRE(cudaStreamSynchronize(p->d->stream));
  return 0;
}

/* Measures one algorithm. Returns its seconds, or infinity if the product is not supported. */
static double measure_product(const peer *common, device *d, const format *f, const char *name,
                              cusparseSpMVAlg_t algorithm) {
  const generated_matrix *A = &common->A;
  float *x = (float *)device_array(NULL, (size_t)f->columns * 4),
        *y = (float *)device_array(NULL, (size_t)f->rows * 4);
  float *found = (float *)malloc((size_t)A->rows * sizeof *found);
  product p;
  double seconds = INFINITY;
  if (!found) peer_fail("no host memory for a vector");
  CUDA_REQUIRE(cudaMemcpy(x, common->x, (size_t)A->columns * 4, cudaMemcpyHostToDevice));
  if (!product_prepare(&p, d, f, algorithm, x, y)) {
    seconds = peer_measure(common, "cuSPARSE", name, "spmv", 1, f->bytes, product_run, &p);
    CUDA_REQUIRE(cudaMemcpy(found, y, (size_t)A->rows * 4, cudaMemcpyDeviceToHost));
    peer_check_product(common, name, found);
    product_release(&p);
  }
  free(found);
  cudaFree(y);
  cudaFree(x);
  return seconds;
}

/* Measures all products; conjugate gradients use the fastest CSR product. */
static void measure_products(const peer *common, device *d) {
  static const struct {
    const char *name;
    cusparseSpMVAlg_t algorithm;
  } algorithms[] = {{"default", CUSPARSE_SPMV_ALG_DEFAULT},
                    {"CSR_ALG1", CUSPARSE_SPMV_CSR_ALG1},
                    {"CSR_ALG2", CUSPARSE_SPMV_CSR_ALG2}};
  static const char *const block_names[] = {"BSR 2", "BSR 3", "BSR 4"};
  format csr, other, *best = &csr;
  double least = INFINITY;
  cusparseSpMVAlg_t chosen = CUSPARSE_SPMV_ALG_DEFAULT;
  format_csr(&csr, &common->A);
  format fastest_blocks;
  for (int i = 0; i < 3; ++i) {
    const double seconds = measure_product(common, d, &csr, algorithms[i].name, algorithms[i].algorithm);
    if (seconds < least) least = seconds, chosen = algorithms[i].algorithm;
  }
  for (int i = 0; i < 3; ++i) {
    if (format_bsr(&other, &common->A, i + 2)) continue;
    const double seconds = measure_product(common, d, &other, block_names[i], CUSPARSE_SPMV_BSR_ALG1);
    if (seconds < least) {
      least = seconds, chosen = CUSPARSE_SPMV_BSR_ALG1;
      fastest_blocks = other;
      best = &fastest_blocks;
    }
  }
  if (!format_sell(&other, &common->A)) {
    const double seconds = measure_product(common, d, &other, "SELL", CUSPARSE_SPMV_SELL_ALG1);
    if (seconds < least) {
      least = seconds, chosen = CUSPARSE_SPMV_SELL_ALG1;
      fastest_blocks = other;
      best = &fastest_blocks;
    }
  }
  if (common->A.rows == common->A.columns) measure_cg(common, d, best, chosen);
}

typedef struct vectors {
  device *d;
  int n;
  float *x, *y, *result;
} vectors;

static int axpy_run(void *user, long count) {
  static const float up = 0.5f, down = -0.5f;
  const vectors *v = (const vectors *)user;
  for (long i = 0; i < count; ++i)
    CUBLAS_REQUIRE(cublasSaxpy(v->d->blas, v->n, i & 1 ? &up : &down, v->x, 1, v->y, 1));
  CUDA_REQUIRE(cudaStreamSynchronize(v->d->stream));
  return 0;
}

static int dot_run(void *user, long count) {
  const vectors *v = (const vectors *)user;
  for (long i = 0; i < count; ++i) CUBLAS_REQUIRE(cublasSdot(v->d->blas, v->n, v->x, 1, v->y, 1, v->result));
  CUDA_REQUIRE(cudaStreamSynchronize(v->d->stream));
  return 0;
}

static int nrm2_run(void *user, long count) {
  const vectors *v = (const vectors *)user;
  for (long i = 0; i < count; ++i) CUBLAS_REQUIRE(cublasSnrm2(v->d->blas, v->n, v->x, 1, v->result));
  CUDA_REQUIRE(cudaStreamSynchronize(v->d->stream));
  return 0;
}

/* As in texsolve, results of reductions stay on the device. */
static void measure_vectors(const peer *common, device *d) {
  const size_t bytes = (size_t)common->A.rows * 4;
  vectors v = {d, common->A.rows, (float *)device_array(common->y, bytes),
               (float *)device_array(common->y, bytes), (float *)device_array(NULL, 4)};
  peer_measure(common, "cuBLAS", "", "axpy", 1, 0, axpy_run, &v);
  CUBLAS_REQUIRE(cublasSetPointerMode(d->blas, CUBLAS_POINTER_MODE_DEVICE));
  peer_measure(common, "cuBLAS", "", "dot", 1, 0, dot_run, &v);
  peer_measure(common, "cuBLAS", "", "nrm2", 1, 0, nrm2_run, &v);
  cudaFree(v.result);
  cudaFree(v.y);
  cudaFree(v.x);
}

enum { WORKSPACE_BYTES = 32 << 20 };

int main(int argc, char **argv) {
  peer common;
  device d;
  peer_begin(&common, "compare-cusparse", argc, argv);
  CUDA_REQUIRE(cudaSetDevice(common.device));
  CUDA_REQUIRE(cudaStreamCreateWithFlags(&d.stream, cudaStreamNonBlocking));
  CUSPARSE_REQUIRE(cusparseCreate(&d.sparse));
  CUSPARSE_REQUIRE(cusparseSetStream(d.sparse, d.stream));
  CUBLAS_REQUIRE(cublasCreate(&d.blas));
  CUBLAS_REQUIRE(cublasSetStream(d.blas, d.stream));
  /* Passed to cuBLAS, so that the addresses in a graph stay valid. */
  void *workspace = device_array(NULL, WORKSPACE_BYTES);
  CUBLAS_REQUIRE(cublasSetWorkspace(d.blas, workspace, WORKSPACE_BYTES));
  timing_set_warm_up(WARM_UP_SECONDS);
  measure_products(&common, &d);
  measure_vectors(&common, &d);
  return peer_end(&common);
}
