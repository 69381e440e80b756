/* The largest eigenvalue of D^-1 A by power iterations, with sums in the host's order.
 *
 * A block has some groups of the RADIX rows whose squares the host adds first. Its threads write the products
 * of its rows to shared memory. Then one thread adds each row, and one thread adds the squares of a group; a
 * warp finds the largest square. The last block to finish adds the sums of all blocks and stores the factor of
 * the next step on the device. If rows have several runs on average or there are few rows, a block has a single
 * group, and one thread adds each run. Long rows are multiplied before by a separate kernel, one block per
 * row. */
#include <math.h>

#include "cuda/core/cuda_reduce.cuh"

#include "cuda_amg_diagonal.cuh"

enum {
  STEPS = 6,
  RADIX = 64,    /* groups of RADIX numbers are added in order, then groups of RADIX sums, and so on */
  ROWS = 256,    /* rows and threads of a block */
  TILE = 2048,   /* products in shared memory */
  THREADS = 128, /* of a block with a single group */
  LONG_TILE = 4096,
  RUNS = LONG_TILE / TSI_AMG_RUN,
  TILE_RUNS = 32,                                             /* runs in shared memory */
  ROW_RUNS = (CUDA_AMG_LONG + TSI_AMG_RUN - 1) / TSI_AMG_RUN, /* maximum in a row that is not long */
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

/* How many of `count` numbers are in group number `group`, if groups have `size` numbers. */
static __device__ __forceinline__ int in_group(int64_t count, int64_t group, int size) {
  return (int)(count - group * size < size ? count - group * size : size);
}

/* Called by a warp. The bits of non-negative doubles compare like the doubles. */
static __device__ __forceinline__ void raise_most(const power &p, const double *squares, int rows) {
  unsigned long long most = 0;
  for (int k = (int)threadIdx.x % 32; k < rows; k += 32)
    most = max(most, (unsigned long long)__double_as_longlong(fabs(squares[k])));
  for (int offset = 16; offset > 0; offset /= 2) most = max(most, __shfl_xor_sync(0xffffffffu, most, offset));
  if (threadIdx.x % 32 == 0 && most > *(volatile unsigned long long *)p.most) atomicMax(p.most, most);
}

/* Ends a kernel with BLOCK_ROWS rows per block, and one number per row in `squares`. Returns true in thread 0
 * of the last block, which receives the results of all blocks. */
template <int BLOCK_ROWS>
static __device__ __forceinline__ int combine_norms(const power &p, const double *squares, int rows,
                                                    norms *all) {
  const int warp = (int)threadIdx.x / 32, groups = (rows + RADIX - 1) / RADIX;
  __syncthreads();
  if (threadIdx.x % 32 == 0 && warp < groups)
    p.sums[(int64_t)blockIdx.x * (BLOCK_ROWS / RADIX) + warp] =
        add_in_order(squares + warp * RADIX, in_group(rows, warp, RADIX));
  if (warp == (int)blockDim.x / 32 - 1) raise_most(p, squares, rows);
  if (!cuda_is_last_block(p.tickets)) return 0;
  double *sums = p.sums;
  int64_t count = ((int64_t)p.A.rows + RADIX - 1) / RADIX;
  while (count > 1) {
    const int64_t above = (count + RADIX - 1) / RADIX;
    for (int64_t group = threadIdx.x; group < above; group += blockDim.x)
      sums[count + group] = add_in_order(sums + group * RADIX, in_group(count, group, RADIX));
    __syncthreads();
    sums += count;
    count = above;
  }
  if (threadIdx.x > 0) return 0;
  *all = {sums[0], __longlong_as_double((long long)atomicExch(p.most, 0ull))};
  return 1;
}

__global__ static void __launch_bounds__(ROWS) begin(const power p) {
  __shared__ double squares[ROWS];
  const int64_t first = (int64_t)blockIdx.x * ROWS;
  const int rows = in_group(p.A.rows, blockIdx.x, ROWS);
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
  if (combine_norms<ROWS>(p, squares, rows, &all)) *p.state = {0, 0, 1, all};
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

/* ---- A step ---- */

/* The row of a thread. */
struct own_row {
  int64_t row, begin, end;
  bool is_row, is_long;
};

static __device__ __forceinline__ own_row row_of_thread(const power &p, int64_t first, int rows) {
  own_row own;
  own.is_row = (int)threadIdx.x < rows;
  own.row = first + (own.is_row ? threadIdx.x : 0);
  own.begin = p.A.offsets[own.row], own.end = p.A.offsets[own.row + 1];
  own.is_long = own.end - own.begin > CUDA_AMG_LONG;
  return own;
}

/* Returns the product of the thread's row. Its block reads all rows in tiles. */
static __device__ __forceinline__ double multiply_in_tiles(const power &p, const own_row &own, int64_t first,
                                                           int rows) {
  __shared__ double products[TILE];
  const int64_t begin = p.A.offsets[first], end = p.A.offsets[first + rows];
  double product = 0, run = 0;
  if (p.products && __syncthreads_or(own.is_long))
    return own.is_long ? p.products[own.row] : multiply_row(p, own.begin, own.end);
  for (int64_t tile = begin; tile < end; tile += TILE) {
    const int64_t tile_end = tile + TILE < end ? tile + TILE : end;
#pragma unroll 4
    for (int64_t e = tile + threadIdx.x; e < tile_end; e += ROWS) products[e - tile] = product_at(p, e);
    __syncthreads();
    if (own.is_row) {
      const int from = (int)(own.begin > tile ? own.begin - tile : 0);
      const int to = (int)((own.end < tile_end ? own.end : tile_end) - tile);
      add_part(products, from, to, (int)(tile - own.begin), run, product);
    }
    __syncthreads();
  }
  return product + run;
}

/* The runs of a block's rows; those of row k begin at begins[k]. */
struct run_list {
  int64_t entries[RADIX]; /* where the entries of a row begin */
  int32_t lengths[RADIX], begins[RADIX + 1];
  unsigned char rows[RADIX * ROW_RUNS]; /* of runs */
};

/* Long rows are not in the list. */
static __device__ __forceinline__ void list_runs(const own_row &own, run_list *list) {
  const int k = (int)threadIdx.x, length = own.is_row && !own.is_long ? (int)(own.end - own.begin) : 0;
  const int32_t runs = (length + TSI_AMG_RUN - 1) / TSI_AMG_RUN;
  int32_t end = runs; /* inclusive sum, of a warp's rows */
  for (int offset = 1; offset < 32; offset *= 2) {
    const int32_t before = __shfl_up_sync(0xffffffffu, end, offset);
    if (k % 32 >= offset) end += before;
  }
  static_assert(RADIX == 64, "two warps have the rows");
  if (k == 0) list->begins[0] = 0;
  if (k < 32) list->begins[k + 1] = end;
  __syncthreads();
  if (k >= RADIX) return;
  if (k >= 32) list->begins[k + 1] = end += list->begins[32];
  list->entries[k] = own.begin, list->lengths[k] = length;
  for (int32_t run = end - runs; run < end; run++) list->rows[run] = (unsigned char)k;
}

/* Reads the products of the runs from number `first` on. A warp reads FEW of its runs at a time. */
static __device__ __forceinline__ void read_runs(const power &p, const run_list &list, int32_t first,
                                                 double (*products)[TSI_AMG_RUN + 1]) {
  enum { FEW = 4, WARPS = THREADS / 32, PARTS = TSI_AMG_RUN / 32 };
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  const int32_t count = list.begins[RADIX];
  for (int begin = warp; begin < TILE_RUNS; begin += FEW * WARPS) {
    double product[FEW][PARTS];
#pragma unroll
    for (int k = 0; k < FEW; k++) {
      const int32_t run = min(first + begin + k * WARPS, count - 1);
      const int row = list.rows[run], at = (run - list.begins[row]) * TSI_AMG_RUN + lane;
#pragma unroll
      for (int part = 0; part < PARTS; part++) {
        const int e = at + part * 32, length = list.lengths[row];
        product[k][part] = product_at(p, list.entries[row] + min(e, length - 1));
        if (e >= length) product[k][part] = 0;
      }
    }
#pragma unroll
    for (int k = 0; k < FEW; k++)
#pragma unroll
      for (int part = 0; part < PARTS; part++) products[begin + k * WARPS][lane + part * 32] = product[k][part];
  }
}

/* multiply_in_tiles for a single group of rows: each run has its own thread. */
static __device__ __forceinline__ double multiply_in_runs(const power &p, const own_row &own) {
  __shared__ double products[TILE_RUNS][TSI_AMG_RUN + 1], runs[RADIX * ROW_RUNS];
  __shared__ run_list list;
  list_runs(own, &list);
  __syncthreads();
  for (int32_t first = 0; first < list.begins[RADIX]; first += TILE_RUNS) {
    read_runs(p, list, first, products);
    __syncthreads();
    if (threadIdx.x < TILE_RUNS && first + (int)threadIdx.x < list.begins[RADIX]) {
      double run = 0;
#pragma unroll 16
      for (int e = 0; e < TSI_AMG_RUN; e++) run += products[threadIdx.x][e];
      runs[first + threadIdx.x] = run;
    }
    __syncthreads();
  }
  if (!own.is_row) return 0;
  if (own.is_long) return p.products[own.row];
  double product = 0;
  for (int32_t k = list.begins[threadIdx.x]; k < list.begins[threadIdx.x + 1]; k++) product += runs[k];
  return product;
}

/* With the factor of the state, does nothing once a sum is 0. */
template <bool IN_RUNS> __global__ static void __launch_bounds__(IN_RUNS ? THREADS : ROWS) step(const power p) {
  constexpr int block_rows = IN_RUNS ? RADIX : ROWS;
  __shared__ double squares[block_rows];
  const power_state state = *p.state;
  if (p.keep == 0 && !(state.before.sum > 0)) return;
  const double factor = p.keep == 0 ? state.factor : p.factor;
  const int64_t first = (int64_t)blockIdx.x * block_rows;
  const int rows = in_group(p.A.rows, blockIdx.x, block_rows);
  const own_row own = row_of_thread(p, first, rows);
  const double diagonal = (double)p.diagonal[own.row];
  double product = IN_RUNS ? multiply_in_runs(p, own) : multiply_in_tiles(p, own, first, rows);
  if (own.is_row) {
    product = diagonal > 0 ? p.keep * (double)p.from[own.row] + product * (factor / diagonal) : 0;
    const float number = (float)product;
    p.to[own.row] = number;
    squares[threadIdx.x] = diagonal * ((double)number * (double)number);
  }
  norms all;
  if (combine_norms<block_rows>(p, squares, rows, &all)) {
    const double value = sqrt(all.sum / state.before.sum) / state.factor;
    const double local = sqrt(all.most / state.before.most) / state.factor;
    *p.state = {value, local, value > 0 ? 1 / value : 0, all};
  }
}

/* Stores the sum of from_i (A from)_i in the state, or with A_F in place of A. One thread per row. */
__global__ static void __launch_bounds__(ROWS) add_energies(const power p) {
  __shared__ double energies[ROWS];
  const int rows = in_group(p.A.rows, blockIdx.x, ROWS);
  if ((int)threadIdx.x < rows) {
    const int32_t row = (int32_t)((int64_t)blockIdx.x * ROWS + threadIdx.x);
    const double own = (double)p.from[row];
    double product = p.strong ? p.filtered[row] * own : 0;
    for (int32_t e = p.A.offsets[row]; e < p.A.offsets[row + 1]; e++) {
      if (p.strong && (p.strong[e] != TSI_AMG_STRONG || p.A.indices[e] == row)) continue;
      product += (double)p.A.values[e] * (double)p.from[p.A.indices[e]];
    }
    energies[threadIdx.x] = own * product;
  }
  norms all;
  if (combine_norms<ROWS>(p, energies, rows, &all)) *p.state = {0, 0, 1, all};
}

/* ---- On the host ---- */

static void swap_vectors(power *p) {
  float *swap = p->from;
  p->from = p->to;
  p->to = swap;
}

static unsigned blocks_of(const power &p, int rows) {
  return (unsigned)((p.A.rows + (size_t)rows - 1) / (size_t)rows);
}

/* Allocates the vectors in `memory` and stores the first one in p->to. */
static ts_status start(cuda_amg_memory *memory, const cuda_amg_csr *A, cuda_amg_rows long_rows, power *p) {
  ts_context *context = memory->context;
  const size_t rows = (size_t)A->rows;
  *p = {*A};
  p->tickets = cuda_state_of(context)->tickets;
  size_t sums = blocks_of(*p, RADIX);
  for (size_t count = sums; count > 1; sums += count) count = (count + RADIX - 1) / RADIX;
  CUDA_AMG_ALLOC(memory, rows, p->diagonal);
  CUDA_AMG_ALLOC(memory, rows, p->from);
  CUDA_AMG_ALLOC(memory, rows, p->to);
  CUDA_AMG_ALLOC(memory, sums, p->sums);
  CUDA_AMG_ALLOC(memory, 1, p->state);
  CUDA_AMG_ALLOC(memory, 1, p->most);
  if (long_rows.count > 0) CUDA_AMG_ALLOC(memory, rows, p->products);
  CUDA_TRY(context, cudaMemsetAsync(p->most, 0, sizeof *p->most, cuda_stream(context)));
  return cuda_launch(context, "begin", begin, blocks_of(*p, ROWS), ROWS, *p);
}

/* Swaps p->from and p->to, then runs a step. */
static ts_status run_step(ts_context *context, cuda_amg_rows long_rows, power *p) {
  swap_vectors(p);
  if (long_rows.count > 0)
    TSI_TRY(cuda_launch(context, "multiply_long_rows", multiply_long_rows,
                        (unsigned)(long_rows.count < LONG_BLOCKS_MOST ? long_rows.count : LONG_BLOCKS_MOST),
                        THREADS, *p, long_rows));
  const bool is_few = p->A.rows <= 4 * RADIX * cuda_state_of(context)->multiprocessors;
  if (is_few || p->A.entries > (int64_t)2 * TSI_AMG_RUN * p->A.rows)
    return cuda_launch(context, "step", step<true>, blocks_of(*p, RADIX), THREADS, *p);
  return cuda_launch(context, "step", step<false>, blocks_of(*p, ROWS), ROWS, *p);
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
  TSI_TRY(cuda_launch(context, "add_energies", add_energies, blocks_of(p, ROWS), ROWS, p));
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
