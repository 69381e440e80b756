/* One device as a part of a larger backend: the operations of multi/part.h, for C and for CUDA. */
#ifndef CUDA_PART_H
#define CUDA_PART_H

#ifdef __cplusplus
extern "C" {
#endif

#include "multi/part.h"

TSI_PART_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, cuda_part_)

/* out[index[k]] = slot k, combined over all ranks. `highs` has `count` slots per rank, one rank after the
 * other. `lows` has their low-order parts in the same order, or is NULL. */
ts_status cuda_combine_ranks(ts_scalars *out, const int *index, int count, tsi_reduction kind, int components,
                             int ranks, const float *highs, const float *lows);

#ifdef __cplusplus
}
#endif
#endif
