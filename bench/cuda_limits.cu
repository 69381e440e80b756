/* What a CUDA device can do: copies, kernels that wait for each other, blocks that wait for each other. */
#include "cuda_limits.h"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

extern "C" void bench_error(const char *format, ...);

enum { THREADS = 256, BATCH_MILLISECONDS = 50 };

static int check(cudaError_t error, const char *doing) {
  if (error == cudaSuccess) return 0;
  cudaGetLastError();
  bench_error("%s: %s", doing, cudaGetErrorString(error));
  return 1;
}

int cuda_limits_begin(int device) {
  return check(cudaSetDevice(device), "choosing the CUDA device");
}

/* ---- Copies ---- */

typedef struct arrays {
  float4 *a, *b;
  size_t count;
} arrays;

static __global__ void copy(size_t count, float4 *to, const float4 *from) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i];
}

static int run_copies(void *user, long count) {
  const arrays *s = (const arrays *)user;
  for (long i = 0; i < count; i++)
    copy<<<(unsigned)((s->count + THREADS - 1) / THREADS), THREADS>>>(s->count, i % 2 ? s->a : s->b,
                                                                      i % 2 ? s->b : s->a);
  return check(cudaDeviceSynchronize(), "copying");
}

int cuda_limits_copy(size_t bytes, int repeat, timing *t, double *rate) {
  arrays s = {};
  s.count = bytes / 2 / sizeof(float4);
  if (s.count == 0) s.count = 1;
  int failed = check(cudaMalloc((void **)&s.a, s.count * sizeof(float4)), "memory for copies") ||
               check(cudaMalloc((void **)&s.b, s.count * sizeof(float4)), "memory for copies") ||
               check(cudaMemset(s.a, 0, s.count * sizeof(float4)), "filling memory") ||
               timing_measure(t, repeat, BATCH_MILLISECONDS * 1e-3, run_copies, &s);
  if (!failed) *rate = 2.0 * (double)s.count * sizeof(float4) / t->fastest;
  cudaFree(s.a);
  cudaFree(s.b);
  return failed;
}

/* ---- Waits ---- */

typedef struct waits {
  cuda_wait_kind kind;
  unsigned blocks, threads;
  float *number;
} waits;

static __global__ void one(float *number) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *number += 1;
}

static __global__ void blocks_wait(int count) {
  for (int i = 0; i < count; i++) cooperative_groups::this_grid().sync();
}

static int run_waits(void *user, long count) {
  const waits *s = (const waits *)user;
  float number;
  int times = (int)count;
  void *arguments[] = {&times};
  switch (s->kind) {
  case CUDA_KERNEL:
    for (long i = 0; i < count; i++) one<<<1, 32>>>(s->number);
    break;
  case CUDA_KERNEL_READ:
    for (long i = 0; i < count; i++) {
      one<<<1, 32>>>(s->number);
      if (check(cudaMemcpy(&number, s->number, sizeof number, cudaMemcpyDeviceToHost), "reading a number"))
        return 1;
    }
    break;
  default:
    if (check(cudaLaunchCooperativeKernel((const void *)blocks_wait, dim3(s->blocks), dim3(s->threads),
                                          arguments, 0, NULL),
              "starting blocks that wait"))
      return 1;
  }
  return check(cudaGetLastError(), "starting a kernel") ||
         check(cudaDeviceSynchronize(), "waiting for kernels");
}

int cuda_limits_wait(cuda_wait_kind kind, int repeat, timing *t) {
  int device = 0, multiprocessors = 1;
  waits s = {};
  s.kind = kind;
  int failed = check(cudaGetDevice(&device), "reading the device") ||
               check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
                     "counting multiprocessors");
  if (failed) return 1;
  s.threads = kind == CUDA_BLOCKS_WAIT_FULL ? 512 : THREADS;
  s.blocks = (unsigned)multiprocessors * (kind == CUDA_BLOCKS_WAIT_FULL ? 2 : 1);
  failed = check(cudaMalloc((void **)&s.number, sizeof *s.number), "memory for a number") ||
           check(cudaMemset(s.number, 0, sizeof *s.number), "filling memory") ||
           timing_measure(t, repeat, BATCH_MILLISECONDS * 1e-3, run_waits, &s);
  cudaFree(s.number);
  return failed;
}
