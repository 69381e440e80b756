/* Prefix sums, and a stable radix sort from the lowest digit up.
 *
 * In both, a block has a tile of consecutive items. For each digit, blocks count their items by value. The
 * positions of a block's items are the prefix sums of these counts, value by value. Within a block the order is
 * that of its warps, and within a warp 32 items at a time. */
#include "cuda/core/cuda_kernels.cuh"
#include "cuda_amg.h"

enum {
  WARPS = CUDA_THREADS / 32,
  SORT_EACH = 16, /* items per thread */
  SORT_TILE = CUDA_THREADS * SORT_EACH,
  DIGIT_BITS = 8,
  VALUES = 1 << DIGIT_BITS
};

static const char *const scratch_name = "a sum";

static unsigned tiles_of(size_t count) {
  return (unsigned)((count + SORT_TILE - 1) / SORT_TILE);
}

/* ---- Sums ---- */

/* The sum over the threads before this one, and over the block. */
template <typename Number> static __device__ Number sum_before(Number number, Number *all) {
  __shared__ Number warps[WARPS];
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  Number sum = number;
  for (int offset = 1; offset < 32; offset *= 2) {
    const Number before = __shfl_up_sync(0xffffffffu, sum, offset);
    if (lane >= offset) sum += before;
  }
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  *all = 0;
  for (int w = 0; w < WARPS; w++) {
    if (w < warp) sum += warps[w];
    *all += warps[w];
  }
  __syncthreads();
  return sum - number;
}

template <typename Number>
__global__ static void __launch_bounds__(CUDA_THREADS)
    add_tiles(const Number *numbers, size_t count, Number *sums) {
  const size_t tile = (size_t)blockIdx.x * SORT_TILE;
  Number own = 0, all;
  for (int k = 0; k < SORT_EACH; k++) {
    const size_t i = tile + (size_t)k * CUDA_THREADS + threadIdx.x;
    if (i + 1 < count) own += numbers[i]; /* the last sum is never used */
  }
  sum_before(own, &all);
  if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

/* Computes the sums in place; `before` has the sum before each tile. */
template <bool ITSELF, typename Number>
__global__ static void __launch_bounds__(CUDA_THREADS)
    sum_tiles(Number *numbers, size_t count, const Number *before) {
  __shared__ Number tile[CUDA_THREADS * (SORT_EACH + 1)];
  const size_t first = (size_t)blockIdx.x * SORT_TILE;
  for (int k = 0; k < SORT_EACH; k++) {
    const unsigned place = (unsigned)k * CUDA_THREADS + threadIdx.x;
    tile[place + place / SORT_EACH] = first + place + !ITSELF < count ? numbers[first + place] : 0;
  }
  __syncthreads();
  Number *own = tile + threadIdx.x * (SORT_EACH + 1), sum = 0, all;
  for (int k = 0; k < SORT_EACH; k++) sum += own[k];
  sum = sum_before(sum, &all) + (before ? before[blockIdx.x] : 0);
  for (int k = 0; k < SORT_EACH; k++) {
    const Number number = own[k];
    own[k] = ITSELF ? sum + number : sum;
    sum += number;
  }
  __syncthreads();
  for (int k = 0; k < SORT_EACH; k++) {
    const unsigned place = (unsigned)k * CUDA_THREADS + threadIdx.x;
    if (first + place < count) numbers[first + place] = tile[place + place / SORT_EACH];
  }
}

/* ITSELF: each sum includes its own number (an inclusive sum). */
template <bool ITSELF, typename Number>
static ts_status scan(ts_context *context, Number *numbers, size_t count) {
  const unsigned tiles = tiles_of(count);
  Number *sums = NULL;
  const size_t bytes = tiles * sizeof *sums;
  if (tiles > 1) {
    TSI_TRY(cuda_alloc(context, (void **)&sums, bytes, scratch_name));
    ts_status status =
        cuda_launch(context, "add_tiles", add_tiles<Number>, tiles, CUDA_THREADS, numbers, count, sums);
    if (status == TS_OK) status = scan<false>(context, sums, tiles);
    if (status < 0) {
      cuda_free(context, sums, bytes);
      return status;
    }
  }
  const ts_status status =
      cuda_launch(context, "sum_tiles", sum_tiles<ITSELF, Number>, tiles, CUDA_THREADS, numbers, count, sums);
  cuda_free(context, sums, bytes);
  return status;
}

ts_status cuda_amg_scan(ts_context *context, int32_t *numbers, size_t count) {
  return scan<false>(context, numbers, count + 1);
}

ts_status cuda_amg_scan64(ts_context *context, int64_t *numbers, size_t count) {
  return scan<false>(context, numbers, count + 1);
}

ts_status cuda_amg_add_lengths(ts_context *context, int32_t *offsets, size_t rows) {
  return scan<true>(context, offsets, rows + 1);
}

/* ---- The sort ---- */

struct digit_pass {
  const uint32_t *keys;
  const int32_t *order; /* NULL: natural order */
  int32_t count;
  int shift;
  unsigned values;
  int32_t *begins; /* per value and tile */
};

static __device__ __forceinline__ unsigned digit_of(const digit_pass &p, uint32_t key) {
  return key >> p.shift & (p.values - 1);
}

__global__ static void __launch_bounds__(CUDA_THREADS) count_digits(const digit_pass p) {
  __shared__ int32_t counts[VALUES];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < SORT_EACH; k++) {
    const int64_t i = (int64_t)blockIdx.x * SORT_TILE + k * CUDA_THREADS + threadIdx.x;
    if (i < p.count) atomicAdd(&counts[digit_of(p, p.keys[i])], 1);
  }
  __syncthreads();
  if (threadIdx.x < p.values) p.begins[(size_t)threadIdx.x * gridDim.x + blockIdx.x] = counts[threadIdx.x];
}

/* The lanes that have the same digit as this one. `digit` is VALUES in a lane without an item. */
static __device__ __forceinline__ unsigned same_digit(unsigned digit) {
  unsigned same = 0xffffffffu;
  for (int bit = 0; bit <= DIGIT_BITS; bit++) {
    const bool set = digit >> bit & 1;
    const unsigned with = __ballot_sync(0xffffffffu, set);
    same &= set ? with : ~with;
  }
  return same;
}

__global__ static void __launch_bounds__(CUDA_THREADS)
    place_items(const digit_pass p, uint32_t *keys, int32_t *order) {
  __shared__ int32_t places[WARPS][VALUES];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int64_t first = (int64_t)blockIdx.x * SORT_TILE + warp * (SORT_TILE / WARPS) + lane;
  for (int w = 0; w < WARPS; w++) places[w][threadIdx.x] = 0;
  __syncthreads();
  uint32_t key[SORT_EACH];
  int32_t rank[SORT_EACH]; /* among the items of the warp with the same digit */
  for (int k = 0; k < SORT_EACH; k++) {
    const int64_t i = first + k * 32;
    key[k] = i < p.count ? p.keys[i] : 0;
    const unsigned digit = i < p.count ? digit_of(p, key[k]) : VALUES, same = same_digit(digit);
    const int before = __popc(same & ((1u << lane) - 1));
    rank[k] = digit < VALUES ? places[warp][digit] + before : 0;
    __syncwarp();
    if (digit < VALUES && before == 0) places[warp][digit] += __popc(same);
    __syncwarp();
  }
  __syncthreads();
  if (threadIdx.x < p.values) {
    int32_t place = p.begins[(size_t)threadIdx.x * gridDim.x + blockIdx.x];
    for (int w = 0; w < WARPS; w++) {
      const int32_t count = places[w][threadIdx.x];
      places[w][threadIdx.x] = place;
      place += count;
    }
  }
  __syncthreads();
  for (int k = 0; k < SORT_EACH; k++) {
    const int64_t i = first + k * 32;
    if (i >= p.count) continue;
    const int32_t to = places[warp][digit_of(p, key[k])] + rank[k];
    keys[to] = key[k];
    order[to] = p.order ? p.order[i] : (int32_t)i;
  }
}

ts_status cuda_amg_sort(cuda_amg_memory *memory, const uint32_t *keys, int32_t count, int bits,
                        uint32_t **sorted, int32_t **order) {
  ts_context *context = memory->context;
  const unsigned tiles = tiles_of((size_t)count);
  const int passes = bits > DIGIT_BITS ? (bits + DIGIT_BITS - 1) / DIGIT_BITS : 1;
  const int each = (bits + passes - 1) / passes;
  uint32_t *to_keys[2] = {NULL, NULL};
  int32_t *to_order[2] = {NULL, NULL}, *begins;
  for (int k = 0; k < 2 && k < passes; k++) {
    CUDA_AMG_ALLOC(memory, count, to_keys[k]);
    CUDA_AMG_ALLOC(memory, count, to_order[k]);
  }
  CUDA_AMG_ALLOC(memory, (size_t)tiles * VALUES + 1, begins);
  *sorted = to_keys[(passes - 1) % 2];
  *order = to_order[(passes - 1) % 2];
  if (count == 0) return TS_OK;
  digit_pass p = {keys, NULL, count, 0, 1u << each, begins};
  for (int pass = 0; pass < passes; pass++, p.shift += each) {
    TSI_TRY(cuda_launch(context, "count_digits", count_digits, tiles, CUDA_THREADS, p));
    TSI_TRY(cuda_amg_scan(context, begins, (size_t)tiles * p.values));
    TSI_TRY(cuda_launch(context, "place_items", place_items, tiles, CUDA_THREADS, p, to_keys[pass % 2],
                        to_order[pass % 2]));
    p.keys = to_keys[pass % 2];
    p.order = to_order[pass % 2];
  }
  return TS_OK;
}
