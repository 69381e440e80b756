/* R A P with known patterns, like tsi_amg_places on the host. The first update of a level notes, for each
 * product of two entries, its place in the row as a byte. Later updates neither search for places nor wait.
 *
 * The threads that own a row process the rows of the right factor one after the other, as in
 * cuda_amg_product.cuh, so sums have the same bits. A row of the right factor uses each place once. */
#include "cuda_amg_places.cuh"

enum {
  PLACED_THREADS = 128,
  FEW_SUMS = 64,       /* maximum per row for eight threads */
  SOME_SUMS = 256,     /* maximum per slice for a warp; at least MOST_PLACES */
  MOST_PLACES = 256,   /* maximum nodes that fit a byte */
  MOST_ENTRIES = 8192, /* maximum in the left factor's row for a warp; above MOST_PLACES */
  WARPS_ENOUGH = 32    /* per multiprocessor */
};

/* The maximum sizes of rows: nodes of the product, entries of the left factor. */
struct measured {
  int32_t nodes, entries;
};

/* Loops over rows with a grid of warps. */
#define EACH_WARP_ROW(i, rows)                                                                                 \
  for (int64_t i = ((int64_t)blockIdx.x * PLACED_THREADS + threadIdx.x) / 32; i < (rows);                      \
       i += (int64_t)gridDim.x * (PLACED_THREADS / 32))

static unsigned blocks_of(int64_t rows, int rows_a_block) {
  const int64_t blocks = (rows + rows_a_block - 1) / rows_a_block;
  return (unsigned)(blocks < CUDA_AMG_MOST_BLOCKS ? blocks : CUDA_AMG_MOST_BLOCKS);
}

/* ---- Nodes of rows of the product ---- */

template <int MODE> static __device__ __forceinline__ int32_t nodes_of(const product &p, int64_t i) {
  return MODE == MULTIPLY_AP ? p.counts[i] : (p.C.offsets[i + 1] - p.C.offsets[i]) / p.unknowns;
}

template <int MODE>
static __device__ __forceinline__ int32_t node_of(const product &p, int64_t i, int32_t place) {
  return MODE == MULTIPLY_AP ? p.product_nodes[p.begins[i] + place]
                             : p.C.indices[p.C.offsets[i] + place * p.unknowns] / p.unknowns;
}

/* ---- Notes ---- */

/* Counts the places of each row and finds the maximum sizes of rows. */
template <int MODE>
__global__ static void __launch_bounds__(PLACED_THREADS)
    count_places(const product p, int64_t *places, measured *largest) {
  const int lane = (int)threadIdx.x % 32;
  EACH_WARP_ROW(i, p.left.rows) {
    const int32_t begin = p.left.offsets[i], end = p.left.offsets[i + 1];
    int64_t sum = 0;
    for (int32_t e = begin + lane; e < end; e += 32) sum += right_row_of<MODE>(p, p.unknowns, e, end).count;
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (lane != 0) continue;
    places[i] = sum;
    const int32_t nodes = nodes_of<MODE>(p, i);
    if (nodes > *(volatile int32_t *)&largest->nodes) atomicMax(&largest->nodes, nodes);
    if (end - begin > *(volatile int32_t *)&largest->entries) atomicMax(&largest->entries, end - begin);
  }
}

/* Rows of C are sorted. */
template <int MODE>
static __device__ __forceinline__ int32_t place_of(const product &p, int64_t i, int32_t nodes, int32_t node) {
  int32_t place = 0;
  if (MODE == MULTIPLY_AP)
    while (place + 1 < nodes && node_of<MODE>(p, i, place) != node) place++;
  else
    for (int32_t size = nodes, half = size / 2; size > 1; size -= half, half = size / 2)
      if (node_of<MODE>(p, i, place + half) <= node) place += half;
  return place;
}

/* For each node of the right factor's rows that the entries of a row refer to, stores its number in the
 * product's row. */
template <int MODE>
__global__ static void __launch_bounds__(PLACED_THREADS)
    find_places(const product p, const cuda_amg_places to) {
  const int lane = (int)threadIdx.x % 32;
  EACH_WARP_ROW(i, p.left.rows) {
    const int32_t end = p.left.offsets[i + 1], nodes = nodes_of<MODE>(p, i);
    int64_t at = to.begins[i];
    for (int32_t e = p.left.offsets[i]; e < end; e++) {
      const right_row right = right_row_of<MODE>(p, p.unknowns, e, end);
      for (int32_t k = lane; k < right.count; k += 32) {
        const int32_t node = node_at<MODE>(p, p.unknowns, right.begin + k);
        to.list[at + k] = (uint8_t)place_of<MODE>(p, i, nodes, node);
      }
      at += right.count;
    }
  }
}

template <int MODE>
static ts_status note(cuda_amg_again *again, const product &p, cuda_amg_places *to, int32_t *sums) {
  cuda_amg_memory *memory = &again->memory;
  ts_context *context = memory->context;
  const size_t rows = (size_t)p.left.rows;
  struct {
    int64_t places;
    measured largest;
  } found = {};
  static_assert(sizeof(measured) == sizeof(int64_t), "it has the place behind the sum");
  CUDA_AMG_ALLOC(memory, rows + 2, to->begins);
  measured *largest = (measured *)(to->begins + rows + 1);
  CUDA_TRY(context, cudaMemsetAsync(largest, 0, sizeof *largest, cuda_stream(context)));
  TSI_TRY(cuda_launch(context, "count_places", count_places<MODE>, blocks_of(p.left.rows, PLACED_THREADS / 32),
                      PLACED_THREADS, p, to->begins, largest));
  TSI_TRY(cuda_amg_scan64(context, to->begins, rows));
  TSI_TRY(cuda_download(context, &found, to->begins + rows, sizeof found));
  *sums = found.largest.nodes * p.unknowns;
  again->is_refused |= found.largest.nodes > MOST_PLACES || found.largest.entries > MOST_ENTRIES;
  if (again->is_refused) return TS_OK;
  CUDA_AMG_ALLOC(memory, found.places, to->list);
  return cuda_launch(context, "find_places", find_places<MODE>, blocks_of(p.left.rows, PLACED_THREADS / 32),
                     PLACED_THREADS, p, *to);
}

__global__ static void __launch_bounds__(CUDA_THREADS)
    widen(int32_t rows, const int32_t *counts, int64_t *begins, int32_t *kept) {
  const int64_t i = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (i >= rows) return;
  kept[i] = counts[i];
  begins[i] = counts[i];
}

/* Notes where the rows of A P begin if they are packed without gaps. */
static ts_status note_rows(cuda_amg_again *again, const product &p) {
  cuda_amg_memory *memory = &again->memory;
  ts_context *context = memory->context;
  const size_t rows = (size_t)p.left.rows;
  CUDA_AMG_ALLOC(memory, rows, again->counts);
  CUDA_AMG_ALLOC(memory, rows + 1, again->begins);
  TSI_TRY(cuda_launch(context, "widen", widen, cuda_blocks_for(rows), CUDA_THREADS, p.left.rows, p.counts,
                      again->begins, again->counts));
  TSI_TRY(cuda_amg_scan64(context, again->begins, rows));
  return cuda_download(context, &again->nodes, again->begins + rows, sizeof again->nodes);
}

ts_status cuda_amg_note_places(cuda_amg_again *again, const product &of_AP, const cuda_amg_csr *R,
                               const cuda_amg_csr *C) {
  product p = of_AP;
  if (p.left.rows == 0 || R->rows == 0) {
    again->is_refused = 1;
    return TS_OK;
  }
  TSI_TRY(note<MULTIPLY_AP>(again, p, &again->of_AP, &again->sums_AP));
  if (again->is_refused) return TS_OK;
  TSI_TRY(note_rows(again, p));
  p.left = *R;
  p.C = *C;
  return note<FILL_C>(again, p, &again->of_C, &again->sums_C);
}

/* ---- Values ---- */

/* How warps share a row: each of `slices` warps has `unknowns` of every node. A P is stored slice by slice, in
 * the slices of the next product. */
struct slicing {
  int slices, unknowns;
};

struct placed {
  product p;
  cuda_amg_places from;
  slicing own, next; /* of this product; of the next, for A P */
};

/* An entry of the left factor's row, for all threads of the row, with the places and the values of the right
 * factor's row. */
struct __align__(16) left_entry {
  const uint8_t *list;
  const float *values;
  double factor;
  int32_t count; /* -1: behind the last entry */
};

/* The next product among the entries that the threads have read, one entry per thread. */
struct position {
  const left_entry *entry;
  int32_t node;
};

/* What a thread adds: its share of a part of a row of the right factor. */
struct addend {
  int32_t place; /* -1: nothing */
  float value;
  double factor;
};

enum { AHEAD = 4 }; /* addends that are loaded while as many are added */

template <int MODE, int LANES>
static __device__ __forceinline__ void share_entry(const placed &k, const right_row &row, bool is_entry,
                                                   int slice, int lane, const uint8_t *&list, left_entry *to) {
  int32_t end = row.count; /* inclusive sum */
  for (int offset = 1; offset < LANES; offset *= 2) {
    const int32_t before = __shfl_up_sync(0xffffffffu, end, offset, LANES);
    if (lane >= offset) end += before;
  }
  const int64_t first = (int64_t)slice * k.own.unknowns, begin = row.begin * k.p.unknowns;
  to[lane] = {list + (end - row.count),
              MODE == MULTIPLY_AP ? k.p.P.values + begin + first
                                  : k.p.product_values + begin + first * row.count,
              row.factor, is_entry ? row.count : -1};
  list += __shfl_sync(0xffffffffu, end, LANES - 1, LANES);
}

/* Loads the next addend of each thread. */
static __device__ __forceinline__ addend load_next(const lane_share &s, int stride, position &at) {
  const left_entry entry = *at.entry;
  const int32_t node = at.node + s.node;
  const bool is_used = node < entry.count;
  addend a = {-1, 0, entry.factor};
  if (is_used) a.place = entry.list[node];
  if (is_used) a.value = entry.values[node * stride + s.unknown];
  at.node += s.step;
  if (at.node >= entry.count) at.node = 0, at.entry += entry.count >= 0;
  return a;
}

static __device__ __forceinline__ void add(const addend &a, int unknowns, const lane_share &s, double *sums) {
  if (a.place >= 0) sums[a.place * unknowns + s.unknown] += a.factor * (double)a.value;
  __syncwarp(); /* the next row of the right factor may use the place in another thread */
}

/* Adds the products of entries in order, while the next ones are loaded. */
template <int LANES>
static __device__ __forceinline__ void add_products(int unknowns, const lane_share &s, int stride, position at,
                                                    double *sums) {
  addend now[AHEAD], next[AHEAD];
#pragma unroll
  for (int j = 0; j < AHEAD; j++) now[j] = load_next(s, stride, at);
  for (bool more = true; more;) {
    more = any_lane<LANES>(at.entry->count >= 0);
#pragma unroll
    for (int j = 0; j < AHEAD && more; j++) next[j] = load_next(s, stride, at);
#pragma unroll
    for (int j = 0; j < AHEAD; j++) add(now[j], unknowns, s, sums);
    if (!more) break;
    more = any_lane<LANES>(at.entry->count >= 0);
#pragma unroll
    for (int j = 0; j < AHEAD && more; j++) now[j] = load_next(s, stride, at);
#pragma unroll
    for (int j = 0; j < AHEAD; j++) add(next[j], unknowns, s, sums);
  }
}

/* Stores the sums of a row. */
template <int MODE>
static __device__ __forceinline__ void write_sums(const placed &k, int64_t i, int slice, int32_t nodes,
                                                  const lane_share &s, const double *sums) {
  if (s.idle) return;
  const int unknown = slice * k.own.unknowns + s.unknown;
  float *to =
      MODE == MULTIPLY_AP ? k.p.product_values + k.p.begins[i] * k.p.unknowns : k.p.C.values + k.p.C.offsets[i];
  int stride = k.p.unknowns;
  int64_t first = unknown;
  if (MODE == MULTIPLY_AP) {
    stride = k.next.unknowns;
    first = (int64_t)(unknown / stride) * stride * nodes + unknown % stride;
  }
  for (int32_t node = s.node; node < nodes; node += s.step)
    to[first + (int64_t)node * stride] = (float)sums[node * k.own.unknowns + s.unknown];
}

/* The threads of an owner have a slice of a row. All threads of a warp enter and leave loops together. */
template <int MODE, int LANES, int SUMS>
__global__ static void __launch_bounds__(PLACED_THREADS) multiply_placed(const placed k) {
  constexpr int owners_per_block = PLACED_THREADS / LANES;
  __shared__ double all_sums[owners_per_block][SUMS];
  __shared__ left_entry all_entries[owners_per_block][LANES + 1];
  const product &p = k.p;
  const int lane = (int)threadIdx.x % LANES, owner = (int)threadIdx.x / LANES;
  const int unknowns = k.own.unknowns, stride = MODE == MULTIPLY_AP ? p.unknowns : unknowns;
  const int64_t owners = (int64_t)gridDim.x * owners_per_block;
  const int64_t items = (int64_t)p.left.rows * k.own.slices;
  double *sums = all_sums[owner];
  left_entry *entries = all_entries[owner];
  lane_share s = share_of<LANES>(lane, unknowns);
  if (s.idle) s.node = MOST_ENTRIES; /* behind every row */
  entries[LANES].count = -1;
  for (int64_t item = (int64_t)blockIdx.x * owners_per_block + owner; any_lane<LANES>(item < items);
       item += owners) {
    const bool is_row = item < items;
    const int64_t i = !is_row ? 0 : k.own.slices == 1 ? item : item / k.own.slices;
    const int slice = is_row ? (int)(item - i * k.own.slices) : 0;
    const int32_t nodes = is_row ? nodes_of<MODE>(p, i) : 0;
    const int32_t begin = is_row ? p.left.offsets[i] : 0, end = is_row ? p.left.offsets[i + 1] : 0;
    const uint8_t *list = k.from.list + (is_row ? k.from.begins[i] : 0);
    int32_t left = end - begin; /* entries */
    right_row row = right_row_of<MODE>(p, p.unknowns, lane < left ? begin + lane : end, end);
    for (int32_t sum = lane; sum < nodes * unknowns; sum += LANES) sums[sum] = 0;
    for (; any_lane<LANES>(left > 0); left -= LANES) {
      share_entry<MODE, LANES>(k, row, lane < left, slice, lane, list, entries);
      row = right_row_of<MODE>(p, p.unknowns, lane + LANES < left ? end - left + lane + LANES : end, end);
      __syncwarp();
      add_products<LANES>(unknowns, s, stride, {entries, 0}, sums);
    }
    __syncwarp();
    write_sums<MODE>(k, i, slice, nodes, s, sums);
    __syncwarp();
  }
}

/* ---- On the host ---- */

template <int MODE, int LANES, int SUMS> static ts_status run_with(ts_context *context, const placed &k) {
  return cuda_launch(context, "multiply_placed", multiply_placed<MODE, LANES, SUMS>,
                     blocks_of((int64_t)k.p.left.rows * k.own.slices, PLACED_THREADS / LANES), PLACED_THREADS,
                     k);
}

/* The fewest slices whose sums fit, or more if there are few rows. */
static slicing slice(const ts_context *context, int32_t rows, int unknowns, int32_t sums) {
  const int64_t enough = (int64_t)WARPS_ENOUGH * cuda_state_of(context)->multiprocessors;
  int slices = 1;
  while (slices < unknowns &&
         (unknowns % slices > 0 || sums / slices > SOME_SUMS || (int64_t)rows * slices < enough))
    slices++;
  return {slices, unknowns / slices};
}

static ts_status multiply_AP(ts_context *context, const placed &k, int32_t sums) {
  if (k.p.unknowns == 1 && sums <= FEW_SUMS) return run_with<MULTIPLY_AP, 8, FEW_SUMS>(context, k);
  return run_with<MULTIPLY_AP, 32, SOME_SUMS>(context, k);
}

/* `length`: the average number of nodes in a row of A P. */
static ts_status fill_C(ts_context *context, const placed &k, int32_t sums, double length) {
  if (k.p.unknowns == 1 && sums <= SOME_SUMS / 2 && length <= 16)
    return run_with<FILL_C, 16, SOME_SUMS / 2>(context, k);
  return run_with<FILL_C, 32, SOME_SUMS>(context, k);
}

ts_status cuda_amg_multiply_placed(const cuda_amg_again *again, const cuda_amg_csr *R, const cuda_amg_csr *A,
                                   const cuda_amg_csr *P, int unknowns, const cuda_amg_csr *C) {
  ts_context *context = again->memory.context;
  cuda_amg_memory memory = {context, "an update of amg"};
  placed k = {};
  k.p.unknowns = unknowns, k.p.nodes = P->columns / unknowns;
  k.p.left = *A, k.p.P = *P, k.p.C = *C;
  k.p.begins = again->begins, k.p.counts = again->counts;
  k.from = again->of_AP;
  k.own = slice(context, A->rows, unknowns, again->sums_AP);
  k.next = slice(context, R->rows, unknowns, again->sums_C);
  CUDA_AMG_ALLOC(&memory, (size_t)again->nodes * (size_t)unknowns, k.p.product_values);
  ts_status status = multiply_AP(context, k, again->sums_AP);
  k.p.left = *R, k.from = again->of_C, k.own = k.next;
  if (status == TS_OK) status = fill_C(context, k, again->sums_C, (double)again->nodes / A->rows);
  cuda_amg_free(&memory);
  return status;
}
