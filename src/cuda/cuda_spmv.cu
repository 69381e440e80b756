/* y = A x, r = b - A x in double precision, and the diagonal. */
#include "cuda_grid.h"
#include "cuda_rows.cuh"

typedef struct operands {
  float *y;
  const float *x;
  const float *b;              /* NULL: y = A x */
  const unsigned char *locked; /* of rows where r is 0, NULL: none; locked rows of A are empty */
} operands;

/* What the row's first thread writes. */
template <int N, typename Real>
static __device__ __forceinline__ void store(const operands &o, int32_t row, const Real sum[N]) {
  const size_t first = (size_t)row * N;
  const bool locked = o.b && o.locked && o.locked[row];
  for (int c = 0; c < N; c++)
    o.y[first + c] = (float)(locked ? 0 : o.b ? (Real)o.b[first + c] - sum[c] : sum[c]);
}

template <int N, typename Real> __global__ static void multiply_csr(const cuda_csr m, const operands o) {
  const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const size_t row = thread >> m.log2_lanes;
  const int lane = threadIdx.x & ((1 << m.log2_lanes) - 1);
  Real sum[N] = {};
  if (row < (size_t)m.rows) cuda_csr_row<N>(m, (int32_t)row, lane, o.x, sum);
  cuda_sum_lanes<N>(m.log2_lanes, sum);
  if (row < (size_t)m.rows && lane == 0) store<N>(o, (int32_t)row, sum);
}

template <int N> static void start(cudaStream_t stream, const cuda_csr &m, const operands &o) {
  const unsigned blocks = cuda_blocks_for((size_t)m.rows << m.log2_lanes);
  if (o.b)
    multiply_csr<N, double><<<blocks, CUDA_THREADS, 0, stream>>>(m, o);
  else
    multiply_csr<N, float><<<blocks, CUDA_THREADS, 0, stream>>>(m, o);
}

static ts_status run(const ts_matrix *A, int components, const operands &o) {
  const cuda_csr &m = cuda_matrix_of(A)->csr;
  const cudaStream_t stream = cuda_stream(A->context);
  switch (components) {
  case 1:
    start<1>(stream, m, o);
    break;
  case 2:
    start<2>(stream, m, o);
    break;
  case 3:
    start<3>(stream, m, o);
    break;
  default:
    start<4>(stream, m, o);
  }
  CUDA_LAUNCHED(A->context, "multiply_csr");
  return TS_OK;
}

ts_status cuda_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  if (A->stencil) return cuda_stencil_spmv(y, A, x);
  return run(A, y->components, {cuda_data(y), cuda_data(x), NULL, NULL});
}

ts_status cuda_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  if (A->stencil) return cuda_stencil_plain_residual(r, b, A, x);
  return run(A, r->components, {cuda_data(r), cuda_data(x), cuda_data(b), cuda_matrix_of(A)->locked});
}

/* ---- The diagonal ---- */

__global__ static void diagonal_csr(const cuda_csr m, float *d, int components) {
  const int32_t row = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= m.rows) return;
  int32_t low = m.row_offsets[row], high = m.row_offsets[row + 1];
  const int32_t end = high;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (m.columns[middle] < row)
      low = middle + 1;
    else
      high = middle;
  }
  const float value = low < end && m.columns[low] == row ? m.values[low] : 0;
  for (int c = 0; c < components; c++) d[(size_t)row * components + c] = value;
}

ts_status cuda_diagonal(ts_vector *d, const ts_matrix *A) {
  if (A->stencil) return cuda_stencil_diagonal(d, A);
  const cuda_csr &m = cuda_matrix_of(A)->csr;
  diagonal_csr<<<cuda_blocks_for((size_t)m.rows), CUDA_THREADS, 0, cuda_stream(A->context)>>>(m, cuda_data(d),
                                                                                              d->components);
  CUDA_LAUNCHED(A->context, "diagonal_csr");
  return TS_OK;
}
