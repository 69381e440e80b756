/* y = A x, r = b - A x in double precision, and the diagonal, for compressed rows of blocks (Buatois et al.
 * 2008). */
#include "cuda_spmv_bcrs.cuh"

enum { BCRS_THREADS = 128 }; /* measured: 3 % faster than 256 threads */

template <typename Operands> struct bcrs_operands {
  int32_t rows; /* of the matrix */
  Operands o;
};

/* Minimum blocks per multiprocessor: with four components, more threads are faster. */
template <int SIZE, int N, typename Real>
constexpr int bcrs_blocks = SIZE != 4 || sizeof(Real) != 4 ? 1
                            : N == 1                       ? MULTIPROCESSOR_THREADS * 3 / 4 / BCRS_THREADS
                            : N == 4                       ? MULTIPROCESSOR_THREADS / BCRS_THREADS
                                                           : 1;

template <int SIZE, int N, typename Real, typename Operands>
__global__ static void __launch_bounds__(BCRS_THREADS, bcrs_blocks<SIZE, N, Real>)
    multiply_bcrs(const cuda_bcrs m, const bcrs_operands<Operands> given, const cuda_runs items) {
  constexpr int log2_parts = cuda_log2_parts<SIZE>, rows = 4 / SIZE;
  constexpr int ahead = SIZE == 4 && N == 4 ? 1 : 2;
  const size_t thread = (size_t)blockIdx.x * BCRS_THREADS + threadIdx.x;
  const size_t number = thread >> m.log2_subwarp, block_row = cuda_item(items, number);
  const bool mine = number < (size_t)items.count;
  const int lane = threadIdx.x & ((1 << m.log2_subwarp) - 1), part = lane & ((1 << log2_parts) - 1);
  Real sum[rows][N] = {};
  /* The pattern may be read before the previous kernel has ended. */
  const int32_t begin = mine ? m.offsets[block_row] : 0, end = mine ? m.offsets[block_row + 1] : 0;
  cuda_dependent_begin();
  cuda_block_row<SIZE, N, ahead>(m, begin, end, lane, given.o.x, sum);
  if (!mine || lane >> log2_parts) return;
  for (int r = 0; r < rows; r++) {
    const int32_t row = (int32_t)block_row * SIZE + part + r;
    if (row < given.rows) cuda_write_row<N>(given.o, row, sum[r]);
  }
}

template <int SIZE, int N, typename Real, typename Operands>
static ts_status start(const ts_matrix *A, const cuda_bcrs &m, const bcrs_operands<Operands> &o) {
  const cuda_runs items = cuda_items_of(cuda_matrix_of(A)->items, cuda_rows_of<Operands>(A), m.rows);
  return cuda_start(A->context, "multiply_bcrs", multiply_bcrs<SIZE, N, Real, Operands>,
                    cuda_blocks_for((size_t)items.count << m.log2_subwarp, BCRS_THREADS), BCRS_THREADS, m, o,
                    items);
}

template <int SIZE, typename Real, typename Operands>
static ts_status start_components(const ts_matrix *A, const cuda_bcrs &m, int components,
                                  const bcrs_operands<Operands> &o) {
  switch (components) {
  case 1:
    return start<SIZE, 1, Real>(A, m, o);
  case 2:
    return start<SIZE, 2, Real>(A, m, o);
  case 3:
    return start<SIZE, 3, Real>(A, m, o);
  default:
    return start<SIZE, 4, Real>(A, m, o);
  }
}

template <typename Real, typename Operands>
static ts_status run_bcrs(const ts_matrix *A, const Operands &o, int components) {
  const bcrs_operands<Operands> given = {A->info.rows, o};
  cuda_bcrs m = cuda_matrix_of(A)->bcrs;
  m.log2_subwarp = cuda_block_subwarp(m, cuda_blocks_a_thread(m, components), m.log2_block == 2 ? 2 : 0);
  return m.log2_block == 2 ? start_components<4, Real>(A, m, components, given)
                           : start_components<2, Real>(A, m, components, given);
}

static void replace_first_part(const float *&x, float *with) {
  x = with;
}
static void replace_first_part(cuda_pair &x, float *with) {
  x.high = with;
}

/* The application's memory has no zeros as padding, so x is copied and padded. */
template <typename Real, typename Operands>
static ts_status run_padded(const ts_matrix *A, Operands o, const cuda_vector *x) {
  ts_context *context = A->context;
  const size_t bytes = (x->count * sizeof(float) + 15) / 16 * 16;
  void *padded;
  TSI_TRY(cuda_alloc_zeroed(context, &padded, bytes, "a vector in whole blocks"));
  const cudaError_t error = cudaMemcpyAsync(padded, x->data, x->count * sizeof(float), cudaMemcpyDeviceToDevice,
                                            cuda_stream(context));
  ts_status status = TS_OK;
  if (error != cudaSuccess) status = cuda_report(context, error, "cudaMemcpyAsync", __FILE__, __LINE__);
  replace_first_part(o.x, (float *)padded);
  if (status == TS_OK) status = run_bcrs<Real>(A, o, 1);
  cuda_free(context, padded, bytes);
  return status;
}

template <typename Real, typename Operands>
static ts_status multiply(const ts_matrix *A, const Operands &o, const ts_vector *x) {
  const int is_cut = x->components == 1 && A->info.columns % (1 << cuda_matrix_of(A)->bcrs.log2_block) != 0;
  if (is_cut && cuda_vector_of(x)->borrowed) return run_padded<Real>(A, o, cuda_vector_of(x));
  return run_bcrs<Real>(A, o, x->components);
}

ts_status cuda_bcrs_spmv(ts_vector *y, const ts_matrix *A, const ts_vector *x) {
  const unsigned char *constrained = cuda_matrix_of(A)->constrained;
  return y->low ? multiply<double>(A, cuda_pair_operands_of(y, x, constrained), x)
                : multiply<float>(A, cuda_operands_of(y, NULL, x, constrained), x);
}

ts_status cuda_bcrs_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  const unsigned char *constrained = cuda_matrix_of(A)->constrained;
  return r->low ? multiply<cuda_exact>(A, cuda_exact_operands_of(r, b, x, constrained), x)
                : multiply<double>(A, cuda_operands_of(r, b, x, constrained), x);
}

ts_status cuda_bcrs_quick_residual(ts_vector *r, const ts_vector *b, const ts_matrix *A, const ts_vector *x) {
  return multiply<float>(A, cuda_operands_of(r, b, x, cuda_matrix_of(A)->constrained), x);
}

ts_status cuda_bcrs_smooth(ts_vector *out, const ts_matrix *A, const tsi_smoothing *s) {
  return multiply<float>(A, cuda_step_operands_of(out, s), s->x);
}

/* ---- The diagonal ---- */

__global__ static void diagonal_bcrs(const cuda_bcrs m, int32_t rows, float *d, int components) {
  const int32_t row = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= rows) return;
  const int32_t block_row = row >> m.log2_block, inside = row & ((1 << m.log2_block) - 1);
  int32_t low = m.offsets[block_row], high = m.offsets[block_row + 1];
  const int32_t end = high;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (m.columns[middle] < block_row)
      low = middle + 1;
    else
      high = middle;
  }
  float value = 0;
  if (low < end && m.columns[low] == block_row)
    value = m.values[((size_t)low << (2 * m.log2_block)) + (size_t)(inside << m.log2_block) + inside];
  for (int c = 0; c < components; c++) d[(size_t)row * components + c] = value;
}

ts_status cuda_bcrs_diagonal(ts_vector *d, const ts_matrix *A) {
  const cuda_bcrs &m = cuda_matrix_of(A)->bcrs;
  TSI_TRY(cuda_launch(A->context, "diagonal_bcrs", diagonal_bcrs, cuda_blocks_for((size_t)A->info.rows),
                      CUDA_THREADS, m, A->info.rows, cuda_data(d), d->components));
  return TS_OK;
}
