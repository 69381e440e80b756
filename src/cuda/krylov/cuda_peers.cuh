/* Kernels on several devices that work as one: sums over all their grids, and elements that each pushes to
 * where others have their ghosts. The host takes no part.
 *
 * At a round the grid of a device adds up its partial sums as in cuda_grid_sum.cuh. Its first block writes the
 * sums into the device's letter in the mailbox of every other device. Every block then reads the letters of
 * all, from its own device's memory, and adds them up in the order of the parts, so that all have the same
 * bits.
 *
 * A letter needs no fence: a number is written at once with the round's tag in each half, and is there when
 * both halves have the tag. A round that publishes is one behind which devices see what others have pushed
 * before it: all blocks have arrived at the first one when that makes everything visible to all devices, before
 * its letter.
 *
 * Letters have two places that take turns. A device writes the letter of round t + 2, over that of round t,
 * when it has the letters of t + 1 of all, and a device sends its letter of t + 1 when all its blocks have read
 * those of t. Runs of a kernel are apart: the streams of all parts join before one begins. Tags go on from run
 * to run, so none of an earlier run is taken for a new one.
 *
 * A wait for a letter has a limit, which the first block of a device watches. Where it has passed, that block
 * tells the host which part was silent, all other devices that this one has left, who leave as well, at the
 * latest when their own limits have passed, and the other blocks of its device, who look for that wherever they
 * wait. So nothing waits for ever. */
#ifndef CUDA_PEERS_CUH
#define CUDA_PEERS_CUH

#include "cuda_grid_sum.cuh"
#include "cuda_peers.h"

/* The sums of one part in one round: the halves of each, lower one first, with the tag behind each of them. */
struct __align__(128) cuda_letter {
  uint4 values[CUDA_GRID_SUM_KINDS];
};

struct cuda_mailbox {
  cuda_letter letters[2][CUDA_MOST_PEERS]; /* by part */
  unsigned left[CUDA_MOST_PEERS];          /* the last run that a part left before its end */
  unsigned ended;                          /* the same of this device's part, for its own blocks */
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
  unsigned run;            /* from 1 on */
  unsigned first_tag;      /* of this run */
  unsigned long long wait; /* nanoseconds */
  cuda_mailbox *boxes[CUDA_MOST_PEERS];
  int push_count;
  cuda_push pushes[CUDA_MOST_PEERS];
};

/* ---- Memory that other devices write ---- */

static __device__ __forceinline__ uint4 cuda_acquire(const uint4 *from) {
  uint4 v;
#if __CUDA_ARCH__ >= 700
  asm volatile("ld.acquire.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
#else
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  __threadfence_system();
#endif
  return v;
}

static __device__ __forceinline__ void cuda_write(uint4 *to, unsigned tag, double value) {
  const unsigned low = (unsigned)__double2loint(value), high = (unsigned)__double2hiint(value);
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(to), "r"(low), "r"(tag), "r"(high)
               : "memory");
}

static __device__ __forceinline__ unsigned long long cuda_nanoseconds(void) {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/* ---- Pushes ---- */

/* This thread's number from the end of the grid on: the last threads have least to do. */
static __device__ __forceinline__ size_t cuda_thread_from_end(void) {
  return (size_t)(gridDim.x - 1 - blockIdx.x) * blockDim.x + (blockDim.x - 1 - cuda_thread());
}

/* Elements of x to their ghosts `place` on the others, which see them after the next round that publishes. */
template <int N>
static __device__ __forceinline__ void cuda_push_elements(const cuda_parts &parts, float *cuda_push::*place,
                                                          const float *x) {
  const size_t thread = cuda_thread_from_end(), stride = (size_t)gridDim.x * blockDim.x;
  for (int k = 0; k < parts.push_count; k++) {
    const cuda_push &push = parts.pushes[k];
    float *to = push.*place;
    const size_t count = (size_t)push.count * N;
    for (size_t i = thread; i < count; i += stride) to[i] = x[(size_t)push.indices[i / N] * N + i % N];
  }
}

/* ---- Waiting ---- */

/* What a grid has passed, 0 before: barriers, of which rounds are some; and rounds alone, by which letters take
 * turns. */
struct cuda_progress {
  unsigned barriers, rounds;
};

enum { CUDA_LOOKS = 64 }; /* at what is awaited, for each at anything else: that takes as long */

static __device__ __forceinline__ bool cuda_has_ended(const cuda_parts &parts) {
  return *(const volatile unsigned *)&parts.box->ended == parts.run;
}

/* As cuda_barrier_pass. False, in every thread of a block, where the run has ended. */
static __device__ __forceinline__ bool cuda_peers_barrier(const cuda_parts &parts,
                                                          const cuda_grid_barrier &barrier, unsigned passed) {
  const unsigned all = (passed + 1) * gridDim.x;
  bool ended = false;
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda_barrier_arrive(barrier);
    for (unsigned looks = 1; !cuda_barrier_has(barrier, all) && !ended; looks++)
      ended = looks % CUDA_LOOKS == 0 && cuda_has_ended(parts);
  }
  return !__syncthreads_or(ended);
}

/* Whether the first block is to wait no longer for part `from`: 0, or what goes into `silent`. */
static __device__ __forceinline__ int cuda_give_up(const cuda_parts &parts, int from,
                                                   unsigned long long begin) {
  if (*(const volatile unsigned *)&parts.box->left[from] == parts.run) return CUDA_WAS_TOLD;
  return cuda_nanoseconds() - begin > parts.wait ? from + 1 : 0;
}

/* Waits for number k of the letter of part `from`. `silent`, 0 before, is not 0 where it does not come. */
static __device__ __forceinline__ double cuda_await_number(const cuda_parts &parts, int from, unsigned tag,
                                                           unsigned k, unsigned long long begin, int *silent) {
  const uint4 *number = &parts.box->letters[tag % 2][from].values[k];
  for (unsigned looks = 1; !*silent; looks++) {
    const uint4 v = cuda_acquire(number);
    if (v.y == tag && v.w == tag) return __hiloint2double((int)v.z, (int)v.x);
    if (looks % CUDA_LOOKS) continue;
    if (blockIdx.x == 0)
      *silent = cuda_give_up(parts, from, begin);
    else if (cuda_has_ended(parts))
      *silent = CUDA_WAS_TOLD;
  }
  return 0;
}

/* ---- Rounds ---- */

/* A warp, a lane for each part: sends this part's sums. */
static __device__ __forceinline__ void cuda_send_letters(const cuda_parts &parts, unsigned tag, unsigned kinds,
                                                         const double *total) {
  const int part = (int)threadIdx.x;
  if (part >= parts.count || part == parts.number) return;
  cuda_letter *letter = &parts.boxes[part]->letters[tag % 2][parts.number];
#pragma unroll 1
  for (unsigned k = 0; k < kinds; k++) cuda_write(&letter->values[k], tag, total[k]);
}

/* The same warp: `total` becomes the sums over all parts. Returns what goes into `silent`, of any part. The
 * loops are short, and the kernel around them needs the registers. */
static __device__ __forceinline__ int cuda_add_letters(const cuda_parts &parts, unsigned tag, unsigned kinds,
                                                       double *total) {
  const int part = (int)threadIdx.x;
  const bool is_other = part < parts.count && part != parts.number;
  const unsigned long long begin = blockIdx.x == 0 ? cuda_nanoseconds() : 0;
  int silent = 0;
#pragma unroll 1
  for (unsigned k = 0; k < kinds; k++) {
    const double value = is_other ? cuda_await_number(parts, part, tag, k, begin, &silent) : total[k];
    double sum = 0;
#pragma unroll 1
    for (int p = 0; p < parts.count; p++) sum += __shfl_sync(0xffffffffu, value, p);
    __syncwarp(); /* all have read it */
    if (part == 0) total[k] = sum;
  }
  const unsigned late = __ballot_sync(0xffffffffu, silent > 0);
  return late ? __ffs((int)late) : __any_sync(0xffffffffu, silent != 0) ? CUDA_WAS_TOLD : 0;
}

/* The first warp of the first block, after a letter that did not come. */
static __device__ __forceinline__ void cuda_leave(const cuda_parts &parts, int silent) {
  const int part = (int)threadIdx.x;
  if (part == 0) *(volatile int *)parts.silent = silent;
  if (part < parts.count && part != parts.number)
    *(volatile unsigned *)&parts.boxes[part]->left[parts.number] = parts.run;
  if (part == 0) *(volatile unsigned *)&parts.box->ended = parts.run;
  __threadfence_system();
}

/* As cuda_grid_sum over the grids of all parts, in every thread of all of them. False, in every thread of a
 * block, where the run has ended: a part was silent. With no kinds it is a barrier. */
template <int KINDS>
static __device__ __forceinline__ bool cuda_peers_sum(const cuda_parts &parts, const cuda_grid_barrier &barrier,
                                                      cuda_progress passed, bool publishes, unsigned kinds,
                                                      const double (&value)[KINDS], double (&sum)[KINDS]) {
  __shared__ double total[KINDS];
  const unsigned tag = parts.first_tag + passed.rounds, sent = kinds ? kinds : 1;
  double *partials = cuda_partials(barrier, passed.barriers);
  cuda_leave_partials<KINDS>(partials, kinds, value);
  if (!cuda_peers_barrier(parts, barrier, passed.barriers)) return false;
  if (publishes && blockIdx.x == 0 && threadIdx.x == blockDim.x - 1) __threadfence_system();
  cuda_add_partials<KINDS>(partials, kinds, total);
  int silent = 0;
  if (threadIdx.x < 32) {
    if (blockIdx.x == 0) cuda_send_letters(parts, tag, sent, total);
    silent = cuda_add_letters(parts, tag, sent, total);
    if (silent && blockIdx.x == 0) cuda_leave(parts, silent);
  }
  silent = __syncthreads_or(silent);
#pragma unroll
  for (int k = 0; k < KINDS; k++) sum[k] = k < (int)kinds ? total[k] : 0;
  return !silent;
}

#endif
