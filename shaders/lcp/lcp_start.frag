// The state of a row, w = M z + q and z, from q (input0) and the quads of z (input1).
#include "include/lcp.glsl"

out vec4 state;

void main() {
  ivec2 i = place();
  float q = i.x < SIZE ? FETCH(0, texel_of(i.y * SIZE + i.x)) : 0.0;
  state = vec4(q + row_product(input1, i.x, i.y), fetch_texel(input1, ivec2(i.x >> 2, i.y))[i.x & 3], 0, 0);
}
