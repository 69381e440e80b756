/* Sparse matrices that parts of the set-up of algebraic multigrid share. Kernels read the memory of other
 * devices directly. LANES neighbouring threads share a row. */
#include <string.h>

#include "cuda/core/cuda_kernels.cuh"
#include "cuda/matrix/cuda_matrix.h"
#include "cuda_amg.h"
#include "cuda_amg_range.cuh"
#include "multi/part.h"

enum { LANES = 8 };

static __device__ __forceinline__ int64_t row_of_thread(void) {
  return ((int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x) / LANES;
}
static __device__ __forceinline__ int lane_of_thread(void) {
  return (int)threadIdx.x % LANES;
}
static __device__ __forceinline__ unsigned lanes_mask(void) {
  return ((1u << LANES) - 1) << (threadIdx.x % 32 / LANES * LANES);
}

/* The sum over the threads of a row. */
static __device__ __forceinline__ int32_t sum_lanes(int32_t value) {
  for (int offset = LANES / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(lanes_mask(), value, offset, LANES);
  return value;
}

/* Counts the row's columns before a range, and inside it. They ascend, so most rows need only the first and the
 * last. */
static __device__ __forceinline__ void count_columns(const int32_t *row, int32_t length, tsi_amg_range range,
                                                     int32_t *before, int32_t *inside) {
  *before = 0, *inside = length;
  if (length == 0 || (row[0] >= range.begin && row[length - 1] < range.end)) return;
  *inside = 0;
  for (int32_t k = lane_of_thread(); k < length; k += LANES) {
    *before += row[k] < range.begin;
    *inside += row[k] >= range.begin && row[k] < range.end;
  }
  *before = sum_lanes(*before), *inside = sum_lanes(*inside);
}

static unsigned blocks_of_rows(int32_t rows) {
  return cuda_blocks_for((size_t)rows * LANES);
}

/* ---- The rows of the first level ---- */

struct local_columns {
  int32_t first, own, first_ghost;
  const int32_t *ghosts;
};

/* In a part's matrix own columns come first. Ghosts with lower positions move before them. */
__global__ static void __launch_bounds__(CUDA_THREADS)
    place_columns(const cuda_amg_csr A, const local_columns c, const cuda_amg_csr to) {
  const int64_t i = row_of_thread();
  if (i >= A.rows) return;
  const int32_t begin = A.offsets[i], length = A.offsets[i + 1] - begin;
  int32_t own = 0, before = 0;
  for (int32_t k = lane_of_thread(); k < length; k += LANES) {
    const int32_t column = A.indices[begin + k];
    own += column < c.own;
    before += column >= c.own && c.ghosts[column - c.first_ghost] < c.first;
  }
  own = sum_lanes(own), before = sum_lanes(before);
  for (int32_t k = lane_of_thread(); k < length; k += LANES) {
    const int32_t column = A.indices[begin + k];
    const int32_t position = column < c.own ? c.first + column : c.ghosts[column - c.first_ghost];
    const int32_t at = begin + (k < own ? before + k : k < own + before ? k - own : k);
    to.indices[at] = position;
    to.values[at] = A.values[begin + k];
  }
}

static ts_status place(ts_context *context, const cuda_amg_csr *A, const local_columns *c, cuda_amg_csr *rows) {
  TSI_TRY(cuda_amg_csr_begin(context, A->rows, INT32_MAX, rows));
  TSI_TRY(cuda_amg_csr_room(context, A->entries, rows));
  const cudaError_t error =
      cudaMemcpyAsync(rows->offsets, A->offsets, ((size_t)A->rows + 1) * sizeof *A->offsets,
                      cudaMemcpyDeviceToDevice, cuda_stream(context));
  ts_status status =
      error == cudaSuccess ? TS_OK : cuda_report(context, error, "cudaMemcpyAsync", __FILE__, __LINE__);
  if (status == TS_OK)
    status = cuda_launch(context, "place_columns", place_columns, blocks_of_rows(A->rows), CUDA_THREADS, *A, *c,
                         *rows);
  if (status < 0) cuda_amg_csr_free(context, rows);
  return status;
}

static ts_status take_source(cuda_amg_memory *memory, const ts_matrix *local, int32_t first,
                             const int32_t *ghosts, int32_t count, cuda_amg_csr *rows) {
  cuda_amg_csr A;
  int32_t *list = NULL;
  CUDA_AMG_ALLOC(memory, count, list);
  TSI_TRY(cuda_upload(memory->context, list, ghosts, (size_t)count * sizeof *list));
  TSI_TRY(cuda_amg_source(memory, NULL, local, &A));
  const local_columns c = {first, A.rows, tsi_first_ghost(local->column_space), list};
  return place(memory->context, &A, &c, rows);
}

ts_status cuda_amg_part_source(const ts_matrix *local, int32_t first, const int32_t *ghosts, int32_t count,
                               tsi_amg_piece *rows) {
  const ts_format format = local->layout ? local->layout->format : TS_FORMAT_AUTO;
  cuda_amg_memory memory = {local->context};
  *rows = {};
  if (format != TS_FORMAT_CSR && format != TS_FORMAT_JAGGED) return TS_OK;
  const ts_status status = take_source(&memory, local, first, ghosts, count, rows);
  cuda_amg_free(&memory);
  return status;
}

ts_status cuda_amg_part_upload(ts_context *context, const tsi_amg_csr *rows, tsi_amg_piece *piece) {
  const size_t count = (size_t)rows->rows, entries = (size_t)rows->offsets[count];
  TSI_TRY(cuda_amg_csr_begin(context, rows->rows, rows->columns, piece));
  TSI_TRY(cuda_amg_csr_room(context, (int64_t)entries, piece));
  ts_status status = cuda_upload(context, piece->offsets, rows->offsets, (count + 1) * sizeof *rows->offsets);
  if (status == TS_OK)
    status = cuda_upload(context, piece->indices, rows->indices, entries * sizeof *rows->indices);
  if (status == TS_OK)
    status = cuda_upload(context, piece->values, rows->values, entries * sizeof *rows->values);
  if (status < 0) cuda_amg_csr_free(context, piece);
  return status;
}

/* Finds the minimum of row << 32 | bits of the value, over unconstrained rows without a positive diagonal. The
 * diagonal of row i is in column i + shift. */
__global__ static void __launch_bounds__(CUDA_THREADS)
    find_bad_row(const cuda_amg_csr A, int32_t shift, const unsigned char *constrained,
                 unsigned long long *bad) {
  const int64_t i = row_of_thread();
  if (i >= A.rows || (constrained && constrained[i])) return;
  const int32_t end = A.offsets[i + 1];
  int32_t bits = 0; /* of the diagonal, in the thread that reads it */
  for (int32_t e = A.offsets[i] + lane_of_thread(); e < end; e += LANES)
    if (A.indices[e] == (int32_t)i + shift) bits = __float_as_int(A.values[e]);
  bits = sum_lanes(bits);
  if (lane_of_thread() == 0 && !(__int_as_float(bits) > 0))
    atomicMin(bad, (unsigned long long)i << 32 | (uint32_t)bits);
}

ts_status cuda_amg_part_bad_row(const ts_matrix *local, const tsi_amg_run *rows, int32_t *row, float *value) {
  ts_context *context = local->context;
  const unsigned char *constrained = NULL;
  unsigned long long *bad, found = UINT64_MAX;
  TSI_TRY(cuda_constrained(local->row_space, &constrained));
  TSI_TRY(cuda_alloc(context, (void **)&bad, sizeof *bad, "a level of amg"));
  ts_status status = cuda_upload(context, bad, &found, sizeof found);
  if (status == TS_OK && rows->piece.rows > 0)
    status = cuda_launch(context, "find_bad_row", find_bad_row, blocks_of_rows(rows->piece.rows), CUDA_THREADS,
                         rows->piece, rows->first - rows->shift, constrained, bad);
  if (status == TS_OK) status = cuda_download(context, &found, bad, sizeof found);
  cuda_free(context, bad, sizeof *bad);
  const uint32_t bits = (uint32_t)found;
  *row = found == UINT64_MAX ? -1 : (int32_t)(found >> 32);
  memcpy(value, &bits, sizeof bits);
  return status;
}

/* ---- Rows and columns of shared matrices ---- */

/* The first and the last column of each row, which ascend. */
__global__ static void __launch_bounds__(CUDA_THREADS)
    find_extent(const cuda_amg_csr A, int32_t begin, int32_t end, int32_t *range) {
  int32_t least = INT32_MAX, most = -1;
  for (int64_t i = begin + (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x; i < end;
       i += (int64_t)gridDim.x * CUDA_THREADS) {
    if (A.offsets[i] == A.offsets[i + 1]) continue;
    least = min(least, A.indices[A.offsets[i]]);
    most = max(most, A.indices[A.offsets[i + 1] - 1]);
  }
  cuda_amg_raise_range(least, most, range);
}

ts_status cuda_amg_part_extent(ts_context *context, const tsi_amg_run *run, tsi_amg_range rows,
                               tsi_amg_range *columns) {
  int32_t *range, found[2] = {INT32_MAX, -1};
  *columns = {INT32_MAX, 0};
  if (rows.begin >= rows.end) return TS_OK;
  TSI_TRY(cuda_alloc(context, (void **)&range, sizeof found, "a level of amg"));
  ts_status status = cuda_upload(context, range, found, sizeof found);
  if (status == TS_OK)
    status = cuda_launch(context, "find_extent", find_extent,
                         cuda_amg_blocks_of_range(context, rows.end - rows.begin), CUDA_THREADS, run->piece,
                         rows.begin - run->first, rows.end - run->first, range);
  if (status == TS_OK) status = cuda_download(context, found, range, sizeof found);
  cuda_free(context, range, sizeof found);
  if (found[1] >= 0) *columns = {found[0] + run->shift, found[1] + 1 + run->shift};
  return status;
}

struct shared_rows {
  int count;
  struct {
    const int32_t *offsets, *indices;
    const float *values;
    int32_t first, end, shift; /* of rows; and of columns */
  } runs[MULTI_MOST_PARTS];
  tsi_amg_range columns;
};

/* Counts the row's entries in the columns, in offsets[i + 1], or copies them. */
template <bool WRITE>
__global__ static void __launch_bounds__(CUDA_THREADS)
    gather_rows(const shared_rows s, int32_t first, const cuda_amg_csr to) {
  const int64_t i = row_of_thread();
  if (i >= to.rows) return;
  const int32_t row = first + (int32_t)i;
  int r = 0;
  while (r < s.count && (row < s.runs[r].first || row >= s.runs[r].end)) r++;
  const bool is_there = r < s.count;
  const int32_t k = is_there ? row - s.runs[r].first : 0;
  const int32_t begin = is_there ? s.runs[r].offsets[k] : 0;
  const int32_t length = is_there ? s.runs[r].offsets[k + 1] - begin : 0,
                shift = is_there ? s.runs[r].shift : 0;
  int32_t before, inside;
  count_columns(is_there ? s.runs[r].indices + begin : NULL, length,
                {s.columns.begin - shift, s.columns.end - shift}, &before, &inside);
  if (!WRITE && lane_of_thread() == 0) to.offsets[i + 1] = inside;
  for (int32_t e = before + lane_of_thread(); WRITE && e < before + inside; e += LANES) {
    const int32_t at = to.offsets[i] + e - before;
    to.indices[at] = s.runs[r].indices[begin + e] + shift - s.columns.begin;
    to.values[at] = s.runs[r].values[begin + e];
  }
}

static ts_status fill_gathered(ts_context *context, const shared_rows *s, int32_t first, cuda_amg_csr *piece) {
  const unsigned blocks = blocks_of_rows(piece->rows);
  if (piece->rows > 0) {
    const ts_status status =
        cuda_launch(context, "gather_rows", gather_rows<false>, blocks, CUDA_THREADS, *s, first, *piece);
    if (status < 0) {
      cuda_amg_csr_free(context, piece);
      return status;
    }
  }
  TSI_TRY(cuda_amg_csr_finish(context, piece));
  if (piece->entries == 0) return TS_OK;
  const ts_status status =
      cuda_launch(context, "gather_rows", gather_rows<true>, blocks, CUDA_THREADS, *s, first, *piece);
  if (status < 0) cuda_amg_csr_free(context, piece);
  return status;
}

__global__ static void __launch_bounds__(CUDA_THREADS)
    copy_offsets(int32_t rows, const int32_t *from, int32_t *to) {
  const int64_t i = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (i <= rows) to[i] = from[i] - from[0];
}

static ts_status copy_entries(ts_context *context, const tsi_amg_piece *from, int32_t begin,
                              tsi_amg_piece *to) {
  const size_t bytes = (size_t)to->entries * 4;
  TSI_TRY(cuda_amg_part_copy(context, to->indices, from->indices + begin, bytes));
  return cuda_amg_part_copy(context, to->values, from->values + begin, bytes);
}

/* Copies these rows of a piece. */
static ts_status copy_rows(ts_context *context, const tsi_amg_piece *from, tsi_amg_range rows,
                           tsi_amg_piece *to) {
  const int32_t count = rows.end - rows.begin;
  int32_t begin, end;
  TSI_TRY(cuda_download(context, &begin, from->offsets + rows.begin, sizeof begin));
  TSI_TRY(cuda_download(context, &end, from->offsets + rows.end, sizeof end));
  TSI_TRY(cuda_amg_csr_begin(context, count, from->columns, to));
  TSI_TRY(cuda_amg_csr_room(context, end - begin, to));
  ts_status status = cuda_launch(context, "copy_offsets", copy_offsets, cuda_blocks_for((size_t)count + 1),
                                 CUDA_THREADS, count, from->offsets + rows.begin, to->offsets);
  if (status == TS_OK) status = copy_entries(context, from, begin, to);
  if (status < 0) cuda_amg_csr_free(context, to);
  return status;
}

/* Whether one run has all these rows, with no other columns. */
static bool is_slice(const tsi_amg_run &run, tsi_amg_range rows, tsi_amg_range columns) {
  return run.piece.offsets && run.first <= rows.begin && rows.end <= run.first + run.piece.rows &&
         run.shift == columns.begin && run.piece.columns == columns.end - columns.begin;
}

ts_status cuda_amg_part_gather(ts_context *context, const tsi_amg_run *runs, int count, tsi_amg_range rows,
                               tsi_amg_range columns, tsi_amg_piece *piece) {
  shared_rows s = {};
  if (count == 1 && is_slice(runs[0], rows, columns))
    return copy_rows(context, &runs[0].piece, {rows.begin - runs[0].first, rows.end - runs[0].first}, piece);
  s.columns = columns;
  for (int k = 0; k < count; k++) {
    const tsi_amg_piece &from = runs[k].piece;
    if (from.offsets)
      s.runs[s.count++] = {from.offsets, from.indices, from.values, runs[k].first, runs[k].first + from.rows,
                           runs[k].shift};
  }
  TSI_TRY(cuda_amg_csr_begin(context, rows.end - rows.begin, columns.end - columns.begin, piece));
  return fill_gathered(context, &s, rows.begin, piece);
}

/* ---- Ghosts ---- */

__global__ static void __launch_bounds__(CUDA_THREADS)
    mark_ghosts(const cuda_amg_csr A, tsi_amg_range own, int32_t *numbers) {
  for (int64_t e = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x; e < A.entries;
       e += (int64_t)gridDim.x * CUDA_THREADS) {
    const int32_t j = A.indices[e];
    if (j < own.begin || j >= own.end) numbers[j] = 1;
  }
}

__global__ static void __launch_bounds__(CUDA_THREADS)
    list_ghosts(int32_t columns, const int32_t *numbers, int32_t *list) {
  const int64_t j = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (j < columns && numbers[j] < numbers[j + 1]) list[numbers[j]] = (int32_t)j;
}

/* The ghosts before the own columns move behind them. */
__global__ static void __launch_bounds__(CUDA_THREADS)
    split_rows(const cuda_amg_csr A, tsi_amg_range own, int32_t ghosts, const int32_t *numbers,
               int32_t *indices, float *values) {
  const int64_t i = row_of_thread();
  if (i >= A.rows) return;
  const int32_t begin = A.offsets[i], length = A.offsets[i + 1] - begin;
  int32_t before, inside;
  count_columns(A.indices + begin, length, own, &before, &inside);
  for (int32_t k = lane_of_thread(); k < length; k += LANES) {
    const int32_t j = A.indices[begin + k];
    const int32_t at = begin + (k < before ? inside + k : k < before + inside ? k - before : k);
    indices[at] = j >= own.begin && j < own.end ? j - own.begin : ghosts + numbers[j];
    values[at] = A.values[begin + k];
  }
}

/* Writes the split rows to new arrays, which replace those of the piece. */
static ts_status replace(ts_context *context, tsi_amg_piece *piece, tsi_amg_range own, int32_t ghosts,
                         const int32_t *numbers) {
  cuda_amg_csr to = {};
  TSI_TRY(cuda_amg_csr_room(context, piece->entries, &to));
  if (piece->rows > 0) {
    const ts_status status = cuda_launch(context, "split_rows", split_rows, blocks_of_rows(piece->rows),
                                         CUDA_THREADS, *piece, own, ghosts, numbers, to.indices, to.values);
    if (status < 0) {
      cuda_amg_csr_free(context, &to);
      return status;
    }
  }
  const cuda_amg_csr old = *piece;
  piece->indices = to.indices, piece->values = to.values;
  to.indices = old.indices, to.values = old.values;
  cuda_amg_csr_free(context, &to);
  return TS_OK;
}

static ts_status number_ghosts(cuda_amg_memory *memory, const tsi_amg_piece *piece, tsi_amg_range own,
                               int32_t **numbers, int32_t *count) {
  ts_context *context = memory->context;
  const size_t columns = (size_t)piece->columns;
  const unsigned blocks = cuda_blocks_for((size_t)piece->entries);
  CUDA_AMG_ALLOC(memory, columns + 1, *numbers);
  CUDA_TRY(context, cudaMemsetAsync(*numbers, 0, (columns + 1) * sizeof **numbers, cuda_stream(context)));
  if (piece->entries > 0)
    TSI_TRY(cuda_launch(context, "mark_ghosts", mark_ghosts,
                        blocks < CUDA_AMG_MOST_BLOCKS ? blocks : CUDA_AMG_MOST_BLOCKS, CUDA_THREADS, *piece,
                        own, *numbers));
  if (columns > 0) TSI_TRY(cuda_amg_scan(context, *numbers, columns));
  return cuda_download(context, count, *numbers + columns, sizeof *count);
}

static ts_status split(cuda_amg_memory *memory, tsi_amg_piece *piece, tsi_amg_range own, int32_t ghosts,
                       int32_t **list, int32_t *count) {
  ts_context *context = memory->context;
  int32_t *numbers = NULL, *on_device = NULL;
  TSI_TRY(number_ghosts(memory, piece, own, &numbers, count));
  if (tsi_amg_lists_ghosts(piece, own, *count)) {
    *list = (int32_t *)tsi_malloc(context, (size_t)*count, sizeof **list);
    if (!*list) return tsi_out_of_memory(context, "the ghosts of amg", (size_t)*count * sizeof **list);
    CUDA_AMG_ALLOC(memory, *count, on_device);
    TSI_TRY(cuda_launch(context, "list_ghosts", list_ghosts, cuda_blocks_for((size_t)piece->columns),
                        CUDA_THREADS, piece->columns, numbers, on_device));
    TSI_TRY(cuda_download(context, *list, on_device, (size_t)*count * sizeof **list));
  }
  return replace(context, piece, own, ghosts, numbers);
}

ts_status cuda_amg_part_split_columns(ts_context *context, tsi_amg_piece *piece, tsi_amg_range own,
                                      int32_t ghosts, int32_t **list, int32_t *count) {
  cuda_amg_memory memory = {context};
  *list = NULL;
  const ts_status status = split(&memory, piece, own, ghosts, list, count);
  cuda_amg_free(&memory);
  if (status == TS_OK) {
    piece->columns = ghosts + *count;
    return TS_OK;
  }
  tsi_free(context, *list);
  *list = NULL;
  return status;
}
