/* The parts of compare-cusparse: products of cuSPARSE, operations of cuBLAS, and conjugate gradients with
 * both. */
#ifndef BENCH_COMPARE_CUSPARSE_H
#define BENCH_COMPARE_CUSPARSE_H

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include "compare_peer.h"

/* Each ends the program and names the failed call. */
#define CUDA_REQUIRE(call) require_cuda((call), #call)
#define CUSPARSE_REQUIRE(call) require_cusparse((call), #call)
#define CUBLAS_REQUIRE(call) require_cublas((call), #call)

static inline void require_cuda(cudaError_t error, const char *call) {
  if (error != cudaSuccess) peer_fail("%s (%s)", cudaGetErrorString(error), call);
}
static inline void require_cusparse(cusparseStatus_t status, const char *call) {
  if (status != CUSPARSE_STATUS_SUCCESS) peer_fail("%s (%s)", cusparseGetErrorString(status), call);
}
static inline void require_cublas(cublasStatus_t status, const char *call) {
  if (status != CUBLAS_STATUS_SUCCESS) peer_fail("%s (%s)", cublasGetStatusString(status), call);
}

typedef struct device {
  cudaStream_t stream;
  cusparseHandle_t sparse;
  cublasHandle_t blas;
} device;

/* A matrix in a format of cuSPARSE. Its device arrays live until the program ends. */
typedef struct format {
  cusparseConstSpMatDescr_t matrix;
  int64_t rows, columns; /* padded to whole blocks */
  double bytes;          /* moved by a product */
} format;

/* A prepared product y = A x with device vectors. */
typedef struct product {
  device *d;
  cusparseConstSpMatDescr_t matrix;
  cusparseSpMVAlg_t algorithm;
  cusparseDnVecDescr_t x, y;
  void *buffer;
} product;

/* Allocates device memory with a copy of `data`, or zeros if it is NULL. */
void *device_array(const void *data, size_t bytes);

void format_csr(format *f, const generated_matrix *A);
/* Nonzero: the padding would exceed the entries, and the format is not a candidate. */
int format_bsr(format *f, const generated_matrix *A, int32_t block);
int format_sell(format *f, const generated_matrix *A);

/* Prepares a product, including preprocessing. Nonzero: cuSPARSE does not support it. */
int product_prepare(product *p, device *d, const format *f, cusparseSpMVAlg_t algorithm, float *x, float *y);
void product_release(product *p);
cusparseStatus_t product_enqueue(const product *p);

/* Measures conjugate gradients with the product, as calls and captured in a graph. */
void measure_cg(const peer *common, device *d, const format *f, cusparseSpMVAlg_t algorithm);

#endif
