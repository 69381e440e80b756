/* A device as a part of a larger backend: the operations, as in multi/part.h, for C and for CUDA. */
#ifndef CUDA_PART_H
#define CUDA_PART_H

#ifdef __cplusplus
extern "C" {
#endif

#include "multi/part.h"

TSI_PART_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, cuda_part_)

#ifdef __cplusplus
}
#endif
#endif
