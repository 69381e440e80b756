/* Kernels on several devices that work as one: sums over all their grids, and elements that each pushes to
 * where others have their ghosts. The host takes no part.
 *
 * At a round the grid of a device adds up its partial sums as in cuda_grid_sum.cuh, but only block 0 waits for
 * the others' and adds them up. It writes the sums into its letter in the mailbox of every other device, and
 * the letter's number behind them; waits for the letters of all; adds them up in the order of the parts, so
 * that all have the same bits; and lets its grid go on. Whatever a device has written to another one before a
 * round the other one sees after it: threads that write there make it visible to all devices before their block
 * arrives, block 0 is behind all of them, and its letter's number is written last.
 *
 * Letters have two places that take turns. A device writes the letter of round t + 2, over that of round t,
 * when it has the letters of t + 1 of all, and a device sends its letter of t + 1 after it has read those of t.
 * Runs of a kernel are apart: the streams of all parts join before one begins. A letter's number is of its run
 * and its round, so none of an earlier run is taken for a new one.
 *
 * A wait for a letter has a limit. The device whose limit has passed tells the host which part was silent, and
 * tells all others that it has left, who leave as well, at the latest when their own limits have passed. Blocks
 * wait for their block 0 only, so nothing waits for ever. */
#ifndef CUDA_PEERS_CUH
#define CUDA_PEERS_CUH

#include <limits.h>

#include "cuda_grid_sum.cuh"
#include "cuda_peers.h"

/* The sums of one part in one round. */
struct __align__(128) cuda_letter {
  double values[CUDA_GRID_SUM_KINDS];
  unsigned long long number;
};

struct cuda_mailbox {
  cuda_letter letters[2][CUDA_MOST_PEERS];  /* by part */
  unsigned long long left[CUDA_MOST_PEERS]; /* the last run that a part left before its end */
  /* For the device's own blocks: the sums of all parts, and the round that has them. */
  double totals[CUDA_GRID_SUM_KINDS];
  unsigned long long open;
};

/* Of a part: its elements that are ghosts of one other part, and the first one there. */
struct cuda_push {
  const int32_t *indices;
  int32_t count;
  float *d, *r, *q, *m;
};

/* What a part knows of the others: an argument of its kernel, which reads it without a load from memory. */
struct cuda_parts {
  cuda_mailbox *box;       /* this part's */
  int *silent;             /* the host's: 1 + the part that gave no answer, or CUDA_WAS_TOLD */
  int number, count;       /* this part, and how many there are */
  unsigned long long run;  /* from 1 on */
  unsigned long long wait; /* nanoseconds */
  cuda_mailbox *boxes[CUDA_MOST_PEERS];
  int push_count;
  cuda_push pushes[CUDA_MOST_PEERS];
};

/* ---- Memory that other devices write ---- */

static __device__ __forceinline__ unsigned long long cuda_acquire(const unsigned long long *from) {
  unsigned long long value;
#if __CUDA_ARCH__ >= 700
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
#else
  value = *(const volatile unsigned long long *)from;
  __threadfence_system();
#endif
  return value;
}

static __device__ __forceinline__ void cuda_release(unsigned long long *to, unsigned long long value) {
#if __CUDA_ARCH__ >= 700
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
#else
  __threadfence_system();
  *(volatile unsigned long long *)to = value;
#endif
}

static __device__ __forceinline__ unsigned long long cuda_nanoseconds(void) {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/* ---- Pushes ---- */

/* Elements of x to their ghosts `place` on the others, which see them after the next round if threads that have
 * written some, for which it returns true, call __threadfence_system before. The last threads have them: the
 * first block has enough to do. */
template <int N>
static __device__ __forceinline__ bool cuda_push_elements(const cuda_parts &parts, float *cuda_push::*place,
                                                          const float *x) {
  const size_t stride = (size_t)gridDim.x * blockDim.x,
               thread = stride - 1 - ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
  bool any = false;
  for (int k = 0; k < parts.push_count; k++) {
    const cuda_push &push = parts.pushes[k];
    float *to = push.*place;
    const size_t count = (size_t)push.count * N;
    any |= thread < count;
    for (size_t i = thread; i < count; i += stride) to[i] = x[(size_t)push.indices[i / N] * N + i % N];
  }
  return any;
}

/* ---- Rounds ---- */

/* What a grid has passed, 0 before: barriers, of which rounds are some; and rounds alone, by which letters take
 * turns. */
struct cuda_progress {
  unsigned barriers, rounds;
};

static __device__ __forceinline__ unsigned long long cuda_round(const cuda_parts &parts, unsigned number) {
  return parts.run << 32 | number;
}
static __device__ __forceinline__ bool cuda_is_end(unsigned long long round) {
  return (unsigned)round == UINT_MAX;
}

/* Waits for the letter of part `from`. Returns 0, or what goes into `silent`. */
static __device__ __forceinline__ int cuda_await_letter(const cuda_parts &parts, int from,
                                                        unsigned long long round) {
  const unsigned long long *number = &parts.box->letters[(unsigned)round % 2][from].number;
  const unsigned long long begin = cuda_nanoseconds();
  while (cuda_acquire(number) != round) {
    if (cuda_acquire(&parts.box->left[from]) == parts.run) return CUDA_WAS_TOLD;
    if (cuda_nanoseconds() - begin > parts.wait) return from + 1;
  }
  return 0;
}

/* Block 0's first warp, a lane for each part: `total`, which the block shares, becomes the sums over all parts.
 * Returns whether all have answered. The loops are short, and the kernel around them needs the registers. */
static __device__ __forceinline__ bool cuda_exchange_letters(const cuda_parts &parts, unsigned number,
                                                             unsigned kinds, double *total) {
  const int part = (int)threadIdx.x;
  const unsigned long long round = cuda_round(parts, number);
  const bool is_other = part < parts.count && part != parts.number;
  const volatile cuda_letter *letter = &parts.box->letters[number % 2][part];
  int silent = 0;
  if (is_other) {
    cuda_letter *sent = &parts.boxes[part]->letters[number % 2][parts.number];
#pragma unroll 1
    for (unsigned k = 0; k < kinds; k++) *(volatile double *)&sent->values[k] = total[k];
    cuda_release(&sent->number, round);
    silent = cuda_await_letter(parts, part, round);
  }
  const unsigned gone = __ballot_sync(0xffffffffu, silent != 0), late = __ballot_sync(0xffffffffu, silent > 0);
  if (gone) {
    if (part == 0) *(volatile int *)parts.silent = late ? __ffs((int)late) : CUDA_WAS_TOLD;
    if (is_other) cuda_release(&parts.boxes[part]->left[parts.number], parts.run);
    __threadfence_system();
    return false;
  }
#pragma unroll 1
  for (unsigned k = 0; k < kinds; k++) {
    const double value = is_other ? letter->values[k] : total[k];
    double sum = 0;
#pragma unroll 1
    for (int p = 0; p < parts.count; p++) sum += __shfl_sync(0xffffffffu, value, p);
    __syncwarp(); /* all have read it */
    if (part == 0) total[k] = sum;
  }
  return true;
}

/* The first warp of block 0, which has the partial sums of all: opens the round, or ends the run. */
static __device__ __forceinline__ bool cuda_open_round(const cuda_parts &parts, unsigned number, unsigned kinds,
                                                       double *total) {
  const bool answered = cuda_exchange_letters(parts, number, kinds, total);
  if (threadIdx.x == 0) {
#pragma unroll 1
    for (unsigned k = 0; k < kinds; k++) *(volatile double *)&parts.box->totals[k] = total[k];
    __threadfence();
    *(volatile unsigned long long *)&parts.box->open = cuda_round(parts, answered ? number : UINT_MAX);
  }
  return answered;
}

/* The first warp of another block: the sums of the round, once it is open. */
static __device__ __forceinline__ bool cuda_await_round(const cuda_parts &parts, unsigned number,
                                                        unsigned kinds, double *total) {
  const unsigned long long round = cuda_round(parts, number);
  unsigned long long open;
  do open = *(const volatile unsigned long long *)&parts.box->open;
  while (open < round);
  __threadfence();
  if (threadIdx.x < kinds) total[threadIdx.x] = *(const volatile double *)&parts.box->totals[threadIdx.x];
  return !cuda_is_end(open);
}

/* As cuda_grid_sum over the grids of all parts, in every thread of all of them. False, in every thread, where
 * the run has ended: a part was silent. */
template <int KINDS>
static __device__ __forceinline__ bool cuda_peers_sum(const cuda_parts &parts, const cuda_grid_barrier &barrier,
                                                      cuda_progress *passed, unsigned kinds,
                                                      const double (&value)[KINDS], double (&sum)[KINDS]) {
  __shared__ double total[KINDS];
  double *partials = cuda_partials(barrier, passed->barriers);
  cuda_leave_partials<KINDS>(partials, kinds, value);
  const unsigned all = ++passed->barriers * gridDim.x, number = ++passed->rounds;
  bool answered = true;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(barrier.arrived, 1);
  }
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      while (*(volatile unsigned *)barrier.arrived < all) continue;
      __threadfence();
    }
    __syncthreads();
    cuda_add_partials<KINDS>(partials, kinds, total);
    if (threadIdx.x < 32) answered = cuda_open_round(parts, number, kinds, total);
  } else if (threadIdx.x < 32) {
    answered = cuda_await_round(parts, number, kinds, total);
  }
  answered = __syncthreads_and(answered);
#pragma unroll
  for (int k = 0; k < KINDS; k++) sum[k] = k < (int)kinds ? total[k] : 0;
  return answered;
}

#endif
