/* The inverse of the last level's matrix from A = L L^T in double precision, as in
 * common/precond/amg/amg_coarsest.c. Every entry is summed in ascending order of m. The upper triangle of `a`
 * becomes L^T, the lower one L^-1, with its diagonal in place of that of L.
 *
 * Panels have 32 rows. The contributions of a panel to later entries are added before those of the next
 * panel. */
#include "cuda/core/cuda_kernels.cuh"
#include "cuda_amg.h"

enum {
  PANEL = 32,
  PANEL_WARPS = 8,
  PANEL_THREADS = PANEL * PANEL_WARPS,
  STRIP = 8 /* columns per block */
};

typedef double tile[PANEL][PANEL + 1];

/* n: the rows, rounded up to whole panels. The padding is 0, and so are its pivots. */
struct dense {
  double *a, *pivots, *diagonal; /* diagonal: of A */
  int32_t n;
};

/* A pivot below this share of its diagonal is rounding error, as on the host. */
static __device__ __forceinline__ double pivot_of(double left, double diagonal) {
  const double rounding = 2e-5;
  return left > rounding * diagonal ? sqrt(left) : 0;
}

/* A pivot and its reciprocal, for several quotients. */
struct divisor {
  double pivot, inverse;
};

static __device__ __forceinline__ divisor divisor_of(double pivot) {
  return {pivot, pivot > 0 ? 1 / pivot : 0};
}

/* number / pivot, correctly rounded: two corrections by the exact remainder (Markstein 1990). A division takes
 * several times as long, above all of 0. Below `tiny` the remainder may not be exact. */
static __device__ __forceinline__ double divide(double number, const divisor &by) {
  const double tiny = 0x1p-900;
  double quotient = number * by.inverse;
  quotient = fma(fma(-by.pivot, quotient, number), by.inverse, quotient);
  quotient = fma(fma(-by.pivot, quotient, number), by.inverse, quotient);
  if (fabs(number) < tiny) quotient = number == 0 ? number : number / by.pivot;
  return by.pivot > 0 ? quotient : 0;
}

/* Loads a tile from `row` and `column` on. With `lower`, entries above the diagonal become 0. */
static __device__ __forceinline__ void load(const dense &d, int32_t row, int32_t column, bool lower, tile to) {
  const int lane = (int)threadIdx.x % PANEL;
  for (int r = (int)threadIdx.x / PANEL; r < PANEL; r += PANEL_WARPS)
    to[r][lane] = lower && column + lane > row + r ? 0 : d.a[(size_t)(row + r) * d.n + column + lane];
}

static __device__ __forceinline__ void store(const dense &d, int32_t row, int32_t column, const tile from) {
  const int lane = (int)threadIdx.x % PANEL;
  for (int r = (int)threadIdx.x / PANEL; r < PANEL; r += PANEL_WARPS)
    d.a[(size_t)(row + r) * d.n + column + lane] = from[r][lane];
}

__global__ static void expand_matrix(const cuda_amg_csr A, const dense d) {
  const int32_t i = (int32_t)blockIdx.x;
  for (int32_t e = A.offsets[i] + (int32_t)threadIdx.x; e < A.offsets[i + 1]; e += PANEL) {
    const int32_t j = A.indices[e];
    const double value = (double)A.values[e];
    if (i == j)
      d.a[(size_t)i * d.n + i] = d.diagonal[i] = value;
    else
      atomicAdd(&d.a[(size_t)(i < j ? i : j) * d.n + (i < j ? j : i)], value / 2); /* two terms: any order */
  }
}

/* ---- L ---- */

/* Factorises the panel's diagonal tile `t` into a tile of L^T. */
static __device__ void factorise(const dense &d, int32_t first, tile t) {
  __shared__ tile found;
  const int lane = (int)threadIdx.x % PANEL, warp = (int)threadIdx.x / PANEL;
  for (int i = 0; i < PANEL; i++) {
    __syncthreads();
    const divisor by = divisor_of(pivot_of(t[i][i], d.diagonal[first + i]));
    const double own = lane == i ? by.pivot : lane > i ? divide(t[i][lane], by) : 0;
    if (warp == 0) found[i][lane] = own;
    for (int r = warp; r < PANEL; r += PANEL_WARPS) {
      const double factor = -__shfl_sync(0xffffffffu, own, r);
      if (r > i && lane >= r) t[r][lane] = t[r][lane] + factor * own;
    }
  }
  __syncthreads();
  store(d, first, first, found);
}

__global__ static void __launch_bounds__(PANEL_THREADS) factorise_first(const dense d) {
  __shared__ tile t;
  load(d, 0, 0, false, t);
  factorise(d, 0, t);
}

/* Solves for the panel's rows right of its diagonal tile. A block has STRIP columns: one warp per column, one
 * thread per row. */
__global__ static void __launch_bounds__(PANEL_THREADS) solve_panel(const dense d, int32_t first) {
  __shared__ tile own;
  __shared__ double columns[PANEL][STRIP + 1];
  static_assert(STRIP == PANEL_WARPS, "a warp has a column");
  const int row = (int)threadIdx.x / STRIP, column = (int)threadIdx.x % STRIP;
  const int lane = (int)threadIdx.x % PANEL, warp = (int)threadIdx.x / PANEL;
  double *at = d.a + (size_t)(first + row) * d.n + first + PANEL + (int32_t)blockIdx.x * STRIP + column;
  load(d, first, first, false, own);
  columns[row][column] = *at;
  __syncthreads();
  const divisor of_row = divisor_of(own[lane][lane]);
  double sum = columns[lane][warp];
  for (int i = 0; i < PANEL; i++) {
    const double value = __shfl_sync(0xffffffffu, divide(sum, of_row), i);
    if (lane == i) sum = value;
    if (lane > i) sum = sum + -own[i][lane] * value;
  }
  columns[lane][warp] = sum;
  __syncthreads();
  *at = columns[row][column];
}

/* Adds the panel's contributions to the rows below it, one tile per block. The diagonal tile of the next panel
 * is then complete and is factorised. */
__global__ static void __launch_bounds__(PANEL_THREADS) add_panel(const dense d, int32_t first) {
  __shared__ tile left, above, t;
  const int32_t row = first + PANEL * (1 + (int32_t)blockIdx.y),
                column = first + PANEL * (1 + (int32_t)blockIdx.x);
  const int lane = (int)threadIdx.x % PANEL, warp = (int)threadIdx.x / PANEL;
  if (column < row) return;
  load(d, first, row, false, left);
  load(d, first, column, false, above);
  load(d, row, column, false, t);
  __syncthreads();
  double sum[PANEL / PANEL_WARPS];
  for (int k = 0; k < PANEL / PANEL_WARPS; k++) sum[k] = t[warp + k * PANEL_WARPS][lane];
#pragma unroll 8
  for (int m = 0; m < PANEL; m++)
    for (int k = 0; k < PANEL / PANEL_WARPS; k++)
      sum[k] = sum[k] + -left[m][warp + k * PANEL_WARPS] * above[m][lane];
  for (int k = 0; k < PANEL / PANEL_WARPS; k++) t[warp + k * PANEL_WARPS][lane] = sum[k];
  if (blockIdx.x == 0)
    factorise(d, row, t);
  else
    store(d, row, column, t);
}

/* ---- L^-1 ---- */

__global__ static void invert_pivots(const dense d) {
  const int32_t i = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= d.n) return;
  double *diagonal = d.a + (size_t)i * d.n + i;
  d.pivots[i] = *diagonal;
  *diagonal = divisor_of(*diagonal).inverse;
}

/* One warp per column of the panel, one thread per row. */
static __device__ __forceinline__ void solve_rows(const dense &d, int32_t first, int32_t column, const tile own,
                                                  double (&solved)[PANEL][STRIP]) {
  const int lane = (int)threadIdx.x % PANEL, warp = (int)threadIdx.x / PANEL;
  const int32_t row = first + lane;
  double sum = row >= column ? d.a[(size_t)row * d.n + column] : 0;
  const divisor by = divisor_of(d.pivots[row]);
  for (int m = column > first ? column - first : 0; m < PANEL; m++) {
    const double value = __shfl_sync(0xffffffffu, first + m == column ? sum : divide(sum, by), m);
    if (lane == m) sum = value;
    if (lane > m) sum = sum + -own[m][lane] * value;
  }
  solved[lane][warp] = sum;
  if (row > column) d.a[(size_t)row * d.n + column] = sum;
}

/* A block has STRIP columns. Within a panel, a warp has one column; below it, a thread has one row of all
 * columns. */
__global__ static void __launch_bounds__(PANEL_THREADS) invert_strip(const dense d) {
  __shared__ tile own;
  __shared__ double solved[PANEL][STRIP];
  const int32_t column = (int32_t)blockIdx.x * STRIP;
  for (int32_t first = column / PANEL * PANEL; first < d.n; first += PANEL) {
    load(d, first, first, false, own);
    __syncthreads();
    solve_rows(d, first, column + (int32_t)threadIdx.x / PANEL, own, solved);
    __syncthreads();
    for (int32_t row = first + PANEL + (int32_t)threadIdx.x; row < d.n; row += PANEL_THREADS) {
      double sum[STRIP];
      for (int c = 0; c < STRIP; c++) sum[c] = d.a[(size_t)row * d.n + column + c];
#pragma unroll 16
      for (int m = 0; m < PANEL; m++) {
        const double factor = -d.a[(size_t)(first + m) * d.n + row];
        for (int c = 0; c < STRIP; c++) sum[c] = sum[c] + factor * solved[m][c];
      }
      for (int c = 0; c < STRIP; c++) d.a[(size_t)row * d.n + column + c] = sum[c];
    }
    __syncthreads();
  }
}

/* ---- The product L^-T L^-1: one tile per block ---- */

__global__ static void __launch_bounds__(PANEL_THREADS) multiply(const dense d, float *inverse, int32_t rows) {
  __shared__ tile left, right;
  const int32_t row = PANEL * (int32_t)blockIdx.y, column = PANEL * (int32_t)blockIdx.x;
  const int lane = (int)threadIdx.x % PANEL, warp = (int)threadIdx.x / PANEL;
  double sum[PANEL / PANEL_WARPS] = {};
  if (column < row) return;
  for (int32_t first = column; first < d.n; first += PANEL) {
    load(d, first, row, true, left);
    load(d, first, column, true, right);
    __syncthreads();
    for (int m = 0; m < PANEL; m++)
      for (int k = 0; k < PANEL / PANEL_WARPS; k++)
        sum[k] = sum[k] + left[m][warp + k * PANEL_WARPS] * right[m][lane];
    __syncthreads();
  }
  for (int k = 0; k < PANEL / PANEL_WARPS; k++) {
    const int32_t i = row + warp + k * PANEL_WARPS, j = column + lane;
    if (i <= j && j < rows) inverse[(size_t)i * rows + j] = inverse[(size_t)j * rows + i] = (float)sum[k];
  }
}

/* ---- On the host ---- */

static ts_status invert(ts_context *context, const dense &d, float *inverse, int32_t rows) {
  const unsigned panels = (unsigned)(d.n / PANEL);
  TSI_TRY(cuda_launch(context, "factorise_first", factorise_first, 1, PANEL_THREADS, d));
  for (unsigned left = panels - 1; left > 0; left--) {
    const int32_t first = (int32_t)(panels - 1 - left) * PANEL;
    TSI_TRY(cuda_launch(context, "solve_panel", solve_panel, left * (PANEL / STRIP), PANEL_THREADS, d, first));
    TSI_TRY(cuda_launch(context, "add_panel", add_panel, dim3(left, left), PANEL_THREADS, d, first));
  }
  TSI_TRY(cuda_launch(context, "invert_pivots", invert_pivots, panels, PANEL, d));
  TSI_TRY(cuda_launch(context, "invert_strip", invert_strip, panels * (PANEL / STRIP), PANEL_THREADS, d));
  return cuda_launch(context, "multiply", multiply, dim3(panels, panels), PANEL_THREADS, d, inverse, rows);
}

static ts_status invert_in(cuda_amg_memory *memory, const cuda_amg_csr *A, float *inverse) {
  ts_context *context = memory->context;
  dense d = {};
  d.n = (A->rows + PANEL - 1) / PANEL * PANEL;
  const size_t n = (size_t)d.n, count = n * (n + 2);
  CUDA_AMG_ALLOC(memory, count, d.a);
  d.pivots = d.a + n * n;
  d.diagonal = d.pivots + n;
  CUDA_TRY(context, cudaMemsetAsync(d.a, 0, count * sizeof *d.a, cuda_stream(context)));
  TSI_TRY(cuda_launch(context, "take_matrix", expand_matrix, (unsigned)A->rows, PANEL, *A, d));
  return invert(context, d, inverse, A->rows);
}

ts_status cuda_amg_invert(ts_context *context, const cuda_amg_csr *A, float *inverse) {
  cuda_amg_memory memory = {context};
  const ts_status status = invert_in(&memory, A, inverse);
  cuda_amg_free(&memory);
  return status;
}

__global__ static void __launch_bounds__(CUDA_THREADS) fill_pattern(const cuda_amg_csr A) {
  const int32_t e = (int32_t)(blockIdx.x * CUDA_THREADS + threadIdx.x), n = A.rows;
  if (e < A.entries) A.indices[e] = e % n;
  if (e <= n) A.offsets[e] = e * n;
}

ts_status cuda_amg_csr_dense(ts_context *context, int32_t rows, cuda_amg_csr *A) {
  TSI_TRY(cuda_amg_csr_begin(context, rows, rows, A));
  TSI_TRY(cuda_amg_csr_room(context, (int64_t)rows * rows, A));
  const ts_status status = cuda_launch(context, "fill_pattern", fill_pattern,
                                       cuda_blocks_for((size_t)A->entries + 1), CUDA_THREADS, *A);
  if (status < 0) cuda_amg_csr_free(context, A);
  return status;
}
