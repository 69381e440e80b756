/* Sweeps by rows, by columns and by blocks (Courtecuisse and Allard 2009, III.A to III.C). By rows and columns,
 * one thread block has a problem, since one unknown takes less time than a kernel launch. By blocks, two
 * kernels solve each block of unknowns and add it to all rows. */
#include "cuda_lcp_contacts.cuh"

/* ---- By rows ---- */

/* A thread's share of row i times z, without the contact with first row `own`. */
template <typename T, int DIM>
LCP_INLINE T row_part(const lcp_data<T> &d, const T *row, const volatile T *z, int own, int thread) {
  T sum = 0;
  for (int c = thread * lcp_pack<T>::size; c < d.n; c += LCP_THREADS * lcp_pack<T>::size) {
    T values[lcp_pack<T>::size];
    lcp_load(row + (size_t)c * (size_t)d.height, values);
#pragma unroll
    for (int k = 0; k < lcp_pack<T>::size; k++) {
      const bool is_own = DIM > 1 && c + k >= own && c + k < own + DIM;
      sum += c + k < d.n && !is_own ? values[k] * z[c + k] : (T)0;
    }
  }
  return sum;
}

/* Solves an unknown or a contact at row i from its products. Called by one thread. */
template <typename T, int DIM>
LCP_INLINE void solve_rows(const lcp_data<T> &d, size_t problem, int i, int exact,
                           const T (*of_warp)[LCP_THREADS / 32], volatile T *z) {
  const size_t at = problem * d.pitch + (size_t)i;
  T w[DIM];
#pragma unroll
  for (int k = 0; k < DIM; k++) {
    w[k] = d.q[at + k];
    for (int l = 0; l < LCP_THREADS / 32; l++) w[k] += of_warp[k][l];
  }
  if constexpr (DIM == 1) {
    z[i] = lcp_clamp(z[i] - w[0] * d.inverse[at], d.lower[at], d.upper[at]);
  } else {
    T r[DIM];
    for (int k = 0; k < DIM; k++) r[k] = z[i + k];
    lcp_solve_contact(lcp_load_limit<T, DIM>(d, problem, at, exact), w, r);
    for (int k = 0; k < DIM; k++) z[i + k] = r[k];
  }
}

template <typename T, int DIM>
static __global__ __launch_bounds__(LCP_THREADS) void rows(lcp_data<T> d, int sweeps, int exact) {
  __shared__ T of_warp[DIM][LCP_THREADS / 32];
  const size_t problem = blockIdx.x;
  const int thread = (int)threadIdx.x, count = (int)lcp_unknowns<DIM>(d) / DIM;
  volatile T *z = d.z + problem * d.pitch; /* written by one thread, read by all */
  for (int sweep = 0; sweep < sweeps; sweep++)
    for (int c = 0; c < count; c++) {
      const int i = lcp_first_row<DIM>(c);
#pragma unroll
      for (int k = 0; k < DIM; k++) {
        const T *row = lcp_row(d, problem, i / LCP_BLOCK, i % LCP_BLOCK + k);
        const T part = cuda_warp_sum(row_part<T, DIM>(d, row, z, i, thread));
        if (thread % 32 == 0) of_warp[k][thread / 32] = part;
      }
      __syncthreads();
      if (thread == 0) solve_rows<T, DIM>(d, problem, i, exact, of_warp, z);
      __syncthreads();
    }
}

/* ---- By columns ---- */

/* sum + m z. */
template <int DIM, typename T> LCP_INLINE T add_products(T sum, const T (&m)[DIM], const T (&z)[DIM]) {
#pragma unroll
  for (int k = 0; k < DIM; k++) sum += m[k] * z[k];
  return sum;
}

/* Adds the contribution of unknown or contact j to those of the thread: first, first + LCP_THREADS, ...
 * `carried` of j, which is solved, is reset. */
template <typename T, int DIM>
LCP_INLINE void add_column(const lcp_data<T> &d, size_t problem, int j, const T *z, int first, int end) {
  const int column = lcp_first_row<DIM>(j);
  T values[DIM];
  for (int l = 0; l < DIM; l++) values[l] = z[l];
  for (int c = first; c < end; c += LCP_THREADS) {
    const int row = lcp_first_row<DIM>(c);
#pragma unroll
    for (int k = 0; k < DIM; k++) {
      T m[DIM];
#pragma unroll
      for (int l = 0; l < DIM; l++) m[l] = lcp_entry(d, problem, row + k, column + l);
      T *carried = d.carried + problem * d.pitch + (size_t)(row + k);
      *carried = c == j ? (T)0 : add_products<DIM>(*carried, m, values);
    }
  }
}

/* Solves an unknown or a contact. Called by the thread that has its sums. */
template <typename T, int DIM>
LCP_INLINE void solve_column(const lcp_data<T> &d, size_t problem, int j, int exact, T *solved) {
  const int row = lcp_first_row<DIM>(j);
  const size_t at = problem * d.pitch + (size_t)row;
  if constexpr (DIM == 1) {
    *solved = lcp_clamp(-(d.q[at] + d.carried[at]) * d.inverse[at], d.lower[at], d.upper[at]);
  } else {
    T b[DIM], r[DIM];
    for (int k = 0; k < DIM; k++) b[k] = d.q[at + k] + d.carried[at + k], r[k] = d.z[at + k];
    lcp_solve_contact(lcp_load_limit<T, DIM>(d, problem, at, exact), b, r);
    for (int k = 0; k < DIM; k++) solved[k] = r[k];
  }
  for (int k = 0; k < DIM; k++) d.z[at + k] = solved[k];
}

template <typename T, int DIM>
static __global__ __launch_bounds__(LCP_THREADS) void columns(lcp_data<T> d, int sweeps, int exact) {
  __shared__ T solved[2][DIM]; /* alternate, so that one barrier per unknown or contact is enough */
  const size_t problem = blockIdx.x, place = problem * d.pitch;
  const int thread = (int)threadIdx.x, count = (int)lcp_unknowns<DIM>(d) / DIM;
  for (int c = thread; c < count; c += LCP_THREADS)
    for (int k = 0; k < DIM; k++) d.carried[place + (size_t)(lcp_first_row<DIM>(c) + k)] = 0;
  for (int j = 0; j < count; j++)
    add_column<T, DIM>(d, problem, j, d.z + place + (size_t)lcp_first_row<DIM>(j), thread, j);
  __syncthreads();
  int side = 0;
  for (int sweep = 0; sweep < sweeps; sweep++)
    for (int j = 0; j < count; j++, side ^= 1) {
      if (thread == j % LCP_THREADS) solve_column<T, DIM>(d, problem, j, exact, solved[side]);
      __syncthreads();
      add_column<T, DIM>(d, problem, j, solved[side], thread, count);
    }
}

/* ---- By blocks ---- */

/* The first kernel: solves a block's unknowns and resets their `sums`, which have several shares in the first
 * sweep. */
template <typename T, int DIM>
static __global__ __launch_bounds__(LCP_THREADS) void solve_block(lcp_data<T> d, int block, int first_sweep,
                                                                  int shares, int exact) {
  __shared__ alignas(16) T a[LCP_BLOCK * LCP_BLOCK];
  __shared__ lcp_limit<T, DIM> limits[lcp_contacts_of_block<DIM>];
  const size_t problem = blockIdx.x, place = problem * d.pitch + (size_t)block * LCP_BLOCK;
  const int thread = (int)threadIdx.x;
  cuda_dependent_begin();
  lcp_load_block<T, LCP_BLOCK, DIM>(d, problem, block, thread, LCP_THREADS, a);
  if (thread < lcp_contacts_of_block<DIM>)
    limits[thread] = lcp_load_limit<T, DIM>(d, problem, place + DIM * thread, exact);
  __syncthreads();
  if (thread >= 32) return;
  lcp_rows<T, 2> r;
  for (int h = 0; h < 2; h++) {
    const size_t at = place + (size_t)lcp_row_of<2>(thread, h);
    r.z[h] = d.z[at];
    r.base[h] = -d.q[at] * d.inverse[at];
    r.next[h] = d.carried[at];
  }
  if (first_sweep) lcp_begin_block<T, 2>(a, thread, &r);
  for (int h = 0; h < 2; h++) {
    const size_t at = place + (size_t)lcp_row_of<2>(thread, h);
    T sum = 0;
    for (int s = 0; s < shares; s++) sum += d.sums[(size_t)s * (size_t)d.batch * d.pitch + at];
    r.next[h] -= d.inverse[at] * sum;
    d.sums[at] = 0;
  }
  lcp_solve_block(a, limits, lcp_contacts_of_block<DIM>, thread, &r);
  for (int h = 0; h < 2; h++) {
    d.z[place + (size_t)lcp_row_of<2>(thread, h)] = r.z[h];
    d.carried[place + (size_t)lcp_row_of<2>(thread, h)] = r.next[h];
  }
}

/* The second kernel: adds their contributions to the rows of all other blocks. */
template <typename T>
static __global__ __launch_bounds__(LCP_THREADS) void add_block(lcp_data<T> d, int column) {
  __shared__ T partial[LCP_SHARES][LCP_BLOCK];
  const size_t problem = blockIdx.x / (unsigned)d.blocks;
  const int block = (int)(blockIdx.x % (unsigned)d.blocks);
  const int row = (int)threadIdx.x % LCP_BLOCK, share = (int)threadIdx.x / LCP_BLOCK;
  const int first = column * LCP_BLOCK + share * LCP_COLUMNS;
  cuda_dependent_begin();
  if (block == column) return;
  T tile[LCP_COLUMNS], sum = 0;
  lcp_load_tile(d, lcp_row(d, problem, block, row), first, tile);
#pragma unroll
  for (int c = 0; c < LCP_COLUMNS; c++) sum += tile[c] * d.z[problem * d.pitch + (size_t)(first + c)];
  partial[share][row] = sum;
  __syncthreads();
  if (share != 0) return;
  for (int k = 1; k < LCP_SHARES; k++) sum += partial[k][row];
  d.sums[problem * d.pitch + (size_t)(block * LCP_BLOCK + row)] += sum;
}

template <typename T, int DIM> static ts_status sweep_blocks(const lcp_run *run, const lcp_data<T> *d) {
  const unsigned problems = (unsigned)d->batch, all = problems * (unsigned)d->blocks;
  int slices = 1;
  TSI_TRY(cuda_lcp_product(run->context, d, true, &slices));
  for (int sweep = 0; sweep < run->sweeps; sweep++)
    for (int block = 0; block < d->blocks; block++) {
      TSI_TRY(cuda_start(run->context, "lcp_solve_block", solve_block<T, DIM>, problems, LCP_THREADS, *d, block,
                         (int)(sweep == 0), sweep == 0 ? slices : 1, run->exact));
      TSI_TRY(cuda_start(run->context, "lcp_add_block", add_block<T>, all, LCP_THREADS, *d, block));
    }
  return TS_OK;
}

/* ---- Selection of the scheme ---- */

template <typename T, int DIM> static ts_status sweep_scheme(const lcp_run *run, const lcp_data<T> *d) {
  const dim3 blocks((unsigned)d->batch), threads(LCP_THREADS);
  switch (run->scheme) {
  case TS_LCP_SCHEME_ROW:
    return cuda_launch(run->context, "lcp_rows", rows<T, DIM>, blocks, threads, *d, run->sweeps, run->exact);
  case TS_LCP_SCHEME_COLUMN:
    return cuda_launch(run->context, "lcp_columns", columns<T, DIM>, blocks, threads, *d, run->sweeps,
                       run->exact);
  default:
    return sweep_blocks<T, DIM>(run, d);
  }
}

template <typename T> static ts_status sweep_steps(const lcp_run *run, const lcp_data<T> *d) {
  return run->dimension == 1   ? sweep_scheme<T, 1>(run, d)
         : run->dimension == 2 ? sweep_scheme<T, 2>(run, d)
                               : sweep_scheme<T, 3>(run, d);
}

ts_status cuda_lcp_sweep_steps(const lcp_run *run, const lcp_data<float> *data) {
  return sweep_steps(run, data);
}
ts_status cuda_lcp_sweep_steps(const lcp_run *run, const lcp_data<double> *data) {
  return sweep_steps(run, data);
}
