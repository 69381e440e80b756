/* Properties of a matrix on the device that the host needs, with the results of csr_inspect.c. A team of
 * threads has a row. */
extern "C" {
#include "common/layout/layout_build.h"
}
#include "cuda/core/cuda_split.cuh"
#include "cuda_given.h"

/* All 0 initially. */
struct inspection {
  unsigned long long norm;    /* the bits of the largest sum; they compare like the sums */
  unsigned zero_diagonal;     /* ~ the first such row */
  int negative, not_negative; /* a diagonal entry is negative; is missing or not negative */
  int longest;
  unsigned long long mirrors; /* 0 if the matrix is symmetric bit by bit */
  unsigned long long steps;
  /* ~ the time at which the host would find the first entry that differs from its mirror. The high half is the
   * row that the host visits then. The low half is the index of the entry in that row plus 1, or 0 before all
   * of them. */
  unsigned long long unsymmetric;
  int32_t row, column; /* of that entry */
};

struct matrix {
  int32_t rows, columns;
  const int32_t *offsets, *indices;
  const float *values;
};

/* The numbers of an entry and its mirror add up to 0. */
static __device__ __forceinline__ unsigned long long number_of_entry(unsigned row, unsigned column,
                                                                     float value) {
  if (row == column) return 0;
  const unsigned long long place = (unsigned long long)min(row, column) << 32 | max(row, column),
                           number = cuda_mixed(cuda_mixed(place) + __float_as_uint(value));
  return row < column ? number : 0 - number;
}

/* The findings of a thread in the rows of its team. */
struct row_findings {
  unsigned long long mirrors;
  double norm;
  float diagonal; /* of the last row */
};

/* A team of LANES threads has the row; row -1 has no entries. The teams of a warp enter and leave together.
 * Adds magnitudes in the order of the entries, like the host. */
template <int LANES>
static __device__ __forceinline__ void measure_row(const matrix &A, int32_t row, bool square, row_findings *f) {
  const int lane = (int)threadIdx.x % LANES;
  const unsigned lanes = 0xffffffffu >> (32 - LANES) << (threadIdx.x % 32 - lane);
  const int32_t end = row < 0 ? 0 : A.offsets[row + 1];
  double sum = 0;
  f->diagonal = 0;
  for (int32_t first = row < 0 ? 0 : A.offsets[row]; __any_sync(0xffffffffu, first < end); first += LANES) {
    const int32_t e = first + lane;
    const float value = e < end ? A.values[e] : 0;
    const int32_t column = e < end ? A.indices[e] : row;
    const unsigned own = __ballot_sync(0xffffffffu, e < end && column == row) & lanes;
    const float diagonal = __shfl_sync(0xffffffffu, value, __ffs((int)own) - 1);
    if (square) f->mirrors += number_of_entry((unsigned)row, (unsigned)column, value);
    if (own) f->diagonal = diagonal;
#pragma unroll
    for (int l = 0; l < LANES; l++) sum += (double)fabsf(__shfl_sync(0xffffffffu, value, l, LANES));
  }
  f->norm = fmax(f->norm, sum);
}

/* Each team has many rows, because all warps add to the same numbers at the end. */
template <int LANES>
static __global__ void __launch_bounds__(CUDA_THREADS)
    measure_rows(const matrix A, float *diagonals, inspection *found) {
  const int64_t teams = (int64_t)gridDim.x * CUDA_THREADS / LANES;
  row_findings f = {};
  unsigned zero = 0;
  bool negative = false, not_negative = false;
  for (int64_t row = ((int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x) / LANES;
       __any_sync(0xffffffffu, row < A.rows); row += teams) {
    measure_row<LANES>(A, row < A.rows ? (int32_t)row : -1, diagonals != NULL, &f);
    if (!diagonals || row >= A.rows) continue;
    if (threadIdx.x % LANES == 0) diagonals[row] = f.diagonal;
    if (f.diagonal == 0) zero = max(zero, ~(unsigned)row);
    negative |= f.diagonal < 0;
    not_negative |= !(f.diagonal < 0);
  }
  f.mirrors = cuda_warp_sum(f.mirrors);
  cuda_store_largest(&found->norm, (unsigned long long)__double_as_longlong(f.norm));
  cuda_store_largest(&found->zero_diagonal, zero);
  negative = __any_sync(0xffffffffu, negative);
  not_negative = __any_sync(0xffffffffu, not_negative);
  if (threadIdx.x % 32 > 0) return;
  atomicAdd(&found->mirrors, f.mirrors);
  if (negative) found->negative = 1;
  if (not_negative) found->not_negative = 1;
}

/* Like thread_steps in layout_csr.c: 32 >> log2_subwarp rows share a warp. */
static __global__ void __launch_bounds__(CUDA_THREADS)
    measure_lengths(int32_t rows, const int32_t *offsets, int log2_subwarp, inspection *found) {
  const int64_t row = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  const int length = row < rows ? offsets[row + 1] - offsets[row] : 0, together = 32 >> log2_subwarp;
  int longest = length;
  for (int offset = 1; offset < together; offset *= 2)
    longest = max(longest, __shfl_xor_sync(0xffffffffu, longest, offset));
  unsigned long long steps = 0;
  if ((int)threadIdx.x % together == 0)
    steps = (unsigned long long)((longest + (1 << log2_subwarp) - 1) >> log2_subwarp);
  steps = cuda_warp_sum(steps);
  if (threadIdx.x % 32 == 0) atomicAdd(&found->steps, steps);
  cuda_store_largest(&found->longest, length);
}

/* ---- Symmetry ---- */

/* The first entry of row i with a column of at least j. */
static __device__ int32_t find(const matrix &A, int32_t i, int32_t j) {
  int32_t low = A.offsets[i], high = A.offsets[i + 1];
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (A.indices[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static __device__ bool is_at(const matrix &A, int32_t e, int32_t i, int32_t j) {
  return e < A.offsets[i + 1] && A.indices[e] == j;
}

static __device__ bool has_entry(const matrix &A, int32_t i, int32_t j) {
  return is_at(A, find(A, i, j), i, j);
}

/* tsi_nearly_equal. Every product and sum is rounded separately. */
static __device__ bool nearly_equal(float a, float b, float diagonal_a, float diagonal_b) {
  const double larger = fmax(fabs((double)a), fabs((double)b));
  const double scale = sqrt(__dmul_rn(fabs((double)diagonal_a), fabs((double)diagonal_b)));
  return fabs((double)a - (double)b) <= __dadd_rn(__dmul_rn(1e-5, larger), __dmul_rn(1e-7, scale));
}

static __device__ void report(inspection *found, int32_t row, uint32_t entry) {
  atomicMax(&found->unsymmetric, ~((unsigned long long)row << 32 | entry));
}

/* Compares entry e of row i, right of the diagonal. The host advances its cursor in row j to column i and
 * reports the entries in between, which have no mirror. They reach back to the last column whose row has an
 * entry in column j. */
static __device__ void compare_right(const matrix &A, const float *diagonals, int32_t i, int32_t e,
                                     inspection *found) {
  const int32_t j = A.indices[e], place = find(A, j, i);
  const float mirror = is_at(A, place, j, i) ? A.values[place] : 0;
  bool differs = !nearly_equal(A.values[e], mirror, diagonals[i], diagonals[j]);
  for (int32_t before = place - 1; !differs && before >= A.offsets[j]; before--) {
    if (has_entry(A, A.indices[before], j)) break;
    differs = A.values[before] != 0;
  }
  if (differs) report(found, i, (uint32_t)(e - A.offsets[i]) + 1);
}

static __global__ void __launch_bounds__(CUDA_THREADS)
    look_for_mirrors(const matrix A, const float *diagonals, inspection *found) {
  const int64_t thread = (int64_t)blockIdx.x * CUDA_THREADS + threadIdx.x;
  if (thread / 32 >= A.rows) return;
  const int32_t i = (int32_t)(thread / 32);
  const volatile unsigned long long *earliest = &found->unsymmetric;
  if (~*earliest < (unsigned long long)i << 32) return; /* an earlier row is already known */
  for (int32_t e = A.offsets[i] + (int32_t)(thread % 32); e < A.offsets[i + 1]; e += 32) {
    const int32_t j = A.indices[e];
    if (j > i)
      compare_right(A, diagonals, i, e, found);
    else if (j < i && A.values[e] != 0 && !has_entry(A, j, i))
      report(found, i, 0);
  }
}

/* The first nonzero entry of row i, left of column `end`, that has no mirror, or -1. */
static __device__ int32_t first_alone(const matrix &A, int32_t i, int32_t end) {
  for (int32_t e = A.offsets[i]; e < A.offsets[i + 1] && A.indices[e] < end; e++)
    if (A.values[e] != 0 && !has_entry(A, A.indices[e], i)) return A.indices[e];
  return -1;
}

/* Runs in one thread. */
static __global__ void name_unsymmetric(const matrix A, inspection *found) {
  const unsigned long long when = ~found->unsymmetric;
  found->row = found->column = -1;
  if (found->unsymmetric == 0) return;
  const int32_t visited = (int32_t)(when >> 32), entry = (int32_t)(uint32_t)when - 1;
  found->row = entry < 0 ? visited : A.indices[A.offsets[visited] + entry];
  found->column = first_alone(A, found->row, visited);
  if (found->column >= 0) return;
  found->column = found->row;
  found->row = visited;
}

/* ---- All checks ---- */

static ts_status name_entry(ts_context *context, const matrix &A, const float *diagonals, inspection *found) {
  TSI_TRY(cuda_launch(context, "look_for_mirrors", look_for_mirrors, cuda_blocks_for(32 * (size_t)A.rows),
                      CUDA_THREADS, A, diagonals, found));
  return cuda_launch(context, "name_unsymmetric", name_unsymmetric, 1, 1, A, found);
}

static ts_status fetch(ts_context *context, const inspection *found, inspection *to) {
  context->host_synchronisations++;
  return cuda_download(context, to, found, sizeof *to);
}

/* The search for entries without mirrors takes ten times as long as everything else. */
static ts_status run_inspection(cuda_amg_memory *memory, const matrix &A, const tsi_given *given,
                                inspection *to) {
  ts_context *context = memory->context;
  const int square = A.rows == A.columns && given->parts > 0;
  const int log2_subwarp = tsi_choose_subwarp(&context->tuning, A.rows, given->nonzeros);
  inspection *found;
  float *diagonals = NULL;
  CUDA_AMG_ALLOC(memory, 1, found);
  if (square) CUDA_AMG_ALLOC(memory, A.rows, diagonals);
  CUDA_TRY(context, cudaMemsetAsync(found, 0, sizeof *found, cuda_stream(context)));
  TSI_TRY(cuda_launch(context, "measure_lengths", measure_lengths, cuda_blocks_for((size_t)A.rows),
                      CUDA_THREADS, A.rows, A.offsets, log2_subwarp, found));
  const int lanes = cuda_lanes_of_rows(A.rows, given->nonzeros);
  TSI_TRY(cuda_launch(context, "measure_rows", lanes < 32 ? measure_rows<8> : measure_rows<32>,
                      cuda_blocks_each(context, (size_t)lanes * (size_t)A.rows), CUDA_THREADS, A, diagonals,
                      found));
  TSI_TRY(fetch(context, found, to));
  if (!square || to->mirrors == 0) return TS_OK;
  TSI_TRY(name_entry(context, A, diagonals, found));
  return fetch(context, found, to);
}

/* ---- A negative diagonal ---- */

/* A low-order part becomes 0, never -0. */
static __global__ void __launch_bounds__(CUDA_THREADS) negate(size_t count, cuda_parts parts) {
  CUDA_EACH(e, count) {
    parts.part[0][e] = -parts.part[0][e];
    for (int p = 1; p < 3; p++)
      if (parts.part[p]) parts.part[p][e] = 0 - parts.part[p][e];
  }
}

ts_status cuda_given_negate(ts_context *context, tsi_given *given) {
  const cuda_given *g = (const cuda_given *)given->impl;
  const cuda_parts parts = {{g->values[0], g->values[1], g->values[2]}};
  given->negated = 1;
  given->negative_diagonal = 0;
  return cuda_launch(context, "negate", negate, cuda_blocks_each(context, (size_t)given->nonzeros),
                     CUDA_THREADS, (size_t)given->nonzeros, parts);
}

ts_status cuda_given_inspect(ts_context *context, tsi_given *given, int *is_negative) {
  const cuda_given *g = (const cuda_given *)given->impl;
  const matrix A = {given->rows, given->columns, g->offsets, g->columns, g->values[0]};
  const int square = given->rows == given->columns;
  inspection found = {};
  cuda_amg_memory memory = {};
  memory.context = context;
  memory.what = "a matrix";
  const ts_status status = run_inspection(&memory, A, given, &found);
  cuda_amg_free(&memory);
  TSI_TRY(status);
  memcpy(&given->norm_infinity, &found.norm, sizeof given->norm_infinity);
  given->longest_row = found.longest;
  given->zero_diagonal_row = -1;
  if (square && !given->parts) given->zero_diagonal_row = 0;
  if (found.zero_diagonal) given->zero_diagonal_row = (int32_t)~found.zero_diagonal;
  given->unsymmetric_row = given->unsymmetric_column = -1;
  if (found.unsymmetric) {
    given->unsymmetric_row = found.row;
    given->unsymmetric_column = found.column;
  }
  given->thread_steps = 32 * (int64_t)found.steps;
  given->negative_diagonal = found.negative;
  *is_negative = square && given->parts && !found.not_negative;
  return TS_OK;
}
