/* What a device as a part of a larger backend keeps. */
#ifndef CUDA_PART_CUH
#define CUDA_PART_CUH

#include "cuda_kernels.cuh"
#include "cuda_part.h"

struct cuda_index_list {
  int32_t *indices;
  int32_t count;
};

#endif
