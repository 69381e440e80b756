// The natural map z - P(z - w), w = M z + q, from q (input0) and the quads of z (input1).
#include "include/lcp.glsl"

out vec4 map;

void main() {
  ivec2 i = texel();
  map = vec4(0);
  if (!is_index(i)) return;
  int index = position_of(i), problem = index / SIZE, row = index - problem * SIZE, channel = row & 3;
  ivec2 quad = ivec2(row >> 2, problem);
  float w = FETCH(0, i) + row_product(input1, row, problem), z = fetch_texel(input1, quad)[channel];
  map.x = z - project(z - w, fetch_texel(lower, quad)[channel], fetch_texel(upper, quad)[channel]);
}
