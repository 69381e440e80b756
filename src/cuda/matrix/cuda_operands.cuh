/* Operands of products and residuals, and the use of a row's sum:
 *
 *   operands              the sum          result
 *   cuda_operands         float            y = A x, r = b - A x, a step of a smoother
 *                         double           r = b - A x, rounded
 *   cuda_pair_operands    double           y = A x, a pair
 *   cuda_exact_operands   cuda_exact       r = b - A x, a pair */
#ifndef CUDA_OPERANDS_CUH
#define CUDA_OPERANDS_CUH

#include "cuda/core/cuda_kernels.cuh"

/* A sum of products of floats, with the rounding errors of its additions (Knuth's two-sum). The products are
 * exact in double precision. */
struct cuda_exact {
  double sum, error;
  cuda_exact() = default;
  __device__ __forceinline__ cuda_exact(double value) : sum(value), error(0) {}
  __device__ __forceinline__ cuda_exact &operator+=(double value) {
    const double before = sum;
    sum = before + value;
    const double part = sum - before;
    error += (before - (sum - part)) + (value - part);
    return *this;
  }
  __device__ __forceinline__ cuda_exact &operator+=(const cuda_exact &other) {
    *this += other.sum;
    error += other.error;
    return *this;
  }
};

/* The product of a matrix value and an element of x. */
static __device__ __forceinline__ double operator*(const cuda_exact &value, float x) {
  return value.sum * (double)x;
}

template <typename Real> static __device__ __forceinline__ Real cuda_shuffle_xor(Real value, int offset) {
  return __shfl_xor_sync(0xffffffffu, value, offset);
}
template <> __device__ __forceinline__ cuda_exact cuda_shuffle_xor(cuda_exact value, int offset) {
  value.sum = cuda_shuffle_xor(value.sum, offset);
  value.error = cuda_shuffle_xor(value.error, offset);
  return value;
}

/* One kernel serves all three uses. They differ only in a branch after a row's sum, which is uniform over all
 * threads. */
struct cuda_operands {
  float *y;
  const float *x;
  const float *b;                   /* NULL for y = A x */
  const unsigned char *constrained; /* flags of rows with y = 0, NULL: none */
  /* If w is not NULL, a step of a smoother: y = x' + alpha w (b - A x') + gamma (x' - before), x' = scale x */
  const float *w, *before; /* before: NULL counts as 0 */
  float scale, alpha, gamma;
};

struct cuda_pair_operands {
  cuda_pair y, x;
  const unsigned char *constrained;
  double *dots; /* of slices with one component: the sum of x y over each slice; may be NULL */
};

struct cuda_exact_operands {
  cuda_pair y;
  const float *x;
  const float *b[3]; /* parts, the smallest first; NULL: 0 */
  const unsigned char *constrained;
};

static inline cuda_operands cuda_operands_of(const ts_vector *y, const ts_vector *b, const ts_vector *x,
                                             const unsigned char *constrained) {
  return {cuda_data(y), cuda_data(x), b ? cuda_data(b) : NULL, constrained};
}

static inline cuda_operands cuda_step_operands_of(const ts_vector *out, const tsi_smoothing *s) {
  cuda_operands o = cuda_operands_of(out, s->b, s->x, NULL);
  o.w = cuda_data(s->w), o.before = s->before ? cuda_data(s->before) : NULL;
  o.scale = s->scale, o.alpha = s->alpha, o.gamma = s->gamma;
  return o;
}

static inline cuda_pair_operands cuda_pair_operands_of(const ts_vector *y, const ts_vector *x,
                                                       const unsigned char *constrained) {
  return {cuda_of<cuda_pair>::vector(y), cuda_of<cuda_pair>::vector(x), constrained};
}

static inline cuda_exact_operands cuda_exact_operands_of(const ts_vector *r, const ts_vector *b,
                                                         const ts_vector *x, const unsigned char *constrained) {
  const ts_vector *low = b->low, *lowest = low ? low->low : NULL;
  return {cuda_of<cuda_pair>::vector(r),
          cuda_data(x),
          {lowest ? cuda_data(lowest) : NULL, low ? cuda_data(low) : NULL, cuda_data(b)},
          constrained};
}

static __device__ __forceinline__ double cuda_value(const cuda_operands &o, size_t element, double sum) {
  return (double)o.b[element] - sum;
}

static __device__ __forceinline__ float cuda_value(const cuda_operands &o, size_t element, float sum) {
  if (!o.w) return o.b ? o.b[element] - sum : sum;
  const float x = o.scale * o.x[element], from_before = o.before ? x - o.before[element] : x;
  return x + o.alpha * o.w[element] * (o.b[element] - o.scale * sum) + o.gamma * from_before;
}

static __device__ __forceinline__ double cuda_value(const cuda_pair_operands &, size_t, double sum) {
  return sum;
}

static __device__ __forceinline__ double cuda_value(const cuda_exact_operands &o, size_t element,
                                                    const cuda_exact &sum) {
  cuda_exact difference = -sum.sum;
#pragma unroll
  for (int part = 0; part < 3; part++)
    if (o.b[part]) difference += (double)o.b[part][element];
  return difference.sum + (difference.error - sum.error);
}

template <typename Real>
static __device__ __forceinline__ void cuda_write(float *y, size_t element, Real value) {
  y[element] = (float)value;
}

static __device__ __forceinline__ void cuda_write(const cuda_pair &y, size_t element, double value) {
  const float high = (float)value;
  y.high[element] = high;
  y.low[element] = cuda_low_part(value, high);
}

/* Writes the result of a row; called by the row's first thread. */
template <int N, typename Operands, typename Real>
static __device__ __forceinline__ void cuda_write_row(const Operands &o, int32_t row, const Real sum[N]) {
  const size_t first = (size_t)row * N;
  const bool constrained = o.constrained && o.constrained[row];
  for (int c = 0; c < N; c++) cuda_write(o.y, first + c, constrained ? 0 : cuda_value(o, first + c, sum[c]));
}

#endif
