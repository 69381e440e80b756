// The natural map of unknowns with bounds, w = M z + q, from q (input0) and the quads of z (input1).
#include "include/lcp.glsl"
#include "include/lcp_map.glsl"

void main() {
  ivec2 i = texel();
  write(NOTHING);
  if (!is_index(i)) return;
  int index = position_of(i), problem = index / SIZE, row = index - problem * SIZE, channel = channel_of(row);
  ivec2 quad = ivec2(quad_of(row), problem);
  REAL w = add(Q_AT(i), total_of(row_product(row, problem)));
  REAL z = pick(QUAD_AT1(place_of(quad.x, problem)), channel);
  REAL own = product(pick(row_at(matrix_of(problem), row, quad.x), channel), z);
  z = lcp_map_unknown(z, w, pick(least_at(quad), channel), pick(most_at(quad), channel));
  write(put(NOTHING, 0, lcp_map_rounding(z, own)));
}
