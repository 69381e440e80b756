// One smoothing step on a level, plain or by parities.
//   COLOURS    x = (b - sum over d != 0 of A^d x[i + d]) / A^0 for the points of one parity, p[7].xy
//   otherwise  x = x + alpha (b - A x) / A^0 + beta (x - previous): Jacobi (beta = 0) or three-term Chebyshev
// Points without an equation (A^0 = 0) keep their x. Unknown x (x_is_zero, or the first coloured sweep) counts as 0.
// Reads b (input0), x (input1), the previous x (input2), and the level's coefficients. p[7].z = known parities; p[7].w
// = 1: reads the previous x, otherwise it is 0.
#include "include/level.glsl"

#define KNOWN p[7].z
#include "include/level_row.glsl"

#ifdef COLOURS
out vec4 result;

void main() {
  ivec2 i = 2 * texel() + p[7].xy, at = place(i, FINE);
  float centre = fetch_texel(stencil_centre, at).r;
  float x;
  if (centre == 0.0)
    x = x_at(at, p[7].x + 2 * p[7].y);
  else
    x = (fetch_texel(input0, at + INPUT0_ORIGIN).r - sum_of_neighbours(i)) / centre;
  result = vec4(x, 0, 0, 0);
}
#else
float value(ivec2 i) {
  ivec2 at = place(i, FINE);
  float centre = fetch_texel(stencil_centre, place_coefficient(i)).r;
  float alpha = intBitsToFloat(p[3].x), beta = intBitsToFloat(p[4].x);
  if (KNOWN == 0) return centre == 0.0 ? 0.0 : alpha * fetch_texel(input0, at + INPUT0_ORIGIN).r / centre;
  float x = fetch_texel(input1, at + INPUT1_ORIGIN).r;
  if (centre == 0.0) return x;
  float r = fetch_texel(input0, at + INPUT0_ORIGIN).r - sum_of_neighbours(i) - centre * x;
  float next = x + alpha * r / centre;
  if (beta != 0.0) next += beta * (p[7].w == 0 ? x : x - fetch_texel(input2, at + INPUT2_ORIGIN).r);
  return next;
}

#define OUT FINE
#include "include/level_main.glsl"
#endif
