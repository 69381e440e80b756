/* Exact solution of the triangular systems of incomplete factors. Each row waits for the numbers that it needs,
 * so that one kernel solves all levels (Liu, Li, Hogg, Duff and Vinter 2016, "A synchronization-free algorithm
 * for parallel sparse triangular solves").
 *
 * A warp takes the next free row from a counter. Rows are in the order of their levels. So the rows that a row
 * waits for were taken before it, by resident warps that wait only for even earlier rows. The first unfinished
 * row never waits, regardless of the number of resident warps.
 *
 * A number that is not yet computed has all bits set, which no computed number has. So it is its own flag: it
 * is written with one store of 8 bytes, and no other memory needs ordering. The sums of a warp have a fixed
 * order.
 *
 * Everything is in double precision. Results differ from those of the host only by the order of each row's
 * sum. */
#include "cuda/core/cuda_kernels.cuh"

extern "C" {
#include "common/precond/ilu/ilu.h"
}

/* ---- The device's copy ---- */

/* Rows are in the order of their levels, and `at` counts in that order. The columns count in the order of the
 * factors. */
struct triangle {
  const int64_t *offsets; /* indexed by at */
  const double *values;   /* per entry */
  const double *scales;   /* indexed by at: scales of r, or of z */
  const double *inverses; /* indexed by at: of D; unused for L */
  const int32_t *columns; /* per entry */
  const int32_t *rows;    /* indexed by at: the row of the factor */
  const int32_t *outside; /* indexed by at: the index of r, or of z */
  void *block;            /* memory of all these arrays */
  size_t bytes;
};

struct tsi_ilu_device {
  int32_t n;
  triangle lower, upper;
  int components; /* of the vectors that `work` has room for */
  void *work;     /* y and w, with all bits set initially; then a row counter for each */
  size_t work_bytes;
};

/* Sets the arrays' addresses in a block; the first such block is filled on the host. */
static size_t lay_out(triangle *t, char *block, int32_t rows, int64_t entries) {
  const size_t n = (size_t)rows, m = (size_t)entries;
  char *next = block;
  const auto suballoc = [&](size_t bytes) {
    char *begin = next;
    next += bytes;
    return (void *)begin;
  };
  t->offsets = (int64_t *)suballoc((n + 1) * sizeof(int64_t));
  t->values = (double *)suballoc(m * sizeof(double));
  t->scales = (double *)suballoc(n * sizeof(double));
  t->inverses = (double *)suballoc(n * sizeof(double));
  t->columns = (int32_t *)suballoc(m * sizeof(int32_t));
  t->rows = (int32_t *)suballoc(n * sizeof(int32_t));
  t->outside = (int32_t *)suballoc(n * sizeof(int32_t));
  return (size_t)(next - block);
}

static void fill(const triangle &t, const tsi_ilu *ilu, int is_upper) {
  const tsi_ilu_rows *factor = is_upper ? &ilu->factors.upper : &ilu->factors.lower;
  const tsi_ilu_order *order = &ilu->order;
  int64_t *offsets = (int64_t *)t.offsets;
  offsets[0] = 0;
  for (int32_t at = 0; at < order->n; at++) {
    const int32_t k = ilu->levels[is_upper].rows[at];
    const int64_t begin = factor->offsets[k], count = factor->offsets[k + 1] - begin;
    offsets[at + 1] = offsets[at] + count;
    ((int32_t *)t.rows)[at] = k;
    ((int32_t *)t.outside)[at] = is_upper ? order->columns[k] : order->rows[k];
    ((double *)t.scales)[at] = is_upper ? order->column_scales[k] : order->row_scales[k];
    ((double *)t.inverses)[at] = ilu->factors.inverse[k];
    for (int64_t e = 0; e < count; e++) {
      ((int32_t *)t.columns)[offsets[at] + e] = factor->columns[begin + e];
      ((double *)t.values)[offsets[at] + e] = factor->values[begin + e];
    }
  }
}

static ts_status upload(ts_context *context, const tsi_ilu *ilu, int is_upper, triangle *to) {
  const int32_t n = ilu->order.n;
  const int64_t entries = (is_upper ? &ilu->factors.upper : &ilu->factors.lower)->offsets[n];
  triangle host, made = {};
  made.bytes = lay_out(&host, NULL, n, entries);
  char *block = (char *)tsi_malloc(context, made.bytes, 1);
  if (!block) return tsi_out_of_memory(context, "incomplete factors", made.bytes);
  lay_out(&host, block, n, entries);
  fill(host, ilu, is_upper);
  const ts_status status = cuda_alloc_copy(context, &made.block, block, made.bytes, "incomplete factors");
  tsi_free(context, block);
  TSI_TRY(status);
  lay_out(&made, (char *)made.block, n, entries);
  *to = made;
  return TS_OK;
}

static void cuda_ilu_destroy(ts_context *context, tsi_ilu_device *device) {
  cuda_free(context, device->lower.block, device->lower.bytes);
  cuda_free(context, device->upper.block, device->upper.bytes);
  cuda_free(context, device->work, device->work_bytes);
  tsi_free(context, device);
}

static ts_status cuda_ilu_create(ts_context *context, tsi_ilu *ilu) {
  tsi_ilu_device *device = (tsi_ilu_device *)tsi_calloc(context, 1, sizeof *device);
  if (!device) return tsi_out_of_memory(context, "incomplete factors", sizeof *device);
  device->n = ilu->order.n;
  ts_status status = upload(context, ilu, 0, &device->lower);
  if (status == TS_OK) status = upload(context, ilu, 1, &device->upper);
  if (status == TS_OK)
    ilu->device = device;
  else
    cuda_ilu_destroy(context, device);
  return status;
}

static ts_status cuda_ilu_prepare(ts_context *context, tsi_ilu_device *device, int components) {
  cuda_free(context, device->work, device->work_bytes);
  device->work = NULL;
  device->work_bytes = 2 * (size_t)device->n * (size_t)components * sizeof(double) + 2 * sizeof(unsigned);
  device->components = components;
  return cuda_alloc(context, &device->work, device->work_bytes, "incomplete factors");
}

/* ---- Numbers and their flags ---- */

static const unsigned long long unknown = ~0ull, not_a_number = 0x7ff8000000000000ull;

static __device__ __forceinline__ double wait_for(const double *number) {
  const volatile unsigned long long *bits = (const volatile unsigned long long *)number;
  unsigned long long found = *bits;
  while (found == unknown) found = *bits;
  return __longlong_as_double((long long)found);
}

static __device__ __forceinline__ void publish(double *number, double value) {
  const unsigned long long bits = (unsigned long long)__double_as_longlong(value);
  *(volatile unsigned long long *)number = bits == unknown ? not_a_number : bits;
}

/* The next row, in all lanes; n or more if no rows are left. The counter begins at -1. */
static __device__ __forceinline__ unsigned next_row(unsigned *counter) {
  unsigned row = 0;
  if (threadIdx.x % 32 == 0) row = atomicAdd(counter, 1u) + 1;
  return __shfl_sync(0xffffffffu, row, 0);
}

/* For lane c: `own` minus the sum of component c over the row. */
template <int COMPONENTS>
static __device__ __forceinline__ double subtract_row(const triangle &t, unsigned at, const double *found,
                                                      double own) {
  const int lane = (int)threadIdx.x % 32;
  double sums[COMPONENTS] = {};
  for (int64_t e = t.offsets[at] + lane; e < t.offsets[at + 1]; e += 32) {
    const double value = t.values[e];
    const double *from = found + (size_t)t.columns[e] * COMPONENTS;
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++) sums[c] += value * wait_for(from + c);
  }
#pragma unroll
  for (int c = 0; c < COMPONENTS; c++) {
    const double sum = cuda_warp_sum(sums[c]);
    if (lane == c) own -= sum;
  }
  return own;
}

/* ---- Kernels ---- */

/* y: L y = D_r r */
template <int COMPONENTS>
static __global__ void __launch_bounds__(CUDA_THREADS)
    solve_lower(unsigned n, triangle t, const float *r, double *y, unsigned *counter) {
  const int lane = (int)threadIdx.x % 32;
  for (unsigned at; (at = next_row(counter)) < n;) {
    double own = 0;
    if (lane < COMPONENTS) own = t.scales[at] * (double)r[(size_t)t.outside[at] * COMPONENTS + lane];
    own = subtract_row<COMPONENTS>(t, at, y, own);
    if (lane < COMPONENTS) publish(y + (size_t)t.rows[at] * COMPONENTS + lane, own);
  }
}

/* The parts of a vector; missing ones are NULL. */
struct parts {
  float *part[3];
};

static __device__ __forceinline__ void store_parts(const parts &z, size_t i, double value) {
  for (int p = 0; p < 3 && z.part[p]; p++) {
    const float rounded = (float)value;
    z.part[p][i] = p == 0 || isfinite(rounded) ? rounded : 0;
    value = isfinite(rounded) ? value - (double)rounded : 0;
  }
}

/* w: U w = D^-1 y;  z = D_c w */
template <int COMPONENTS>
static __global__ void __launch_bounds__(CUDA_THREADS)
    solve_upper(unsigned n, triangle t, const double *y, double *w, parts z, unsigned *counter) {
  const int lane = (int)threadIdx.x % 32;
  for (unsigned at; (at = next_row(counter)) < n;) {
    const size_t k = (size_t)t.rows[at] * COMPONENTS + lane;
    double own = 0;
    if (lane < COMPONENTS) own = t.inverses[at] * y[k];
    own = subtract_row<COMPONENTS>(t, at, w, own);
    if (lane >= COMPONENTS) continue;
    publish(w + k, own);
    store_parts(z, (size_t)t.outside[at] * COMPONENTS + lane, t.scales[at] * own);
  }
}

/* ---- Application ---- */

/* Warps that find no row exit at once, so the maximum of resident blocks is enough. */
static ts_status find_blocks(ts_context *context, const void *kernel, int32_t n, unsigned *blocks) {
  const unsigned all = cuda_blocks_for((size_t)n * 32);
  unsigned each = 1;
  TSI_TRY(cuda_blocks_of(context, kernel, CUDA_THREADS, &each));
  const unsigned full = (unsigned)cuda_state_of(context)->multiprocessors * each;
  *blocks = all < full ? all : full;
  return TS_OK;
}

template <int COMPONENTS>
static ts_status solve(ts_context *context, const tsi_ilu_device *device, const parts &z, const float *r) {
  const size_t count = (size_t)device->n * COMPONENTS;
  double *y = (double *)device->work, *w = y + count;
  unsigned *counters = (unsigned *)(w + count), blocks;
  const unsigned n = (unsigned)device->n;
  CUDA_TRY(context, cudaMemsetAsync(device->work, 0xff, device->work_bytes, cuda_stream(context)));
  TSI_TRY(find_blocks(context, (const void *)solve_lower<COMPONENTS>, device->n, &blocks));
  TSI_TRY(cuda_launch(context, "solve_lower", solve_lower<COMPONENTS>, dim3(blocks), dim3(CUDA_THREADS), n,
                      device->lower, r, y, counters));
  TSI_TRY(find_blocks(context, (const void *)solve_upper<COMPONENTS>, device->n, &blocks));
  return cuda_launch(context, "solve_upper", solve_upper<COMPONENTS>, dim3(blocks), dim3(CUDA_THREADS), n,
                     device->upper, (const double *)y, w, z, counters + 1);
}

static ts_status cuda_ilu_apply(tsi_ilu_device *device, ts_vector *z, const ts_vector *r) {
  ts_context *context = z->context;
  parts to = {};
  int p = 0;
  for (ts_vector *part = z; part && p < 3; part = part->low) to.part[p++] = cuda_data(part);
  switch (device->components) {
  case 1:
    return solve<1>(context, device, to, cuda_data(r));
  case 2:
    return solve<2>(context, device, to, cuda_data(r));
  case 3:
    return solve<3>(context, device, to, cuda_data(r));
  default:
    return solve<4>(context, device, to, cuda_data(r));
  }
}

const tsi_ilu_ops cuda_ilu_ops = {TSI_ILU_OPERATIONS(TSI_ENTRY, cuda_ilu_)};
