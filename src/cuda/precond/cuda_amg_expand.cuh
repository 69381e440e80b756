/* Rows of a product that are too long for the tables of cuda_amg_galerkin.cu. Their products are written one
 * after the other, sorted by row and node, and added for each entry in their original order. No thread owns a
 * row, so a row may have any length. This is "expansion, sorting, compression" of Bell, Dalton and Olson
 * 2012. */
#ifndef CUDA_AMG_EXPAND_CUH
#define CUDA_AMG_EXPAND_CUH

#include "cuda_amg_product.cuh"

enum {
  EXPAND_EACH = 4,        /* products per thread */
  LONG_SUM = 64,          /* maximum products of an entry that a thread adds; a warp adds more */
  LONG_MEAN = 32,         /* mean products of entries from which each has its own warp */
  MOST_PRODUCTS = 1 << 24 /* maximum sorted together, unless they belong to one row */
};

/* Products are counted in nodes. The products of all items of the list are consecutive. A batch is `items_now`
 * items from `first` on. */
struct expansion {
  const int32_t *items;
  int32_t count;            /* of items */
  int32_t *entry_begins;    /* count + 1: where each item's entries of the left factor begin */
  int32_t *entry_items;     /* the item of each of these entries */
  int64_t *product_begins;  /* where the products of each of these entries begin, and the total */
  int64_t *item_begins;     /* count + 1: where the products of each item begin */
  int32_t first, items_now; /* the batch */
  int64_t before;           /* products of the items before the batch */
  int32_t products;
  uint32_t *keys; /* item - first, combined with the node */
  double *values; /* for all unknowns of the node */
  const uint32_t *sorted;
  const int32_t *order;
  int32_t *numbers; /* entries of C before each product, and the total */
  int32_t *begins;  /* where the sorted products of each of these entries begin */
};

/* ---- Counts ---- */

template <int MODE>
__global__ static void __launch_bounds__(CUDA_THREADS) count_entries(const product p, const expansion x) {
  const int64_t i = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (i >= x.count) return;
  const int32_t row = left_row<MODE>(p, x.items[i]);
  x.entry_begins[i] = p.left.offsets[row + 1] - p.left.offsets[row];
}

/* One block per item. */
template <int MODE>
__global__ static void __launch_bounds__(CUDA_THREADS) count_products(const product p, const expansion x) {
  const int32_t i = (int32_t)blockIdx.x, row = left_row<MODE>(p, x.items[i]);
  const int32_t begin = p.left.offsets[row], end = p.left.offsets[row + 1], to = x.entry_begins[i] - begin;
#pragma unroll 4
  for (int32_t e = begin + (int32_t)threadIdx.x; e < end; e += CUDA_THREADS) {
    x.entry_items[to + e] = i;
    x.product_begins[to + e] = right_row_of<MODE>(p, p.unknowns, e, end).count;
  }
}

__global__ static void __launch_bounds__(CUDA_THREADS) find_item_begins(const expansion x) {
  const int64_t i = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (i <= x.count) x.item_begins[i] = x.product_begins[x.entry_begins[i]];
}

/* ---- Expansion ---- */

/* The last of the numbers first .. last - 1 whose beginning is at most `at`. */
static __device__ __forceinline__ int32_t find_begin(const int64_t *begins, int32_t first, int32_t last,
                                                     int64_t at) {
  while (first + 1 < last) {
    const int32_t middle = first + (last - first) / 2;
    if (begins[middle] <= at)
      first = middle;
    else
      last = middle;
  }
  return first;
}

template <int MODE>
__global__ static void __launch_bounds__(CUDA_THREADS) expand(const product p, const expansion x) {
  __shared__ int32_t range[2];
  const int32_t begin = (int32_t)blockIdx.x * (CUDA_THREADS * EXPAND_EACH);
  const int32_t end = min(x.products - begin, CUDA_THREADS * EXPAND_EACH) + begin;
  if (threadIdx.x < 2)
    range[threadIdx.x] =
        find_begin(x.product_begins, x.entry_begins[x.first], x.entry_begins[x.first + x.items_now],
                   x.before + (threadIdx.x == 0 ? begin : end - 1));
  __syncthreads();
  for (int32_t t = begin + (int32_t)threadIdx.x; t < end; t += CUDA_THREADS) {
    const int32_t q = find_begin(x.product_begins, range[0], range[1] + 1, x.before + t);
    const int32_t i = x.entry_items[q], row = left_row<MODE>(p, x.items[i]);
    const right_row right = right_row_of<MODE>(p, p.unknowns, p.left.offsets[row] + (q - x.entry_begins[i]),
                                               p.left.offsets[row + 1]);
    const int64_t at = right.begin + (x.before + t - x.product_begins[q]);
    x.keys[t] = (uint32_t)(i - x.first) * (uint32_t)p.nodes + (uint32_t)node_at<MODE>(p, p.unknowns, at);
    if constexpr (MODE != COUNT_NODES)
      for (int u = 0; u < p.unknowns; u++)
        x.values[(size_t)t * p.unknowns + u] = right.factor * (double)value_at<MODE>(p, p.unknowns, at, u);
  }
}

/* ---- Compression ---- */

static __device__ __forceinline__ bool begins_entry(const expansion &x, int32_t t) {
  return t == 0 || x.sorted[t] != x.sorted[t - 1];
}

__global__ static void __launch_bounds__(CUDA_THREADS) mark_entries(const expansion x) {
  const int64_t t = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (t < x.products) x.numbers[t] = begins_entry(x, (int32_t)t);
}

__global__ static void __launch_bounds__(CUDA_THREADS) find_entry_begins(const expansion x) {
  const int64_t t = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (t < x.products && begins_entry(x, (int32_t)t)) x.begins[x.numbers[t]] = (int32_t)t;
  if (t == x.products) x.begins[x.numbers[t]] = x.products;
}

/* The number, within the batch, of an item's first entry. */
static __device__ __forceinline__ int32_t first_entry(const expansion &x, int32_t i) {
  return x.numbers[x.item_begins[i] - x.before];
}

template <int MODE>
__global__ static void __launch_bounds__(CUDA_THREADS) write_counts(const product p, const expansion x) {
  const int64_t k = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  const int32_t i = x.first + (int32_t)k;
  if (k < x.items_now) write_count<MODE>(p, p.unknowns, x.items[i], first_entry(x, i + 1) - first_entry(x, i));
}

template <int MODE>
static __device__ __forceinline__ void write_sum(const product &p, const expansion &x, int32_t entry, int u,
                                                 double sum) {
  const uint32_t key = x.sorted[x.begins[entry]];
  const int32_t i = x.first + (int32_t)(key / (uint32_t)p.nodes);
  write_entry<MODE>(p, p.unknowns, x.items[i], entry - first_entry(x, i), (int32_t)(key % (uint32_t)p.nodes), u,
                    sum);
}

/* All threads of the warp call it. */
static __device__ __forceinline__ double add_by_warp(const product &p, const expansion &x, int32_t entry,
                                                     int u) {
  constexpr int each = 4;
  const int32_t begin = x.begins[entry], end = x.begins[entry + 1];
  double sum = 0;
  for (int32_t from = begin; from < end; from += 32 * each) {
    double value[each];
#pragma unroll
    for (int k = 0; k < each; k++) {
      const int32_t t = from + k * 32 + (int32_t)threadIdx.x % 32;
      value[k] = t < end ? x.values[(size_t)x.order[t] * p.unknowns + u] : 0;
    }
#pragma unroll
    for (int k = 0; k < each; k++)
#pragma unroll
      for (int lane = 0; lane < 32; lane++) sum += __shfl_sync(0xffffffffu, value[k], lane);
  }
  return sum;
}

/* A warp takes entries that are far apart, because long entries tend to be neighbours. If most entries are
 * long, a warp takes few. */
template <int MODE>
__global__ static void __launch_bounds__(CUDA_THREADS) add_products(const product p, const expansion x) {
  const int32_t entries = x.numbers[x.products], own_most = x.products / LONG_MEAN > entries ? 1 : 32;
  const int32_t warps = (entries + own_most - 1) / own_most;
  const int32_t warp = (int32_t)(((int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x) / 32);
  if (warp >= warps) return;
  const int lane = (int)threadIdx.x % 32;
  const int64_t own = lane < own_most ? (int64_t)lane * warps + warp : entries;
  const int32_t entry = own < entries ? (int32_t)own : 0;
  const int32_t begin = x.begins[entry], end = own < entries ? x.begins[entry + 1] : begin;
  const bool is_long = end - begin > LONG_SUM;
  for (int u = 0; u < p.unknowns; u++) {
    double sum = 0;
    for (int32_t t = begin; t < end && !is_long; t++) sum += x.values[(size_t)x.order[t] * p.unknowns + u];
    if (own < entries && !is_long) write_sum<MODE>(p, x, entry, u, sum);
    for (unsigned left = __ballot_sync(0xffffffffu, is_long); left; left &= left - 1) {
      const int32_t of_warp = (__ffs((int)left) - 1) * warps + warp;
      sum = add_by_warp(p, x, of_warp, u);
      if (lane == 0) write_sum<MODE>(p, x, of_warp, u, sum);
    }
  }
}

/* ---- On the host ---- */

static int bits_of(uint64_t count) {
  int bits = 1;
  while (count - 1 >> bits) bits++;
  return bits;
}

/* Chooses the next batch: limited in its products, with keys of at most 31 bits. */
static void choose_items(const product &p, const int64_t *item_begins, expansion *x) {
  const int64_t most_items = ((int64_t)1 << 31) / p.nodes;
  x->before = item_begins[x->first];
  x->items_now = 1;
  while (x->first + x->items_now < x->count && x->items_now < most_items &&
         item_begins[x->first + x->items_now + 1] - x->before <= MOST_PRODUCTS / p.unknowns)
    x->items_now++;
}

template <int MODE>
static ts_status expand_items(cuda_amg_memory *memory, const product &p, const int64_t *item_begins,
                              expansion *x) {
  ts_context *context = memory->context;
  const int64_t products = item_begins[x->first + x->items_now] - x->before;
  if (products >= INT32_MAX)
    return tsi_fail(context, TS_ERROR_LIMIT,
                    "a row of a level of amg is the sum of %lld products; the most are %d", (long long)products,
                    INT32_MAX - 1);
  x->products = (int32_t)products;
  const size_t count = (size_t)products;
  const unsigned blocks = cuda_blocks_for(count + 1);
  CUDA_AMG_ALLOC(memory, count, x->keys);
  if (MODE != COUNT_NODES) CUDA_AMG_ALLOC(memory, count * (size_t)p.unknowns, x->values);
  CUDA_AMG_ALLOC(memory, count + 1, x->numbers);
  if (MODE != COUNT_NODES) CUDA_AMG_ALLOC(memory, count + 1, x->begins);
  if (count > 0)
    TSI_TRY(cuda_launch(context, "expand", expand<MODE>, cuda_blocks_for(count, CUDA_THREADS * EXPAND_EACH),
                        CUDA_THREADS, p, *x));
  uint32_t *sorted;
  int32_t *order;
  TSI_TRY(cuda_amg_sort(memory, x->keys, x->products, bits_of((uint64_t)x->items_now * (uint64_t)p.nodes),
                        &sorted, &order));
  x->sorted = sorted;
  x->order = order;
  TSI_TRY(cuda_launch(context, "mark_entries", mark_entries, blocks, CUDA_THREADS, *x));
  TSI_TRY(cuda_amg_scan(context, x->numbers, count));
  TSI_TRY(cuda_launch(context, "write_counts", write_counts<MODE>, cuda_blocks_for((size_t)x->items_now),
                      CUDA_THREADS, p, *x));
  if constexpr (MODE != COUNT_NODES) {
    TSI_TRY(cuda_launch(context, "find_entry_begins", find_entry_begins, blocks, CUDA_THREADS, *x));
    TSI_TRY(cuda_launch(context, "add_products", add_products<MODE>, blocks, CUDA_THREADS, p, *x));
  }
  return TS_OK;
}

template <int MODE>
static ts_status expand_all(cuda_amg_memory *memory, const product &p, expansion *x, int64_t **item_begins) {
  ts_context *context = memory->context;
  const size_t items = (size_t)x->count;
  int32_t entries;
  CUDA_AMG_ALLOC(memory, items + 1, x->entry_begins);
  CUDA_AMG_ALLOC(memory, items + 1, x->item_begins);
  TSI_TRY(
      cuda_launch(context, "count_entries", count_entries<MODE>, cuda_blocks_for(items), CUDA_THREADS, p, *x));
  TSI_TRY(cuda_amg_scan(context, x->entry_begins, items));
  TSI_TRY(cuda_download(context, &entries, x->entry_begins + items, sizeof entries));
  CUDA_AMG_ALLOC(memory, entries, x->entry_items);
  CUDA_AMG_ALLOC(memory, (size_t)entries + 1, x->product_begins);
  TSI_TRY(cuda_launch(context, "count_products", count_products<MODE>, (unsigned)items, CUDA_THREADS, p, *x));
  TSI_TRY(cuda_amg_scan64(context, x->product_begins, (size_t)entries));
  TSI_TRY(
      cuda_launch(context, "find_item_begins", find_item_begins, cuda_blocks_for(items + 1), CUDA_THREADS, *x));
  *item_begins = (int64_t *)tsi_calloc(context, items + 1, sizeof **item_begins);
  if (!*item_begins) return tsi_out_of_memory(context, "a product of amg", (items + 1) * sizeof **item_begins);
  TSI_TRY(cuda_download(context, *item_begins, x->item_begins, (items + 1) * sizeof **item_begins));
  for (x->first = 0; x->first < x->count; x->first += x->items_now) {
    cuda_amg_memory now = {context};
    choose_items(p, *item_begins, x);
    const ts_status status = expand_items<MODE>(&now, p, *item_begins, x);
    cuda_amg_free(&now);
    if (status < 0) return status;
  }
  return TS_OK;
}

/* Computes the `count` rows of the list, in the mode MODE (COUNT_NODES etc.). */
template <int MODE>
static ts_status cuda_amg_expand(ts_context *context, const product &p, const int32_t *items, int32_t count) {
  cuda_amg_memory memory = {context, "a product of amg"};
  int64_t *item_begins = NULL;
  expansion x = {items, count};
  const ts_status status = expand_all<MODE>(&memory, p, &x, &item_begins);
  cuda_amg_free(&memory);
  tsi_free(context, item_begins);
  return status;
}

#endif
