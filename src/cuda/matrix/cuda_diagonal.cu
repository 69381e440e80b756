/* Copies the diagonal of a matrix into every component of a vector. */
#include "cuda_rows.cuh"

static __device__ __forceinline__ void put(float *d, int32_t row, int components, float value) {
  for (int c = 0; c < components; c++) d[(size_t)row * components + c] = value;
}

__global__ static void diagonal_csr(const cuda_csr m, float *d, int components) {
  const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  const int32_t end = m.row_offsets[row + 1];
  int32_t low = m.row_offsets[row], high = end;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (m.columns[middle] < row)
      low = middle + 1;
    else
      high = middle;
  }
  put(d, (int32_t)row, components, low < end && m.columns[low] == row ? m.values[low] : 0);
}

/* d must be 0 before. */
__global__ static void diagonal_row_blocks(const cuda_row_blocks m, float *d, int components) {
  const tsi_row_block part = m.row_blocks[blockIdx.x];
  for (int32_t k = part.first + (int)threadIdx.x; k < part.end; k += (int)blockDim.x)
    if (m.columns[k] == part.row) put(d, part.row, components, m.values[k]);
}

__global__ static void diagonal_slices(const cuda_slices m, float *d, int components) {
  const int lane = threadIdx.x % 32;
  const int64_t slice = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (slice >= m.count) return;
  const tsi_slice s = m.slices[slice];
  const int32_t place = (int32_t)slice * TSI_SLICE_ROWS + lane;
  const int32_t row = m.order ? place / TSI_WINDOW_ROWS * TSI_WINDOW_ROWS + m.order[place] : place;
  const bool in_slice = m.lengths[place] != TSI_NOT_IN_SLICE;
  const int length = in_slice ? m.lengths[place] : 0;
  const uint32_t *words = m.words + s.first_word;
  uint32_t before = 0;
  float value = 0;
  for (int k = 0; k < s.longest; k++) {
    const unsigned have = __ballot_sync(0xffffffffu, k < length);
    const uint32_t entry =
        s.padded ? (uint32_t)(k * TSI_SLICE_ROWS + lane) : before + (uint32_t)__popc(have & ((1u << lane) - 1));
    before += (uint32_t)__popc(have);
    if (k >= length) continue;
    const int32_t column = s.column_bytes == 1   ? cuda_slice_column<1>(words, entry)
                           : s.column_bytes == 2 ? cuda_slice_column<2>(words, entry)
                                                 : cuda_slice_column<4>(words, entry);
    if (column + (s.column_bytes < 4 ? m.bases[s.first_base + k] : 0) == row) value = m.values[s.first + entry];
  }
  if (in_slice) put(d, row, components, value);
}

__global__ static void diagonal_segments(const cuda_segments m, float *d, int components) {
  const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m.rows) put(d, (int32_t)row, components, m.diagonal[row]);
}

ts_status cuda_csr_diagonal(ts_vector *d, const ts_matrix *A) {
  const cuda_csr &m = cuda_matrix_of(A)->csr;
  return cuda_launch(A->context, "diagonal_csr", diagonal_csr, cuda_blocks_for((size_t)m.rows), CUDA_THREADS, m,
                     cuda_data(d), d->components);
}

ts_status cuda_jagged_diagonal(ts_vector *d, const ts_matrix *A) {
  ts_context *context = A->context;
  const cuda_matrix &m = *cuda_matrix_of(A);
  float *to = cuda_data(d);
  if (m.row_blocks.count) {
    CUDA_TRY(context, cudaMemsetAsync(to, 0, cuda_count(d) * sizeof(float), cuda_stream(context)));
    TSI_TRY(cuda_launch(context, "diagonal_row_blocks", diagonal_row_blocks, (unsigned)m.row_blocks.count,
                        CUDA_THREADS, m.row_blocks, to, d->components));
  }
  const unsigned blocks = cuda_blocks_for((size_t)m.slices.count, CUDA_THREADS / 32);
  return cuda_launch(context, "diagonal_slices", diagonal_slices, blocks, CUDA_THREADS, m.slices, to,
                     d->components);
}

ts_status cuda_segments_diagonal(ts_vector *d, const ts_matrix *A) {
  const cuda_segments &m = cuda_matrix_of(A)->segments;
  return cuda_launch(A->context, "diagonal_segments", diagonal_segments, cuda_blocks_for((size_t)m.rows),
                     CUDA_THREADS, m, cuda_data(d), d->components);
}
