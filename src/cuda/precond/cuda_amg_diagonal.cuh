/* The diagonal of a row. */
#ifndef CUDA_AMG_DIAGONAL_CUH
#define CUDA_AMG_DIAGONAL_CUH

#include "cuda/core/cuda_kernels.cuh"

#include "cuda_amg.h"

/* Returns 0 if the row has no diagonal entry. */
static __device__ __forceinline__ float cuda_amg_diagonal_of(const cuda_amg_csr &A, int32_t row) {
  const int32_t end = A.offsets[row + 1];
  int32_t low = A.offsets[row], high = end;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (A.indices[middle] < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && A.indices[low] == row ? A.values[low] : 0;
}

#endif
