/* T = -A^T. The entries of A, row by row, are sorted by column. The sort is stable, so the rows within a column
 * ascend. */
#include "cuda/core/cuda_kernels.cuh"
#include "cuda_amg.h"

/* The row of an entry: the last of first .. last that begins at the entry or earlier. */
static __device__ __forceinline__ int32_t row_of(const int32_t *offsets, int32_t first, int32_t last,
                                                 int32_t entry) {
  while (first < last) {
    const int32_t middle = last - (last - first) / 2;
    if (offsets[middle] <= entry)
      first = middle;
    else
      last = middle - 1;
  }
  return first;
}

/* Entry e of T is entry order[e] of A. */
static __global__ void __launch_bounds__(CUDA_THREADS)
    scatter(const cuda_amg_csr A, const cuda_amg_csr T, const int32_t *order) {
  for (int64_t e = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x; e < T.entries;
       e += (int64_t)gridDim.x * CUDA_THREADS) {
    const int32_t from = order[e];
    T.indices[e] = row_of(A.offsets, 0, A.rows - 1, from);
    T.values[e] = -A.values[from];
  }
}

/* Row i of T begins at the first column that is at least i. */
static __global__ void __launch_bounds__(CUDA_THREADS)
    find_transposed_offsets(const cuda_amg_csr T, const uint32_t *columns) {
  for (int64_t i = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x; i <= T.rows;
       i += (int64_t)gridDim.x * CUDA_THREADS) {
    int32_t first = 0, end = T.entries;
    while (first < end) {
      const int32_t middle = first + (end - first) / 2;
      if (columns[middle] < (uint32_t)i)
        first = middle + 1;
      else
        end = middle;
    }
    T.offsets[i] = first;
  }
}

static unsigned blocks_of(int64_t items) {
  const int64_t blocks = (items + CUDA_THREADS - 1) / CUDA_THREADS;
  return (unsigned)(blocks < CUDA_AMG_MOST_BLOCKS ? blocks : CUDA_AMG_MOST_BLOCKS);
}

static ts_status sort_entries(cuda_amg_memory *memory, const cuda_amg_csr *A, uint32_t **columns,
                              int32_t **order) {
  int bits = 1;
  while (bits < 31 && (A->columns - 1) >> bits) bits++;
  return cuda_amg_sort(memory, (const uint32_t *)A->indices, A->entries, bits, columns, order);
}

static ts_status fill(cuda_amg_memory *memory, const cuda_amg_csr *A, const cuda_amg_csr *T) {
  ts_context *context = memory->context;
  uint32_t *columns;
  int32_t *order;
  TSI_TRY(sort_entries(memory, A, &columns, &order));
  if (A->entries > 0)
    TSI_TRY(cuda_launch(context, "scatter", scatter, blocks_of(A->entries), CUDA_THREADS, *A, *T, order));
  return cuda_launch(context, "find_transposed_offsets", find_transposed_offsets,
                     blocks_of((int64_t)T->rows + 1), CUDA_THREADS, *T, columns);
}

ts_status cuda_amg_transpose(ts_context *context, const cuda_amg_csr *A, cuda_amg_csr *T) {
  cuda_amg_memory memory = {context};
  TSI_TRY(cuda_amg_csr_begin(context, A->columns, A->rows, T));
  TSI_TRY(cuda_amg_csr_room(context, A->entries, T));
  const ts_status status = fill(&memory, A, T);
  cuda_amg_free(&memory);
  if (status < 0) cuda_amg_csr_free(context, T);
  return status;
}

/* ---- Values only ---- */

static __global__ void __launch_bounds__(CUDA_THREADS)
    scatter_values(const cuda_amg_csr A, const cuda_amg_csr T, const int32_t *order) {
  for (int64_t e = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x; e < T.entries;
       e += (int64_t)gridDim.x * CUDA_THREADS)
    T.values[e] = -A.values[order[e]];
}

/* Keeps the order in separate memory and frees the memory of the sort. */
static ts_status note_order(ts_context *context, cuda_amg_level *level) {
  cuda_amg_memory memory = {context};
  const size_t entries = (size_t)level->P.entries;
  uint32_t *columns;
  int32_t *order, *kept = NULL;
  ts_status status = sort_entries(&memory, &level->P, &columns, &order);
  if (status == TS_OK) status = cuda_amg_alloc(&level->again.of_order, entries, sizeof *kept, (void **)&kept);
  if (status == TS_OK && entries > 0) {
    const cudaError_t error =
        cudaMemcpyAsync(kept, order, entries * sizeof *kept, cudaMemcpyDeviceToDevice, cuda_stream(context));
    if (error != cudaSuccess) status = cuda_report(context, error, "cudaMemcpyAsync", __FILE__, __LINE__);
  }
  cuda_amg_free(&memory);
  if (status == TS_OK)
    level->again.order = kept;
  else
    cuda_amg_free(&level->again.of_order);
  return status;
}

ts_status cuda_amg_transpose_again(ts_context *context, cuda_amg_level *level) {
  if (level->P.entries == 0) return TS_OK;
  if (!level->again.order) TSI_TRY(note_order(context, level));
  return cuda_launch(context, "scatter_values", scatter_values, blocks_of(level->P.entries), CUDA_THREADS,
                     level->P, level->R, level->again.order);
}
