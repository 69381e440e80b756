// One unknown from its row's product (Courtecuisse and Allard 2009, III.A): the quad that it is in. Reads q (input0) and the
// quads of z (input1).
#include "include/lcp.glsl"

out vec4 z;

void main() {
  ivec2 quad = ivec2(UNKNOWN >> 2, place().y);
  int channel = UNKNOWN & 3;
  float w = FETCH(0, texel_of(quad.y * SIZE + UNKNOWN)) + row_product(input1, UNKNOWN, quad.y);
  float diagonal = fetch_texel(entries, matrix_of(quad.y) + ivec2(UNKNOWN, quad.x))[channel];
  z = fetch_texel(input1, quad);
  z[channel] =
      solve_unknown(z[channel], w, diagonal, fetch_texel(lower, quad)[channel], fetch_texel(upper, quad)[channel]);
}
