/* The values of a matrix as csr on the device: the arrays of csr itself, unpacked jagged diagonals, or
 * otherwise the host copy. */
#include "cuda/core/cuda_kernels.cuh"
#include "cuda/matrix/cuda_matrix.h"
#include "cuda/matrix/cuda_rows.cuh"
#include "cuda_amg.h"

/* ---- Jagged: see layout.h ---- */

/* Stores the length of each row in a slice, at the offset of the next row. */
static __global__ void __launch_bounds__(CUDA_THREADS) measure_slices(const cuda_slices m, int32_t *lengths) {
  const int32_t slice = (int32_t)(((int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x) / 32);
  if (slice >= m.count) return;
  const cuda_place p = cuda_place_of(m, slice, (int)threadIdx.x % 32);
  if (p.row >= 0) lengths[p.row] = p.length;
}

/* Stores the lengths of long rows, from their last pieces. */
static __global__ void __launch_bounds__(CUDA_THREADS)
    measure_long_rows(const cuda_row_blocks w, int32_t *lengths) {
  const int64_t i = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (i >= w.count) return;
  const tsi_row_block b = w.row_blocks[i];
  if (b.piece == b.pieces - 1) lengths[b.row] = b.piece * TSI_PIECE_ENTRIES + b.end - b.first;
}

static __device__ __forceinline__ int32_t column_of(const cuda_slices &m, const tsi_slice &s, int k,
                                                    int32_t number) {
  const uint32_t *words = m.words + s.first_word;
  if (s.column_bytes == 4) return (int32_t)words[number];
  const int32_t base = m.bases[s.first_base + k];
  return base + (s.column_bytes == 2 ? ((const uint16_t *)words)[number] : ((const uint8_t *)words)[number]);
}

enum {
  UNPACK_EACH = 8, /* entries per row that pass through shared memory together: neighbours in csr */
  UNPACK_WARPS = CUDA_THREADS / 32
};

struct unpacked {
  int32_t indices[TSI_SLICE_ROWS][UNPACK_EACH + 1];
  float values[TSI_SLICE_ROWS][UNPACK_EACH + 1];
  int32_t to[TSI_SLICE_ROWS], lengths[TSI_SLICE_ROWS];
};

/* One warp per slice. Entry k of a row in a slice is entry k in csr. */
static __global__ void __launch_bounds__(CUDA_THREADS)
    unpack_slices(const cuda_slices m, const cuda_amg_csr A) {
  __shared__ unpacked warps[UNPACK_WARPS];
  const int32_t slice = (int32_t)(((int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x) / 32);
  if (slice >= m.count) return;
  unpacked &warp = warps[threadIdx.x / 32];
  const int lane = (int)threadIdx.x % 32;
  const cuda_place p = cuda_place_of(m, slice, lane);
  warp.to[lane] = p.row >= 0 ? A.offsets[p.row] : 0;
  warp.lengths[lane] = p.row >= 0 ? p.length : 0;
  int32_t before = 0; /* entries of the slice so far, without padding */
  for (int first = 0; first < p.slice.longest; first += UNPACK_EACH) {
#pragma unroll
    for (int u = 0; u < UNPACK_EACH; u++) {
      const int k = first + u;
      const unsigned lanes = __ballot_sync(0xffffffffu, k < p.length);
      if (k < p.length) {
        const int32_t number =
            p.slice.padded ? k * TSI_SLICE_ROWS + lane : before + __popc(lanes & ((1u << lane) - 1));
        warp.indices[lane][u] = column_of(m, p.slice, k, number);
        warp.values[lane][u] = m.values[(size_t)p.slice.first + number];
      }
      before += __popc(lanes);
    }
    __syncwarp();
    for (int row = lane / UNPACK_EACH; row < TSI_SLICE_ROWS; row += 32 / UNPACK_EACH) {
      const int u = lane % UNPACK_EACH, k = first + u;
      if (k >= warp.lengths[row]) continue;
      A.indices[warp.to[row] + k] = warp.indices[row][u];
      A.values[warp.to[row] + k] = warp.values[row][u];
    }
    __syncwarp();
  }
}

/* One block per piece. */
static __global__ void __launch_bounds__(CUDA_THREADS)
    unpack_long_rows(const cuda_row_blocks w, const cuda_amg_csr A) {
  const tsi_row_block b = w.row_blocks[blockIdx.x];
  const int32_t to = A.offsets[b.row] + b.piece * TSI_PIECE_ENTRIES;
  for (int32_t k = (int32_t)threadIdx.x; k < b.end - b.first; k += CUDA_THREADS) {
    A.indices[to + k] = w.columns[b.first + k];
    A.values[to + k] = w.values[b.first + k];
  }
}

static ts_status unpack(ts_context *context, const cuda_matrix *m, const cuda_amg_csr *A) {
  const unsigned slices = cuda_blocks_for(32 * (size_t)m->slices.count);
  const unsigned pieces = (unsigned)m->row_blocks.count;
  TSI_TRY(cuda_launch(context, "measure_slices", measure_slices, slices, CUDA_THREADS, m->slices, A->offsets));
  if (pieces > 0)
    TSI_TRY(cuda_launch(context, "measure_long_rows", measure_long_rows, cuda_blocks_for(pieces), CUDA_THREADS,
                        m->row_blocks, A->offsets));
  TSI_TRY(cuda_amg_scan(context, A->offsets, (size_t)A->rows));
  TSI_TRY(cuda_launch(context, "unpack_slices", unpack_slices, slices, CUDA_THREADS, m->slices, *A));
  if (pieces == 0) return TS_OK;
  return cuda_launch(context, "unpack_long_rows", unpack_long_rows, pieces, CUDA_THREADS, m->row_blocks, *A);
}

/* ---- All formats ---- */

/* Allocates the arrays in `memory`, padded with zeros. */
static ts_status make_room(cuda_amg_memory *memory, cuda_amg_csr *A) {
  ts_context *context = memory->context;
  const size_t entries = (size_t)A->entries, all = (entries + 7) / 8 * 8;
  CUDA_AMG_ALLOC(memory, (size_t)A->rows + 1, A->offsets);
  CUDA_AMG_ALLOC(memory, all, A->indices);
  CUDA_AMG_ALLOC(memory, all, A->values);
  if (all == entries) return TS_OK;
  CUDA_TRY(context, cudaMemsetAsync(A->indices + entries, 0, (all - entries) * sizeof *A->indices,
                                    cuda_stream(context)));
  CUDA_TRY(context,
           cudaMemsetAsync(A->values + entries, 0, (all - entries) * sizeof *A->values, cuda_stream(context)));
  return TS_OK;
}

/* Uploads a host copy. */
static ts_status upload(cuda_amg_memory *memory, const tsi_host_csr *copy, cuda_amg_csr *A) {
  ts_context *context = memory->context;
  const size_t entries = (size_t)A->entries;
  TSI_TRY(make_room(memory, A));
  TSI_TRY(cuda_upload(context, A->offsets, copy->row_offsets, ((size_t)copy->rows + 1) * sizeof *A->offsets));
  TSI_TRY(cuda_upload(context, A->indices, copy->column_indices, entries * sizeof *A->indices));
  return cuda_upload(context, A->values, copy->values, entries * sizeof *A->values);
}

static ts_status upload_to_keep(cuda_amg_kept_source *kept, const tsi_host_csr *copy, cuda_amg_csr *A) {
  if (kept->csr.offsets) {
    *A = kept->csr;
    return cuda_upload(kept->memory.context, A->values, copy->values, (size_t)A->entries * sizeof *A->values);
  }
  const ts_status status = upload(&kept->memory, copy, A);
  if (status == TS_OK)
    kept->csr = *A;
  else
    cuda_amg_free(&kept->memory);
  return status;
}

static ts_status upload_copy(cuda_amg_memory *memory, cuda_amg_kept_source *kept, const ts_matrix *matrix,
                             cuda_amg_csr *A) {
  const tsi_host_csr *copy = matrix->host_copy;
  if (!copy)
    return tsi_fail(memory->context, TS_ERROR_INVALID_ARGUMENT,
                    "amg needs a matrix made with keep_host_copy, from which it makes its levels");
  A->entries = copy->row_offsets[copy->rows];
  return kept ? upload_to_keep(kept, copy, A) : upload(memory, copy, A);
}

ts_status cuda_amg_source(cuda_amg_memory *memory, cuda_amg_kept_source *kept, const ts_matrix *matrix,
                          cuda_amg_csr *A) {
  *A = {};
  A->rows = matrix->info.rows;
  A->columns = matrix->info.columns;
  A->entries = (int32_t)matrix->info.nonzeros;
  const ts_format format = matrix->layout ? matrix->layout->format : TS_FORMAT_AUTO; /* a stencil: AUTO */
  if (format == TS_FORMAT_CSR) {
    const cuda_matrix *m = cuda_matrix_of(matrix);
    A->offsets = (int32_t *)m->csr.row_offsets;
    A->indices = (int32_t *)m->csr.columns;
    A->values = (float *)m->csr.values;
    return TS_OK;
  }
  if (format != TS_FORMAT_JAGGED) return upload_copy(memory, kept, matrix, A);
  TSI_TRY(make_room(memory, A));
  return unpack(memory->context, cuda_matrix_of(matrix), A);
}
