/* C = R (A P), row by row. First the rows of A P, each with room for the maximum of its nodes, then those of C.
 * Without a pattern, the nodes of C are counted first.
 *
 * A row is computed by 8 threads or by a warp, with a table in shared memory (cuda_amg_product.cuh). Rows that
 * do not fit go to a list: from the 8 threads to warps, from warps to cuda_amg_expand.cuh. */
#include "cuda_amg_expand.cuh"
#include "cuda_amg_places.cuh"

enum {
  HASH_THREADS = 128,
  FEW_LANES = 8,
  FEW_SLOTS = 64,
  FEW_NODES = FEW_SLOTS / 4 * 3,
  WARP_SLOTS = 256,   /* half of it with several unknowns */
  MOST_ENTRIES = 1024 /* maximum in the left factor's row for a warp */
};

/* ---- With a table in shared memory ---- */

/* The number of the row's nodes before this one. */
template <typename Table> static __device__ __forceinline__ int32_t rank_of(const Table &table, int32_t node) {
  int32_t before = 0;
  for (int32_t t = 0; t < table.count; t++) before += table.keys[table.found[t]] < node;
  return before;
}

template <int MODE, int LANES, typename Table>
static __device__ __forceinline__ void write_row(const product &p, int unknowns, int32_t item,
                                                 const lane_share &s, const Table &table) {
  if (s.lane == 0) write_count<MODE>(p, unknowns, item, table.count);
  if constexpr (MODE != COUNT_NODES)
    for (int32_t at = s.idle ? table.count : s.node; at < table.count; at += s.step) {
      const int slot = table.found[at];
      const int32_t node = table.keys[slot];
      write_entry<MODE>(p, unknowns, item, MODE == FILL_C ? rank_of(table, node) : at, node, s.unknown,
                        table.sums[slot * unknowns + s.unknown]);
    }
}

static __device__ __forceinline__ void refuse(const row_list &l, int32_t item) {
  l.refused[atomicAdd(l.refused_length, 1)] = item;
}

template <int MODE, int LANES, int SLOTS, int MOST_UNKNOWNS>
__global__ static void __launch_bounds__(HASH_THREADS) multiply_hashed(const product p, const row_list l) {
  typedef hash_table<SLOTS, MOST_UNKNOWNS> table_type;
  __shared__ table_type tables[HASH_THREADS / LANES];
  const int unknowns = MOST_UNKNOWNS == 1 ? 1 : p.unknowns;
  const int lane = (int)threadIdx.x % LANES, owner = (int)threadIdx.x / LANES;
  const lane_share s = share_of<LANES>(lane, MODE == COUNT_NODES ? 1 : unknowns);
  const int32_t items = length_of(l);
  const int64_t owners = (int64_t)gridDim.x * (HASH_THREADS / LANES);
  table_type &table = tables[owner];
  for (int64_t i = (int64_t)blockIdx.x * (HASH_THREADS / LANES) + owner; any_lane<LANES>(i < items);
       i += owners) {
    const int32_t item = i >= items ? -1 : l.rows ? l.rows[i] : (int32_t)i;
    int32_t e = 0, end = 0;
    if (item >= 0) {
      e = p.left.offsets[left_row<MODE>(p, item)];
      end = p.left.offsets[left_row<MODE>(p, item) + 1];
    }
    /* Rows that do not fit, or would take too long, are refused at once. */
    const bool fits =
        item < 0 || (end - e <= MOST_ENTRIES && (MODE != FILL_C || p.C.offsets[item + 1] - p.C.offsets[item] <=
                                                                       table_type::most * unknowns));
    for (int k = lane; k < SLOTS; k += LANES) table.keys[k] = -1;
    if (lane == 0) table.count = 0;
    __syncwarp();
    multiply_row<MODE, LANES>(p, unknowns, e, fits ? end : e, s, table);
    if (item >= 0) {
      if (fits && !table.is_refused())
        write_row<MODE, LANES>(p, unknowns, item, s, table);
      else if (lane == 0)
        refuse(l, item);
    }
    __syncwarp();
  }
}

/* ---- Sizes and zeros ---- */

/* The maximum number of nodes per row of A P, which is the sum over all rows of P that the row of A refers to;
 * and the largest of these numbers. */
__global__ static void __launch_bounds__(CUDA_THREADS) measure(const product p, unsigned long long *largest) {
  const int lane = (int)threadIdx.x % FEW_LANES;
  const int64_t owners = (int64_t)gridDim.x * (CUDA_THREADS / FEW_LANES);
  int64_t i = ((int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x) / FEW_LANES;
  for (; __any_sync(0xffffffffu, i < p.left.rows); i += owners) {
    const bool is_row = i < p.left.rows;
    const int32_t end = is_row ? p.left.offsets[i + 1] : 0;
    int64_t sum = 0;
#pragma unroll 4
    for (int32_t e = is_row ? p.left.offsets[i] + lane : 0; e < end; e += FEW_LANES) {
      const int32_t k = p.left.indices[e];
      sum += p.P.offsets[k + 1] - p.P.offsets[k];
    }
    __syncwarp();
    for (int offset = FEW_LANES / 2; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    sum /= p.unknowns;
    if (is_row && lane == 0) p.begins[i] = sum;
    for (int offset = FEW_LANES; offset < 32; offset <<= 1) {
      const int64_t other = __shfl_xor_sync(0xffffffffu, sum, offset);
      if (other > sum) sum = other;
    }
    if (threadIdx.x % 32 == 0 && (unsigned long long)sum > *(volatile unsigned long long *)largest)
      atomicMax(largest, (unsigned long long)sum);
  }
}

/* The entry of the diagonal of C if the row is all zeros, otherwise -1. */
static __device__ int32_t find_zero(const cuda_amg_csr &C, int32_t i) {
  int32_t diagonal = -1;
  for (int32_t e = C.offsets[i]; e < C.offsets[i + 1]; e++) {
    if (C.values[e] != 0) return -1;
    if (C.indices[e] == i) diagonal = e;
  }
  return diagonal;
}

__global__ static void __launch_bounds__(CUDA_THREADS) fill_zeros(const product p) {
  const cuda_amg_csr &C = p.C;
  for (int64_t node = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x; node < p.nodes;
       node += (int64_t)gridDim.x * CUDA_THREADS) {
    const int32_t begin = (int32_t)node * p.unknowns, end = begin + p.unknowns;
    int32_t zeros[8], count = 0;
    float least = 0;
    for (int32_t i = begin; i < end; i++) {
      const int32_t zero = find_zero(C, i);
      if (zero >= 0) zeros[count++] = zero;
    }
    if (count == 0) continue;
    for (int32_t i = begin; i < end; i++)
      for (int32_t e = C.offsets[i]; e < C.offsets[i + 1]; e++)
        if (C.indices[e] == i && C.values[e] > 0 && (least == 0 || C.values[e] < least)) least = C.values[e];
    for (int32_t k = 0; k < count; k++) C.values[zeros[k]] = least > 0 ? least : 1;
  }
}

/* ---- On the host ---- */

/* Two lists of rows and their lengths, and the number of rows that the warps refused last time. */
struct row_lists {
  int32_t *rows[2], *lengths;
  int32_t refused;
};

static unsigned blocks_of(int64_t items, int items_a_block) {
  const int64_t blocks = (items + items_a_block - 1) / items_a_block;
  return (unsigned)(blocks < CUDA_AMG_MOST_BLOCKS ? blocks : CUDA_AMG_MOST_BLOCKS);
}

template <int MODE, int LANES, int SLOTS, int MOST_UNKNOWNS>
static ts_status run_hashed(ts_context *context, const product &p, const row_list &l) {
  /* Lists are usually short. */
  const unsigned blocks =
      l.rows ? 8 * (unsigned)cuda_state_of(context)->multiprocessors : blocks_of(l.count, HASH_THREADS / LANES);
  return cuda_launch(context, "multiply_hashed", multiply_hashed<MODE, LANES, SLOTS, MOST_UNKNOWNS>, blocks,
                     HASH_THREADS, p, l);
}

template <int MODE> static ts_status run_warps(ts_context *context, const product &p, const row_list &l) {
  constexpr bool counts = MODE == COUNT_NODES; /* without sums */
  if (p.unknowns == 1) return run_hashed < MODE, 32, WARP_SLOTS, counts ? 0 : 1 > (context, p, l);
  if (counts || p.unknowns <= 3) return run_hashed < MODE, 32, WARP_SLOTS / 2, counts ? 0 : 3 > (context, p, l);
  return run_hashed < MODE, 32, WARP_SLOTS / 2, counts ? 0 : 8 > (context, p, l);
}

/* Computes all rows, or counts the nodes of all node rows. No row has more than `most` nodes; `few`: most rows
 * have few. */
template <int MODE>
static ts_status run_galerkin(ts_context *context, const product &p, int32_t items, int64_t most, bool few,
                              row_lists *lists) {
  lists->refused = 0;
  if (items == 0) return TS_OK;
  const int table_nodes = (p.unknowns == 1 ? WARP_SLOTS : WARP_SLOTS / 2) / 4 * 3;
  const bool all_fit = most <= (few ? FEW_NODES : table_nodes) && p.left.columns <= MOST_ENTRIES;
  CUDA_TRY(context, cudaMemsetAsync(lists->lengths, 0, 2 * sizeof *lists->lengths, cuda_stream(context)));
  row_list all = {items, NULL, NULL, lists->rows[1], lists->lengths + 1};
  if constexpr (MODE == MULTIPLY_AP)
    if (few) {
      row_list first = all;
      first.refused = lists->rows[0];
      first.refused_length = lists->lengths;
      TSI_TRY((run_hashed<MODE, FEW_LANES, FEW_SLOTS, 1>(context, p, first)));
      if (all_fit) return TS_OK;
      all.rows = lists->rows[0];
      all.length = lists->lengths;
    }
  TSI_TRY(run_warps<MODE>(context, p, all));
  if (all_fit) return TS_OK;
  TSI_TRY(cuda_download(context, &lists->refused, lists->lengths + 1, sizeof lists->refused));
  return lists->refused > 0 ? cuda_amg_expand<MODE>(context, p, lists->rows[1], lists->refused) : TS_OK;
}

/* Computes A P in blocks of `memory`. */
static ts_status multiply_ap(cuda_amg_memory *memory, product *p, row_lists *lists) {
  ts_context *context = memory->context;
  const int32_t rows = p->left.rows;
  int64_t sizes[2] = {0, 0}; /* total over all rows, and the maximum */
  CUDA_AMG_ALLOC(memory, (size_t)rows + 2, p->begins);
  CUDA_AMG_ALLOC(memory, rows, p->counts);
  if (rows > 0) {
    int64_t *largest = p->begins + rows + 1;
    CUDA_TRY(context, cudaMemsetAsync(largest, 0, sizeof *largest, cuda_stream(context)));
    TSI_TRY(cuda_launch(context, "measure", measure, blocks_of(rows, CUDA_THREADS / FEW_LANES), CUDA_THREADS,
                        *p, (unsigned long long *)largest));
    TSI_TRY(cuda_amg_scan64(context, p->begins, (size_t)rows));
    TSI_TRY(cuda_download(context, sizes, p->begins + rows, sizeof sizes));
  }
  CUDA_AMG_ALLOC(memory, sizes[0], p->product_nodes);
  CUDA_AMG_ALLOC(memory, (size_t)sizes[0] * (size_t)p->unknowns, p->product_values);
  /* Rows of P that neighbours refer to share most of their nodes. */
  const bool few = p->unknowns == 1 && sizes[0] <= (int64_t)3 * FEW_NODES * rows;
  return run_galerkin<MULTIPLY_AP>(context, *p, rows, sizes[1] < p->nodes ? sizes[1] : p->nodes, few, lists);
}

static ts_status find_product_pattern(ts_context *context, product *p, row_lists *lists, cuda_amg_csr *C) {
  TSI_TRY(cuda_amg_csr_begin(context, p->left.rows, p->P.columns, C));
  p->C = *C;
  const ts_status status =
      run_galerkin<COUNT_NODES>(context, *p, p->left.rows / p->unknowns, p->nodes, false, lists);
  if (status == TS_OK) return cuda_amg_csr_finish(context, C);
  cuda_amg_csr_free(context, C);
  return status;
}

/* `again`: the notes to make, or NULL. */
static ts_status multiply_all(cuda_amg_memory *memory, product *p, const cuda_amg_csr *R, cuda_amg_csr *C,
                              cuda_amg_again *again) {
  ts_context *context = memory->context;
  const int32_t rows = p->left.rows > R->rows ? p->left.rows : R->rows;
  const bool is_new = !C->offsets;
  row_lists lists;
  int32_t most = p->nodes;
  CUDA_AMG_ALLOC(memory, rows, lists.rows[0]);
  CUDA_AMG_ALLOC(memory, rows, lists.rows[1]);
  CUDA_AMG_ALLOC(memory, 2, lists.lengths);
  TSI_TRY(multiply_ap(memory, p, &lists));
  if (again) TSI_TRY(cuda_amg_note_places(again, *p, R, C));
  p->left = *R;
  if (is_new) {
    TSI_TRY(find_product_pattern(context, p, &lists, C));
    if (lists.refused == 0) most = 0; /* all rows fit the warps' tables, which are as large now */
  }
  p->C = *C;
  const ts_status status = run_galerkin<FILL_C>(context, *p, R->rows, most, false, &lists);
  if (status < 0 && is_new) cuda_amg_csr_free(context, C);
  return status;
}

static ts_status find_product(ts_context *context, const cuda_amg_csr *R, const cuda_amg_csr *A,
                              const cuda_amg_csr *P, int unknowns, cuda_amg_csr *C, cuda_amg_again *again) {
  cuda_amg_memory memory = {context};
  product p = {};
  p.unknowns = unknowns;
  p.nodes = P->columns / unknowns;
  p.left = *A;
  p.P = *P;
  const ts_status status = multiply_all(&memory, &p, R, C, again);
  cuda_amg_free(&memory);
  return status;
}

ts_status cuda_amg_product(ts_context *context, const cuda_amg_csr *R, const cuda_amg_csr *A,
                           const cuda_amg_csr *P, int unknowns, cuda_amg_csr *C) {
  return find_product(context, R, A, P, unknowns, C, NULL);
}

static ts_status fill_all_zeros(ts_context *context, int unknowns, const cuda_amg_csr *C) {
  product p = {};
  p.unknowns = unknowns, p.nodes = C->columns / unknowns, p.C = *C;
  if (p.nodes == 0) return TS_OK;
  return cuda_launch(context, "fill_zeros", fill_zeros, blocks_of(p.nodes, CUDA_THREADS), CUDA_THREADS, p);
}

ts_status cuda_amg_galerkin(ts_context *context, const cuda_amg_csr *R, const cuda_amg_csr *A,
                            const cuda_amg_csr *P, int unknowns, cuda_amg_csr *C) {
  const bool is_new = !C->offsets;
  TSI_TRY(cuda_amg_product(context, R, A, P, unknowns, C));
  const ts_status status = fill_all_zeros(context, unknowns, C);
  if (status < 0 && is_new) cuda_amg_csr_free(context, C);
  return status;
}

ts_status cuda_amg_galerkin_again(ts_context *context, cuda_amg_level *level, cuda_amg_csr *C) {
  cuda_amg_again *again = &level->again;
  const cuda_amg_csr *R = &level->R, *A = &level->A, *P = &level->P;
  if (again->is_noted && !again->is_refused)
    TSI_TRY(cuda_amg_multiply_placed(again, R, A, P, level->vectors, C));
  else {
    const ts_status status = find_product(context, R, A, P, level->vectors, C, again->is_noted ? NULL : again);
    again->is_noted = again->is_noted || status == TS_OK;
    if (status < 0 || again->is_refused) cuda_amg_free(&again->memory);
    if (status < 0) again->is_refused = 0;
    TSI_TRY(status);
  }
  return fill_all_zeros(context, level->vectors, C);
}
