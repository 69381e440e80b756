/* A device as a part of a larger backend: the operations, as in multi/part.h, for C and for CUDA. */
#ifndef CUDA_PART_H
#define CUDA_PART_H

#ifdef __cplusplus
extern "C" {
#endif

#include "multi/part.h"

TSI_PART_OPERATIONS(TSI_PROTOTYPE, TSI_PROTOTYPE, cuda_part_)

/* out[index[k]] = what slot k of all ranks is together: `highs` has `count` slots of each, one rank after the
 * other, and so has `lows` their low parts, unless it is NULL. */
ts_status cuda_combine_ranks(ts_scalars *out, const int *index, int count, tsi_reduction kind, int components,
                             int ranks, const float *highs, const float *lows);

#ifdef __cplusplus
}
#endif
#endif
