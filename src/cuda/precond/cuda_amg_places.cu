/* R A P with known patterns, like tsi_amg_places on the host. The first update of a level notes, for each
 * product of two entries, its place in the row as a byte. Later updates neither search for places nor wait.
 *
 * The threads that own a row process the rows of the right factor one after the other, as in
 * cuda_amg_product.cuh, so sums have the same bits. A row of the right factor uses each place once. */
#include "cuda_amg_places.cuh"

enum {
  PLACED_THREADS = 128,
  FEW_LANES = 8,
  FEW_SUMS = 64,      /* maximum per row for eight threads */
  SOME_SUMS = 256,    /* maximum per row for a warp */
  MOST_SUMS = 768,    /* 24 KiB with 4 warps per block */
  MOST_PLACES = 256,  /* maximum nodes that fit a byte */
  MOST_ENTRIES = 1024 /* maximum in the left factor's row for a warp */
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
        int32_t place = 0;
        while (place + 1 < nodes && node_of<MODE>(p, i, place) != node) place++;
        to.list[at + k] = (uint8_t)place;
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
  again->is_refused |=
      found.largest.nodes > MOST_PLACES || *sums > MOST_SUMS || found.largest.entries > MOST_ENTRIES;
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

/* Adds the products of the left factor's row from entry e to `end`. Four rows of the right factor are loaded at
 * a time. All threads of the warp enter and leave together. */
template <int MODE, int LANES>
static __device__ __forceinline__ void add_row(const product &p, int unknowns, const uint8_t *list, int64_t at,
                                               int32_t e, int32_t end, const lane_share &s, double *sums) {
  constexpr int many = 4;
  right_row next[many];
#pragma unroll
  for (int j = 0; j < many; j++) next[j] = right_row_of<MODE>(p, unknowns, e + j, end);
  for (int32_t left = end - e; any_lane<LANES>(left > 0); left -= many) {
    right_row now[many];
    int64_t places[many];
    int32_t place[many];
    float value[many];
#pragma unroll
    for (int j = 0; j < many; j++) {
      now[j] = next[j];
      places[j] = at;
      at += now[j].count;
      if (s.idle || s.node >= now[j].count) continue;
      place[j] = list[places[j] + s.node];
      value[j] = value_at<MODE>(p, unknowns, now[j].begin + s.node, s.unknown);
    }
#pragma unroll
    for (int j = 0; j < many; j++)
      next[j] = right_row_of<MODE>(p, unknowns, left > many + j ? end - left + many + j : end, end);
#pragma unroll
    for (int j = 0; j < many; j++) {
      for (int32_t from = 0; any_lane<LANES>(from < now[j].count); from += s.step) {
        const int32_t f = from + s.node;
        if (s.idle || f >= now[j].count) continue;
        if (from > 0) {
          place[j] = list[places[j] + f];
          value[j] = value_at<MODE>(p, unknowns, now[j].begin + f, s.unknown);
        }
        sums[place[j] * unknowns + s.unknown] += now[j].factor * (double)value[j];
      }
      __syncwarp();
    }
  }
}

template <int MODE, int LANES, int SUMS>
__global__ static void __launch_bounds__(PLACED_THREADS)
    multiply_placed(const product p, const cuda_amg_places from) {
  __shared__ double shared[PLACED_THREADS / LANES][SUMS];
  const int unknowns = LANES < 32 ? 1 : p.unknowns;
  const int lane = (int)threadIdx.x % LANES, owner = (int)threadIdx.x / LANES;
  const lane_share s = share_of<LANES>(lane, unknowns);
  const int64_t owners = (int64_t)gridDim.x * (PLACED_THREADS / LANES);
  double *sums = shared[owner];
  for (int64_t i = (int64_t)blockIdx.x * (PLACED_THREADS / LANES) + owner; any_lane<LANES>(i < p.left.rows);
       i += owners) {
    const bool is_row = i < p.left.rows;
    const int32_t count = is_row ? nodes_of<MODE>(p, i) * unknowns : 0;
    const int32_t e = is_row ? p.left.offsets[i] : 0, end = is_row ? p.left.offsets[i + 1] : 0;
    for (int32_t k = lane; k < count; k += LANES) sums[k] = 0;
    __syncwarp();
    add_row<MODE, LANES>(p, unknowns, from.list, is_row ? from.begins[i] : 0, e, end, s, sums);
    __syncwarp();
    float *to = NULL;
    if (is_row)
      to = MODE == MULTIPLY_AP ? p.product_values + p.begins[i] * unknowns : p.C.values + p.C.offsets[i];
    for (int32_t k = lane; k < count; k += LANES) to[k] = (float)sums[k];
    __syncwarp();
  }
}

template <int MODE, int LANES, int SUMS>
static ts_status run_with(ts_context *context, const product &p, const cuda_amg_places &from) {
  return cuda_launch(context, "multiply_placed", multiply_placed<MODE, LANES, SUMS>,
                     blocks_of(p.left.rows, PLACED_THREADS / LANES), PLACED_THREADS, p, from);
}

template <int MODE>
static ts_status run(ts_context *context, const product &p, const cuda_amg_places &from, int32_t sums) {
  if (p.unknowns == 1 && sums <= FEW_SUMS && MODE == MULTIPLY_AP)
    return run_with<MODE, FEW_LANES, FEW_SUMS>(context, p, from);
  if (sums <= SOME_SUMS) return run_with<MODE, 32, SOME_SUMS>(context, p, from);
  return run_with<MODE, 32, MOST_SUMS>(context, p, from);
}

ts_status cuda_amg_multiply_placed(const cuda_amg_again *again, const cuda_amg_csr *R, const cuda_amg_csr *A,
                                   const cuda_amg_csr *P, int unknowns, const cuda_amg_csr *C) {
  ts_context *context = again->memory.context;
  cuda_amg_memory memory = {context, "an update of amg"};
  product p = {};
  p.unknowns = unknowns, p.nodes = P->columns / unknowns;
  p.left = *A, p.P = *P, p.C = *C;
  p.begins = again->begins, p.counts = again->counts;
  CUDA_AMG_ALLOC(&memory, (size_t)again->nodes * (size_t)unknowns, p.product_values);
  ts_status status = run<MULTIPLY_AP>(context, p, again->of_AP, again->sums_AP);
  p.left = *R;
  if (status == TS_OK) status = run<FILL_C>(context, p, again->of_C, again->sums_C);
  cuda_amg_free(&memory);
  return status;
}
