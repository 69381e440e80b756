/* y = A x, and r = b - A x in double precision; both also in pairs.
 *
 * csr without row blocks: neighbouring threads share a row. csr with row blocks: a thread block has enough rows
 * for a fixed number of entries, or a piece of a long row. jagged: one warp per slice. If blocks share a row,
 * the last one to arrive adds their sums in the order of the pieces. */
#include "cuda_spmv_jagged.cuh"
#include "cuda_spmv_csr.cuh"
#include "cuda/core/cuda_reduce.cuh"

/* ---- CSR ---- */

template <int N, typename Real, typename Operands>
__global__ static void multiply_csr(const cuda_csr m, const Operands o, const cuda_runs items) {
  const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const size_t number = thread >> m.log2_subwarp, row = cuda_item(items, number);
  const int lane = threadIdx.x & ((1 << m.log2_subwarp) - 1);
  Real sum[N] = {};
  bool is_row = number < (size_t)items.count;
  if (is_row && m.limit) is_row = m.row_offsets[row + 1] - m.row_offsets[row] <= m.limit;
  cuda_dependent_begin();
  if (is_row) cuda_csr_row<N>(m, (int32_t)row, lane, o.x, sum);
  cuda_subwarp_sum<N>(m.log2_subwarp, sum);
  if (is_row && lane == 0) cuda_write_row<N>(o, (int32_t)row, sum);
}

/* ---- Segments ---- */

template <int N, typename Real, typename Operands>
__global__ static void multiply_segments(const cuda_segments m, const Operands o) {
  const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  Real sum[N] = {};
  cuda_dependent_begin();
  if (m.diagonal) {
    const float value = m.diagonal[row];
    const auto own = cuda_load<N>(o.x, (int32_t)row);
    /* A row without a diagonal ignores its own x, which may be NaN. */
    if (value != 0)
      for (int c = 0; c < N; c++) sum[c] = (Real)value * own.number(c);
  }
  cuda_run<N>(m.values, m.pointers, m.starts[row], m.starts[row + 1], 1, o.x, sum);
  cuda_write_row<N>(o, (int32_t)row, sum);
}

/* ---- Operations ---- */

/* Kernel numbers for cuda_spare_cache. */
template <typename Real, typename Operands> constexpr int row_block_kernel = CUDA_MULTIPLY_ROW_BLOCKS;
template <> constexpr int row_block_kernel<double, cuda_operands> = CUDA_RESIDUAL_ROW_BLOCKS;
template <> constexpr int row_block_kernel<double, cuda_pair_operands> = CUDA_PAIR_ROW_BLOCKS;

struct csr_product {
  template <int N, typename Real, typename Operands>
  static ts_status start(const ts_matrix *A, const cuda_matrix &m, const Operands &o) {
    constexpr bool is_exact = std::is_same<Real, cuda_exact>::value;
    ts_context *context = A->context;
    const tsi_rows rows = cuda_rows_of<Operands>(A);
    const cuda_row_blocks &w = m.row_blocks;
    if constexpr (!is_exact)
      if (w.count) {
        constexpr int number = row_block_kernel<Real, Operands> + N - 1;
        const auto kernel = multiply_row_blocks<N, Real, Operands>;
        const cuda_runs items = cuda_items_of(m.items, rows, w.count);
        TSI_TRY(cuda_spare_cache(context, number, (const void *)kernel, ROW_BLOCK_THREADS));
        TSI_TRY(cuda_start(context, "multiply_row_blocks", kernel, (unsigned)items.count, ROW_BLOCK_THREADS,
                           m.csr, w, o, items));
        if (!m.csr.limit) return TS_OK;
      }
    /* Exact residuals are rare, so the room that row blocks would need for them is not worthwhile. */
    cuda_csr csr = m.csr;
    if (is_exact) csr.limit = 0;
    if (is_exact && w.count) csr.log2_subwarp = 5;
    const cuda_runs items = cuda_items_of(w.count ? m.rows : m.items, rows, csr.rows);
    return cuda_start(context, "multiply_csr", multiply_csr<N, Real, Operands>,
                      cuda_blocks_for((size_t)items.count << csr.log2_subwarp), CUDA_THREADS, csr, o, items);
  }
};

struct jagged_product {
  template <int N, typename Real, typename Operands>
  static ts_status start(const ts_matrix *A, const cuda_matrix &m, const Operands &o) {
    ts_context *context = A->context;
    const tsi_rows rows = cuda_rows_of<Operands>(A);
    const cuda_runs items = cuda_items_of(m.items, rows, m.slices.count);
    cuda_row_blocks w = m.row_blocks;
    if (rows == TSI_INTERIOR_ROWS) w.count = 0; /* long rows are always boundary rows */
    const unsigned blocks = (unsigned)w.count + cuda_blocks_for((size_t)items.count, SLICE_WARPS);
    if constexpr (N == 1 && sizeof(Real) == 4)
      if (m.slices.lean_product)
        return cuda_start(context, "multiply_lean", multiply_lean, blocks, SLICE_THREADS, m.slices, w, o,
                          items);
    if constexpr (streams<N, Operands>)
      if (m.slices.streamed)
        return cuda_start(context, "multiply_streamed", multiply_streamed<N, Real, Operands>, blocks,
                          SLICE_THREADS, m.slices, w, o, items);
    return cuda_start(context, "multiply_slices", multiply_slices<N, Real, Operands>, blocks, SLICE_THREADS,
                      m.slices, w, o, items);
  }
};

struct segments_product {
  template <int N, typename Real, typename Operands>
  static ts_status start(const ts_matrix *A, const cuda_matrix &m, const Operands &o) {
    return cuda_start(A->context, "multiply_segments", multiply_segments<N, Real, Operands>,
                      cuda_blocks_for((size_t)m.segments.rows), CUDA_THREADS, m.segments, o);
  }
};

template <typename Product, typename Real, typename Operands>
static ts_status run_spmv(const ts_matrix *A, int components, const Operands &o) {
  const cuda_matrix &m = *cuda_matrix_of(A);
  switch (components) {
  case 1:
    return Product::template start<1, Real>(A, m, o);
  case 2:
    return Product::template start<2, Real>(A, m, o);
  case 3:
    return Product::template start<3, Real>(A, m, o);
  default:
    return Product::template start<4, Real>(A, m, o);
  }
}

/* Constrained rows of A are empty. */
template <typename Product> static ts_status spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  return y->low ? run_spmv<Product, double>(A, y->components, cuda_pair_operands_of(y, x, NULL))
                : run_spmv<Product, float>(A, y->components, cuda_operands_of(y, NULL, x, NULL));
}

/* If x is accurate, b - A x is the difference of nearly equal numbers. */
template <typename Product>
static ts_status residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  const unsigned char *constrained = cuda_matrix_of(A)->constrained;
  return r->low ? run_spmv<Product, cuda_exact>(A, r->components, cuda_exact_operands_of(r, b, x, constrained))
                : run_spmv<Product, double>(A, r->components, cuda_operands_of(r, b, x, constrained));
}

#define OPERATIONS(name)                                                                                       \
  ts_status cuda_##name##_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {                         \
    return spmv<name##_product>(y, A, x);                                                                      \
  }                                                                                                            \
  ts_status cuda_##name##_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) { \
    return residual<name##_product>(r, b, A, x);                                                               \
  }
#define QUICK_OPERATIONS(name)                                                                                 \
  ts_status cuda_##name##_quick_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A,                 \
                                         const ts_vector *x) {                                                 \
    return run_spmv<name##_product, float>(A, r->components,                                                   \
                                           cuda_operands_of(r, b, x, cuda_matrix_of(A)->constrained));         \
  }                                                                                                            \
  ts_status cuda_##name##_smooth(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s) {                 \
    return run_spmv<name##_product, float>(A, out->components, cuda_step_operands_of(out, s));                 \
  }
OPERATIONS(csr)
OPERATIONS(jagged)
OPERATIONS(segments)
QUICK_OPERATIONS(csr)
QUICK_OPERATIONS(jagged)

/* ---- The product with the sum of x y ---- */

static __global__ void __launch_bounds__(CUDA_THREADS)
    add_dots(int count, cuda_reduction reduction, const double *dots, cuda_result result) {
  cuda_dependent_begin();
  cuda_sums<1> sums = {};
#pragma unroll 4
  for (int i = (int)cuda_first_quad(); i < count; i += (int)(gridDim.x * CUDA_THREADS))
    sums.lane[0][0] += dots[i];
  const cuda_result results[1] = {result};
  cuda_finish_sums(reduction, sums, results);
}

static ts_status run_add_dots(const ts_vector *x, int count, const double *dots, ts_scalars *out, int index) {
  const unsigned full = (unsigned)cuda_state_of(x->context)->multiprocessors,
                 needed = cuda_blocks_for((size_t)count, 4 * CUDA_THREADS);
  return cuda_start(x->context, "add_dots", add_dots, needed < full ? needed : full, CUDA_THREADS, count,
                    cuda_reduction_of(x), dots, cuda_result_of(out, index, 0));
}

/* For pairs each warp stores the sum of its slice, and a small kernel adds them. x and y are not read again. */
ts_status cuda_jagged_spmv_dot(ts_vector *y, const ts_matrix *A, const ts_vector *x, ts_scalars *out,
                               int index) {
  cuda_matrix *m = cuda_matrix_of(A);
  const int32_t count = m->slices.count;
  if (!y->low || y->components > 1 || m->row_blocks.count || count == 0) {
    TSI_TRY(cuda_jagged_spmv(y, A, x));
    return cuda_reduce(out, index, TSI_REDUCE_DOT, x, y);
  }
  if (!m->dots) CUDA_ALLOC((ts_matrix *)A, NULL, count, m->dots);
  cuda_pair_operands o = cuda_pair_operands_of(y, x, NULL);
  o.dots = m->dots;
  TSI_TRY((run_spmv<jagged_product, double>(A, 1, o)));
  return run_add_dots(x, count, m->dots, out, index);
}
