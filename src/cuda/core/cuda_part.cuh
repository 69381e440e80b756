/* What a device as a part of a larger backend keeps. */
#ifndef CUDA_PART_CUH
#define CUDA_PART_CUH

#include "cuda_kernels.cuh"
#include "cuda_part.h"

/* Elements that are ghosts of another part: their indices, and where they are many also the other way round,
 * for each element which ghost it is, or -1; else NULL. */
struct cuda_index_list {
  int32_t *indices, *ghosts;
  int32_t count, size;
};

#endif
