// One unknown from its row's product (Courtecuisse and Allard 2009, III.A): the quad that it is in. Reads q (input0) and the
// quads of z (input1).
#include "include/lcp.glsl"

layout(location = 0) out vec4 z;
#ifdef PAIR
layout(location = 1) out vec4 z_low;
#endif

void main() {
  ivec2 quad = ivec2(UNKNOWN >> 2, place().y);
  int channel = UNKNOWN & 3;
#ifdef PAIR
  Scalar w = add(pick(as_pair(FETCH_PAIR(0, texel_of(quad.y * SIZE + UNKNOWN))), 0),
                 row_product(input1, low1, UNKNOWN, quad.y));
  Pair m = entry_at(matrix_of(quad.y) + ivec2(UNKNOWN, quad.x)), old = pair_at(input1, low1, quad);
  Scalar next = solve_unknown(pick(old, channel), w, pick(m, channel), pick(least_at(quad), channel),
                              pick(most_at(quad), channel));
  z = old.high;
  z_low = old.low;
  z[channel] = next.high;
  z_low[channel] = next.low;
#else
  float w = FETCH(0, texel_of(quad.y * SIZE + UNKNOWN)) + row_product(input1, UNKNOWN, quad.y);
  float diagonal = fetch_texel(entries, matrix_of(quad.y) + ivec2(UNKNOWN, quad.x))[channel];
  z = fetch_texel(input1, quad);
  z[channel] = solve_unknown(z[channel], w, diagonal, fetch_texel(lower_bounds, quad)[channel],
                             fetch_texel(upper_bounds, quad)[channel]);
#endif
}
