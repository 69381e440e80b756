/* One device's share of the set-up of algebraic multigrid, with the kernels of a set-up by one device. */
#include "cuda/core/cuda_kernels.cuh"
#include "cuda/matrix/cuda_matrix.h"
#include "cuda_amg.h"
#include "cuda_amg_range.cuh"

static const char *const level_name = "a level of amg";

/* ---- Memory ---- */

ts_status cuda_amg_part_take(ts_context *context, size_t bytes, void **to) {
  return cuda_alloc(context, to, bytes, level_name);
}

void cuda_amg_part_give(ts_context *context, void *block, size_t bytes) {
  cuda_free(context, block, bytes);
}

ts_status cuda_amg_part_copy(ts_context *context, void *to, const void *from, size_t bytes) {
  if (bytes > 0) CUDA_TRY(context, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, cuda_stream(context)));
  return TS_OK;
}

ts_status cuda_amg_part_read(ts_context *context, void *to_host, const void *from, size_t bytes) {
  return cuda_download(context, to_host, from, bytes);
}

void cuda_amg_part_piece_free(ts_context *context, tsi_amg_piece *piece) {
  cuda_amg_csr_free(context, piece);
}

ts_status cuda_amg_part_adopt(ts_context *context, tsi_amg_piece *piece, ts_space *row_space,
                              ts_space *column_space, ts_matrix **matrix) {
  TSI_TRY(cuda_amg_adopt(context, piece, row_space, column_space, matrix));
  *piece = {};
  const ts_status status = cuda_amg_part_long_rows(context, matrix, 1);
  if (status < 0) {
    tsi_matrix_release(*matrix);
    *matrix = NULL;
  }
  return status;
}

/* ---- The level as a set-up by one device has it ---- */

/* All rows of the window. */
static cuda_amg_level whole(const tsi_amg_part_level *level) {
  cuda_amg_level to = {};
  to.A = level->A, to.P = level->P;
  to.unknowns = to.vectors = 1;
  to.nodes = level->A.rows;
  to.strong = level->strong, to.aggregates = level->aggregates;
  to.aggregate_count = level->columns;
  to.weights = level->weights, to.tentative = level->tentative, to.near_null = level->near_null;
  return to;
}

/* Own rows, counted from the first of the window. */
static tsi_amg_range own_of(const tsi_amg_part_level *level) {
  return {level->own.begin - level->window.begin, level->own.end - level->window.begin};
}

ts_status cuda_amg_part_votes(ts_context *context, const tsi_amg_part_level *level, double *votes) {
  const cuda_amg_level on_device = whole(level);
  return cuda_amg_vote(context, &on_device, own_of(level), votes);
}

ts_status cuda_amg_part_units(ts_context *context, const tsi_amg_part_level *level, int scaled) {
  const cuda_amg_level on_device = whole(level);
  return cuda_amg_write_units(context, &on_device, scaled);
}

/* ---- Aggregates ---- */

/* Removes connections of and to rows of other parts. */
__global__ static void __launch_bounds__(CUDA_THREADS)
    restrict_graph(const cuda_amg_graph graph, tsi_amg_range own) {
  const int64_t i = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (i >= graph.nodes) return;
  const int32_t begin = graph.begins[i], end = i >= own.begin && i < own.end ? graph.ends[i] : begin;
  int32_t to = begin;
  /* The connections ascend. */
  if (begin < end && graph.indices[begin] >= own.begin && graph.indices[end - 1] < own.end) return;
  for (int32_t e = begin; e < end; e++) {
    const int32_t j = graph.indices[e];
    if (j < own.begin || j >= own.end) continue;
    if (to < e) {
      graph.indices[to] = j;
      graph.magnitudes[to] = graph.magnitudes[e];
    }
    to++;
  }
  graph.ends[i] = to;
}

/* Own rows and their aggregates. */
struct own_rows {
  cuda_amg_csr A;
  const unsigned char *strong;
  tsi_amg_range own;
  int32_t *aggregates;
};

static own_rows own_rows_of(const tsi_amg_part_level *level) {
  return {level->A, level->strong, own_of(level), level->aggregates};
}

/* Whether entry e couples its row strongly to a row of another part. */
static __device__ __forceinline__ bool is_foreign(const own_rows &r, int32_t e) {
  const int32_t j = r.A.indices[e];
  return r.strong[e] == TSI_AMG_STRONG && (j < r.own.begin || j >= r.own.end);
}

static __device__ __forceinline__ bool is_on_boundary(const own_rows &r, int64_t i) {
  const int32_t begin = r.A.offsets[i], end = r.A.offsets[i + 1];
  if (begin == end || (r.A.indices[begin] >= r.own.begin && r.A.indices[end - 1] < r.own.end)) return false;
  for (int32_t e = begin; e < end; e++)
    if (is_foreign(r, e)) return true;
  return false;
}

/* Counts the rows on the boundary, and those of them without an aggregate. */
__global__ static void __launch_bounds__(CUDA_THREADS) count_boundary(const own_rows r, int32_t *counts) {
  const int64_t i = r.own.begin + (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  const bool is_there = i < r.own.end && is_on_boundary(r, i), is_cut_off = is_there && r.aggregates[i] < 0;
  const int boundary = __popc(__ballot_sync(0xffffffffu, is_there)),
            cut_off = __popc(__ballot_sync(0xffffffffu, is_cut_off));
  if (threadIdx.x % 32 > 0 || boundary == 0) return;
  atomicAdd(&counts[0], boundary);
  if (cut_off > 0) atomicAdd(&counts[1], cut_off);
}

/* The entry that couples row i most strongly to an aggregate of another part; -1: none. */
static __device__ __forceinline__ int32_t find_host(const own_rows &r, int64_t i) {
  int32_t best = -1;
  for (int32_t e = r.A.offsets[i]; e < r.A.offsets[i + 1]; e++)
    if (is_foreign(r, e) && r.aggregates[r.A.indices[e]] >= 0 &&
        (best < 0 || fabsf(r.A.values[e]) > fabsf(r.A.values[best])))
      best = e;
  return best;
}

struct numbering {
  own_rows rows;
  int32_t *leaders; /* the first member of each aggregate */
  int32_t *numbers; /* per own row: 1 for the first member of an aggregate, then the sum before it */
};

__global__ static void __launch_bounds__(CUDA_THREADS) find_leaders(const numbering n) {
  const int64_t i = n.rows.own.begin + (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (i < n.rows.own.end && n.rows.aggregates[i] >= 0) atomicMin(&n.leaders[n.rows.aggregates[i]], (int32_t)i);
}

__global__ static void __launch_bounds__(CUDA_THREADS) mark_leaders(const numbering n) {
  const int64_t i = n.rows.own.begin + (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (i >= n.rows.own.end) return;
  const int32_t aggregate = n.rows.aggregates[i];
  n.numbers[i - n.rows.own.begin] =
      aggregate >= 0 ? n.leaders[aggregate] == i : is_on_boundary(n.rows, i) && find_host(n.rows, i) < 0;
}

__global__ static void __launch_bounds__(CUDA_THREADS) write_numbers(const numbering n) {
  const int64_t i = n.rows.own.begin + (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (i >= n.rows.own.end) return;
  const int64_t k = i - n.rows.own.begin;
  const int32_t aggregate = n.rows.aggregates[i];
  const int32_t leads = n.numbers[k + 1] > n.numbers[k] ? n.numbers[k] : -1;
  n.rows.aggregates[i] = aggregate >= 0 ? n.numbers[n.leaders[aggregate] - n.rows.own.begin] : leads;
}

static ts_status number_aggregates(cuda_amg_memory *memory, tsi_amg_part_level *level) {
  ts_context *context = memory->context;
  const tsi_amg_range own = own_of(level);
  const size_t rows = (size_t)(own.end - own.begin), count = (size_t)level->aggregate_count;
  const unsigned blocks = cuda_blocks_for(rows);
  numbering n = {own_rows_of(level)};
  CUDA_AMG_ALLOC(memory, count, n.leaders);
  CUDA_AMG_ALLOC(memory, rows + 1, n.numbers);
  CUDA_TRY(context, cudaMemsetAsync(n.leaders, 0x7f, count * sizeof *n.leaders, cuda_stream(context)));
  TSI_TRY(cuda_launch(context, "find_leaders", find_leaders, blocks, CUDA_THREADS, n));
  TSI_TRY(cuda_launch(context, "mark_leaders", mark_leaders, blocks, CUDA_THREADS, n));
  TSI_TRY(cuda_amg_scan(context, n.numbers, rows));
  TSI_TRY(cuda_launch(context, "write_numbers", write_numbers, blocks, CUDA_THREADS, n));
  return cuda_download(context, &level->aggregate_count, n.numbers + rows, sizeof level->aggregate_count);
}

ts_status cuda_amg_part_number(ts_context *context, tsi_amg_part_level *level) {
  cuda_amg_memory memory = {context};
  const ts_status status = number_aggregates(&memory, level);
  cuda_amg_free(&memory);
  return status;
}

static ts_status group(cuda_amg_memory *memory, tsi_amg_part_level *level, double strength, int depth) {
  ts_context *context = memory->context;
  const cuda_amg_level on_device = whole(level);
  const tsi_amg_range own = own_of(level);
  cuda_amg_graph graph;
  int32_t *counts = NULL, found[2];
  CUDA_AMG_ALLOC(memory, 2, counts);
  CUDA_TRY(context, cudaMemsetAsync(counts, 0, sizeof found, cuda_stream(context)));
  TSI_TRY(cuda_amg_strength(memory, &on_device, strength, depth, &graph));
  TSI_TRY(cuda_launch(context, "restrict_graph", restrict_graph, cuda_blocks_for((size_t)graph.nodes),
                      CUDA_THREADS, graph, own));
  TSI_TRY(cuda_amg_aggregate(context, &graph, level->aggregates, &level->aggregate_count));
  TSI_TRY(cuda_launch(context, "count_boundary", count_boundary, cuda_blocks_for((size_t)(own.end - own.begin)),
                      CUDA_THREADS, own_rows_of(level), counts));
  TSI_TRY(cuda_download(context, found, counts, sizeof found));
  level->boundary = found[0], level->cut_off = found[1];
  return TS_OK;
}

ts_status cuda_amg_part_group(ts_context *context, tsi_amg_part_level *level, double strength, int depth) {
  cuda_amg_memory memory = {context};
  const ts_status status = group(&memory, level, strength, depth);
  cuda_amg_free(&memory);
  return status;
}

__global__ static void __launch_bounds__(CUDA_THREADS)
    add_to_aggregates(int32_t rows, int32_t *aggregates, int32_t add) {
  const int64_t i = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (i < rows && aggregates[i] >= 0) aggregates[i] += add;
}

ts_status cuda_amg_part_tentative(ts_context *context, tsi_amg_part_level *level, int32_t first,
                                  double *coarse) {
  const tsi_amg_range own = own_of(level);
  cuda_amg_level on_device = whole(level);
  on_device.A.rows = on_device.nodes = own.end - own.begin;
  on_device.aggregate_count = level->aggregate_count;
  on_device.aggregates += own.begin;
  on_device.tentative += own.begin;
  on_device.weights += own.begin;
  on_device.near_null += own.begin;
  TSI_TRY(cuda_amg_tentative(context, &on_device, coarse));
  return cuda_launch(context, "add_to_aggregates", add_to_aggregates, cuda_blocks_for((size_t)on_device.nodes),
                     CUDA_THREADS, on_device.nodes, on_device.aggregates, first);
}

/* A row's part of the near-null vector is in proportion to that of the row it is coupled to. Rows of other
 * parts do not change. */
__global__ static void __launch_bounds__(CUDA_THREADS)
    attach_rows(const own_rows r, const float *weights, float *tentative) {
  const int64_t i = r.own.begin + (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (i >= r.own.end || r.aggregates[i] >= 0) return;
  const int32_t e = find_host(r, i);
  if (e < 0) return;
  const int32_t j = r.A.indices[e];
  r.aggregates[i] = r.aggregates[j];
  tentative[i] = tsi_amg_attached(weights[i], tentative[j], weights[j]);
}

ts_status cuda_amg_part_attach(ts_context *context, tsi_amg_part_level *level) {
  const own_rows r = own_rows_of(level);
  return cuda_launch(context, "attach_rows", attach_rows, cuda_blocks_for((size_t)(r.own.end - r.own.begin)),
                     CUDA_THREADS, r, level->weights, level->tentative);
}

__global__ static void __launch_bounds__(CUDA_THREADS)
    find_range(int32_t rows, const int32_t *aggregates, int32_t *range) {
  int32_t least = INT32_MAX, most = -1;
  for (int64_t i = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x; i < rows;
       i += (int64_t)gridDim.x * CUDA_THREADS) {
    if (aggregates[i] < 0) continue;
    least = min(least, aggregates[i]);
    most = max(most, aggregates[i]);
  }
  cuda_amg_raise_range(least, most, range);
}

ts_status cuda_amg_part_renumber(ts_context *context, tsi_amg_part_level *level) {
  const unsigned blocks = cuda_blocks_for((size_t)level->A.rows);
  int32_t *range, found[2] = {INT32_MAX, -1};
  TSI_TRY(cuda_alloc(context, (void **)&range, sizeof found, level_name));
  ts_status status = cuda_upload(context, range, found, sizeof found);
  if (status == TS_OK)
    status = cuda_launch(context, "find_range", find_range, cuda_amg_blocks_of_range(context, level->A.rows),
                         CUDA_THREADS, level->A.rows, level->aggregates, range);
  if (status == TS_OK) status = cuda_download(context, found, range, sizeof found);
  cuda_free(context, range, sizeof found);
  TSI_TRY(status);
  level->base = found[1] < 0 ? 0 : found[0];
  level->columns = found[1] + 1 - level->base;
  return cuda_launch(context, "add_to_aggregates", add_to_aggregates, blocks, CUDA_THREADS, level->A.rows,
                     level->aggregates, -level->base);
}

/* ---- P, R, and the next level's rows ---- */

ts_status cuda_amg_part_estimate(ts_context *context, tsi_amg_part_level *level, tsi_amg_estimates *found) {
  cuda_amg_level on_device = whole(level);
  return cuda_amg_estimate(context, &on_device, own_of(level), found, &level->diagonal);
}

ts_status cuda_amg_part_prolong(ts_context *context, tsi_amg_part_level *level, double omega, int32_t reach,
                                double sums[4]) {
  if (level->P.offsets) cuda_amg_csr_free(context, &level->P);
  cuda_amg_level on_device = whole(level);
  TSI_TRY(cuda_amg_prolong(context, &on_device, own_of(level), level->diagonal, omega, reach, sums));
  level->P = on_device.P;
  return TS_OK;
}

/* Gives rows of zeros a positive diagonal. That of row i is in column i + shift. */
__global__ static void __launch_bounds__(CUDA_THREADS) fill_zero_rows(const cuda_amg_csr C, int32_t shift) {
  const int64_t i = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (i >= C.rows) return;
  int32_t diagonal = -1;
  for (int32_t e = C.offsets[i]; e < C.offsets[i + 1]; e++) {
    if (C.values[e] != 0) return;
    if (C.indices[e] == (int32_t)i + shift) diagonal = e;
  }
  if (diagonal >= 0) C.values[diagonal] = 1;
}

static ts_status multiply(ts_context *context, const tsi_amg_part_level *level, int32_t first,
                          const tsi_amg_piece *R, tsi_amg_piece *C) {
  TSI_TRY(cuda_amg_product(context, R, &level->A, &level->P, 1, C));
  const ts_status status = cuda_launch(context, "fill_zero_rows", fill_zero_rows,
                                       cuda_blocks_for((size_t)C->rows), CUDA_THREADS, *C, first - level->base);
  if (status < 0) cuda_amg_csr_free(context, C);
  return status;
}

ts_status cuda_amg_part_coarsen(ts_context *context, tsi_amg_part_level *level, int32_t first, tsi_amg_piece *R,
                                tsi_amg_piece *C) {
  tsi_amg_run all = {};
  *C = {};
  TSI_TRY(cuda_amg_transpose(context, &level->P, &all.piece));
  all.first = level->base;
  ts_status status =
      cuda_amg_part_gather(context, &all, 1, {first, first + level->aggregate_count}, {0, level->A.rows}, R);
  cuda_amg_csr_free(context, &all.piece);
  if (status < 0) return status;
  status = multiply(context, level, first, R, C);
  if (status < 0) cuda_amg_csr_free(context, R);
  return status;
}

const tsi_amg_part_ops cuda_amg_part_ops = {TSI_AMG_PART_OPERATIONS(TSI_ENTRY, cuda_amg_part_)};
