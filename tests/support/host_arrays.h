/* Operations on arrays in device memory for the CPU backend, with the host as its device. Otherwise only CUDA
 * has them. They test the library's code for CUDA arrays without a device. */
#ifndef HOST_ARRAYS_H
#define HOST_ARRAYS_H

#include "common/core/core.h"

/* Counts since the operations were installed. */
typedef struct host_arrays {
  int allocated, held; /* blocks in total, and blocks that are not freed yet */
  int looks, splits, joins;
  int most; /* the number of blocks after which memory runs out */
} host_arrays;

/* Installs the operations in a context of the CPU backend without checks. */
void host_arrays_install(ts_context *context, host_arrays *counts);

#endif
