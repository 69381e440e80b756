// Four points at once, the channels of a texel (Bolz et al. 2003, 4.2):
//   RESIDUAL   r = b - A x
//   otherwise  x = x + alpha (b - A x) / A^0 + beta (x - previous)
// Points without an equation (A^0 = 0) keep their x; their residual is 0.
// Reads b (input0), x (input1) with an up-to-date border, the previous x (input2), and the nine textures of
// coefficients. p[7].z = 0: x is 0; p[7].w = 1: reads the previous x, otherwise it is 0.
#include "include/level.glsl"

uniform sampler2D layer0, layer1, layer2, layer3, layer5, layer6, layer7, layer8;
out vec4 result;

#define X(dx, dy) fetch_texel(input1, at + ivec2(dx, dy))
#define A(layer) fetch_texel(layer, i)

// A x without the diagonal. The points of a texel, in the order of its channels: 0 and 1 below, 2 and 3 above.
vec4 sum_of_neighbours(ivec2 i, vec4 x) {
  ivec2 at = i + INPUT1_ORIGIN;
  vec4 west = X(-1, 0), east = X(1, 0), south = X(0, -1), north = X(0, 1);
  vec4 sum = A(layer3) * vec4(west.y, x.x, west.w, x.z) + A(layer5) * vec4(x.y, east.x, x.w, east.z) +
             A(layer1) * vec4(south.z, south.w, x.x, x.y) + A(layer7) * vec4(x.z, x.w, north.x, north.y);
#ifndef FIVE_POINT
  sum += A(layer0) * vec4(X(-1, -1).w, south.z, west.y, x.x) + A(layer2) * vec4(south.w, X(1, -1).z, x.y, east.x) +
         A(layer6) * vec4(west.w, x.z, X(-1, 1).y, north.x) + A(layer8) * vec4(x.w, east.z, north.y, X(1, 1).x);
#endif
  return sum;
}

void main() {
  ivec2 i = texel();
  vec4 centre = fetch_texel(stencil_centre, i), b = fetch_texel(input0, i + INPUT0_ORIGIN), x = vec4(0), r = b;
  bvec4 none = equal(centre, vec4(0));
  if (p[7].z != 0) {
    x = fetch_texel(input1, i + INPUT1_ORIGIN);
    r = b - sum_of_neighbours(i, x) - centre * x;
  }
#ifdef RESIDUAL
  result = mix(r, vec4(0), none);
#else
  float alpha = intBitsToFloat(p[3].x), beta = intBitsToFloat(p[4].x);
  vec4 next = x + alpha * r / mix(centre, vec4(1), none);
  if (beta != 0.0) next += beta * (p[7].w == 0 ? x : x - fetch_texel(input2, i + INPUT2_ORIGIN));
  result = mix(next, x, none);
#endif
}
