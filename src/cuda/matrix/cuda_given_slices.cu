/* Jagged diagonals of a matrix on the device, bitwise equal to those of layout_jagged.c and
 * layout_jagged_pack.c. One warp per slice, one lane per row. */
extern "C" {
#include "common/layout/layout_build.h"
}
#include "cuda/core/cuda_split.cuh"
#include "cuda_given.h"
#include "cuda_rows.cuh"

static const char *const slices_name = "slices of rows";

struct rows_of_slices {
  int32_t rows, count; /* of slices */
  int32_t most;        /* maximum entries per row in a slice */
  const int32_t *offsets, *columns;
  const uint8_t *order; /* NULL: natural order */
  uint8_t *lengths;
};

/* The row at a place; -1 if none. */
static __device__ __forceinline__ int32_t row_at(const rows_of_slices &r, int32_t place) {
  if (!r.order) return place < r.rows ? place : -1;
  const int32_t window = place / TSI_WINDOW_ROWS * TSI_WINDOW_ROWS;
  return place - window < min(r.rows - window, (int32_t)TSI_WINDOW_ROWS) ? window + r.order[place] : -1;
}

static __device__ __forceinline__ int32_t warp_min(int32_t number) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xffffffffu, number);
#else
  for (int offset = 16; offset > 0; offset >>= 1)
    number = min(number, __shfl_xor_sync(0xffffffffu, number, offset));
  return number;
#endif
}
static __device__ __forceinline__ int32_t warp_max(int32_t number) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xffffffffu, number);
#else
  for (int offset = 16; offset > 0; offset >>= 1)
    number = max(number, __shfl_xor_sync(0xffffffffu, number, offset));
  return number;
#endif
}

/* ---- Order ---- */

/* Stores the row length of every place, and adds the steps of all slices: the length of each slice's longest
 * row. */
static __global__ void __launch_bounds__(CUDA_THREADS)
    find_lengths(const rows_of_slices r, unsigned long long *steps) {
  const int32_t place = (int32_t)((int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x);
  if (place / TSI_SLICE_ROWS >= r.count) return;
  const int32_t row = row_at(r, place), length = row >= 0 ? r.offsets[row + 1] - r.offsets[row] : INT32_MAX;
  r.lengths[place] = (uint8_t)(length <= r.most ? length : TSI_NOT_IN_SLICE);
  const int32_t longest = warp_max(length <= r.most ? length : 0);
  if (threadIdx.x % 32 == 0) atomicAdd(steps, (unsigned long long)longest);
}

/* One block per window, one thread per row. The place of a row is after all longer rows and after equal ones
 * before it. */
static __global__ void __launch_bounds__(TSI_WINDOW_ROWS) sort_window(const rows_of_slices r, uint8_t *order) {
  __shared__ uint8_t lengths[TSI_WINDOW_ROWS];
  const int32_t window = (int32_t)blockIdx.x * TSI_WINDOW_ROWS, thread = (int32_t)threadIdx.x,
                count = min(r.rows - window, (int32_t)TSI_WINDOW_ROWS);
  if (thread < count) {
    const int32_t length = r.offsets[window + thread + 1] - r.offsets[window + thread];
    lengths[thread] = (uint8_t)(length > r.most ? 0 : length);
  }
  __syncthreads();
  if (thread >= count) return;
  int32_t place = 0;
  for (int32_t i = 0; i < count; i++)
    place += lengths[i] > lengths[thread] || (i < thread && lengths[i] == lengths[thread]);
  order[window + place] = (uint8_t)thread;
}

static ts_status measure_order(cuda_amg_memory *memory, const rows_of_slices &r, unsigned long long *steps) {
  ts_context *context = memory->context;
  unsigned long long *sum;
  CUDA_AMG_ALLOC(memory, 1, sum);
  CUDA_TRY(context, cudaMemsetAsync(sum, 0, sizeof *sum, cuda_stream(context)));
  TSI_TRY(cuda_launch(context, "find_lengths", find_lengths, cuda_blocks_for((size_t)r.count * TSI_SLICE_ROWS),
                      CUDA_THREADS, r, sum));
  context->host_synchronisations++;
  return cuda_download(context, steps, sum, sizeof *steps);
}

static ts_status choose_order(cuda_amg_memory *memory, double entries, rows_of_slices *r) {
  ts_context *context = memory->context;
  const size_t places = (size_t)r->count * TSI_SLICE_ROWS;
  unsigned long long natural, sorted, again;
  uint8_t *order;
  TSI_TRY(measure_order(memory, *r, &natural));
  if (!tsi_pays_to_sort((double)natural, 0, entries)) return TS_OK;
  CUDA_AMG_ALLOC(memory, places, order);
  CUDA_TRY(context, cudaMemsetAsync(order, 0, places, cuda_stream(context)));
  TSI_TRY(cuda_launch(context, "sort_window", sort_window, (unsigned)((r->rows - 1) / TSI_WINDOW_ROWS + 1),
                      TSI_WINDOW_ROWS, *r, order));
  r->order = order;
  TSI_TRY(measure_order(memory, *r, &sorted));
  if (tsi_pays_to_sort((double)natural, (double)sorted, entries)) return TS_OK;
  r->order = NULL;
  return measure_order(memory, *r, &again);
}

/* ---- Slices ---- */

/* Sets all fields of a slice except its location. `first` receives the number of its entries, including
 * padding. */
static __global__ void __launch_bounds__(CUDA_THREADS)
    measure_slices(const rows_of_slices r, tsi_slice *slices) {
  const int32_t place = (int32_t)((int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x),
                number = place / TSI_SLICE_ROWS;
  if (number >= r.count) return;
  const int32_t length = r.lengths[place] == TSI_NOT_IN_SLICE ? 0 : r.lengths[place],
                first = length > 0 ? r.offsets[row_at(r, place)] : 0, longest = warp_max(length);
  int32_t spread = 0, entries = length;
  for (int32_t k = 0; k < longest; k++) {
    const int32_t column = k < length ? r.columns[first + k] : 0;
    const int32_t least = warp_min(k < length ? column : INT32_MAX), most = warp_max(k < length ? column : 0);
    spread = max(spread, most - least);
  }
  for (int offset = 16; offset > 0; offset >>= 1) entries += __shfl_xor_sync(0xffffffffu, entries, offset);
  if (threadIdx.x % 32 > 0) return;
  tsi_slice s = {};
  const uint32_t padded = TSI_SLICE_ROWS * (uint32_t)longest;
  s.longest = (uint16_t)longest;
  s.column_bytes = spread <= UINT8_MAX ? 1 : spread <= UINT16_MAX ? 2 : 4;
  s.padded = 8 * (uint32_t)entries >= 7 * padded;
  s.first = s.padded ? padded : (uint32_t)entries;
  slices[number] = s;
}

static ts_status fetch(ts_context *context, const void *from, size_t count, size_t size, void **to) {
  *to = tsi_malloc(context, count, size);
  if (!*to) return tsi_out_of_memory(context, slices_name, count * size);
  return cuda_download(context, *to, from, count * size);
}

static ts_status find_long_rows(ts_context *context, const tsi_given *given, tsi_slices *slices) {
  tsi_host_csr csr = {};
  csr.rows = given->rows;
  TSI_TRY(cuda_given_offsets(context, given, &csr.row_offsets));
  const ts_status status = tsi_slices_find_long_rows(context, slices, &csr);
  tsi_free(context, csr.row_offsets);
  return status;
}

static ts_status make_slices(cuda_amg_memory *memory, const tsi_given *given, tsi_slices *slices) {
  ts_context *context = memory->context;
  const cuda_given *g = (const cuda_given *)given->impl;
  const size_t count = (size_t)slices->count, places = count * TSI_SLICE_ROWS;
  rows_of_slices r = {given->rows, slices->count, tsi_slices_longest(given->rows, given->nonzeros), g->offsets,
                      g->columns};
  tsi_slice *on_device;
  CUDA_AMG_ALLOC(memory, places, r.lengths);
  CUDA_AMG_ALLOC(memory, count, on_device);
  TSI_TRY(choose_order(memory, (double)given->nonzeros, &r));
  TSI_TRY(cuda_launch(context, "measure_slices", measure_slices, cuda_blocks_for(places), CUDA_THREADS, r,
                      on_device));
  context->host_synchronisations++;
  TSI_TRY(fetch(context, on_device, count, sizeof *slices->slices, (void **)&slices->slices));
  TSI_TRY(fetch(context, r.lengths, places, 1, (void **)&slices->lengths));
  if (r.order) TSI_TRY(fetch(context, r.order, places, 1, (void **)&slices->order));
  if (given->longest_row > r.most) TSI_TRY(find_long_rows(context, given, slices));
  tsi_slices_place(slices);
  return TS_OK;
}

ts_status cuda_given_slices(ts_context *context, const tsi_given *given, tsi_slices *slices) {
  cuda_amg_memory memory = {};
  memory.context = context;
  memory.what = slices_name;
  *slices = {};
  slices->count = (given->rows - 1) / TSI_SLICE_ROWS + 1;
  const ts_status status = make_slices(&memory, given, slices);
  cuda_amg_free(&memory);
  return status;
}

/* ---- Samples for the choice of a format ---- */

/* One block per range. */
static __global__ void __launch_bounds__(CUDA_THREADS)
    gather(const tsi_samples_range *ranges, const int32_t *from, int32_t *to) {
  const tsi_samples_range r = ranges[blockIdx.x];
  for (int32_t k = (int32_t)threadIdx.x; k < r.count; k += CUDA_THREADS) to[r.to + k] = from[r.first + k];
}

static ts_status gather_samples(cuda_amg_memory *memory, const int32_t *from, const tsi_samples *samples,
                                int32_t *to) {
  ts_context *context = memory->context;
  const size_t bytes = (size_t)samples->count * sizeof *samples->ranges;
  tsi_samples_range *ranges;
  int32_t *gathered;
  CUDA_AMG_ALLOC(memory, samples->count, ranges);
  CUDA_AMG_ALLOC(memory, samples->numbers, gathered);
  TSI_TRY(cuda_upload(context, ranges, samples->ranges, bytes));
  TSI_TRY(cuda_launch(context, "gather", gather, (unsigned)samples->count, CUDA_THREADS,
                      (const tsi_samples_range *)ranges, from, gathered));
  context->host_synchronisations++;
  return cuda_download(context, to, gathered, (size_t)samples->numbers * sizeof *to);
}

ts_status cuda_given_samples(ts_context *context, const tsi_given *given, const tsi_samples *samples,
                             int are_offsets, int32_t *numbers) {
  const cuda_given *g = (const cuda_given *)given->impl;
  cuda_amg_memory memory = {};
  memory.context = context;
  memory.what = "samples of a matrix";
  if (samples->numbers == 0) return TS_OK;
  const ts_status status = gather_samples(&memory, are_offsets ? g->offsets : g->columns, samples, numbers);
  cuda_amg_free(&memory);
  return status;
}

/* ---- Packing ---- */

struct packing {
  const int32_t *offsets, *columns;
  const float *from;
  uint32_t *words; /* NULL: already packed */
  int32_t *bases;
  float *values;
};

static __device__ __forceinline__ void put_column(uint32_t *words, int bytes, uint32_t place, uint32_t column) {
  if (bytes == 4)
    words[place] = column;
  else if (bytes == 2)
    ((uint16_t *)words)[place] = (uint16_t)column;
  else
    ((uint8_t *)words)[place] = (uint8_t)column;
}

enum { AT_ONCE = 4 }; /* entries that a thread loads together, since they share a sector of memory */

/* Padding is already 0. */
static __global__ void __launch_bounds__(CUDA_THREADS) pack_slices(const cuda_slices m, const packing p) {
  const int32_t number = (int32_t)(((int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x) / 32);
  const int lane = (int)threadIdx.x % 32;
  if (number >= m.count) return;
  const cuda_place at = cuda_place_of(m, number, lane);
  const tsi_slice s = at.slice;
  const int32_t first = at.length > 0 ? p.offsets[at.row] : 0;
  uint32_t before = 0;
  for (int begin = 0; begin < s.longest; begin += AT_ONCE) {
    float values[AT_ONCE];
    int32_t columns[AT_ONCE];
#pragma unroll
    for (int j = 0; j < AT_ONCE; j++) {
      const bool has = begin + j < at.length;
      values[j] = has ? p.from[first + begin + j] : 0;
      columns[j] = has && p.words ? p.columns[first + begin + j] : INT32_MAX;
    }
#pragma unroll
    for (int j = 0; j < AT_ONCE; j++) {
      const int k = begin + j;
      if (k >= s.longest) break;
      const bool has = k < at.length;
      const unsigned lanes = __ballot_sync(0xffffffffu, has);
      const uint32_t place = s.padded ? (uint32_t)(k * TSI_SLICE_ROWS + lane)
                                      : before + (uint32_t)__popc(lanes & ((1u << lane) - 1));
      before += (uint32_t)__popc(lanes);
      if (has) p.values[(size_t)s.first + place] = values[j];
      if (!p.words) continue;
      const int32_t least = warp_min(columns[j]);
      if (has)
        put_column(p.words + s.first_word, s.column_bytes, place,
                   (uint32_t)(columns[j] - (s.column_bytes < 4 ? least : 0)));
      if (lane == 0 && s.column_bytes < 4) p.bases[s.first_base + (uint32_t)k] = least;
    }
  }
}

/* One block per piece. */
static __global__ void __launch_bounds__(CUDA_THREADS)
    pack_long_rows(const cuda_row_blocks w, const packing p, int32_t *columns) {
  const tsi_row_block b = w.row_blocks[blockIdx.x];
  const int32_t from = p.offsets[b.row] + b.piece * TSI_PIECE_ENTRIES;
  for (int32_t k = (int32_t)threadIdx.x; k < b.end - b.first; k += CUDA_THREADS) {
    p.values[b.first + k] = p.from[from + k];
    if (columns) columns[b.first + k] = p.columns[from + k];
  }
}

ts_status cuda_given_pack(ts_context *context, const tsi_given *given, int part, const cuda_matrix *m,
                          int with_columns) {
  const cuda_given *g = (const cuda_given *)given->impl;
  const unsigned pieces = (unsigned)m->row_blocks.count;
  packing p = {g->offsets, g->columns, g->values[part], NULL, NULL, m->values};
  if (with_columns) p.words = (uint32_t *)m->slices.words, p.bases = (int32_t *)m->slices.bases;
  TSI_TRY(cuda_launch(context, "pack_slices", pack_slices, cuda_blocks_for(32 * (size_t)m->slices.count),
                      CUDA_THREADS, m->slices, p));
  if (pieces == 0) return TS_OK;
  p.values = (float *)m->row_blocks.values;
  return cuda_launch(context, "pack_long_rows", pack_long_rows, pieces, CUDA_THREADS, m->row_blocks, p,
                     with_columns ? (int32_t *)m->row_blocks.columns : (int32_t *)NULL);
}

/* ---- Patterns ---- */

/* Each team of LANES threads has many rows. */
template <int LANES>
static __global__ void __launch_bounds__(CUDA_THREADS)
    add_places(int32_t rows, const int32_t *offsets, const int32_t *columns, unsigned long long *sum) {
  const int64_t team = ((int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x) / LANES,
                teams = (int64_t)gridDim.x * CUDA_THREADS / LANES;
  unsigned long long mine = 0;
  for (int64_t row = team; row < rows; row += teams)
    for (int32_t e = offsets[row] + (int32_t)threadIdx.x % LANES; e < offsets[row + 1]; e += LANES)
      mine += cuda_mixed((unsigned long long)row << 32 | (unsigned)columns[e]);
  mine = cuda_warp_sum(mine);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

ts_status cuda_given_fingerprint(ts_context *context, const tsi_given *given, uint64_t *fingerprint) {
  const cuda_given *g = (const cuda_given *)given->impl;
  unsigned long long *sum;
  TSI_TRY(cuda_alloc_zeroed(context, (void **)&sum, sizeof *sum, slices_name));
  const int lanes = cuda_lanes_of_rows(given->rows, given->nonzeros);
  ts_status status = cuda_launch(context, "add_places", lanes < 32 ? add_places<8> : add_places<32>,
                                 cuda_blocks_each(context, (size_t)lanes * (size_t)given->rows), CUDA_THREADS,
                                 given->rows, (const int32_t *)g->offsets, (const int32_t *)g->columns, sum);
  context->host_synchronisations++;
  if (status == TS_OK) status = cuda_download(context, fingerprint, sum, sizeof *fingerprint);
  cuda_free(context, sum, sizeof *sum);
  return status;
}
