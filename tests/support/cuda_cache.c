#include "cuda_cache.h"

#include "cuda/core/cuda.h"

void cuda_forget_cache(ts_context *context) {
  cuda_state_of(context)->l2_bytes = 0;
}
