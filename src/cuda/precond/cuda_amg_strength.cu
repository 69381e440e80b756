/* Strong connections: the entries of a matrix that connect their unknowns strongly.
 *
 * SUBWARP neighbouring threads share a row, or the rows of a node. A block shares a long row. With one unknown
 * per node, the threads take neighbouring entries. With several, each takes a row of the node, and all advance
 * from one block to the next. So the terms of a block are added in the host's order, and blocks ascend. */
#include <math.h>
#include <string.h>

#include "cuda_amg_diagonal.cuh"
#include "cuda_amg_entries.cuh"

struct connections {
  cuda_amg_csr A;
  cuda_amg_graph graph;
  unsigned char *strong;
  int32_t unknowns;
  double strength;       /* the setting for all levels */
  double limit;          /* the strength of this level, squared */
  const double *weights; /* the near-null vector; NULL: constants */
  float *diagonal;       /* the diagonal if it is positive, otherwise 0 */
  double *norms;         /* Frobenius norms of the nodes' own blocks */
};

__global__ static void find_diagonal(const cuda_amg_csr A, float *diagonal) {
  const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= A.rows) return;
  const float value = cuda_amg_diagonal_of(A, (int32_t)row);
  diagonal[row] = value > 0 ? value : 0;
}

/* ---- One unknown per node ---- */

/* As on the host: a coupling of row i, in its units. */
struct coupling {
  double value, other;
};

static __device__ __forceinline__ coupling get_coupling(const connections &s, double inverse, int32_t e) {
  const int32_t j = s.A.indices[e];
  const double ratio = s.weights ? tsi_amg_ratio(inverse, s.weights[j]) : 1;
  return {(double)s.A.values[e] * ratio, (double)s.diagonal[j] * ratio * ratio};
}

/* The squared threshold for couplings of row i. `signs`: positive couplings are weak. */
struct limit {
  double square;
  bool signs;
};

template <bool IS_LONG>
static __device__ __forceinline__ limit find_limit(const connections &s, int32_t begin, int32_t length,
                                                   double own, double inverse) {
  double largest = 0, sum[1] = {0};
  const auto look_at = [&](int32_t k, double(&sums)[1]) {
    const coupling c = get_coupling(s, inverse, begin + k);
    if (!(c.value < 0) || c.other == 0) return;
    largest = fmax(largest, c.value * c.value / (own * fmin(own, c.other)));
    sums[0] -= c.value;
  };
  add_entries<IS_LONG>(own > 0 && s.limit > 0 ? length : 0, look_at, sum);
  largest = largest_of<IS_LONG>(largest);
  if (sum[0] <= TSI_AMG_HELD * own) return {s.limit, false};
  return {tsi_amg_limit(s.strength, largest), true};
}

static __device__ __forceinline__ unsigned char classify(const coupling &c, bool is_own, double own,
                                                         const limit &least) {
  if (own == 0 || c.other == 0) return TSI_AMG_DROPPED;
  if (is_own) return TSI_AMG_STRONG;
  if (c.value == 0 || (least.signs && c.value > 0)) return TSI_AMG_WEAK;
  return c.value * c.value < least.square * (own * fmin(own, c.other)) ? TSI_AMG_WEAK : TSI_AMG_STRONG;
}

/* The number of earlier threads in the subwarp, or in the block, that have a neighbour; and the total. */
template <bool IS_LONG> static __device__ __forceinline__ int32_t count_before(bool neighbour, int32_t *all) {
  const unsigned mask = IS_LONG ? 0xffffffffu : subwarp_mask(), below = (1u << threadIdx.x % 32) - 1;
  const unsigned neighbours = __ballot_sync(mask, neighbour) & mask;
  int32_t before = __popc(neighbours & below);
  *all = __popc(neighbours);
  if (!IS_LONG) return before;
  __shared__ int32_t of_warps[CUDA_THREADS / 32];
  const int warp = (int)threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) of_warps[warp] = *all;
  __syncthreads();
  *all = 0;
  for (int w = 0; w < CUDA_THREADS / 32; w++) {
    if (w < warp) before += of_warps[w];
    *all += of_warps[w];
  }
  __syncthreads();
  return before;
}

template <bool IS_LONG> static __device__ __forceinline__ void classify_row(const connections &s, int32_t i) {
  const int32_t lane = IS_LONG ? (int32_t)threadIdx.x : subwarp_lane(), step = IS_LONG ? CUDA_THREADS : SUBWARP;
  const int32_t begin = s.A.offsets[i], length = s.A.offsets[i + 1] - begin;
  const double own = (double)s.diagonal[i];
  const double inverse = s.weights && s.weights[i] != 0 ? 1 / s.weights[i] : 0;
  const limit least = find_limit<IS_LONG>(s, begin, length, own, inverse);
  int32_t to = begin;
  for (int64_t k = lane; k - lane < length; k += step) {
    int32_t j = i, all;
    coupling c = {0, 0};
    bool neighbour = false;
    if (k < length) {
      j = s.A.indices[begin + k];
      c = get_coupling(s, inverse, begin + (int32_t)k);
      const unsigned char strong = classify(c, j == i, own, least);
      s.strong[begin + k] = strong;
      neighbour = strong == TSI_AMG_STRONG && j != i;
    }
    const int32_t place = to + count_before<IS_LONG>(neighbour, &all);
    if (neighbour) {
      s.graph.indices[place] = j;
      s.graph.magnitudes[place] = (float)fabs(c.value);
    }
    to += all;
  }
  if (lane == 0) {
    s.graph.begins[i] = begin;
    s.graph.ends[i] = to;
  }
}

__global__ static void __launch_bounds__(CUDA_THREADS) classify_entries(const connections s) {
  bool is_row, is_long;
  const int32_t own = own_row(s.A, &is_row, &is_long);
  if (is_row) classify_row<false>(s, own);
  EACH_LONG_ROW(s.A, i, is_long) classify_row<true>(s, i);
}

/* ---- Blocks ---- */

/* The first entry of a row with a column of at least `column`. */
static __device__ __forceinline__ int32_t find_entry(const cuda_amg_csr &A, int64_t row, int64_t column) {
  int32_t low = A.offsets[row], high = A.offsets[row + 1];
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (A.indices[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The entries of a row from `at` on in the block of columns of node `other`: their number, and a mask of those
 * that count. */
struct block_row {
  int count;
  unsigned parts;
  double squares[SUBWARP];
};

static __device__ __forceinline__ block_row read_block_row(const connections &s, int64_t other, float own,
                                                           int32_t at, int32_t end) {
  block_row found = {};
  const int64_t behind = (other + 1) * s.unknowns;
#pragma unroll
  for (int k = 0; k < SUBWARP; k++) {
    if (k >= s.unknowns || k >= end - at) continue;
    const int32_t column = s.A.indices[at + k];
    if (column >= behind) continue;
    const double a = (double)s.A.values[at + k];
    found.count++;
    if (own > 0 && s.diagonal[column] > 0) found.parts |= 1u << k;
    found.squares[k] = a * a;
  }
  return found;
}

/* The sum of the counted squares, row by row, in every lane. */
static __device__ __forceinline__ double add_block(const connections &s, const block_row &found) {
  double sum = 0;
  for (int row = 0; row < s.unknowns; row++) {
#pragma unroll
    for (int k = 0; k < SUBWARP; k++)
      if (row == subwarp_lane() && (found.parts >> k & 1)) sum += found.squares[k];
    sum = __shfl_sync(subwarp_mask(), sum, row, SUBWARP);
  }
  return sum;
}

__global__ static void find_norms(const connections s) {
  const int64_t node = subwarp_number();
  if (node >= s.graph.nodes) return;
  const int lane = subwarp_lane();
  const int64_t row = node * s.unknowns + lane;
  int32_t at = 0, end = 0;
  float own = 0;
  if (lane < s.unknowns) {
    own = s.diagonal[row];
    end = s.A.offsets[row + 1];
    at = find_entry(s.A, row, node * s.unknowns);
  }
  const double sum = add_block(s, read_block_row(s, node, own, at, end));
  if (lane == 0) s.norms[node] = sqrt(sum);
}

static __device__ __forceinline__ int32_t subwarp_least(int32_t value) {
  for (int offset = SUBWARP / 2; offset > 0; offset /= 2) {
    const int32_t other = __shfl_xor_sync(subwarp_mask(), value, offset, SUBWARP);
    if (other < value) value = other;
  }
  return value;
}

/* A lane's row of a node, from the next block on. */
struct lane_row {
  int32_t at, end;
  float own;
};

/* The next node that the rows have entries for, INT32_MAX after the last. Every lane advances past its
 * block. */
static __device__ __forceinline__ int32_t next_block(const connections &s, lane_row &row, block_row &found,
                                                     double &sum) {
  const int32_t other = subwarp_least(row.at < row.end ? s.A.indices[row.at] / s.unknowns : INT32_MAX);
  if (other == INT32_MAX) return other;
  found = read_block_row(s, other, row.own, row.at, row.end);
  sum = add_block(s, found);
  row.at += found.count;
  return other;
}

/* The couplings of a row so far. */
struct row_couplings {
  double largest, sum;
  bool usual; /* one of them is at least TSI_AMG_USUAL */
};

static __device__ __forceinline__ void add_coupling(row_couplings &r, double square, double magnitude,
                                                    double scale) {
  r.usual |= square >= TSI_AMG_USUAL * TSI_AMG_USUAL * scale;
  r.largest = fmax(r.largest, square / scale);
  r.sum += magnitude;
}

static __device__ __forceinline__ double find_block_limit(const connections &s, int32_t node, lane_row row) {
  const double norm = s.norms[node];
  row_couplings r = {};
  block_row found;
  double square;
  for (;;) {
    const int32_t other = next_block(s, row, found, square);
    if (other == INT32_MAX) break;
    const bool is_coupled = __ballot_sync(subwarp_mask(), found.parts != 0) & subwarp_mask();
    if (other != node && is_coupled) add_coupling(r, square, sqrt(square), norm * fmin(norm, s.norms[other]));
  }
  return r.usual ? s.limit : tsi_amg_block_limit(s.limit, r.largest, r.sum, norm);
}

__global__ static void classify_blocks(const connections s) {
  const int64_t number = subwarp_number();
  if (number >= s.graph.nodes) return;
  const int32_t node = (int32_t)number;
  const int lane = subwarp_lane();
  const int64_t first = (int64_t)node * s.unknowns;
  const int32_t begin = s.A.offsets[first];
  const double norm = s.norms[node];
  int32_t to = begin;
  lane_row row = {};
  if (lane < s.unknowns)
    row = {s.A.offsets[first + lane], s.A.offsets[first + lane + 1], s.diagonal[first + lane]};
  const double limit = find_block_limit(s, node, row);
  for (;;) {
    const int32_t at = row.at;
    block_row found;
    double sum;
    const int32_t other = next_block(s, row, found, sum);
    if (other == INT32_MAX) break;
    const bool strong = other != node && sum != 0 && !(sum < limit * (norm * fmin(norm, s.norms[other])));
    const unsigned char kept = strong || other == node ? TSI_AMG_STRONG : TSI_AMG_WEAK;
    for (int k = 0; k < found.count; k++) s.strong[at + k] = found.parts >> k & 1 ? kept : TSI_AMG_DROPPED;
    if (!strong) continue;
    if (lane == 0) {
      s.graph.indices[to] = other;
      s.graph.magnitudes[to] = (float)sqrt(sum);
    }
    to++;
  }
  if (lane == 0) {
    s.graph.begins[node] = begin;
    s.graph.ends[node] = to;
  }
}

/* ---- The graph ---- */

static ts_status classify_all(cuda_amg_memory *memory, connections *s) {
  ts_context *context = memory->context;
  const unsigned blocks = cuda_blocks_for((size_t)s->graph.nodes * SUBWARP);
  CUDA_AMG_ALLOC(memory, s->A.rows, s->diagonal);
  TSI_TRY(cuda_launch(context, "find_diagonal", find_diagonal, cuda_blocks_for((size_t)s->A.rows), CUDA_THREADS,
                      s->A, s->diagonal));
  if (s->unknowns == 1)
    return cuda_launch(context, "classify_entries", classify_entries, blocks, CUDA_THREADS, *s);
  CUDA_AMG_ALLOC(memory, s->graph.nodes, s->norms);
  TSI_TRY(cuda_launch(context, "find_norms", find_norms, blocks, CUDA_THREADS, *s));
  return cuda_launch(context, "classify_blocks", classify_blocks, blocks, CUDA_THREADS, *s);
}

ts_status cuda_amg_strength(cuda_amg_memory *memory, const cuda_amg_level *level, double strength, int depth,
                            cuda_amg_graph *graph) {
  const cuda_amg_csr *A = &level->A;
  *graph = {level->nodes};
  CUDA_AMG_ALLOC(memory, level->nodes, graph->begins);
  CUDA_AMG_ALLOC(memory, level->nodes, graph->ends);
  CUDA_AMG_ALLOC(memory, A->entries, graph->indices);
  CUDA_AMG_ALLOC(memory, A->entries, graph->magnitudes);
  if (level->nodes == 0) return TS_OK;
  cuda_amg_memory own = {memory->context};
  connections s = {
      *A, *graph, level->strong, level->unknowns, strength, ldexp(strength * strength, -2 * depth)};
  s.weights = level->unknowns == 1 && level->vectors == 1 ? level->near_null : NULL;
  const ts_status status = classify_all(&own, &s);
  cuda_amg_free(&own);
  return status;
}

/* ---- The diagonal ---- */

/* Finds the minimum of row << 32 | bits of the value, over all unsuitable rows. */
__global__ static void find_unfit(const cuda_amg_csr A, const unsigned char *constrained,
                                  unsigned long long *unfit) {
  const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= A.rows) return;
  const float value = cuda_amg_diagonal_of(A, (int32_t)row);
  if (value > 0 || (constrained && constrained[row])) return;
  const unsigned long long found = (unsigned long long)row << 32 | __float_as_uint(value);
  if (found < *(volatile unsigned long long *)unfit) atomicMin(unfit, found);
}

static ts_status check_rows(cuda_amg_memory *memory, const cuda_amg_csr *A, const unsigned char *constrained,
                            unsigned long long *found) {
  ts_context *context = memory->context;
  unsigned long long *unfit = NULL;
  CUDA_AMG_ALLOC(memory, 1, unfit);
  CUDA_TRY(context, cudaMemsetAsync(unfit, 0xff, sizeof *unfit, cuda_stream(context)));
  TSI_TRY(cuda_launch(context, "find_unfit", find_unfit, cuda_blocks_for((size_t)A->rows), CUDA_THREADS, *A,
                      constrained, unfit));
  return cuda_download(context, found, unfit, sizeof *found);
}

ts_status cuda_amg_check_diagonal(ts_context *context, const cuda_amg_csr *A, const unsigned char *constrained,
                                  int32_t *row, float *value) {
  cuda_amg_memory memory = {context};
  unsigned long long found = UINT64_MAX;
  const ts_status status = A->rows > 0 ? check_rows(&memory, A, constrained, &found) : TS_OK;
  cuda_amg_free(&memory);
  const uint32_t bits = (uint32_t)found;
  *row = found == UINT64_MAX ? -1 : (int32_t)(found >> 32);
  *value = 0;
  if (*row >= 0) memcpy(value, &bits, sizeof bits);
  return status;
}
