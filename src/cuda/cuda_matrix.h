/* Matrices on the device: what matrix_create keeps in ts_matrix.impl, and the operations on them. C, as cuda.h.
 */
#ifndef CUDA_MATRIX_H
#define CUDA_MATRIX_H

#include "cuda.h"

/* Compressed sparse rows. */
typedef struct cuda_csr {
  int32_t rows;
  int32_t entries;
  int log2_lanes; /* a row is shared by 1 << log2_lanes threads of a warp */
  int32_t *row_offsets, *columns;
  float *values;
} cuda_csr;

typedef struct cuda_matrix {
  cuda_csr csr;
  unsigned char *locked; /* flags of rows where a residual is 0, NULL: none */
} cuda_matrix;

static inline cuda_matrix *cuda_matrix_of(const ts_matrix *A) {
  return (cuda_matrix *)A->impl;
}

#endif
