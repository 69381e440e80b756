/* Sweeps by rows, by columns and by blocks (Courtecuisse and Allard 2009, III.A to III.C). By rows and columns
 * one thread block has a problem, since unknowns follow each other faster than kernels; by blocks two kernels
 * solve each block of unknowns and add it to all rows. */
#include "cuda_lcp.cuh"

/* ---- By rows ---- */

/* Row i times z, a thread's part. */
template <typename T>
LCP_INLINE T row_part(const lcp_data<T> &d, const T *row, const volatile T *z, int thread) {
  T sum = 0;
  for (int c = thread * lcp_pack<T>::size; c < d.n; c += LCP_THREADS * lcp_pack<T>::size) {
    T values[lcp_pack<T>::size];
    lcp_load(row + (size_t)c * (size_t)d.height, values);
#pragma unroll
    for (int k = 0; k < lcp_pack<T>::size; k++) sum += c + k < d.n ? values[k] * z[c + k] : (T)0;
  }
  return sum;
}

template <typename T> static __global__ __launch_bounds__(LCP_THREADS) void rows(lcp_data<T> d, int sweeps) {
  __shared__ T of_warp[LCP_THREADS / 32];
  const size_t problem = blockIdx.x, place = problem * d.pitch;
  const int thread = (int)threadIdx.x;
  volatile T *z = d.z + place; /* written by one thread, read by all */
  for (int sweep = 0; sweep < sweeps; sweep++)
    for (int i = 0; i < d.n; i++) {
      const T *row = lcp_row(d, problem, i / LCP_BLOCK, i % LCP_BLOCK);
      const T part = cuda_warp_sum(row_part(d, row, z, thread));
      if (thread % 32 == 0) of_warp[thread / 32] = part;
      __syncthreads();
      if (thread == 0) {
        const size_t at = place + (size_t)i;
        T w = d.q[at];
        for (int k = 0; k < LCP_THREADS / 32; k++) w += of_warp[k];
        z[i] = lcp_clamp(z[i] - w * d.inverse[at], d.lower[at], d.upper[at]);
      }
      __syncthreads();
    }
}

/* ---- By columns ---- */

/* Column j, times z_j, on the thread's rows first, first + LCP_THREADS, ...; `carried` of row j, which is
 * solved, begins again. */
template <typename T>
LCP_INLINE void add_column(const lcp_data<T> &d, size_t problem, int j, T z, int first, int end) {
  const int pack = j / lcp_pack<T>::size * lcp_pack<T>::size;
  for (int i = first; i < end; i += LCP_THREADS) {
    const T m =
        lcp_row(d, problem, i / LCP_BLOCK, i % LCP_BLOCK)[(size_t)pack * (size_t)d.height + (size_t)(j - pack)];
    T *sum = d.carried + problem * d.pitch + (size_t)i;
    *sum = i == j ? (T)0 : *sum + m * z;
  }
}

template <typename T> static __global__ __launch_bounds__(LCP_THREADS) void columns(lcp_data<T> d, int sweeps) {
  __shared__ T solved[2]; /* in turn: one barrier for each unknown */
  const size_t problem = blockIdx.x, place = problem * d.pitch;
  const int thread = (int)threadIdx.x;
  for (int i = thread; i < d.n; i += LCP_THREADS) d.carried[place + (size_t)i] = 0;
  for (int j = 0; j < d.n; j++) add_column(d, problem, j, d.z[place + (size_t)j], thread, j);
  __syncthreads();
  int turn = 0;
  for (int sweep = 0; sweep < sweeps; sweep++)
    for (int j = 0; j < d.n; j++, turn ^= 1) {
      const size_t at = place + (size_t)j;
      if (thread == j % LCP_THREADS) {
        solved[turn] = lcp_clamp(-(d.q[at] + d.carried[at]) * d.inverse[at], d.lower[at], d.upper[at]);
        d.z[at] = solved[turn];
      }
      __syncthreads();
      add_column(d, problem, j, solved[turn], thread, d.n);
    }
}

/* ---- By blocks ---- */

/* The first of the two kernels: a block's unknowns. sums, of which the first sweep has several shares, begins
 * again. */
template <typename T>
static __global__ __launch_bounds__(LCP_THREADS) void solve_block(lcp_data<T> d, int block, int first_sweep,
                                                                  int shares) {
  __shared__ alignas(16) T a[LCP_BLOCK * LCP_BLOCK];
  __shared__ lcp_bounds<T> bounds[LCP_BLOCK];
  const size_t problem = blockIdx.x, place = problem * d.pitch + (size_t)block * LCP_BLOCK;
  const int thread = (int)threadIdx.x;
  cuda_dependent_begin();
  lcp_load_block<T, LCP_BLOCK>(d, problem, block, thread, LCP_THREADS, a);
  if (thread < LCP_BLOCK) bounds[thread] = {d.lower[place + thread], d.upper[place + thread]};
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
  lcp_solve_block<T, 2>(a, bounds, LCP_BLOCK, thread, &r);
  for (int h = 0; h < 2; h++) {
    d.z[place + (size_t)lcp_row_of<2>(thread, h)] = r.z[h];
    d.carried[place + (size_t)lcp_row_of<2>(thread, h)] = r.next[h];
  }
}

/* The second: what they add to the rows of all other blocks. */
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

template <typename T> static ts_status sweep_blocks(const lcp_run *run, const lcp_data<T> *d) {
  const unsigned problems = (unsigned)d->batch, all = problems * (unsigned)d->blocks;
  int slices = 1;
  TSI_TRY(cuda_lcp_product(run->context, d, true, &slices));
  for (int sweep = 0; sweep < run->sweeps; sweep++)
    for (int block = 0; block < d->blocks; block++) {
      TSI_TRY(cuda_start(run->context, "lcp_solve_block", solve_block<T>, problems, LCP_THREADS, *d, block,
                         (int)(sweep == 0), sweep == 0 ? slices : 1));
      TSI_TRY(cuda_start(run->context, "lcp_add_block", add_block<T>, all, LCP_THREADS, *d, block));
    }
  return TS_OK;
}

/* ---- */

template <typename T> static ts_status sweep_steps(const lcp_run *run, const lcp_data<T> *d) {
  const dim3 blocks((unsigned)d->batch), threads(LCP_THREADS);
  switch (run->scheme) {
  case TS_LCP_SCHEME_ROW:
    return cuda_launch(run->context, "lcp_rows", rows<T>, blocks, threads, *d, run->sweeps);
  case TS_LCP_SCHEME_COLUMN:
    return cuda_launch(run->context, "lcp_columns", columns<T>, blocks, threads, *d, run->sweeps);
  default:
    return sweep_blocks(run, d);
  }
}

ts_status cuda_lcp_sweep_steps(const lcp_run *run, const lcp_data<float> *data) {
  return sweep_steps(run, data);
}
ts_status cuda_lcp_sweep_steps(const lcp_run *run, const lcp_data<double> *data) {
  return sweep_steps(run, data);
}
