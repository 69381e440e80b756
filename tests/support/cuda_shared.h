/* What kernels find in shared memory that they did not write. */
#ifndef CUDA_SHARED_H
#define CUDA_SHARED_H

#ifdef __cplusplus
extern "C"
#endif
    /* Leaves NaNs in the shared memory of all multiprocessors of the current device, as far as kernels without
     * leave to use more can reach it. 0, or an error of the CUDA runtime. */
    int
    cuda_fill_shared(void);

#endif
