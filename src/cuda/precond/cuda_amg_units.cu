/* The default near-null space: constants, scaled if the unknowns have different units. */
#include <math.h>

#include "cuda_amg_diagonal.cuh"
#include "cuda_amg_entries.cuh"

__global__ static void find_scales(const cuda_amg_csr A, double *scales) {
  const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= A.rows) return;
  const float value = cuda_amg_diagonal_of(A, (int32_t)row);
  scales[row] = value > 0 ? 1 / sqrt((double)value) : 0;
}

struct voters {
  cuda_amg_csr A;
  int unknowns;
  const double *scales;
  unsigned long long *votes;
  tsi_amg_range own; /* the rows that vote */
};

template <bool IS_LONG> static __device__ __forceinline__ void vote(const voters &v, int32_t i) {
  const int32_t begin = v.A.offsets[i], length = v.A.offsets[i + 1] - begin;
  double sums[2] = {0, 0}; /* of constants, of scaled constants */
  const auto look_at = [&](int32_t k, double(&to)[2]) {
    const int32_t j = v.A.indices[begin + k];
    const double a = (double)v.A.values[begin + k], scale = v.scales[j];
    if (scale == 0 || j % v.unknowns != i % v.unknowns) return;
    to[0] += a;
    to[1] += a * scale;
  };
  add_entries<IS_LONG>(length, look_at, sums);
  const int lane = IS_LONG ? (int)threadIdx.x : subwarp_lane();
  if (i < v.own.begin || i >= v.own.end) return;
  if (lane == 0 && v.scales[i] > 0 && tsi_amg_votes(sums[0], sums[1], v.scales[i])) atomicAdd(v.votes, 1ull);
}

/* Counts one vote for each row that is in favour of scaled constants. */
__global__ static void __launch_bounds__(CUDA_THREADS) count_votes(const voters v) {
  bool is_row, is_long;
  const int32_t own = own_row(v.A, &is_row, &is_long);
  if (is_row) vote<false>(v, own);
  EACH_LONG_ROW(v.A, i, is_long) vote<true>(v, i);
}

/* Without votes, `scaled` decides. */
__global__ static void write_units(int32_t rows, int unknowns, const double *scales,
                                   const unsigned long long *votes, int scaled, double *near_null) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  const bool elected = votes ? tsi_amg_elect((double)*votes, (double)rows) : scaled != 0;
  for (int v = 0; v < unknowns; v++)
    near_null[i * unknowns + v] = i % unknowns != v ? 0 : elected ? scales[i] : scales[i] > 0;
}

static ts_status run_find_scales(ts_context *context, const cuda_amg_csr *A, double *scales) {
  return cuda_launch(context, "find_scales", find_scales, cuda_blocks_for((size_t)A->rows), CUDA_THREADS, *A,
                     scales);
}

static ts_status run_votes(cuda_amg_memory *memory, const cuda_amg_level *level, tsi_amg_range own,
                           const double *scales, unsigned long long **votes) {
  ts_context *context = memory->context;
  const cuda_amg_csr *A = &level->A;
  *votes = NULL;
  CUDA_AMG_ALLOC(memory, 1, *votes);
  CUDA_TRY(context, cudaMemsetAsync(*votes, 0, sizeof **votes, cuda_stream(context)));
  const voters v = {*A, level->unknowns, scales, *votes, own};
  return cuda_launch(context, "count_votes", count_votes, cuda_blocks_for((size_t)A->rows * SUBWARP),
                     CUDA_THREADS, v);
}

static ts_status run_write_units(ts_context *context, const cuda_amg_level *level, const double *scales,
                                 const unsigned long long *votes, int scaled) {
  return cuda_launch(context, "write_units", write_units, cuda_blocks_for((size_t)level->A.rows), CUDA_THREADS,
                     level->A.rows, level->unknowns, scales, votes, scaled, level->near_null);
}

static ts_status find_units(cuda_amg_memory *memory, const cuda_amg_level *level) {
  double *scales = NULL;
  unsigned long long *votes;
  CUDA_AMG_ALLOC(memory, level->A.rows, scales);
  TSI_TRY(run_find_scales(memory->context, &level->A, scales));
  TSI_TRY(run_votes(memory, level, {0, level->A.rows}, scales, &votes));
  return run_write_units(memory->context, level, scales, votes, 0);
}

ts_status cuda_amg_units(ts_context *context, const cuda_amg_level *level) {
  cuda_amg_memory memory = {context};
  const ts_status status = find_units(&memory, level);
  cuda_amg_free(&memory);
  return status;
}

/* ---- Parts with a window of the rows each: the near-null vector holds the scales from the votes on ---- */

static ts_status count_own(cuda_amg_memory *memory, const cuda_amg_level *level, tsi_amg_range own,
                           double *votes) {
  unsigned long long *counter, count;
  TSI_TRY(run_find_scales(memory->context, &level->A, level->near_null));
  TSI_TRY(run_votes(memory, level, own, level->near_null, &counter));
  TSI_TRY(cuda_download(memory->context, &count, counter, sizeof count));
  *votes = (double)count;
  return TS_OK;
}

ts_status cuda_amg_vote(ts_context *context, const cuda_amg_level *level, tsi_amg_range own, double *votes) {
  cuda_amg_memory memory = {context};
  const ts_status status = count_own(&memory, level, own, votes);
  cuda_amg_free(&memory);
  return status;
}

ts_status cuda_amg_write_units(ts_context *context, const cuda_amg_level *level, int scaled) {
  return scaled ? TS_OK : run_write_units(context, level, level->near_null, NULL, 0);
}
