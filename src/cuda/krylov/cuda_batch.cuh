/* One system of a batch in one block: loading and scaling, products and sums. cuda_batch_iterate.cuh has the
 * methods, and cuda_batch_solve.cu launches them. The arithmetic is that of batch_kernel.h.
 *
 * Thread t has rows t, t + blockDim.x, ... Only the operand of a product has rows of other threads: x, d and y.
 * All threads have the same sums and so the same batch_state, and take the same branches. */
#ifndef CUDA_BATCH_CUH
#define CUDA_BATCH_CUH

#include "cuda/core/cuda_arrays.h"
#include "cuda/core/cuda_kernels.cuh"

extern "C" {
#include "common/core/pool.h"
#include "common/krylov/batch_solve.h"
}

#define BATCH_FUNCTION static __device__ __forceinline__
#include "common/krylov/batch_rules.h"

enum { BATCH_THREADS = 512 /* maximum of a block */, BATCH_SCRATCH = 2 * BATCH_THREADS / 32 };

/* Numbers of an array of floats or doubles. */
struct batch_numbers {
  const void *data;
  int are_floats;
};

BATCH_FUNCTION double batch_number(const batch_numbers &numbers, size_t k) {
  return numbers.are_floats ? (double)((const float *)numbers.data)[k] : ((const double *)numbers.data)[k];
}

/* The call, as a kernel receives it. */
struct batch_call {
  int rows, entries, given;
  const int32_t *offsets, *columns, *diagonal, *mirror;
  const int32_t *first, *sources; /* as in tsi_batch_pattern; NULL if it is in order */
  size_t systems;
  batch_numbers values, b, start;
  void *x;
  int x_is_float, zero_start, max_iterations;
  ts_method method;
  ts_preconditioner_kind preconditioner;
  double rtol;
  ts_batch_result *results;
  double *workspace; /* `stride` doubles per block for arrays that are not in shared memory */
  size_t stride;
};

/* Vectors of `rows` doubles. cg needs the first ones only. */
enum { BATCH_CG_VECTORS = 6, BATCH_ALL_VECTORS = 9 };

/* WARP: the block is one warp. */
template <bool WARP> struct batch_solver {
  const batch_call &call;
  size_t system;
  double *scratch, *values;
  double *m, *x, *best, *r, *d, *q, *shadow, *t, *y; /* bicgstab: d is p, q is v */
  batch_power from_b, x_to_user, x_from_user;
  batch_facts facts;
  batch_state state;
};

#define BATCH_EACH(i, count) for (int i = (int)threadIdx.x; i < (count); i += (int)blockDim.x)

/* ---- The block ---- */

template <bool WARP> static __device__ __forceinline__ void batch_sync(void) {
  if (WARP)
    __syncwarp();
  else
    __syncthreads();
}

template <bool WARP> static __device__ __forceinline__ bool batch_any(bool condition) {
  return WARP ? __any_sync(0xffffffffu, condition) != 0 : __syncthreads_or(condition) != 0;
}

/* Sums two numbers over the block, in a fixed order. Afterwards all threads have passed their loads and stores.
 */
template <bool WARP>
static __device__ __forceinline__ void batch_sum(const batch_solver<WARP> &s, double &a, double &b) {
  a = cuda_warp_sum(a);
  b = cuda_warp_sum(b);
  batch_sync<WARP>();
  if (WARP) return;
  const int warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
  if (threadIdx.x % 32 == 0) {
    s.scratch[2 * warp] = a;
    s.scratch[2 * warp + 1] = b;
  }
  __syncthreads();
  a = b = 0;
  for (int w = 0; w < warps; w++) {
    a += s.scratch[2 * w];
    b += s.scratch[2 * w + 1];
  }
}

/* The largest magnitude of `count` numbers from `first` on. The bits of magnitudes compare like the magnitudes,
 * and those of NaN are the largest. */
template <bool WARP>
static __device__ double batch_largest(const batch_solver<WARP> &s, const batch_numbers &numbers, size_t first,
                                       int count) {
  unsigned long long most = 0;
  BATCH_EACH(k, count) {
    const double magnitude = fabs(batch_number(numbers, first + (size_t)k));
    most = max(most, (unsigned long long)__double_as_longlong(magnitude));
  }
  for (int offset = 16; offset > 0; offset >>= 1) most = max(most, __shfl_xor_sync(0xffffffffu, most, offset));
  if (WARP) return __longlong_as_double((long long)most);
  const int warps = (int)blockDim.x / 32;
  __syncthreads();
  if (threadIdx.x % 32 == 0) s.scratch[threadIdx.x / 32] = __longlong_as_double((long long)most);
  __syncthreads();
  for (int w = 0; w < warps; w++) most = max(most, (unsigned long long)__double_as_longlong(s.scratch[w]));
  return __longlong_as_double((long long)most);
}

/* out = A in, wq = sum w out, qq = sum out out. */
template <bool WARP>
static __device__ __forceinline__ void batch_multiply(const batch_solver<WARP> &s, double *out,
                                                      const double *in, const double *w, double &wq,
                                                      double &qq) {
  const int32_t *offsets = s.call.offsets, *columns = s.call.columns;
  wq = qq = 0;
  batch_sync<WARP>();
  BATCH_EACH(i, s.call.rows) {
    double sum = 0;
    for (int e = offsets[i]; e < offsets[i + 1]; e++) sum += s.values[e] * in[columns[e]];
    out[i] = sum;
    wq += w[i] * sum;
    qq += sum * sum;
  }
  batch_sum(s, wq, qq);
}

template <bool WARP> static __device__ __forceinline__ double batch_b(const batch_solver<WARP> &s, int i) {
  return batch_times(batch_number(s.call.b, s.system * (size_t)s.call.rows + (size_t)i), &s.from_b);
}

/* r = b - A x; returns its norm. */
template <bool WARP> static __device__ double batch_residual(const batch_solver<WARP> &s) {
  const int32_t *offsets = s.call.offsets, *columns = s.call.columns;
  double square = 0, unused = 0;
  batch_sync<WARP>();
  BATCH_EACH(i, s.call.rows) {
    double sum = 0;
    for (int e = offsets[i]; e < offsets[i + 1]; e++) sum += s.values[e] * s.x[columns[e]];
    const double r = batch_b(s, i) - sum;
    s.r[i] = r;
    square += r * r;
  }
  batch_sum(s, square, unused);
  return sqrt(square);
}

/* ---- Loading ---- */

template <bool WARP>
static __device__ void batch_load_values(const batch_solver<WARP> &s, const batch_power &from_values) {
  const size_t first = s.system * (size_t)s.call.given;
  BATCH_EACH(e, s.call.entries) {
    double sum = 0;
    if (!s.call.first)
      sum = batch_times(batch_number(s.call.values, first + (size_t)e), &from_values);
    else
      for (int k = s.call.first[e]; k < s.call.first[e + 1]; k++)
        sum += batch_times(batch_number(s.call.values, first + (size_t)s.call.sources[k]), &from_values);
    s.values[e] = sum;
  }
  batch_sync<WARP>();
}

template <bool WARP> static __device__ bool batch_differs_from_mirrors(const batch_solver<WARP> &s) {
  const int32_t *diagonal = s.call.diagonal;
  bool differs = false;
  BATCH_EACH(i, s.call.rows) {
    for (int e = s.call.offsets[i]; e < s.call.offsets[i + 1]; e++) {
      const int j = s.call.columns[e], mirror = s.call.mirror[e];
      if (j <= i && mirror >= 0) continue;
      const double a = s.values[e], b = mirror >= 0 ? s.values[mirror] : 0;
      double excess = (a - b) * (a - b) - BATCH_SYMMETRY_RELATIVE * (a * a + b * b);
      if (diagonal[i] >= 0 && diagonal[j] >= 0)
        excess -= BATCH_SYMMETRY_DIAGONAL * s.values[diagonal[i]] * s.values[diagonal[j]];
      if (excess > 0) differs = true;
    }
  }
  return batch_any<WARP>(differs);
}

/* Facts about the values, and the preconditioner. */
template <bool WARP> static __device__ void batch_find_facts(batch_solver<WARP> &s) {
  bool zero = false, negative = false;
  BATCH_EACH(i, s.call.rows) {
    const double value = s.call.diagonal[i] < 0 ? 0 : s.values[s.call.diagonal[i]];
    if (value == 0) zero = true;
    if (value < 0) negative = true;
    s.m[i] = value;
  }
  s.facts.zero_diagonal = batch_any<WARP>(zero);
  s.facts.negative_diagonal = batch_any<WARP>(negative);
  s.facts.is_symmetric = s.call.method == TS_METHOD_BICGSTAB || !batch_differs_from_mirrors(s);
  const bool uses_jacobi = batch_uses_jacobi(s.call.preconditioner, &s.facts) && !s.facts.zero_diagonal;
  BATCH_EACH(i, s.call.rows) s.m[i] = uses_jacobi ? 1 / s.m[i] : 1;
}

/* The start; 0 if none is given, if b is 0, or if it is not representable in the scale of the solution. */
template <bool WARP> static __device__ void batch_load_start(batch_solver<WARP> &s, bool b_is_zero) {
  const size_t first = s.system * (size_t)s.call.rows;
  bool is_too_large = false, is_zeroed = false;
  BATCH_EACH(i, s.call.rows) {
    const double given = s.call.zero_start ? 0 : batch_number(s.call.start, first + (size_t)i);
    const double scaled = batch_times(given, &s.x_from_user);
    if (given != 0 && b_is_zero) is_zeroed = true;
    if (!batch_is_finite(scaled)) is_too_large = true;
    s.x[i] = b_is_zero ? 0 : scaled;
    s.best[i] = 0;
  }
  s.state.x_was_zeroed = batch_any<WARP>(is_zeroed);
  if (!batch_any<WARP>(is_too_large)) return;
  BATCH_EACH(i, s.call.rows) s.x[i] = 0;
}

/* Loads and scales the system, and sets the state. */
template <bool WARP> static __device__ void batch_load(batch_solver<WARP> &s) {
  const batch_call &call = s.call;
  const size_t first = s.system * (size_t)call.rows;
  const double largest = batch_largest(s, call.values, s.system * (size_t)call.given, call.given),
               largest_b = batch_largest(s, call.b, first, call.rows),
               largest_x = call.zero_start ? 0 : batch_largest(s, call.start, first, call.rows);
  const int exponent = batch_exponent(largest), exponent_b = batch_exponent(largest_b);
  s.state = {};
  s.facts = {};
  s.facts.is_finite = batch_is_finite(largest) && batch_is_finite(largest_b) && batch_is_finite(largest_x);
  s.from_b = batch_power_of_two(-exponent_b);
  s.x_to_user = batch_power_of_two(exponent_b - exponent);
  s.x_from_user = batch_power_of_two(exponent - exponent_b);
  if (s.facts.is_finite) {
    double square = 0, unused = 0;
    batch_load_values(s, batch_power_of_two(-exponent));
    batch_find_facts(s);
    batch_load_start(s, largest_b == 0);
    BATCH_EACH(i, call.rows) square += batch_b(s, i) * batch_b(s, i);
    batch_sum(s, square, unused);
    batch_set_b(&s.state, sqrt(square), call.rtol);
  }
  batch_begin(&s.state, call.method, call.preconditioner, &s.facts);
}

#endif
