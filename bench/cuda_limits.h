/* CUDA probes: the rate of copies, and what kernels and waits cost. Nonzero: failed, with a message. */
#ifndef BENCH_CUDA_LIMITS_H
#define BENCH_CUDA_LIMITS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "timing.h"

typedef enum cuda_wait_kind {
  CUDA_KERNEL,          /* a small kernel behind another one */
  CUDA_KERNEL_READ,     /* a kernel, and one number of it read by the host */
  CUDA_BLOCKS_WAIT,     /* all blocks of a kernel wait for each other, a block a multiprocessor */
  CUDA_BLOCKS_WAIT_FULL /* two blocks of 512 threads a multiprocessor */
} cuda_wait_kind;
enum { CUDA_WAITS = CUDA_BLOCKS_WAIT_FULL + 1 };

/* `device`: as in "cuda:N", from 0. */
int cuda_limits_begin(int device);

/* Bytes per second, read and written ones, with two arrays of `bytes` altogether. */
int cuda_limits_copy(size_t bytes, int repeat, timing *t, double *rate);
/* Seconds of one. */
int cuda_limits_wait(cuda_wait_kind kind, int repeat, timing *t);

#ifdef __cplusplus
}
#endif

#endif
