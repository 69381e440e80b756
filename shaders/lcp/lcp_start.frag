// The state of a row, w = M z + q and z, from q (input0) and the quads of z (input1).
#include "include/lcp.glsl"

layout(location = 0) out vec4 state;
#ifdef PAIR
layout(location = 1) out vec4 state_low;
#endif

void main() {
  ivec2 i = place(), quad = ivec2(quad_of(i.x), i.y);
  int channel = channel_of(i.x);
  ivec2 at = texel_of(i.y * SIZE + min(i.x, SIZE - 1)); // padding has no q
#ifdef PAIR
  Pair q = i.x < SIZE ? as_pair(FETCH_PAIR(0, at)) : NOTHING;
  Scalar z = pick(pair_at(input1, low1, quad), channel),
         w = add(pick(q, 0), row_product(input1, low1, i.x, i.y));
  state = vec4(w.high, z.high, 0, 0);
  state_low = vec4(w.low, z.low, 0, 0);
#else
  float q = i.x < SIZE ? FETCH(0, at) : 0.0;
  state = vec4(q + row_product(input1, i.x, i.y), fetch_texel(input1, quad)[channel], 0, 0);
#endif
}
