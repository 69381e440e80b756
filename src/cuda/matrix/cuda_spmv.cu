/* y = A x, and r = b - A x in double precision.
 *
 * csr: neighbouring threads share a row, or, with row blocks, a block has as many rows as have enough entries
 * together. jagged: a warp has a slice. Where blocks share a row, the one that arrives last adds up their sums,
 * in the order of the pieces. */
#include "cuda_spmv_jagged.cuh"
#include "cuda_spmv_csr.cuh"

/* ---- CSR ---- */

template <int N, typename Real> __global__ static void multiply_csr(const cuda_csr m, const operands o) {
  const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const size_t row = thread >> m.log2_subwarp;
  const int lane = threadIdx.x & ((1 << m.log2_subwarp) - 1);
  Real sum[N] = {};
  cuda_dependent_begin();
  if (row < (size_t)m.rows) cuda_csr_row<N>(m, (int32_t)row, lane, o.x, sum);
  cuda_subwarp_sum<N>(m.log2_subwarp, sum);
  if (row < (size_t)m.rows && lane == 0) store<N>(o, (int32_t)row, sum);
}

/* ---- Segments ---- */

template <int N, typename Real>
__global__ static void multiply_segments(const cuda_segments m, const operands o) {
  const int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m.rows) return;
  Real sum[N] = {};
  cuda_dependent_begin();
  if (m.diagonal) {
    const Real value = m.diagonal[row];
    const cuda_components<N> own = cuda_load<N>(o.x, (int32_t)row);
    /* A row without a diagonal does not see its own x, which may be no number. */
    if (value != 0)
      for (int c = 0; c < N; c++) sum[c] = value * own.c[c];
  }
  cuda_run<N>(m.values, m.pointers, m.starts[row], m.starts[row + 1], 1, o.x, sum);
  store<N>(o, (int32_t)row, sum);
}

/* ---- Operations ---- */

struct csr_product {
  template <int N, typename Real>
  static ts_status start(ts_context *context, const cuda_matrix &m, const operands &o) {
    const cuda_row_blocks &w = m.row_blocks;
    if (w.count == 0)
      return cuda_start(context, "multiply_csr", multiply_csr<N, Real>,
                        cuda_blocks_for((size_t)m.csr.rows << m.csr.log2_subwarp), CUDA_THREADS, m.csr, o);
    const int number = (sizeof(Real) == 4 ? CUDA_MULTIPLY_ROW_BLOCKS : CUDA_RESIDUAL_ROW_BLOCKS) + N - 1;
    TSI_TRY(cuda_spare_cache(context, number, (const void *)multiply_row_blocks<N, Real>, ROW_BLOCK_THREADS));
    return cuda_start(context, "multiply_row_blocks", multiply_row_blocks<N, Real>, (unsigned)w.count,
                      ROW_BLOCK_THREADS, m.csr, w, o);
  }
};

struct jagged_product {
  template <int N, typename Real>
  static ts_status start(ts_context *context, const cuda_matrix &m, const operands &o) {
    const cuda_row_blocks &w = m.row_blocks;
    const unsigned blocks = (unsigned)w.count + cuda_blocks_for((size_t)m.slices.count, SLICE_WARPS);
    if constexpr (N == 1 && sizeof(Real) == 4)
      if (m.slices.lean_product)
        return cuda_start(context, "multiply_lean", multiply_lean, blocks, SLICE_THREADS, m.slices, w, o);
    return m.slices.streamed ? cuda_start(context, "multiply_streamed", multiply_streamed<N, Real>, blocks,
                                          SLICE_THREADS, m.slices, w, o)
                             : cuda_start(context, "multiply_slices", multiply_slices<N, Real>, blocks,
                                          SLICE_THREADS, m.slices, w, o);
  }
};

struct segments_product {
  template <int N, typename Real>
  static ts_status start(ts_context *context, const cuda_matrix &m, const operands &o) {
    return cuda_start(context, "multiply_segments", multiply_segments<N, Real>,
                      cuda_blocks_for((size_t)m.segments.rows), CUDA_THREADS, m.segments, o);
  }
};

template <typename Product, typename Real>
static ts_status run(const ts_matrix *A, int components, const operands &o) {
  const cuda_matrix &m = *cuda_matrix_of(A);
  switch (components) {
  case 1:
    return Product::template start<1, Real>(A->context, m, o);
  case 2:
    return Product::template start<2, Real>(A->context, m, o);
  case 3:
    return Product::template start<3, Real>(A->context, m, o);
  default:
    return Product::template start<4, Real>(A->context, m, o);
  }
}

template <typename Product> static ts_status spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  return run<Product, float>(A, y->components, {cuda_data(y), cuda_data(x), NULL, NULL});
}

/* b - A x is the difference of nearly equal numbers when x is good. */
template <typename Product>
static ts_status residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  return run<Product, double>(A, r->components,
                              {cuda_data(r), cuda_data(x), cuda_data(b), cuda_matrix_of(A)->constrained});
}

#define OPERATIONS(name)                                                                                       \
  ts_status cuda_##name##_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {                         \
    return spmv<name##_product>(y, A, x);                                                                      \
  }                                                                                                            \
  ts_status cuda_##name##_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) { \
    return residual<name##_product>(r, b, A, x);                                                               \
  }
OPERATIONS(csr)
OPERATIONS(jagged)
OPERATIONS(segments)
