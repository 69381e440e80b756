/* A kernel that fails during its execution. */
#ifndef CUDA_BREAK_H
#define CUDA_BREAK_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C"
#endif
    /* Returns when the kernel has been launched. */
    cudaError_t
    cuda_break(cudaStream_t stream);

#endif
