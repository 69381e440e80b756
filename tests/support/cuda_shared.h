/* The initial content of kernels' shared memory. */
#ifndef CUDA_SHARED_H
#define CUDA_SHARED_H

#ifdef __cplusplus
extern "C"
#endif
    /* Fills the shared memory of all multiprocessors of the current device with NaN, up to the default limit of
     * a kernel. Returns 0 or an error of the CUDA runtime. */
    int
    cuda_fill_shared(void);

#endif
