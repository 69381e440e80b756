#include <cuda_runtime_api.h>

#include "cuda_shared.h"

enum { BYTES = 48 << 10, THREADS = 256 };

__global__ static void fill_shared(int clocks) {
  __shared__ volatile int bits[BYTES / sizeof(int)];
  for (int i = (int)threadIdx.x; i < BYTES / (int)sizeof(int); i += THREADS) bits[i] = 0x7fc00000;
  /* Waits until all blocks run, so that every multiprocessor gets one. */
  const long long begin = clock64();
  while (clock64() - begin < clocks) continue;
}

int cuda_fill_shared(void) {
  int device = 0, multiprocessors = 0, all = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (!error) error = cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
  if (error) return error;
  fill_shared<<<multiprocessors *(all / BYTES + 1), THREADS>>>(100000);
  error = cudaGetLastError();
  return error ? error : cudaDeviceSynchronize();
}
