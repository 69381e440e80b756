/* Operations on arrays in a device's memory, which CUDA has, for the CPU backend: its device is the host. What
 * the library does with arrays of CUDA is tested without a device. */
#ifndef HOST_ARRAYS_H
#define HOST_ARRAYS_H

#include "common/core/core.h"

/* Counts since the context got them. */
typedef struct host_arrays {
  int allocated, held; /* blocks, and those that have not been given back */
  int looks, splits, joins;
  int most; /* blocks that are granted; there is no memory for the next */
} host_arrays;

/* Gives them to the context, which has the CPU backend without checks. */
void host_arrays_install(ts_context *context, host_arrays *counts);

#endif
