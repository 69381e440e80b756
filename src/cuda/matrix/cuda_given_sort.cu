/* Converts entries in any order to compressed rows: a stable sort by columns, then by rows. The first of
 * several entries with the same row and column adds up all of them. */
#include "cuda/core/cuda_split.cuh"
#include "cuda_given.h"

static const char *const sort_name = "a matrix";

static __global__ void __launch_bounds__(CUDA_THREADS)
    gather(int32_t count, const int32_t *from, const int32_t *order, uint32_t *to) {
  CUDA_EACH(k, count) to[k] = (uint32_t)from[order[k]];
}

static __global__ void __launch_bounds__(CUDA_THREADS)
    compose(int32_t count, const int32_t *inner, int32_t *outer) {
  CUDA_EACH(k, count) outer[k] = inner[outer[k]];
}

/* The sorted entries. rows[k] is the row of number k. */
struct sorted {
  int32_t count;
  const uint32_t *rows;
  const int32_t *order, *columns;
};

static __device__ __forceinline__ bool is_first(const sorted &s, size_t k) {
  return k == 0 || s.rows[k] != s.rows[k - 1] || s.columns[s.order[k]] != s.columns[s.order[k - 1]];
}

static __global__ void __launch_bounds__(CUDA_THREADS)
    count_firsts(const sorted s, int32_t *firsts, int32_t *lengths) {
  CUDA_EACH(k, s.count) {
    firsts[k] = is_first(s, k);
    if (firsts[k]) atomicAdd(lengths + s.rows[k], 1);
  }
}

/* `places`: the number of first entries before each entry. */
template <typename Real>
static __global__ void __launch_bounds__(CUDA_THREADS)
    merge(const sorted s, const int32_t *places, const Real *values, int exponent, int32_t *columns,
          double *sums) {
  CUDA_EACH(k, s.count) {
    if (!is_first(s, k)) continue;
    columns[places[k]] = s.columns[s.order[k]];
    if (!values) continue;
    double sum = 0;
    for (size_t l = k; l < (size_t)s.count && (l == k || !is_first(s, l)); l++) {
      const double value = (double)values[s.order[l]];
      sum += exponent ? ldexp(value, -exponent) : value;
    }
    sums[places[k]] = sum;
  }
}

static int bits_of(int32_t size) {
  int bits = 1;
  while (bits < 31 && size - 1 >> bits) bits++;
  return bits;
}

static ts_status sort_entries(cuda_amg_memory *memory, const cuda_entries *e, const tsi_given *given,
                              sorted *s) {
  ts_context *context = memory->context;
  const unsigned blocks = cuda_blocks_each(context, (size_t)e->count);
  uint32_t *keys, *sorted_keys, *rows;
  int32_t *by_columns, *by_rows;
  TSI_TRY(cuda_amg_sort(memory, (const uint32_t *)e->columns, e->count, bits_of(given->columns), &sorted_keys,
                        &by_columns));
  CUDA_AMG_ALLOC(memory, e->count, keys);
  TSI_TRY(cuda_launch(context, "gather", gather, blocks, CUDA_THREADS, e->count, e->rows,
                      (const int32_t *)by_columns, keys));
  TSI_TRY(cuda_amg_sort(memory, keys, e->count, bits_of(given->rows), &rows, &by_rows));
  TSI_TRY(cuda_launch(context, "compose", compose, blocks, CUDA_THREADS, e->count, (const int32_t *)by_columns,
                      by_rows));
  *s = {e->count, rows, by_rows, e->columns};
  return TS_OK;
}

static ts_status run_merge(ts_context *context, const sorted &s, const cuda_entries *e, const int32_t *places,
                           int32_t *columns, double *sums) {
  const unsigned blocks = cuda_blocks_each(context, (size_t)s.count);
  return e->type == TS_TYPE_DOUBLE ? cuda_launch(context, "merge", merge<double>, blocks, CUDA_THREADS, s,
                                                 places, (const double *)e->values, e->exponent, columns, sums)
                                   : cuda_launch(context, "merge", merge<float>, blocks, CUDA_THREADS, s,
                                                 places, (const float *)e->values, e->exponent, columns, sums);
}

static ts_status sort_and_merge(cuda_amg_memory *memory, const cuda_entries *e, tsi_given *given,
                                double **sums) {
  ts_context *context = memory->context;
  cuda_given *g = (cuda_given *)given->impl;
  const size_t rows = (size_t)given->rows;
  int32_t *places, unique;
  sorted s;
  TSI_TRY(sort_entries(memory, e, given, &s));
  CUDA_AMG_ALLOC(memory, (size_t)e->count + 1, places);
  TSI_TRY(cuda_alloc_zeroed(context, (void **)&g->offsets, (rows + 1) * sizeof *g->offsets, sort_name));
  TSI_TRY(cuda_launch(context, "count_firsts", count_firsts, cuda_blocks_each(context, (size_t)e->count),
                      CUDA_THREADS, s, places, g->offsets + 1));
  TSI_TRY(cuda_amg_scan(context, places, (size_t)e->count));
  TSI_TRY(cuda_amg_add_lengths(context, g->offsets, rows));
  context->host_synchronisations++;
  TSI_TRY(cuda_download(context, &unique, places + e->count, sizeof unique));
  given->nonzeros = unique;
  given->duplicates = e->count - unique;
  TSI_TRY(cuda_alloc_zeroed(context, (void **)&g->columns, cuda_given_room((size_t)unique) * 4, sort_name));
  if (e->values) TSI_TRY(cuda_alloc(context, (void **)sums, (size_t)unique * sizeof **sums, sort_name));
  return run_merge(context, s, e, places, g->columns, *sums);
}

ts_status cuda_given_sort(ts_context *context, const cuda_entries *entries, tsi_given *given, double **sums) {
  cuda_amg_memory memory = {};
  memory.context = context;
  memory.what = sort_name;
  *sums = NULL;
  const ts_status status = sort_and_merge(&memory, entries, given, sums);
  if (status < 0) {
    cuda_free(context, *sums, (size_t)given->nonzeros * sizeof **sums);
    *sums = NULL;
  }
  cuda_amg_free(&memory);
  return status;
}
