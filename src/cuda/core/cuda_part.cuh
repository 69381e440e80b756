/* The data of a device that is a part of a larger backend. */
#ifndef CUDA_PART_CUH
#define CUDA_PART_CUH

#include "cuda_kernels.cuh"
#include "cuda_part.h"

/* The indices of elements that are ghosts of another part. If they are many, `ghosts` is the inverse: the ghost
 * number of each element, or -1. Otherwise it is NULL. */
struct cuda_index_list {
  int32_t *indices, *ghosts;
  int32_t count, size;
};

#endif
