// The natural map z - P(z - w), w = M z + q, from q (input0) and the quads of z (input1).
#include "include/lcp.glsl"

layout(location = 0) out vec4 map;
#ifdef PAIR
layout(location = 1) out vec4 map_low;
#endif

void main() {
  ivec2 i = texel();
  map = vec4(0);
#ifdef PAIR
  map_low = vec4(0);
#endif
  if (!is_index(i)) return;
  int index = position_of(i), problem = index / SIZE, row = index - problem * SIZE, channel = row & 3;
  ivec2 quad = ivec2(row >> 2, problem);
#ifdef PAIR
  Scalar w = add(pick(as_pair(FETCH_PAIR(0, i)), 0), row_product(input1, low1, row, problem));
  Scalar z = pick(pair_at(input1, low1, quad), channel);
  z = subtract(z, project(subtract(z, w), pick(least_at(quad), channel), pick(most_at(quad), channel)));
  map.x = z.high;
  map_low.x = z.low;
#else
  float w = FETCH(0, i) + row_product(input1, row, problem), z = fetch_texel(input1, quad)[channel];
  map.x = z - project(z - w, fetch_texel(lower_bounds, quad)[channel], fetch_texel(upper_bounds, quad)[channel]);
#endif
}
