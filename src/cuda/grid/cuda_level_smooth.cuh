/* Smoothing steps at a point. */
#ifndef CUDA_LEVEL_SMOOTH_CUH
#define CUDA_LEVEL_SMOOTH_CUH

#include "cuda_level.cuh"

/* A step of Jacobi or Chebyshev. */
struct cuda_jacobi {
  float alpha, beta;
  int x_is_zero, has_direction;
};

/* A colour, or two that are not neighbours. */
struct cuda_colours {
  int first, second;
  int known;     /* parities of x with values; the others count as 0 */
  int x_is_zero; /* points without equation become 0 */
  int beside;    /* results are written to the other field and copied */
};

/* Lists the colours of a sweep in their order. Returns their number. */
int cuda_list_colours(const tsi_level *level, const tsi_sweep *sweep, cuda_colours out[4]);
/* Converts a sweep to kernel arguments. Allocates the level's directions if needed. */
ts_status cuda_level_jacobi_of(tsi_level *level, const tsi_sweep *sweep, cuda_jacobi *step);

template <bool NINE>
static __device__ __forceinline__ void cuda_jacobi_at(const cuda_level_view &l, const cuda_jacobi &s,
                                                      cuda_point p, const float *b, const float *x, float *next,
                                                      float *direction) {
  const cuda_around at = cuda_look_around(l, p);
  const int own = at.column[1] + at.row[1];
  const float centre = l.sides[own];
  const float old = s.x_is_zero ? 0 : x[own];
  float step = 0;
  if (centre != 0) {
    float r = b[own];
    if (!s.x_is_zero) r = cuda_without_centre<NINE>(l, at, r, x, 15) - centre * old;
    step = s.alpha * (__frcp_rn(centre) * r);
    if (s.beta != 0) step += s.beta * direction[own];
  }
  if (s.has_direction) direction[own] = step;
  next[own] = old + step;
}

template <bool NINE>
static __device__ __forceinline__ void cuda_relax_at(const cuda_level_view &l, const cuda_colours &c,
                                                     cuda_point p, const float *b, const float *x, float *out) {
  const cuda_around at = cuda_look_around(l, p);
  const int own = at.column[1] + at.row[1];
  const float centre = l.sides[own];
  if (centre != 0)
    out[own] = __frcp_rn(centre) * cuda_without_centre<NINE>(l, at, b[own], x, c.known);
  else if (c.x_is_zero)
    out[own] = 0;
  else if (c.beside)
    out[own] = x[own];
}

#endif
