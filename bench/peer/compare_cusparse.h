/* The parts of compare-cusparse: products of cuSPARSE, operations of cuBLAS, conjugate gradients of both. */
#ifndef BENCH_COMPARE_CUSPARSE_H
#define BENCH_COMPARE_CUSPARSE_H

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include "compare_peer.h"

/* Each ends the program with the call that failed. */
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

/* A matrix as some format of cuSPARSE; its arrays on the device live until the program ends. */
typedef struct format {
  cusparseConstSpMatDescr_t matrix;
  int64_t rows, columns; /* padded to whole blocks */
  double bytes;          /* that a product moves */
} format;

/* A prepared product y = A x with vectors of the device. */
typedef struct product {
  device *d;
  cusparseConstSpMatDescr_t matrix;
  cusparseSpMVAlg_t algorithm;
  cusparseDnVecDescr_t x, y;
  void *buffer;
} product;

/* Device memory with a copy of `bytes` at `data`, or zeros where that is NULL. */
void *device_array(const void *data, size_t bytes);

void format_csr(format *f, const generated_matrix *A);
/* Nonzero: padding would take more than the entries do, and the format is no candidate. */
int format_bsr(format *f, const generated_matrix *A, int32_t block);
int format_sell(format *f, const generated_matrix *A);

/* Sets a product up, preprocessed. Nonzero: cuSPARSE does not have it. */
int product_prepare(product *p, device *d, const format *f, cusparseSpMVAlg_t algorithm, float *x, float *y);
void product_release(product *p);
cusparseStatus_t product_enqueue(const product *p);

/* Conjugate gradients with the product: as calls, and captured in a graph. */
void measure_cg(const peer *common, device *d, const format *f, cusparseSpMVAlg_t algorithm);

#endif
