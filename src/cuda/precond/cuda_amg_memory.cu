/* Shared by the AMG setup on the device: blocks of memory that are freed together, and sparse matrices. */
#include "cuda/core/cuda_kernels.cuh"
#include "cuda_amg.h"

static const char *const level_name = "a level of amg";

/* ---- Blocks ---- */

ts_status cuda_amg_alloc(cuda_amg_memory *memory, size_t count, size_t size, void **to) {
  *to = NULL;
  if (memory->count == CUDA_AMG_BLOCKS)
    return tsi_fail(memory->context, TS_ERROR_LIMIT, "%s takes more than %d blocks of memory",
                    memory->what ? memory->what : level_name, (int)CUDA_AMG_BLOCKS);
  TSI_TRY(cuda_alloc(memory->context, to, count * size, memory->what ? memory->what : level_name));
  memory->blocks[memory->count].data = *to;
  memory->blocks[memory->count++].bytes = count * size;
  return TS_OK;
}

void cuda_amg_free(cuda_amg_memory *memory) {
  while (memory->count > 0) {
    memory->count--;
    cuda_free(memory->context, memory->blocks[memory->count].data, memory->blocks[memory->count].bytes);
  }
}

/* ---- Sparse matrices ---- */

void cuda_amg_csr_free(ts_context *context, cuda_amg_csr *A) {
  cuda_free(context, A->offsets, ((size_t)A->rows + 1) * sizeof *A->offsets);
  cuda_free(context, A->indices, cuda_amg_room((size_t)A->entries) * sizeof *A->indices);
  cuda_free(context, A->values, cuda_amg_room((size_t)A->entries) * sizeof *A->values);
  *A = {};
}

ts_status cuda_amg_csr_begin(ts_context *context, int32_t rows, int32_t columns, cuda_amg_csr *A) {
  *A = {};
  A->rows = rows;
  A->columns = columns;
  TSI_TRY(cuda_alloc(context, (void **)&A->offsets, ((size_t)rows + 1) * sizeof *A->offsets, level_name));
  const cudaError_t error = cudaMemsetAsync(A->offsets, 0, sizeof *A->offsets, cuda_stream(context));
  if (error == cudaSuccess) return TS_OK;
  cuda_amg_csr_free(context, A);
  return cuda_report(context, error, "cudaMemsetAsync", __FILE__, __LINE__);
}

/* Allocates numbers of four bytes, padded with zeros. */
static ts_status alloc_padded(ts_context *context, int32_t entries, void **to) {
  const size_t all = cuda_amg_room((size_t)entries), behind = all - (size_t)entries;
  TSI_TRY(cuda_alloc(context, to, all * 4, level_name));
  if (behind > 0)
    CUDA_TRY(context, cudaMemsetAsync((char *)*to + 4 * (size_t)entries, 0, 4 * behind, cuda_stream(context)));
  return TS_OK;
}

ts_status cuda_amg_csr_room(ts_context *context, int64_t entries, cuda_amg_csr *A) {
  ts_status status = TS_OK;
  if (entries > INT32_MAX)
    status = tsi_fail(context, TS_ERROR_LIMIT, "a matrix of a level of amg has %lld entries; the most are %d",
                      (long long)entries, INT32_MAX);
  else {
    A->entries = (int32_t)entries;
    status = alloc_padded(context, A->entries, (void **)&A->indices);
    if (status == TS_OK) status = alloc_padded(context, A->entries, (void **)&A->values);
  }
  if (status < 0) cuda_amg_csr_free(context, A);
  return status;
}

/* The sum in 64 bits, because 32-bit offsets could overflow. */
static __global__ void __launch_bounds__(CUDA_THREADS)
    add_lengths(int32_t rows, const int32_t *lengths, unsigned long long *sum) {
  unsigned long long mine = 0;
  for (int64_t i = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x; i < rows;
       i += (int64_t)gridDim.x * CUDA_THREADS)
    mine += (unsigned long long)lengths[i];
  mine = cuda_warp_sum(mine);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

/* Adds the lengths up and returns the number of entries. */
static ts_status add_entries(ts_context *context, const cuda_amg_csr *A, unsigned long long *sum,
                             unsigned long long *entries) {
  const unsigned all = cuda_blocks_for((size_t)A->rows);
  const unsigned most = 8 * (unsigned)cuda_state_of(context)->multiprocessors;
  *entries = 0;
  if (A->rows == 0) return TS_OK;
  TSI_TRY(cuda_launch(context, "add_lengths", add_lengths, all < most ? all : most, CUDA_THREADS, A->rows,
                      A->offsets + 1, sum));
  TSI_TRY(cuda_amg_add_lengths(context, A->offsets, (size_t)A->rows));
  return cuda_download(context, entries, sum, sizeof *sum);
}

ts_status cuda_amg_csr_finish(ts_context *context, cuda_amg_csr *A) {
  unsigned long long *sum, entries;
  ts_status status = cuda_alloc_zeroed(context, (void **)&sum, sizeof *sum, level_name);
  if (status == TS_OK) {
    status = add_entries(context, A, sum, &entries);
    cuda_free(context, sum, sizeof *sum);
  }
  if (status == TS_OK) return cuda_amg_csr_room(context, (int64_t)entries, A);
  cuda_amg_csr_free(context, A);
  return status;
}
