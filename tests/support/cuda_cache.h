/* Small matrices as if they were large ones. */
#ifndef CUDA_CACHE_H
#define CUDA_CACHE_H

#include "test.h"

/* Matrices that the context creates from now on count as larger than the device's cache. */
void cuda_forget_cache(ts_context *context);

#endif
