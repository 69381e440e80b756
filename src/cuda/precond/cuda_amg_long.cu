/* Long rows of level matrices. Thread blocks share the entries of such a row in products. Otherwise the few
 * threads of a row would still be busy long after all others. */
#include "cuda/core/cuda_kernels.cuh"
#include "cuda/matrix/cuda_matrix.h"
#include "cuda_amg.h"

enum {
  LONG_STEPS = 32, /* maximum entries per thread of a row that is not long */
  MOST_MATRICES = 4
};

static __device__ __forceinline__ int32_t length_of(const cuda_csr &m, int64_t row) {
  return m.row_offsets[row + 1] - m.row_offsets[row];
}

static __device__ __forceinline__ int32_t pieces_of(int32_t length) {
  return (length - 1) / TSI_ROW_BLOCK_ENTRIES + 1;
}

static __global__ void __launch_bounds__(CUDA_THREADS)
    count_pieces(const cuda_csr m, int32_t limit, int32_t *count) {
  const int64_t row = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  const int32_t length = row < m.rows ? length_of(m, row) : 0;
  if (length > limit) atomicAdd(count, pieces_of(length));
}

/* The order of rows is irrelevant, but the row blocks of one row are consecutive. */
static __global__ void __launch_bounds__(CUDA_THREADS)
    list_pieces(const cuda_csr m, int32_t limit, tsi_row_block *row_blocks, int32_t *count) {
  const int64_t row = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  const int32_t length = row < m.rows ? length_of(m, row) : 0;
  if (length <= limit) return;
  const int32_t pieces = pieces_of(length), at = atomicAdd(count, pieces);
  for (int32_t p = 0; p < pieces; p++) {
    const int32_t first = m.row_offsets[row] + p * TSI_ROW_BLOCK_ENTRIES;
    const int32_t end = p + 1 < pieces ? first + TSI_ROW_BLOCK_ENTRIES : m.row_offsets[row + 1];
    row_blocks[at + p] = {(int32_t)row, 0, first, end, 0, 0, p, pieces};
  }
}

static int32_t limit_of(const ts_matrix *A) {
  return LONG_STEPS << cuda_matrix_of(A)->csr.log2_subwarp;
}

static ts_status list(ts_context *context, ts_matrix *A, int32_t count, int32_t *counter) {
  cuda_matrix *m = cuda_matrix_of(A);
  const int32_t limit = limit_of(A);
  TSI_TRY(cuda_matrix_create_row_blocks(A, NULL, count));
  m->row_blocks.columns = m->csr.columns;
  m->row_blocks.values = m->csr.values;
  TSI_TRY(cuda_launch(context, "list_pieces", list_pieces, cuda_blocks_for((size_t)m->csr.rows), CUDA_THREADS,
                      m->csr, limit, (tsi_row_block *)m->row_blocks.row_blocks, counter));
  m->csr.limit = limit;
  return TS_OK;
}

static ts_status part_rows(cuda_amg_memory *memory, ts_matrix *const *matrices, int count) {
  ts_context *context = memory->context;
  int32_t pieces[MOST_MATRICES], *counts; /* numbers of pieces per matrix, and counters for their lists */
  CUDA_AMG_ALLOC(memory, 2 * count, counts);
  CUDA_TRY(context, cudaMemsetAsync(counts, 0, 2 * (size_t)count * sizeof *counts, cuda_stream(context)));
  for (int k = 0; k < count; k++) {
    const cuda_csr *csr = &cuda_matrix_of(matrices[k])->csr;
    TSI_TRY(cuda_launch(context, "count_pieces", count_pieces, cuda_blocks_for((size_t)csr->rows), CUDA_THREADS,
                        *csr, limit_of(matrices[k]), counts + k));
  }
  TSI_TRY(cuda_download(context, pieces, counts, (size_t)count * sizeof *counts));
  for (int k = 0; k < count; k++)
    if (pieces[k] > 0) TSI_TRY(list(context, matrices[k], pieces[k], counts + count + k));
  return TS_OK;
}

ts_status cuda_amg_part_long_rows(ts_context *context, ts_matrix *const *matrices, int count) {
  cuda_amg_memory memory = {context};
  const ts_status status = part_rows(&memory, matrices, count);
  cuda_amg_free(&memory);
  return status;
}
