// The natural map z - P(z - w), w = M z + q, from q (input0) and the quads of z (input1).
#include "include/lcp.glsl"

void main() {
  ivec2 i = texel();
  write(NOTHING);
  if (!is_index(i)) return;
  int index = position_of(i), problem = index / SIZE, row = index - problem * SIZE, channel = channel_of(row);
  ivec2 quad = ivec2(quad_of(row), problem);
  REAL w = add(Q_AT(i), total_of(row_product(row, problem)));
  REAL z = pick(QUAD_AT(1, place_of(quad.x, problem)), channel);
  z = subtract(z, project(subtract(z, w), pick(least_at(quad), channel), pick(most_at(quad), channel)));
  write(put(NOTHING, 0, z));
}
