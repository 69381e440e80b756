/* Sampling of a fluid's fields in kernels, as defined in src/fluid/fluid.h and implemented in
 * src/cpu/fluid/cpu_fluid.h. Positions are in cells. One thread per point (i, j) of a grid; the 32 threads of a
 * warp are neighbours in a row. */
#ifndef CUDA_FLUID_CUH
#define CUDA_FLUID_CUH

#include "cuda/core/cuda_kernels.cuh"
#include "fluid/fluid.h"

extern "C" {
TSI_FLUID_OPERATIONS(TSI_PROTOTYPE, cuda_fluid_)
}

#define FLUID_INLINE static __device__ __forceinline__

enum { FLUID_BLOCK_WIDTH = 32, FLUID_BLOCK_HEIGHT = 4 };

static inline dim3 fluid_block() {
  return dim3(FLUID_BLOCK_WIDTH, FLUID_BLOCK_HEIGHT);
}

/* A grid has at most 65535 rows of blocks in y; further rows are in z. */
static inline dim3 fluid_blocks(int32_t width, int32_t height) {
  const unsigned rows = cuda_blocks_for((size_t)height, FLUID_BLOCK_HEIGHT), most = 65535;
  return dim3(cuda_blocks_for((size_t)width, FLUID_BLOCK_WIDTH), rows < most ? rows : most,
              (rows + most - 1) / most);
}

FLUID_INLINE int fluid_i() {
  return (int)(blockIdx.x * FLUID_BLOCK_WIDTH + threadIdx.x);
}

FLUID_INLINE int fluid_j() {
  return (int)((blockIdx.z * gridDim.y + blockIdx.y) * FLUID_BLOCK_HEIGHT + threadIdx.y);
}

/* ---- Vectors as kernel arguments ---- */

static inline float2 *cuda_two(const ts_vector *v) {
  return (float2 *)cuda_data(v);
}

static inline float4 *cuda_four(const ts_vector *v) {
  return (float4 *)cuda_data(v);
}

template <int component> FLUID_INLINE float fluid_part(float2 v) {
  return component == 0 ? v.x : v.y;
}

FLUID_INLINE float4 operator+(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

FLUID_INLINE float4 operator-(float4 a, float4 b) {
  return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}

FLUID_INLINE float4 operator*(float a, float4 b) {
  return make_float4(a * b.x, a * b.y, a * b.z, a * b.w);
}

/* ---- Interpolation ---- */

/* Two neighbours in one dimension, and the distances of the position below the first number and above the
 * last. */
struct fluid_axis {
  int first, second;
  float fraction, below, above;
};

/* Numbers are at 0 .. last, or everywhere if periodic, with period last + 1. A NaN position becomes 0. */
FLUID_INLINE fluid_axis fluid_locate(float at, int last, int periodic) {
  fluid_axis a = {0, 0, 0, 0, 0};
  if (periodic) {
    const float period = (float)(last + 1);
    at -= period * floorf(at / period);
    if (!(at >= 0 && at < period)) at = 0;
    a.first = (int)at;
    a.second = a.first == last ? 0 : a.first + 1;
  } else {
    a.below = fmaxf(-at, 0);
    a.above = fmaxf(at - (float)last, 0);
    at = fminf(fmaxf(at, 0), (float)last);
    a.first = (int)at;
    a.second = min(a.first + 1, last);
  }
  a.fraction = at - (float)a.first;
  /* At the exact position of a number, its neighbour has no weight and must not widen the limits of a
   * correction. */
  if (a.fraction == 0) a.second = a.first;
  return a;
}

FLUID_INLINE float fluid_mix(float a, float b, float t) {
  return a + (b - a) * t;
}

FLUID_INLINE float4 fluid_mix(float4 a, float4 b, float t) {
  return a + t * (b - a);
}

/* An interpolated value. `low` and `high` bound the four values and those of walls that it uses. */
struct fluid_sample {
  float value, low, high;
};

template <int side, int component>
FLUID_INLINE void fluid_blend(fluid_sample *s, const tsi_fluid_domain &d, float beyond) {
  if (d.boundaries[side].kind != TS_FLUID_BOUNDARY_WALL || !(beyond > 0)) return;
  const float wall = d.boundaries[side].velocity[component];
  s->value = fluid_mix(s->value, wall, fminf(2 * beyond, 1));
  s->low = fminf(s->low, wall);
  s->high = fmaxf(s->high, wall);
}

/* One component of the velocity at a position. */
template <int component>
FLUID_INLINE fluid_sample fluid_velocity_sample(const tsi_fluid_domain &d, const float2 *velocity, float2 p) {
  const bool staggered = d.layout == TS_FLUID_LAYOUT_STAGGERED;
  const bool at_x_faces = staggered && component == 0, at_y_faces = staggered && component == 1;
  const float half_x = at_x_faces ? 0 : 0.5f, half_y = at_y_faces ? 0 : 0.5f;
  const fluid_axis x = fluid_locate(p.x - half_x, d.width - (at_x_faces ? d.periodic_x : 1), d.periodic_x);
  const fluid_axis y = fluid_locate(p.y - half_y, d.height - (at_y_faces ? d.periodic_y : 1), d.periodic_y);
  const float *field = (const float *)velocity + component;
  const int south = y.first * (d.width + 1), north = y.second * (d.width + 1);
  const float sw = __ldg(field + 2 * (south + x.first)), se = __ldg(field + 2 * (south + x.second));
  const float nw = __ldg(field + 2 * (north + x.first)), ne = __ldg(field + 2 * (north + x.second));
  fluid_sample s = {fluid_mix(fluid_mix(sw, se, x.fraction), fluid_mix(nw, ne, x.fraction), y.fraction),
                    fminf(fminf(sw, se), fminf(nw, ne)), fmaxf(fmaxf(sw, se), fmaxf(nw, ne))};
  if (!at_x_faces) {
    fluid_blend<TSI_LEFT, component>(&s, d, x.below);
    fluid_blend<TSI_RIGHT, component>(&s, d, x.above);
  }
  if (!at_y_faces) {
    fluid_blend<TSI_BOTTOM, component>(&s, d, y.below);
    fluid_blend<TSI_TOP, component>(&s, d, y.above);
  }
  return s;
}

FLUID_INLINE float2 fluid_velocity_at(const tsi_fluid_domain &d, const float2 *velocity, float2 p) {
  return make_float2(fluid_velocity_sample<0>(d, velocity, p).value,
                     fluid_velocity_sample<1>(d, velocity, p).value);
}

/* The position, cells = dt / h earlier, of the fluid that is now at p, by the midpoint rule. `here` is the
 * velocity at p. */
FLUID_INLINE float2 fluid_trace(const tsi_fluid_domain &d, const float2 *velocity, float2 p, float2 here,
                                float cells) {
  const float2 middle = make_float2(p.x - 0.5f * cells * here.x, p.y - 0.5f * cells * here.y);
  const float2 v = fluid_velocity_at(d, velocity, middle);
  return make_float2(p.x - cells * v.x, p.y - cells * v.y);
}

FLUID_INLINE bool fluid_is_outside(const tsi_fluid_domain &d, float2 p) {
  return (!d.periodic_x && !(p.x >= 0 && p.x <= (float)d.width)) ||
         (!d.periodic_y && !(p.y >= 0 && p.y <= (float)d.height));
}

/* ---- Indices ---- */

/* The index i in a periodic dimension, at most one period away; otherwise the nearest index. */
FLUID_INLINE int fluid_nearest(int i, int size, int periodic) {
  if (periodic) return i < 0 ? i + size : i >= size ? i - size : i;
  return min(max(i, 0), size - 1);
}

FLUID_INLINE int fluid_cell(const tsi_fluid_domain &d, int i, int j) {
  return fluid_nearest(j, d.height, d.periodic_y) * d.width + fluid_nearest(i, d.width, d.periodic_x);
}

/* The velocity at the centre of cell (i, j), or of the nearest cell. */
FLUID_INLINE float2 fluid_centre_velocity(const tsi_fluid_domain &d, const float2 *velocity, int i, int j) {
  i = fluid_nearest(i, d.width, d.periodic_x);
  j = fluid_nearest(j, d.height, d.periodic_y);
  const float2 *at = velocity + j * (d.width + 1) + i;
  const float2 here = __ldg(at);
  if (d.layout == TS_FLUID_LAYOUT_COLLOCATED) return here;
  return make_float2(0.5f * (here.x + __ldg(&at[1].x)), 0.5f * (here.y + __ldg(&at[d.width + 1].y)));
}

#endif
