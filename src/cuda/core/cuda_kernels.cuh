/* Shared by all kernels: coefficients from slots, loops over elements, sums over warps and blocks. */
#ifndef CUDA_KERNELS_CUH
#define CUDA_KERNELS_CUH

#include <cuda_runtime.h>
#include <float.h>

#include "cuda.h"
/* MULTIPROCESSOR_THREADS: the maximum that every multiprocessor of a generation supports. The compiler rejects
 * launch bounds above it. cmake/CudaGenerations.cmake asks the compiler. */
#include "cuda_generations.h"

enum { CUDA_THREADS = 256 };

/* Loads the cache line of an address into the L2 cache. */
static __device__ __forceinline__ void cuda_prefetch(const void *address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

/* A coefficient as a kernel receives it: scale * numerator / denominator for each component, 0 if the
 * denominator is below FLT_MIN. A missing slot counts as 1. */
struct cuda_coefficient {
  float scale;
  const float *numerator, *denominator; /* four floats each, or NULL */
};

static inline const float *cuda_slot_pointer(ts_slot slot) {
  if (!slot.scalars) return NULL;
  return ((const cuda_scalars *)slot.scalars->impl)->values + (size_t)slot.index * 4;
}

static inline cuda_coefficient cuda_coefficient_of(ts_coefficient c) {
  return {(float)c.scale, cuda_slot_pointer(c.numerator), cuda_slot_pointer(c.denominator)};
}

static __device__ __forceinline__ float cuda_evaluate(const cuda_coefficient &c, int component) {
  const float numerator = c.numerator ? c.numerator[component] : 1.0f;
  const float denominator = c.denominator ? c.denominator[component] : 1.0f;
  return fabsf(denominator) < FLT_MIN ? 0 : __fdiv_rn(c.scale * numerator, denominator);
}

/* A coefficient in pairs, from the high and low parts of the slots. */
struct cuda_pair_coefficient {
  double scale;
  const float *numerator, *numerator_low, *denominator, *denominator_low; /* NULL as a low part: 0 */
};

static inline const float *cuda_low_slot_pointer(ts_slot slot) {
  return slot.scalars && slot.scalars->low ? cuda_slot_pointer({slot.scalars->low, slot.index}) : NULL;
}

static inline cuda_pair_coefficient cuda_pair_coefficient_of(ts_coefficient c) {
  return {c.scale, cuda_slot_pointer(c.numerator), cuda_low_slot_pointer(c.numerator),
          cuda_slot_pointer(c.denominator), cuda_low_slot_pointer(c.denominator)};
}

static __device__ __forceinline__ double cuda_slot_value(const float *high, const float *low, int component) {
  return high ? (double)high[component] + (low ? (double)low[component] : 0) : 1;
}

static __device__ __forceinline__ double cuda_evaluate(const cuda_pair_coefficient &c, int component) {
  const double numerator = cuda_slot_value(c.numerator, c.numerator_low, component);
  const double denominator = cuda_slot_value(c.denominator, c.denominator_low, component);
  return fabs(denominator) < FLT_MIN ? 0 : c.scale * numerator / denominator;
}

/* The location of a reduction's result. */
static inline float *cuda_slot(ts_scalars *s, int index) {
  return ((cuda_scalars *)s->impl)->values + (size_t)index * 4;
}

/* Number of blocks that cover `items` with one thread each. */
static inline unsigned cuda_blocks_for(size_t items, unsigned threads = CUDA_THREADS) {
  return (unsigned)((items + threads - 1) / threads);
}

/* ---- Programmatic dependent launch ----
 *
 * A kernel launched by cuda_start may start before the previous kernel has ended. It is resident, with its
 * first loads done, when the last block of the previous kernel exits. Before cuda_dependent_wait it writes
 * nothing and reads only matrix patterns, which were uploaded by a copy and never change. All its threads call
 * cuda_dependent_wait. (The multigrid steps read slightly more; see cuda_level.cuh.) A copy, or a kernel
 * launched in another way, waits for the end of all kernels before it. */
#define CUDA_KNOWS_DEPENDENT_LAUNCH (CUDART_VERSION >= 12000) /* CUDA 11.8 lacks the two functions */

static __device__ __forceinline__ void cuda_dependent_wait(void) {
#if CUDA_KNOWS_DEPENDENT_LAUNCH && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
/* The next kernel may start as soon as every block has reached this call. */
static __device__ __forceinline__ void cuda_dependent_trigger(void) {
#if CUDA_KNOWS_DEPENDENT_LAUNCH && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* For a kernel that reads no pattern. */
static __device__ __forceinline__ void cuda_dependent_begin(void) {
  cuda_dependent_trigger();
  cuda_dependent_wait();
}

/* cuda_launch.cu. `arguments` points to each argument; `early` is set by cuda_start. */
ts_status cuda_launch_kernel(ts_context *context, const char *name, const void *kernel, dim3 blocks,
                             dim3 threads, bool early, void **arguments);

/* The launch is in cuda_launch_kernel, which is compiled once. This template is compiled for each of hundreds
 * of kernels. */
template <typename... PARAMETERS, typename... ARGUMENTS>
static inline ts_status cuda_launch_converted(ts_context *context, const char *name,
                                              void (*kernel)(PARAMETERS...), dim3 blocks, dim3 threads,
                                              bool early, const ARGUMENTS &...arguments) {
  const auto launch = [&](PARAMETERS... converted) {
    void *pointers[] = {(void *)&converted...};
    return cuda_launch_kernel(context, name, (const void *)kernel, blocks, threads, early, pointers);
  };
  return launch(static_cast<PARAMETERS>(arguments)...);
}

/* cuda_launch starts a kernel after the end of all before it, cuda_start as described above. */
template <typename KERNEL, typename... ARGUMENTS>
static inline ts_status cuda_launch(ts_context *context, const char *name, KERNEL kernel, dim3 blocks,
                                    dim3 threads, const ARGUMENTS &...arguments) {
  return cuda_launch_converted(context, name, kernel, blocks, threads, false, arguments...);
}

template <typename KERNEL, typename... ARGUMENTS>
static inline ts_status cuda_start(ts_context *context, const char *name, KERNEL kernel, unsigned blocks,
                                   unsigned threads, const ARGUMENTS &...arguments) {
  return cuda_launch_converted(context, name, kernel, dim3(blocks), dim3(threads), true, arguments...);
}

/* ---- The first-level cache ----
 *
 * The L1 cache uses the part of a multiprocessor's memory that is not shared memory. CUDA reserves more shared
 * memory than blocks use: on an H200, 100 or 132 KB of 256 KB for blocks that use 54 KB. Kernels that gather x
 * are up to a third faster when the unused rest serves as cache. */

/* Kernel numbers for cuda_spare_cache, four per kernel: one for each number of components. */
enum {
  CUDA_MULTIPLY_ROW_BLOCKS = 0,
  CUDA_RESIDUAL_ROW_BLOCKS = 4,
  CUDA_CG_ROW_BLOCKS = 8,
  CUDA_PAIR_ROW_BLOCKS = 12,
  CUDA_PART_ROW_BLOCKS = 16
};

/* Reserves for `kernel` only the shared memory of the blocks that fit on a multiprocessor, plus CUDA's own
 * share per block. Runs once per kernel number and context. */
static inline ts_status cuda_spare_cache(ts_context *context, int number, const void *kernel,
                                         unsigned threads) {
  cuda_state *state = cuda_state_of(context);
  cudaFuncAttributes kernel_has;
  int blocks = 0, all = 0;
  if (state->kernels_spare_cache >> number & 1) return TS_OK;
  CUDA_TRY(context, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, (int)threads, 0));
  CUDA_TRY(context, cudaFuncGetAttributes(&kernel_has, kernel));
  CUDA_TRY(context, cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, state->device));
  const int percent =
      (int)((100 * (size_t)blocks * kernel_has.sharedSizeBytes + (size_t)all - 1) / (size_t)all);
  CUDA_TRY(context, cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                         percent < 100 ? percent : 100));
  state->kernels_spare_cache |= (uint64_t)1 << number;
  return TS_OK;
}

/* ---- Loops over the elements of vectors, a quad (four neighbours) at a time ----
 *
 *   const cuda_quad a = cuda_lanes(coefficient, components);
 *   CUDA_EACH_QUAD(i, count) {
 *     cuda_quad v = cuda_load(x, i, count);
 *     CUDA_EACH_LANE(l) v.lane[l] *= a.lane[l];
 *     cuda_store(out, i, v, count);
 *   }
 *
 * Lane l of quad i is element 4 i + l. With three components the number of blocks is a multiple of three, so a
 * thread finds the same components in the lanes of all its quads. */
struct cuda_quad {
  float lane[4];
};

#define CUDA_EACH_QUAD(i, count)                                                                               \
  for (size_t i = cuda_first_quad(); 4 * i < (count); i += (size_t)gridDim.x * blockDim.x)
#define CUDA_EACH_LANE(l) _Pragma("unroll") for (int l = 0; l < 4; l++)

static __device__ __forceinline__ size_t cuda_first_quad(void) {
  return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* The component of lane 0 in all quads of this thread: 4 q modulo 3 equals q modulo 3. A division by a number
 * unknown at compile time would take as long as a few loads. */
static __device__ __forceinline__ int cuda_first_component(int components) {
  return components == 3 ? (int)((unsigned)cuda_first_quad() % 3) : 0;
}

static __device__ __forceinline__ int cuda_component_of_lane(int first, int lane, int components) {
  return components == 3 ? (first + lane) % 3 : lane & (components - 1);
}

/* Elements after the last one count as 0. */
static __device__ __forceinline__ cuda_quad cuda_load(const float *x, size_t i, size_t count) {
  cuda_quad q;
  if (4 * i + 4 <= count) {
    const float4 v = ((const float4 *)x)[i];
    q.lane[0] = v.x, q.lane[1] = v.y, q.lane[2] = v.z, q.lane[3] = v.w;
  } else {
    CUDA_EACH_LANE(l) q.lane[l] = 4 * i + l < count ? x[4 * i + l] : 0.0f;
  }
  return q;
}

/* Leaves the memory after the last element unchanged. */
static __device__ __forceinline__ void cuda_store(float *out, size_t i, const cuda_quad &q, size_t count) {
  if (4 * i + 4 <= count) {
    ((float4 *)out)[i] = make_float4(q.lane[0], q.lane[1], q.lane[2], q.lane[3]);
  } else {
    CUDA_EACH_LANE(l) if (4 * i + l < count) out[4 * i + l] = q.lane[l];
  }
}

/* A coefficient for each lane of this thread's quads. */
static __device__ __forceinline__ cuda_quad cuda_lanes(const cuda_coefficient &c, int components) {
  const int first = cuda_first_component(components);
  cuda_quad q;
  CUDA_EACH_LANE(l) q.lane[l] = cuda_evaluate(c, cuda_component_of_lane(first, l, components));
  return q;
}

/* ---- Pairs ----
 *
 * Kernels for single-part vectors and for pairs are templates. A Vector is a `float *` or a cuda_pair, which
 * has doubles in registers as elements. */
struct cuda_pair {
  float *high, *low; /* low is NULL in a read-only operand without one: 0 */
};

struct cuda_double_quad {
  double lane[4];
};

/* The low-order part of `value`, given the float `high`. */
static __device__ __forceinline__ float cuda_low_part(double value, float high) {
  return isfinite(high) ? (float)(value - (double)high) : 0;
}

static __device__ __forceinline__ cuda_double_quad cuda_load(const cuda_pair &x, size_t i, size_t count) {
  cuda_double_quad q;
  const cuda_quad high = cuda_load(x.high, i, count);
  cuda_quad low = {};
  if (x.low) low = cuda_load(x.low, i, count);
  CUDA_EACH_LANE(l) q.lane[l] = (double)high.lane[l] + (double)low.lane[l];
  return q;
}

static __device__ __forceinline__ void cuda_store(const cuda_pair &out, size_t i, const cuda_double_quad &q,
                                                  size_t count) {
  cuda_quad high, low;
  CUDA_EACH_LANE(l) high.lane[l] = (float)q.lane[l];
  CUDA_EACH_LANE(l) low.lane[l] = cuda_low_part(q.lane[l], high.lane[l]);
  cuda_store(out.high, i, high, count);
  cuda_store(out.low, i, low, count);
}

/* Divisions are slow: one division suffices if all lanes have the same component. */
static __device__ __forceinline__ cuda_double_quad cuda_lanes(const cuda_pair_coefficient &c, int components) {
  const int first = cuda_first_component(components);
  const double value = cuda_evaluate(c, first);
  cuda_double_quad q;
  CUDA_EACH_LANE(l) {
    const int component = cuda_component_of_lane(first, l, components);
    q.lane[l] = component == first ? value : cuda_evaluate(c, component);
  }
  return q;
}

static __device__ __forceinline__ const float *cuda_high(const float *x) {
  return x;
}
static __device__ __forceinline__ const float *cuda_high(const cuda_pair &x) {
  return x.high;
}

/* The types that belong to a Vector. */
template <typename Vector> struct cuda_of;

template <> struct cuda_of<float *> {
  typedef float number;
  typedef cuda_coefficient coefficient;
  static float *vector(const ts_vector *v) { return cuda_data(v); }
  static cuda_coefficient evaluated(ts_coefficient c) { return cuda_coefficient_of(c); }
};

template <> struct cuda_of<cuda_pair> {
  typedef double number;
  typedef cuda_pair_coefficient coefficient;
  static cuda_pair vector(const ts_vector *v) { return {cuda_data(v), v->low ? cuda_data(v->low) : NULL}; }
  static cuda_pair_coefficient evaluated(ts_coefficient c) { return cuda_pair_coefficient_of(c); }
};

/* Blocks for a loop over quads: at most the number that the device holds at once, since waiting blocks would
 * run alone at the end. A reduction's order of additions depends on this number. */
static inline ts_status cuda_blocks_quads(ts_context *context, const void *kernel, size_t count, int components,
                                          unsigned *blocks) {
  const size_t all = cuda_blocks_for((count + 3) / 4);
  unsigned each = 1;
  TSI_TRY(cuda_blocks_of(context, kernel, CUDA_THREADS, &each));
  const size_t full = (size_t)cuda_state_of(context)->multiprocessors * each;
  *blocks = (unsigned)(all < 1 ? 1 : all < full ? all : full);
  if (components == 3) *blocks = (*blocks + 2) / 3 * 3;
  return TS_OK;
}

/* Launches KERNEL with the arguments that follow. The kernel has a loop over the quads of `v` after
 * cuda_dependent_begin. */
#define CUDA_RUN_QUADS(v, kernel, ...)                                                                         \
  do {                                                                                                         \
    const ts_vector *v_ = (v);                                                                                 \
    unsigned blocks_ = 1;                                                                                      \
    TSI_TRY(cuda_blocks_quads(v_->context, (const void *)(kernel), cuda_count(v_), v_->components, &blocks_)); \
    TSI_TRY(cuda_start(v_->context, #kernel, kernel, blocks_, CUDA_THREADS, cuda_count(v_), __VA_ARGS__));     \
  } while (0)

/* A hash: about half of its bits change if one bit of the key changes. */
static __device__ __forceinline__ unsigned long long cuda_mixed(unsigned long long key) {
  key = (key ^ key >> 32) * 0x9e3779b97f4a7c15ull;
  key = (key ^ key >> 29) * 0xbf58476d1ce4e5b9ull;
  return key ^ key >> 32;
}

/* The sum over the warp, in every lane. The order of additions is fixed. */
template <typename T> static __device__ __forceinline__ T cuda_warp_sum(T value) {
  for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

#endif
