#include "cuda_break.h"

/* A trap instead of an invalid address. After a memory fault, OpenGL and CUDA in one process no longer see each
 * other's writes on that GPU. This affects all processes (H200, driver 580.159.04). */
__global__ static void stop(void) {
  asm volatile("trap;");
}

cudaError_t cuda_break(cudaStream_t stream) {
  stop<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}
