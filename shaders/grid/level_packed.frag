// Four points of parity p[7].xy at once, the channels of a texel. The kind of the pass is in p[7].w:
//   COLOURS    x = (b - sum over d != 0 of A^d x[i + d]) / A^0
//   RESIDUAL   r = b - A x
//   otherwise  x = x + alpha (b - A x) / A^0 + beta (x - previous) with READS_PREVIOUS; without it, previous is 0
// Points without an equation (A^0 = 0) keep their x; their residual is 0. In a coloured first sweep from 0, some
// parities are not known yet and count as 0. KNOWN has bits for the neighbours in a row (1), in a column (2), at the
// corners (4), and for x itself (8). A five-point stencil has no corners.
// Reads b (input0), x (input1), the previous x (input2), and the nine textures of coefficients.
//
// With APART, x of each parity may have a texture of its own (src/gl/grid/gl_level_split.c): input1 is x of this
// parity, and x_row, x_column and x_corners have the other parities. p[6].x has bits as KNOWN: that x is not in a field,
// in which all regions are.
//
// Only software rasterizers pack parities. They compile slowly, and they skip code only in a loop that does not run. So
// all kinds are one program, and optional parts of a pass are loops of at most one round.
#include "include/level.glsl"

uniform sampler2D layer0, layer1, layer2, layer3, layer5, layer6, layer7, layer8;
out vec4 result;

#define KNOWN p[7].z
#define COLOURS (p[7].w == 1)
#define RESIDUAL (p[7].w == 2)
#define READS_PREVIOUS (p[7].w == 3)
#define IF_BIT(bit) for (int round = 0; round < (KNOWN >> bit & 1); round++)

#define A(layer) fetch_texel(layer, at)

// x at texel t in the region of a parity.
#ifdef APART
uniform sampler2D x_row, x_column, x_corners;
vec4 x_at(sampler2D x, int bit, ivec2 t, ivec2 parity) {
  return fetch_texel(x, t + 1 + (1 - (p[6].x >> bit & 1)) * parity * pitch(FINE));
}
#else
#define x_row input1
#define x_column input1
#define x_corners input1
vec4 x_at(sampler2D x, int bit, ivec2 t, ivec2 parity) {
  return fetch_texel(x, t + 1 + parity * pitch(FINE) + INPUT1_ORIGIN);
}
#endif

// The values between the points of a row of this parity: first the western neighbours, then the eastern ones. Relative
// to this parity, texel t of the other one is shifted by half a point to the east or to the west.
void fetch_beside(sampler2D x, int bit, ivec2 t, int parity_y, out vec4 west, out vec4 east) {
  ivec2 other = ivec2(1 - p[7].x, parity_y);
  vec4 here = x_at(x, bit, t, other), beyond = x_at(x, bit, t + ivec2(2 * p[7].x - 1, 0), other);
  west = p[7].x == 0 ? vec4(beyond.w, here.xyz) : here;
  east = p[7].x == 0 ? here : vec4(here.yzw, beyond.x);
}

// The sum over d != 0 of A^d x[i + d].
vec4 sum_of_neighbours(ivec2 t, ivec2 at) {
  vec4 sum = vec4(0), west, east;
  ivec2 south = t + ivec2(0, p[7].y - 1), north = t + ivec2(0, p[7].y);
  int across = 1 - p[7].y;
  IF_BIT(0) {
    fetch_beside(x_row, 0, t, p[7].y, west, east);
    sum += A(layer3) * west + A(layer5) * east;
  }
  ivec2 vertical = ivec2(p[7].x, across);
  IF_BIT(1) sum += A(layer1) * x_at(x_column, 1, south, vertical) + A(layer7) * x_at(x_column, 1, north, vertical);
  IF_BIT(2) {
    fetch_beside(x_corners, 2, south, across, west, east);
    sum += A(layer0) * west + A(layer2) * east;
    fetch_beside(x_corners, 2, north, across, west, east);
    sum += A(layer6) * west + A(layer8) * east;
  }
  return sum;
}

void main() {
  ivec2 t = texel(), at = t + 1 + p[7].xy * pitch(FINE);
  vec4 centre = fetch_texel(stencil_centre, at), b = fetch_texel(input0, at + INPUT0_ORIGIN), x = vec4(0);
  IF_BIT(3) x = x_at(input1, 3, t, p[7].xy);
  bvec4 none = equal(centre, vec4(0));
  vec4 r = b - sum_of_neighbours(t, at);
  r = COLOURS ? r : r - centre * x;
  float alpha = COLOURS ? 1.0 : intBitsToFloat(p[3].x), beta = intBitsToFloat(p[4].x);
  vec4 quotient = alpha * r / mix(centre, vec4(1), none), next = COLOURS ? quotient : x + quotient;
  for (int round = 0; round < int(beta != 0.0); round++)
    next += beta * (READS_PREVIOUS ? x - fetch_texel(input2, at + INPUT2_ORIGIN) : x);
  result = RESIDUAL ? mix(r, vec4(0), none) : mix(next, x, none);
}
