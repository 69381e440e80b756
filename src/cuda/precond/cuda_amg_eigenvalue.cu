/* The largest eigenvalue of D^-1 A by power iterations, with sums in the host's order.
 *
 * A block has the RADIX rows whose squares the host adds first. Its threads write the products of its rows to
 * shared memory. Then one thread adds each row, and one thread adds the squares; a warp finds the largest
 * square. The last block to finish adds the sums of all blocks and stores the factor of the next step on the
 * device. Long rows are multiplied before by a separate kernel, one block per row. */
#include <math.h>

#include "cuda/core/cuda_reduce.cuh"

#include "cuda_amg_diagonal.cuh"

enum {
  STEPS = 6,
  RADIX = 64, /* groups of RADIX numbers are added in order, then groups of RADIX sums, and so on */
  THREADS = 128,
  TILE = 1024, /* products in shared memory */
  LONG_TILE = 4096,
  RUNS = LONG_TILE / TSI_AMG_RUN,
  LONG_BLOCKS_MOST = 4096
};

/* The sum and the maximum of D to^2 over rows. */
struct norms {
  double sum, most;
};

struct power_state {
  double value, local; /* the growth of the norm, and of the largest number */
  double factor;
  norms before; /* of the previous step */
};

struct power {
  cuda_amg_csr A;
  float *diagonal;          /* 0: an inactive row */
  float *from, *to;         /* to = keep from + factor D^-1 A from */
  double *products;         /* results of long rows, indexed by row; NULL: no row is long */
  double keep, factor;      /* factor: used if keep is not 0, otherwise the factor of the state */
  double *sums;             /* sums of D to^2 over RADIX rows each; after them the sums of these, and so on */
  unsigned long long *most; /* the bits of the maximum of D to^2; 0 between kernels */
  power_state *state;
  unsigned *tickets;
  const unsigned char *strong; /* of A_F; NULL: A */
  const double *filtered;      /* its diagonal */
};

/* A number from -1 to 1 for each row. */
static __device__ __forceinline__ float first_number(uint32_t row) {
  uint32_t h = row * 0x9e3779b1u;
  h = (h ^ h >> 16) * 0x7feb352du;
  h = (h ^ h >> 15) * 0x846ca68bu;
  h ^= h >> 16;
  return (float)(h >> 8) / 8388608.0f - 1;
}

static __device__ __forceinline__ double add_in_order(const double *numbers, int count) {
  double sum = 0;
  if (count == RADIX) {
#pragma unroll 16
    for (int k = 0; k < RADIX; k++) sum += numbers[k];
  } else
    for (int k = 0; k < count; k++) sum += numbers[k];
  return sum;
}

static __device__ __forceinline__ int in_group(int64_t count, int64_t group) {
  return (int)(count - group * RADIX < RADIX ? count - group * RADIX : RADIX);
}

/* Called by a warp for at most RADIX numbers. The bits of non-negative doubles compare like the doubles. */
static __device__ __forceinline__ void raise_most(const power &p, const double *squares, int rows) {
  unsigned long long most = 0;
  for (int k = (int)threadIdx.x % 32; k < rows; k += 32)
    most = max(most, (unsigned long long)__double_as_longlong(fabs(squares[k])));
  for (int offset = 16; offset > 0; offset /= 2) most = max(most, __shfl_xor_sync(0xffffffffu, most, offset));
  if (threadIdx.x % 32 == 0 && most > *(volatile unsigned long long *)p.most) atomicMax(p.most, most);
}

/* Ends a kernel, with one number per row of the block in `squares`. Returns true in thread 0 of the last block,
 * which receives the results of all blocks. */
static __device__ __forceinline__ int combine_norms(const power &p, const double *squares, int rows,
                                                    norms *all) {
  __syncthreads();
  if (threadIdx.x == 0) p.sums[blockIdx.x] = add_in_order(squares, rows);
  if (threadIdx.x / 32 == 1) raise_most(p, squares, rows);
  if (!cuda_is_last_block(p.tickets)) return 0;
  double *sums = p.sums;
  int64_t count = gridDim.x;
  while (count > 1) {
    const int64_t groups = (count + RADIX - 1) / RADIX;
    for (int64_t group = threadIdx.x; group < groups; group += THREADS)
      sums[count + group] = add_in_order(sums + group * RADIX, in_group(count, group));
    __syncthreads();
    sums += count;
    count = groups;
  }
  if (threadIdx.x > 0) return 0;
  *all = {sums[0], __longlong_as_double((long long)atomicExch(p.most, 0ull))};
  return 1;
}

__global__ static void __launch_bounds__(THREADS) begin(const power p) {
  __shared__ double squares[RADIX];
  const int64_t first = (int64_t)blockIdx.x * RADIX;
  const int rows = in_group(p.A.rows, blockIdx.x);
  if ((int)threadIdx.x < rows) {
    const int32_t row = (int32_t)(first + threadIdx.x);
    const float found = cuda_amg_diagonal_of(p.A, row), diagonal = found > 0 ? found : 0;
    const double number_of_row = (double)first_number((uint32_t)row);
    const float number = diagonal > 0 ? (float)(number_of_row / sqrt((double)diagonal)) : 0;
    p.diagonal[row] = diagonal;
    p.to[row] = number;
    squares[threadIdx.x] = (double)diagonal * ((double)number * (double)number);
  }
  norms all;
  if (combine_norms(p, squares, rows, &all)) *p.state = {0, 0, 1, all};
}

static __device__ __forceinline__ double product_at(const power &p, int64_t e) {
  return (double)p.A.values[e] * (double)p.from[p.A.indices[e]];
}

/* Continues the sum of a row after `done` of its entries; products[0] is the next product. `run` is the sum of
 * the unfinished run. */
static __device__ __forceinline__ void add_part(const double *products, int from, int to, int done, double &run,
                                                double &sum) {
  for (int k = from; k < to;) {
    const int left = TSI_AMG_RUN - (done + k) % TSI_AMG_RUN, run_end = left < to - k ? k + left : to;
    for (; k < run_end; k++) run += products[k];
    if ((done + k) % TSI_AMG_RUN == 0) sum += run, run = 0;
  }
}

/* One block per long row: its threads add runs. */
__global__ static void __launch_bounds__(THREADS)
    multiply_long_rows(const power p, const cuda_amg_rows long_rows) {
  __shared__ double products[LONG_TILE + RUNS], runs[RUNS]; /* one extra per run avoids bank conflicts */
  for (int32_t k = (int32_t)blockIdx.x; k < long_rows.count; k += (int32_t)gridDim.x) {
    const int32_t row = long_rows.rows[k];
    const int64_t end = p.A.offsets[row + 1];
    double sum = 0;
    for (int64_t tile = p.A.offsets[row]; tile < end; tile += LONG_TILE) {
#pragma unroll 8
      for (int e = (int)threadIdx.x; e < LONG_TILE; e += THREADS)
        products[e + e / TSI_AMG_RUN] = tile + e < end ? product_at(p, tile + e) : 0;
      __syncthreads();
      if (threadIdx.x < RUNS) {
        double run = 0;
#pragma unroll 16
        for (int e = 0; e < TSI_AMG_RUN; e++) run += products[threadIdx.x * (TSI_AMG_RUN + 1) + e];
        runs[threadIdx.x] = run;
      }
      __syncthreads();
#pragma unroll 16
      for (int r = 0; r < RUNS; r++) sum += runs[r];
    }
    if (threadIdx.x == 0) p.products[row] = sum;
  }
}

/* One thread computes the product of a row that is not long, if its block has a long one. */
static __device__ double multiply_row(const power &p, int64_t begin, int64_t end) {
  double sum = 0;
  for (int64_t e = begin; e < end;) {
    const int64_t run_end = e + TSI_AMG_RUN < end ? e + TSI_AMG_RUN : end;
    double run = 0;
#pragma unroll 4
    for (; e < run_end; e++) run += product_at(p, e);
    sum += run;
  }
  return sum;
}

/* With the factor of the state, does nothing once a sum is 0. */
__global__ static void __launch_bounds__(THREADS) step(const power p) {
  __shared__ double products[TILE], squares[RADIX];
  const power_state state = *p.state;
  if (p.keep == 0 && !(state.before.sum > 0)) return;
  const double factor = p.keep == 0 ? state.factor : p.factor;
  const int64_t first = (int64_t)blockIdx.x * RADIX;
  const int rows = in_group(p.A.rows, blockIdx.x);
  const bool has_row = (int)threadIdx.x < rows;
  const int64_t row = first + (has_row ? threadIdx.x : 0);
  const int64_t begin = p.A.offsets[first], end = p.A.offsets[first + rows];
  const int64_t row_begin = p.A.offsets[row], row_end = p.A.offsets[row + 1];
  const double diagonal = (double)p.diagonal[row];
  const bool is_long = row_end - row_begin > CUDA_AMG_LONG;
  const bool has_long = p.products && __syncthreads_or(is_long);
  double product = 0, run = 0;
  if (has_long) product = is_long ? p.products[row] : multiply_row(p, row_begin, row_end);
  for (int64_t tile = begin; tile < end && !has_long; tile += TILE) {
    const int64_t tile_end = tile + TILE < end ? tile + TILE : end;
#pragma unroll 4
    for (int64_t e = tile + threadIdx.x; e < tile_end; e += THREADS) products[e - tile] = product_at(p, e);
    __syncthreads();
    if (has_row) {
      const int from = (int)(row_begin > tile ? row_begin - tile : 0);
      const int to = (int)((row_end < tile_end ? row_end : tile_end) - tile);
      add_part(products, from, to, (int)(tile - row_begin), run, product);
    }
    __syncthreads();
  }
  product += run;
  if (has_row) {
    product = diagonal > 0 ? p.keep * (double)p.from[row] + product * (factor / diagonal) : 0;
    const float number = (float)product;
    p.to[row] = number;
    squares[threadIdx.x] = diagonal * ((double)number * (double)number);
  }
  norms all;
  if (combine_norms(p, squares, rows, &all)) {
    const double value = sqrt(all.sum / state.before.sum) / state.factor;
    const double local = sqrt(all.most / state.before.most) / state.factor;
    *p.state = {value, local, value > 0 ? 1 / value : 0, all};
  }
}

/* Stores the sum of from_i (A from)_i in the state, or with A_F in place of A. One thread per row. */
__global__ static void __launch_bounds__(THREADS) add_energies(const power p) {
  __shared__ double energies[RADIX];
  const int rows = in_group(p.A.rows, blockIdx.x);
  if ((int)threadIdx.x < rows) {
    const int32_t row = (int32_t)((int64_t)blockIdx.x * RADIX + threadIdx.x);
    const double own = (double)p.from[row];
    double product = p.strong ? p.filtered[row] * own : 0;
    for (int32_t e = p.A.offsets[row]; e < p.A.offsets[row + 1]; e++) {
      if (p.strong && (p.strong[e] != TSI_AMG_STRONG || p.A.indices[e] == row)) continue;
      product += (double)p.A.values[e] * (double)p.from[p.A.indices[e]];
    }
    energies[threadIdx.x] = own * product;
  }
  norms all;
  if (combine_norms(p, energies, rows, &all)) *p.state = {0, 0, 1, all};
}

/* ---- On the host ---- */

static void swap_vectors(power *p) {
  float *swap = p->from;
  p->from = p->to;
  p->to = swap;
}

static unsigned blocks_of(const power &p) {
  return (unsigned)(((size_t)p.A.rows + RADIX - 1) / RADIX);
}

/* Allocates the vectors in `memory` and stores the first one in p->to. */
static ts_status start(cuda_amg_memory *memory, const cuda_amg_csr *A, cuda_amg_rows long_rows, power *p) {
  ts_context *context = memory->context;
  const size_t rows = (size_t)A->rows;
  *p = {*A};
  p->tickets = cuda_state_of(context)->tickets;
  size_t sums = blocks_of(*p);
  for (size_t count = sums; count > 1; sums += count) count = (count + RADIX - 1) / RADIX;
  CUDA_AMG_ALLOC(memory, rows, p->diagonal);
  CUDA_AMG_ALLOC(memory, rows, p->from);
  CUDA_AMG_ALLOC(memory, rows, p->to);
  CUDA_AMG_ALLOC(memory, sums, p->sums);
  CUDA_AMG_ALLOC(memory, 1, p->state);
  CUDA_AMG_ALLOC(memory, 1, p->most);
  if (long_rows.count > 0) CUDA_AMG_ALLOC(memory, rows, p->products);
  CUDA_TRY(context, cudaMemsetAsync(p->most, 0, sizeof *p->most, cuda_stream(context)));
  return cuda_launch(context, "begin", begin, blocks_of(*p), THREADS, *p);
}

/* Swaps p->from and p->to, then runs a step. */
static ts_status run_step(ts_context *context, cuda_amg_rows long_rows, power *p) {
  swap_vectors(p);
  if (long_rows.count > 0)
    TSI_TRY(cuda_launch(context, "multiply_long_rows", multiply_long_rows,
                        (unsigned)(long_rows.count < LONG_BLOCKS_MOST ? long_rows.count : LONG_BLOCKS_MOST),
                        THREADS, *p, long_rows));
  return cuda_launch(context, "step", step, blocks_of(*p), THREADS, *p);
}

static ts_status iterate(cuda_amg_memory *memory, const cuda_amg_csr *A, cuda_amg_rows long_rows,
                         power_state *last) {
  ts_context *context = memory->context;
  power p;
  TSI_TRY(start(memory, A, long_rows, &p));
  for (int k = 0; k < STEPS; k++) {
    TSI_TRY(run_step(context, long_rows, &p));
  }
  return cuda_download(context, last, p.state, sizeof *last);
}

ts_status cuda_amg_eigenvalue(ts_context *context, cuda_amg_level *level, cuda_amg_rows long_rows) {
  cuda_amg_memory memory = {context};
  power_state last = {};
  const ts_status status = level->A.rows > 0 ? iterate(&memory, &level->A, long_rows, &last) : TS_OK;
  cuda_amg_free(&memory);
  if (status == TS_OK) level->eigenvalue = fmin(tsi_amg_raised(last.value, last.local), level->bound);
  return status;
}

static ts_status read_energy(ts_context *context, const power &p, double *energy) {
  power_state state;
  TSI_TRY(cuda_launch(context, "add_energies", add_energies, blocks_of(p), THREADS, p));
  TSI_TRY(cuda_download(context, &state, p.state, sizeof state));
  *energy = state.before.sum;
  return TS_OK;
}

static ts_status compare_energies(cuda_amg_memory *memory, cuda_amg_level *level, const double *filtered,
                                  cuda_amg_rows long_rows) {
  ts_context *context = memory->context;
  double of_filtered = 0, of_all = 0;
  power p;
  TSI_TRY(start(memory, &level->A, long_rows, &p));
  p.keep = 1;
  for (int k = 0; k < TSI_AMG_SMOOTHINGS; k++) {
    p.factor = tsi_amg_smoothing_factor(k, level->eigenvalue);
    TSI_TRY(run_step(context, long_rows, &p));
  }
  swap_vectors(&p);
  TSI_TRY(read_energy(context, p, &of_all));
  p.strong = level->strong, p.filtered = filtered;
  TSI_TRY(read_energy(context, p, &of_filtered));
  level->energies = of_filtered / of_all;
  return TS_OK;
}

ts_status cuda_amg_energies(ts_context *context, cuda_amg_level *level, const double *filtered,
                            cuda_amg_rows long_rows) {
  cuda_amg_memory memory = {context};
  const ts_status status = compare_energies(&memory, level, filtered, long_rows);
  cuda_amg_free(&memory);
  return status;
}
