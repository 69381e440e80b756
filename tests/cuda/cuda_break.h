/* A kernel that fails while it runs. */
#ifndef CUDA_BREAK_H
#define CUDA_BREAK_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C"
#endif
    /* Returns once it is asked for. */
    cudaError_t
    cuda_break(cudaStream_t stream);

#endif
