/* The near-null space on the device, and the tentative prolongator that contains it.
 *
 * Nodes are sorted by their aggregates. A team of threads then copies the rows of an aggregate, column by
 * column, and orthonormalises the columns. Each thread multiplies the numbers of its rows, and all threads add
 * the products of the team in the order of rows. For a large aggregate all teams of a block work together, each
 * on a run of rows. */
#include "cuda_amg_diagonal.cuh"

enum {
  TEAM = 8,
  EACH = 4, /* rows that a thread loads at once */
  TEAMS = CUDA_THREADS / TEAM,
  LARGE = 1024 /* maximum rows of an aggregate for one team */
};

/* Kernels loop if their grid does not cover all items. */
static unsigned blocks_for(size_t threads) {
  const size_t blocks = (threads + CUDA_THREADS - 1) / CUDA_THREADS;
  return (unsigned)(blocks < CUDA_AMG_MOST_BLOCKS ? blocks : CUDA_AMG_MOST_BLOCKS);
}

#define EACH_OF(i, count)                                                                                      \
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (count);                                \
       i += (int64_t)gridDim.x * blockDim.x)

/* ---- The near-null space of the first level ---- */

/* Rows without a positive diagonal are inactive. */
__global__ static void clear_inactive(const cuda_amg_csr A, int vectors, double *near_null) {
  EACH_OF(i, A.rows) {
    if (cuda_amg_diagonal_of(A, (int32_t)i) > 0) continue;
    for (int v = 0; v < vectors; v++) near_null[i * vectors + v] = 0;
  }
}

static ts_status upload_near_null(ts_context *context, const ts_amg_desc *desc, const cuda_amg_level *level) {
  const size_t count = (size_t)level->A.rows * (size_t)level->vectors;
  double *modes = (double *)tsi_calloc(context, count, sizeof *modes);
  if (!modes) return tsi_out_of_memory(context, "the near-null space of amg", count * sizeof *modes);
  tsi_amg_near_null(desc, level->nodes, modes);
  const ts_status status = cuda_upload(context, level->near_null, modes, count * sizeof *modes);
  tsi_free(context, modes);
  return status;
}

ts_status cuda_amg_near_null(ts_context *context, const ts_amg_desc *desc, const cuda_amg_level *level) {
  const int given = tsi_doubles(&desc->coordinates) || tsi_doubles(&desc->near_null);
  if (level->A.rows == 0) return TS_OK;
  if (!given) return cuda_amg_units(context, level);
  TSI_TRY(upload_near_null(context, desc, level));
  return cuda_launch(context, "clear_inactive", clear_inactive, blocks_for((size_t)level->A.rows), CUDA_THREADS,
                     level->A, level->vectors, level->near_null);
}

/* ---- The members of aggregates ---- */

/* Weights have a sign if a node has one unknown. */
__global__ static void find_weights(int32_t nodes, int unknowns, int vectors, const double *near_null,
                                    float *weights) {
  EACH_OF(node, nodes) {
    const double *values = near_null + node * unknowns * vectors;
    double sum = 0;
    for (int u = 0; u < unknowns; u++) sum += values[u * vectors] * values[u * vectors];
    weights[node] = (float)(unknowns == 1 ? values[0] : sqrt(sum));
  }
}

/* Finds where the members of each aggregate begin. `sorted` has the aggregates of all nodes; nodes without one
 * are last. */
__global__ static void find_offsets(const uint32_t *sorted, int32_t nodes, int32_t count, int32_t *offsets) {
  EACH_OF(k, (int64_t)nodes + 1) {
    const int64_t before = k > 0 ? (int64_t)sorted[k - 1] : -1;
    const int64_t here = k < nodes ? (int64_t)sorted[k] : count;
    for (int64_t a = before + 1; a <= here && a <= count; a++) offsets[a] = (int32_t)k;
  }
}

/* Sorts members in ascending order. The low bits of a node without an aggregate are all 1, unlike those of any
 * aggregate. */
static ts_status sort_members(cuda_amg_memory *memory, const cuda_amg_level *level, int32_t *offsets,
                              int32_t **members) {
  uint32_t *sorted;
  int bits = 1;
  while (level->aggregate_count >> bits) bits++;
  TSI_TRY(cuda_amg_sort(memory, (const uint32_t *)level->aggregates, level->nodes, bits, &sorted, members));
  return cuda_launch(memory->context, "find_offsets", find_offsets, blocks_for((size_t)level->nodes + 1),
                     CUDA_THREADS, sorted, level->nodes, level->aggregate_count, offsets);
}

/* ---- Orthonormal columns ---- */

/* A column is dependent if at most this share of its length remains after earlier ones are subtracted. */
static __device__ const double dependent = 1e-8;

struct aggregates {
  int32_t count;
  int unknowns, vectors;
  const int32_t *offsets, *members;
  const double *near_null;
  double *columns; /* the rows of each aggregate, column by column */
  double *coarse;
  float *tentative;
};

/* Row k of the aggregate with members from `begin` on. */
template <typename T> static __device__ T *row_of(const aggregates &t, T *values, int32_t begin, uint32_t k) {
  const uint32_t unknowns = (uint32_t)t.unknowns;
  const int64_t node = t.members[begin + (int32_t)(k / unknowns)];
  return values + (node * unknowns + k % unknowns) * t.vectors;
}

/* The rows of an aggregate. The threads of a warp all loop over `most` rows, the maximum of its aggregates. An
 * added 0 never changes a sum that began as 0. */
struct aggregate_rows {
  double *columns;
  uint32_t rows, most;
};

/* A team computes the sum of product(row) over a run of rows. */
template <bool IS_LARGE, typename Product>
static __device__ __forceinline__ double add_run(uint32_t first, uint32_t most, Product product) {
  const int lane = (int)threadIdx.x % TEAM;
  double sum = 0;
  for (uint32_t step = first; step < first + TSI_AMG_RUN && (IS_LARGE || step < most); step += TEAM * EACH) {
    double products[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) products[k] = product(step + (uint32_t)(k * TEAM + lane));
#pragma unroll
    for (int k = 0; k < EACH; k++)
#pragma unroll
      for (int l = 0; l < TEAM; l++) sum += __shfl_sync(0xffffffffu, products[k], l, TEAM);
  }
  return sum;
}

/* The sum over all rows, in each thread of the team, or of the block, whose teams take consecutive runs. */
template <bool IS_LARGE, typename Product>
static __device__ __forceinline__ double add_rows(uint32_t most, Product product) {
  double sum = 0;
  if (!IS_LARGE) {
    for (uint32_t first = 0; first < most; first += TSI_AMG_RUN) sum += add_run<false>(first, most, product);
    return sum;
  }
  __shared__ double runs[TEAMS];
  const uint32_t team = threadIdx.x / TEAM;
  for (uint32_t first = 0; first < most; first += TEAMS * TSI_AMG_RUN) {
    const double run = add_run<true>(first + team * TSI_AMG_RUN, most, product);
    if (threadIdx.x % TEAM == 0) runs[team] = run;
    __syncthreads();
    for (int k = 0; k < TEAMS; k++) sum += runs[k];
    __syncthreads();
  }
  return sum;
}

/* Sets column v = scale * column v - factor * column w. Returns its dot product with column `next`. */
template <bool IS_LARGE>
static __device__ double combine(const aggregate_rows &a, int v, double scale, double factor, int w, int next) {
  double *own = a.columns + (size_t)v * a.rows;
  const double *other = a.columns + (size_t)w * a.rows, *with = a.columns + (size_t)next * a.rows;
  return add_rows<IS_LARGE>(a.most, [&](uint32_t row) {
    if (row >= a.rows) return 0.0;
    const double value = scale * own[row] - factor * other[row];
    own[row] = value;
    return value * (next == v ? value : with[row]);
  });
}

template <bool IS_LARGE> static __device__ double dot(const aggregate_rows &a, int v, int w) {
  const double *own = a.columns + (size_t)v * a.rows, *with = a.columns + (size_t)w * a.rows;
  return add_rows<IS_LARGE>(a.most, [&](uint32_t row) { return row < a.rows ? own[row] * with[row] : 0.0; });
}

/* Q R by modified Gram-Schmidt, applied twice; Q in place. Each thread uses only its own rows, so no thread
 * waits for the writes of another. `upper` is NULL in all threads but one. */
template <bool IS_LARGE>
static __device__ void orthonormalise(const aggregate_rows &a, int vectors, double *upper) {
  for (int v = 0; v < vectors; v++) {
    const double before = dot<IS_LARGE>(a, v, v);
    double product = v > 0 ? dot<IS_LARGE>(a, 0, v) : before;
    for (int pass = 0; pass < 2; pass++)
      for (int w = 0; w < v; w++) {
        const int next = w + 1 < v ? w + 1 : pass == 0 ? 0 : v;
        if (upper) upper[w * vectors + v] += product;
        product = combine<IS_LARGE>(a, v, 1, product, w, next);
      }
    const bool none = !(product > dependent * dependent * before);
    if (upper) upper[v * vectors + v] = none ? 0 : sqrt(product);
    combine<IS_LARGE>(a, v, none ? 0 : 1 / sqrt(product), 0, v, v);
  }
}

static __device__ __forceinline__ uint32_t rows_of(const aggregates &t, int64_t number) {
  if (number >= t.count) return 0;
  return (uint32_t)(t.offsets[number + 1] - t.offsets[number]) * (uint32_t)t.unknowns;
}

/* Orthonormalises an aggregate by a team, or by a block if IS_LARGE. Does nothing without rows. */
template <bool IS_LARGE>
static __device__ void orthonormalise_one(const aggregates &t, int64_t number, const aggregate_rows &a) {
  const uint32_t lane = IS_LARGE ? threadIdx.x : threadIdx.x % TEAM, step = IS_LARGE ? CUDA_THREADS : TEAM;
  const int32_t begin = a.rows > 0 ? t.offsets[number] : 0;
  double *upper = NULL;
  for (uint32_t k = lane; k < a.rows; k += step) {
    const double *from = row_of(t, t.near_null, begin, k);
    for (int v = 0; v < t.vectors; v++) a.columns[(size_t)v * a.rows + k] = from[v];
  }
  if (lane == 0 && a.rows > 0) {
    upper = t.coarse + number * (t.vectors * t.vectors);
    for (int k = 0; k < t.vectors * t.vectors; k++) upper[k] = 0;
  }
  if (IS_LARGE) __syncthreads();
  orthonormalise<IS_LARGE>(a, t.vectors, upper);
  if (IS_LARGE) __syncthreads();
  for (uint32_t k = lane; k < a.rows; k += step) {
    float *to = row_of(t, t.tentative, begin, k);
    for (int v = 0; v < t.vectors; v++) to[v] = (float)a.columns[(size_t)v * a.rows + k];
  }
}

__global__ static void __launch_bounds__(CUDA_THREADS) orthonormalise_all(const aggregates t) {
  const int each = t.unknowns * t.vectors;
  for (int64_t first = (int64_t)blockIdx.x * TEAMS; first < t.count; first += (int64_t)gridDim.x * TEAMS) {
    const int64_t own = first + threadIdx.x / TEAM;
    const uint32_t all = rows_of(t, own), rows = all > LARGE ? 0 : all;
    aggregate_rows a = {t.columns + (rows > 0 ? (int64_t)t.offsets[own] * each : 0), rows, rows};
    for (int offset = TEAM; offset < 32; offset *= 2)
      a.most = max(a.most, __shfl_xor_sync(0xffffffffu, a.most, offset));
    orthonormalise_one<false>(t, own, a);
    if (!__syncthreads_or(all > LARGE)) continue;
    for (int64_t number = first; number < first + TEAMS; number++) {
      const uint32_t large = rows_of(t, number);
      if (large > LARGE)
        orthonormalise_one<true>(t, number, {t.columns + (int64_t)t.offsets[number] * each, large, large});
    }
  }
}

static ts_status make_tentative(cuda_amg_memory *memory, const cuda_amg_level *level, double *coarse) {
  ts_context *context = memory->context;
  const size_t numbers = (size_t)level->A.rows * (size_t)level->vectors;
  int32_t *offsets, *members;
  double *columns;
  if (level->nodes == 0) return TS_OK;
  TSI_TRY(cuda_launch(context, "find_weights", find_weights, blocks_for((size_t)level->nodes), CUDA_THREADS,
                      level->nodes, level->unknowns, level->vectors, level->near_null, level->weights));
  CUDA_TRY(context, cudaMemsetAsync(level->tentative, 0, numbers * sizeof(float), cuda_stream(context)));
  if (level->aggregate_count == 0) return TS_OK;
  CUDA_AMG_ALLOC(memory, (size_t)level->aggregate_count + 1, offsets);
  CUDA_AMG_ALLOC(memory, numbers, columns);
  TSI_TRY(sort_members(memory, level, offsets, &members));
  const aggregates t = {level->aggregate_count, level->unknowns, level->vectors, offsets,         members,
                        level->near_null,       columns,         coarse,         level->tentative};
  return cuda_launch(context, "orthonormalise_all", orthonormalise_all,
                     blocks_for((size_t)level->aggregate_count * TEAM), CUDA_THREADS, t);
}

ts_status cuda_amg_tentative(ts_context *context, const cuda_amg_level *level, double *coarse) {
  cuda_amg_memory memory = {context};
  const ts_status status = make_tentative(&memory, level, coarse);
  cuda_amg_free(&memory);
  return status;
}
