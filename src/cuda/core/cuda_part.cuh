/* What a device as a part of a larger backend keeps. */
#ifndef CUDA_PART_CUH
#define CUDA_PART_CUH

#include "cuda_kernels.cuh"
#include "multi/part.h"

extern "C" {
TSI_PART_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, cuda_part_)
}

struct cuda_index_list {
  int32_t *indices;
  int32_t count;
};

#endif
