/* Matrices in the formats of cuSPARSE. Blocks and slices are packed here, because its conversions are
 * deprecated.
 */
#include <stdlib.h>
#include <string.h>

#include "compare_cusparse.h"

void *device_array(const void *data, size_t bytes) {
  void *array = NULL;
  CUDA_REQUIRE(cudaMalloc(&array, bytes + !bytes));
  if (data)
    CUDA_REQUIRE(cudaMemcpy(array, data, bytes, cudaMemcpyHostToDevice));
  else
    CUDA_REQUIRE(cudaMemset(array, 0, bytes + !bytes));
  return array;
}

static void *host_array(size_t count, size_t size) {
  void *array = calloc(count + !count, size);
  if (!array) peer_fail("no host memory for %zu numbers", count);
  return array;
}

void format_csr(format *f, const generated_matrix *A) {
  const size_t rows = (size_t)A->rows, entries = (size_t)A->row_offsets[A->rows];
  f->rows = A->rows;
  f->columns = A->columns;
  f->bytes = 0;
  CUSPARSE_REQUIRE(cusparseCreateConstCsr(
      &f->matrix, A->rows, A->columns, (int64_t)entries, device_array(A->row_offsets, (rows + 1) * 4),
      device_array(A->column_indices, entries * 4), device_array(A->values, entries * 4), CUSPARSE_INDEX_32I,
      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
}

/* Counts the blocks of every block row. `place` has a number per block column, initially below 0. */
static int64_t count_blocks(const generated_matrix *A, int32_t n, int32_t *offsets, int32_t *place) {
  const int32_t block_rows = (A->rows - 1) / n + 1;
  int64_t blocks = 0;
  for (int32_t b = 0; b < block_rows; ++b) {
    const int32_t end = (b + 1) * n < A->rows ? (b + 1) * n : A->rows;
    for (int32_t k = A->row_offsets[b * n]; k < A->row_offsets[end]; ++k) {
      const int32_t j = A->column_indices[k] / n;
      if (place[j] == b) continue;
      place[j] = b;
      ++blocks;
    }
    offsets[b + 1] = (int32_t)blocks;
  }
  return blocks;
}

static int ascending(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Writes the columns of each block row in ascending order, and the numbers of the blocks row by row. */
static void fill_blocks(const generated_matrix *A, int32_t n, const int32_t *offsets, int32_t *columns,
                        float *values, int32_t *place) {
  const int32_t block_rows = (A->rows - 1) / n + 1;
  for (int32_t b = 0; b < block_rows; ++b) {
    const int32_t begin = b * n, end = begin + n < A->rows ? begin + n : A->rows;
    int32_t count = offsets[b];
    for (int32_t k = A->row_offsets[begin]; k < A->row_offsets[end]; ++k) {
      const int32_t j = A->column_indices[k] / n;
      if (place[j] >= offsets[b]) continue;
      place[j] = count;
      columns[count++] = j;
    }
    qsort(columns + offsets[b], (size_t)(count - offsets[b]), sizeof *columns, ascending);
    for (int32_t k = offsets[b]; k < count; ++k) place[columns[k]] = k;
    for (int32_t i = begin; i < end; ++i)
      for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; ++k) {
        const int32_t j = A->column_indices[k];
        values[((size_t)place[j / n] * (size_t)n + (size_t)(i - begin)) * (size_t)n + (size_t)(j % n)] +=
            A->values[k];
      }
  }
}

int format_bsr(format *f, const generated_matrix *A, int32_t n) {
  const int64_t block_rows = (A->rows - 1) / n + 1, block_columns = (A->columns - 1) / n + 1;
  int32_t *offsets = (int32_t *)host_array((size_t)block_rows + 1, 4);
  int32_t *place = (int32_t *)host_array((size_t)block_columns, 4);
  memset(place, 0xff, (size_t)block_columns * 4);
  const int64_t blocks = count_blocks(A, n, offsets, place), numbers = blocks * n * n;
  const int is_none = numbers > 2 * (int64_t)A->row_offsets[A->rows];
  if (!is_none) {
    int32_t *columns = (int32_t *)host_array((size_t)blocks, 4);
    float *values = (float *)host_array((size_t)numbers, 4);
    memset(place, 0xff, (size_t)block_columns * 4);
    fill_blocks(A, n, offsets, columns, values, place);
    f->rows = block_rows * n;
    f->columns = block_columns * n;
    f->bytes = 4.0 * (double)(numbers + blocks + block_rows + 1) + 4.0 * ((double)A->rows + A->columns);
    CUSPARSE_REQUIRE(cusparseCreateConstBsr(
        &f->matrix, block_rows, block_columns, blocks, n, n,
        device_array(offsets, ((size_t)block_rows + 1) * 4), device_array(columns, (size_t)blocks * 4),
        device_array(values, (size_t)numbers * 4), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
        CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    free(columns);
    free(values);
  }
  free(offsets);
  free(place);
  return is_none;
}

int format_sell(format *f, const generated_matrix *A) {
  enum { SLICE = 32 };
  const int32_t slices = (A->rows - 1) / SLICE + 1;
  int32_t *offsets = (int32_t *)host_array((size_t)slices + 1, 4);
  int64_t stored = 0;
  for (int32_t s = 0; s < slices; ++s) {
    int32_t longest = 0;
    for (int32_t i = s * SLICE; i < (s + 1) * SLICE && i < A->rows; ++i)
      if (A->row_offsets[i + 1] - A->row_offsets[i] > longest)
        longest = A->row_offsets[i + 1] - A->row_offsets[i];
    stored += (int64_t)longest * SLICE;
    if (stored > INT32_MAX) break;
    offsets[s + 1] = (int32_t)stored;
  }
  const int is_none = stored > 2 * (int64_t)A->row_offsets[A->rows] || stored > INT32_MAX;
  if (!is_none) {
    int32_t *columns = (int32_t *)host_array((size_t)stored, 4);
    float *values = (float *)host_array((size_t)stored, 4);
    memset(columns, 0xff, (size_t)stored * 4); /* -1: padding */
    for (int32_t i = 0; i < A->rows; ++i)
      for (int32_t k = A->row_offsets[i]; k < A->row_offsets[i + 1]; ++k) {
        const size_t at =
            (size_t)offsets[i / SLICE] + (size_t)(k - A->row_offsets[i]) * SLICE + (size_t)(i % SLICE);
        columns[at] = A->column_indices[k];
        values[at] = A->values[k];
      }
    f->rows = A->rows;
    f->columns = A->columns;
    f->bytes = 8.0 * (double)stored + 4.0 * (slices + 1) + 4.0 * ((double)A->rows + A->columns);
    CUSPARSE_REQUIRE(cusparseCreateConstSlicedEll(
        &f->matrix, A->rows, A->columns, A->row_offsets[A->rows], stored, SLICE,
        device_array(offsets, ((size_t)slices + 1) * 4), device_array(columns, (size_t)stored * 4),
        device_array(values, (size_t)stored * 4), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
        CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    free(columns);
    free(values);
  }
  free(offsets);
  return is_none;
}
