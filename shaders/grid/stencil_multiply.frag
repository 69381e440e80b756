// y = A x for a stencil matrix (Bolz et al. 2003, 4.2), or r = b - A x with RESIDUAL:
//   (A x)[i] = sum over d in {-1, 0, 1}^2 of A^d[i] x[i + d]
// The result is 0 at points with a centre coefficient of 0. With PAIR, numbers are pairs, as in include/spmv_pair.glsl.
// With X_LOW, a residual in single precision is that of x + low.
// Reads x (input0), b (input1), low (input2). Reads the centre, the axis couplings (west, east, south, north) and,
// unless FIVE_POINT, the diagonal couplings (south-west, south-east, north-west, north-east) of the stencils. p[5] =
// grid.
#ifdef PAIR
#include "include/pair.glsl"
#elif defined(PRECISE)
#include "include/exact.glsl"
#endif
#include "include/pass.glsl"
#include "include/grid.glsl"

#define GRID p[5]

// Without error terms, a residual is summed from the differences x[i + d] - x[i] and the sum of the row's coefficients.
// The differences are small if x is smooth. The sum is 0 in most rows of most problems.
#if defined(X_LOW) && !defined(PRECISE)
VALUE middle;
float coefficients = 0.0;
void add_product(inout VALUE sum, float factor, VALUE x) {
  sum += factor * (x - middle);
  coefficients += factor;
}
#else
#include "include/row_sum.glsl"
#endif

uniform sampler2D stencil_centre, stencil_sides, stencil_corners;
#ifdef PAIR
#include "include/spmv_pair.glsl"
#else
out vec4 result;
#endif

// Coefficients that point out of the grid are 0, so any value may be used there.
ivec2 neighbour(ivec2 i) { return clamp(wrap(i, GRID), ivec2(0), GRID.xy - 1); }

void add(inout VALUE sum, inout VALUE sum_low, float coefficient, ivec2 i) {
  i = neighbour(i);
#ifdef PAIR
  add_product(sum, coefficient, FETCH_PAIR0(i));
#else
  add_product(sum, coefficient, FETCH0(i));
#endif
#ifdef X_LOW
  sum_low += coefficient * FETCH2(i);
#endif
}

void main() {
  ivec2 i = texel();
  float centre = fetch_texel(stencil_centre, i).r;
  if (centre == 0.0) {
    result = vec4(0);
#ifdef PAIR
    result_low = vec4(0);
#endif
    return;
  }
  VALUE sum = VALUE(0), sum_low = VALUE(0);
#if defined(X_LOW) && !defined(PRECISE)
  middle = FETCH0(i);
#endif
  vec4 sides = fetch_texel(stencil_sides, i);
  add(sum, sum_low, sides.x, i + ivec2(-1, 0));
  add(sum, sum_low, sides.y, i + ivec2(1, 0));
  add(sum, sum_low, sides.z, i + ivec2(0, -1));
  add(sum, sum_low, sides.w, i + ivec2(0, 1));
#ifndef FIVE_POINT
  vec4 corners = fetch_texel(stencil_corners, i);
  add(sum, sum_low, corners.x, i + ivec2(-1, -1));
  add(sum, sum_low, corners.y, i + ivec2(1, -1));
  add(sum, sum_low, corners.z, i + ivec2(-1, 1));
  add(sum, sum_low, corners.w, i + ivec2(1, 1));
#endif
  add(sum, sum_low, centre, i);
#ifdef PAIR
  finish_pair(i, sum);
  return;
#elif defined(PRECISE)
  ROUNDED(VALUE rest, FETCH1(i) - sum);
  sum = rest - (low + sum_low);
#elif defined(X_LOW)
  sum = ((FETCH1(i) - coefficients * middle) - sum) - sum_low;
#elif defined(RESIDUAL)
  sum = FETCH1(i) - sum;
#endif
#ifndef PAIR
  result = widen(sum);
#endif
}
