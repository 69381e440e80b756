/* Makes small matrices behave like large ones. */
#ifndef CUDA_CACHE_H
#define CUDA_CACHE_H

#include "test.h"

/* The context treats matrices that it creates from now on as larger than the device's cache. */
void cuda_forget_cache(ts_context *context);

#endif
