#include "cuda_break.h"

__global__ static void write_nowhere(void) {
  *(volatile float *)64 = 1;
}

cudaError_t cuda_break(cudaStream_t stream) {
  write_nowhere<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}
