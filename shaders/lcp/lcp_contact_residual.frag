// The natural map of contacts, from the quads of w (input0) and z (input1).
#include "include/lcp_contact.glsl"
#include "include/lcp_map.glsl"

void main() {
  ivec2 i = texel();
  write(NOTHING);
  if (!is_index(i)) return;
  int index = position_of(i), problem = index / SIZE, row = index - problem * SIZE, own = row % DIMENSION, first = row - own;
  int quad = quad_of(first), channel = channel_of(first);
  QUAD w = QUAD_AT0(place_of(quad, problem)), z = QUAD_AT1(place_of(quad, problem));
  REAL r[DIMENSION], u[DIMENSION], map[DIMENSION];
  for (int k = 0; k < DIMENSION; k++) {
    u[k] = pick(w, channel + k);
    r[k] = pick(z, channel + k);
  }
  lcp_map_contact(map, r, u, friction_of(quad, channel, problem));
  REAL diagonal = pick(row_at(matrix_of(problem), row, quad), channel + own);
  write(put(NOTHING, 0, lcp_map_rounding(map[own], product(diagonal, r[own]))));
}
