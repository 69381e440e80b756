/* Kernels on several devices that work as one: sums over all their grids, and elements that each device pushes
 * to the ghosts of others. The host is not involved.
 *
 * In a round, every block also writes its partial sums as notes into the mailboxes of all other devices. It
 * does so before it waits for the other blocks of its own device as in cuda_grid_sum.cuh, so the notes travel
 * during the wait. Then every block reads all notes from the memory of its own device. It adds them in the
 * order of the parts, so that all devices have the same bits.
 *
 * A note needs no fence: one write stores the number with the round's tag in each half, and the note has
 * arrived when both halves have the tag. Notes alternate between two places. A block overwrites its note of
 * round t with that of t + 2 only after it has received the notes of t + 1 from all blocks of all parts. Those
 * blocks send their notes of t + 1 after they have read those of t. Runs of a kernel do not overlap, because
 * the streams of all parts join before a run begins. Tags continue from run to run, so a note of an earlier run
 * is never mistaken for a new one.
 *
 * Other devices may read pushed elements after the device has published them. Its first block publishes them
 * after a barrier, with one system-wide fence. The others wait for that only before they read ghosts.
 *
 * A wait has a limit. A block may wait too long for another device. Then it reports to the host which part was
 * silent and notifies all other devices that this one has left. They leave as well, at the latest when their
 * own limits expire. The other blocks of its device check for that whenever they wait. So no wait is
 * infinite. */
#ifndef CUDA_PEERS_CUH
#define CUDA_PEERS_CUH

#include "cuda_grid_sum.cuh"
#include "cuda_peers.h"

/* The sum of a block in one round: the halves of a number, lower half first, each followed by the tag. */
typedef uint4 cuda_note;

struct cuda_mailbox {
  cuda_note notes[2][CUDA_MOST_PEERS][CUDA_GRID_SUM_KINDS][CUDA_PEER_BLOCKS]; /* indexed by part */
  unsigned published[CUDA_MOST_PEERS]; /* the tag of the last round that a part has published */
  unsigned left[CUDA_MOST_PEERS];      /* the last run that a part left early */
  unsigned ended;                      /* the last run that this device's part left early, for its own blocks */
};

/* The elements of a part that are ghosts of one other part, and the addresses of the first ghost there. q has
 * two, which alternate if the parts push by rows. */
struct cuda_push {
  const int32_t *indices, *ghosts; /* as in cuda_index_list */
  int32_t count;
  float *d, *r, *q[2], *m;
};

/* A part's view of all parts. It is an argument of the kernel, so reading it needs no load from global
 * memory. */
struct cuda_parts {
  cuda_mailbox *box;       /* this part's mailbox */
  int *silent;             /* in host memory: 1 + the silent part, or CUDA_WAS_STOPPED */
  int number, count;       /* this part, and the number of parts */
  unsigned run;            /* counts from 1 */
  unsigned first_tag;      /* of this run */
  unsigned long long wait; /* nanoseconds */
  cuda_mailbox *boxes[CUDA_MOST_PEERS];
  unsigned blocks[CUDA_MOST_PEERS]; /* of their grids */
  int push_count, by_rows;          /* by_rows: all parts push so, and pushes have `ghosts` */
  cuda_push pushes[CUDA_MOST_PEERS];
};

/* ---- Memory that other devices write ---- */

static __device__ __forceinline__ unsigned cuda_acquire(const unsigned *from) {
  unsigned v;
#if __CUDA_ARCH__ >= 700
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(from) : "memory");
#else
  v = *(const volatile unsigned *)from;
  __threadfence_system();
#endif
  return v;
}

static __device__ __forceinline__ cuda_note cuda_read(const cuda_note *from) {
  cuda_note v;
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}

static __device__ __forceinline__ void cuda_write(cuda_note *to, unsigned tag, double value) {
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

/* This thread's number, counted from the end of the grid, because the last threads have the least work. */
static __device__ __forceinline__ size_t cuda_thread_from_end(void) {
  return (size_t)(gridDim.x - 1 - blockIdx.x) * blockDim.x + (blockDim.x - 1 - cuda_thread());
}

/* Writes elements of x to their ghosts on other devices, from address place(push). They become visible there
 * when this part publishes them. */
template <int N, typename Place>
static __device__ __forceinline__ void cuda_push_elements(const cuda_parts &parts, Place place,
                                                          const float *x) {
  const size_t thread = cuda_thread_from_end(), stride = (size_t)gridDim.x * blockDim.x;
  for (int k = 0; k < parts.push_count; k++) {
    const cuda_push &push = parts.pushes[k];
    float *to = place(push);
    const size_t count = (size_t)push.count * N;
    for (size_t i = thread; i < count; i += stride) to[i] = x[(size_t)push.indices[i / N] * N + i % N];
  }
}

/* Writes one element of q to its ghosts as soon as it is known (`by_rows`). The transfer overlaps with the
 * computation of other elements. */
template <int N>
static __device__ __forceinline__ void cuda_push_row(const cuda_parts &parts, unsigned buffer, int32_t row,
                                                     const float (&q)[N]) {
  for (int k = 0; k < parts.push_count; k++) {
    const cuda_push &push = parts.pushes[k];
    const int32_t ghost = push.ghosts[row];
    if (ghost < 0) continue;
    for (int c = 0; c < N; c++) push.q[buffer][(size_t)ghost * N + c] = q[c];
  }
}

/* ---- Waiting ---- */

/* The barriers that a grid has passed, and the rounds among them, which select the place of notes. 0
 * initially. */
struct cuda_progress {
  unsigned barriers, rounds;
};

enum { CUDA_LOOKS = 64 }; /* polls between two checks of other conditions, which take as long */

static __device__ __forceinline__ bool cuda_has_ended(const cuda_parts &parts) {
  return *(const volatile unsigned *)&parts.box->ended == parts.run;
}

/* Like cuda_barrier_pass. Returns false, in every thread of a block, if the run has ended. */
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

/* 0 to keep waiting for part `from`, otherwise the value for `silent`. */
static __device__ __forceinline__ int cuda_check_peer(const cuda_parts &parts, int from,
                                                      unsigned long long begin) {
  if (cuda_has_ended(parts) || *(const volatile unsigned *)&parts.box->left[from] == parts.run)
    return CUDA_WAS_STOPPED;
  return cuda_nanoseconds() - begin > parts.wait ? from + 1 : 0;
}

/* Ends the run after a failed wait; called by a warp. */
static __device__ __forceinline__ void cuda_leave(const cuda_parts &parts, int silent) {
  const int part = (int)threadIdx.x % 32;
  if (part == 0 && !cuda_has_ended(parts)) *(volatile int *)parts.silent = silent;
  if (part < parts.count && part != parts.number)
    *(volatile unsigned *)&parts.boxes[part]->left[parts.number] = parts.run;
  if (part == 0) *(volatile unsigned *)&parts.box->ended = parts.run;
  __threadfence_system();
}

/* Returns whether the run continues. All threads of a block call it; any of them may have found a part
 * silent. */
static __device__ __forceinline__ bool cuda_go_on(const cuda_parts &parts, int silent) {
  if (!__syncthreads_or(silent)) return true;
  const unsigned late = __ballot_sync(0xffffffffu, silent > 0);
  if (__any_sync(0xffffffffu, silent)) {
    const int number = __shfl_sync(0xffffffffu, silent, late ? __ffs((int)late) - 1 : 0);
    cuda_leave(parts, late ? number : CUDA_WAS_STOPPED);
  }
  return false;
}

/* ---- Rounds ---- */

/* Sends the block's sum of one kind to all other parts; called by the warp that has the sum. */
static __device__ __forceinline__ void cuda_send_note(const cuda_parts &parts, unsigned tag, unsigned kind,
                                                      double sum) {
  const int part = (int)threadIdx.x % 32;
  if (part < parts.count && part != parts.number)
    cuda_write(&parts.boxes[part]->notes[tag % 2][parts.number][kind][blockIdx.x], tag, sum);
}

/* Waits for a note of part `from`. `silent`, 0 before, becomes nonzero if the note does not arrive. */
static __device__ __forceinline__ double cuda_await_note(const cuda_parts &parts, int from, unsigned tag,
                                                         unsigned kind, unsigned block,
                                                         unsigned long long begin, int *silent) {
  const cuda_note *note = &parts.box->notes[tag % 2][from][kind][block];
  for (unsigned looks = 1; !*silent; looks++) {
    const cuda_note v = cuda_read(note);
    if (v.y == tag && v.w == tag) return __hiloint2double((int)v.z, (int)v.x);
    if (looks % CUDA_LOOKS == 0) *silent = cuda_check_peer(parts, from, begin);
  }
  return 0;
}

/* Like cuda_grid_sum, but over the grids of all parts and in every thread of all of them. Returns false, in
 * every thread of a block, if the run has ended because a part was silent. The order of additions does not
 * depend on the threads per block, which may differ between devices. */
template <int KINDS>
static __device__ __forceinline__ bool cuda_peers_sum(const cuda_parts &parts, const cuda_grid_barrier &barrier,
                                                      cuda_progress passed, unsigned kinds,
                                                      const double (&value)[KINDS], double (&sum)[KINDS]) {
  constexpr unsigned groups = CUDA_PEER_BLOCKS / 32; /* of blocks, one per lane */
  __shared__ double of_group[KINDS][groups], total[KINDS];
  const unsigned tag = parts.first_tag + passed.rounds;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  double *partials = cuda_partials(barrier, passed.barriers);
  cuda_sum_of_block<KINDS>(kinds, value, [&](unsigned kind, double of_block) {
    if (lane == 0) partials[(size_t)kind * gridDim.x + blockIdx.x] = of_block;
    cuda_send_note(parts, tag, kind, of_block);
  });
  if (!cuda_peers_barrier(parts, barrier, passed.barriers)) return false;
  const unsigned long long begin = cuda_nanoseconds();
  int silent = 0;
#pragma unroll 1
  for (unsigned group = warp; group < groups; group += warps)
#pragma unroll 1
    for (unsigned k = 0; k < kinds; k++) {
      const unsigned block = 32 * group + lane;
      const double own = block < gridDim.x ? __ldcg(partials + (size_t)k * gridDim.x + block) : 0;
      double of_parts = 0;
#pragma unroll 1
      for (int p = 0; p < parts.count; p++)
        of_parts += p == parts.number         ? own
                    : block < parts.blocks[p] ? cuda_await_note(parts, p, tag, k, block, begin, &silent)
                                              : 0;
      of_parts = cuda_warp_sum(of_parts);
      if (lane == 0) of_group[k][group] = of_parts;
    }
  if (!cuda_go_on(parts, silent)) return false;
  for (unsigned k = warp; k < kinds; k += warps)
    total[k] = cuda_warp_sum(lane < groups ? of_group[k][lane] : 0);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < KINDS; k++) sum[k] = k < (int)kinds ? total[k] : 0;
  return true;
}

/* After a barrier, publishes everything that all blocks have pushed, with the round's tag. The last warp does
 * it, so that the other warps of the first block can continue. */
static __device__ __forceinline__ void cuda_publish(const cuda_parts &parts, unsigned round) {
  if (blockIdx.x > 0 || threadIdx.x / 32 < blockDim.x / 32 - 1) return;
  const int part = (int)threadIdx.x % 32;
  if (part >= parts.count || part == parts.number) return;
  __threadfence_system();
  *(volatile unsigned *)&parts.boxes[part]->published[parts.number] = parts.first_tag + round;
}

/* Waits until all other parts have published that round. Returns false if the run has ended. All threads of a
 * block call it. */
static __device__ __forceinline__ bool cuda_await_published(const cuda_parts &parts, unsigned round) {
  const int part = (int)threadIdx.x;
  const unsigned tag = parts.first_tag + round;
  int silent = 0;
  if (part < parts.count && part != parts.number) {
    const unsigned long long begin = cuda_nanoseconds();
    for (unsigned looks = 1; !silent && cuda_acquire(&parts.box->published[part]) < tag; looks++)
      if (looks % CUDA_LOOKS == 0) silent = cuda_check_peer(parts, part, begin);
  }
  return cuda_go_on(parts, silent);
}

#endif
