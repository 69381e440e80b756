// The natural map of contacts, from the state (input0).
#include "include/lcp_contact.glsl"

layout(location = 0) out vec4 result;
#ifdef PAIR
layout(location = 1) out vec4 result_low;
#endif

void main() {
  ivec2 i = texel();
  WRITE(NOTHING);
  if (!is_index(i)) return;
  int index = position_of(i), problem = index / SIZE, row = index - problem * SIZE, own = row % DIMENSION, first = row - own;
  REAL r[DIMENSION], u[DIMENSION], map[DIMENSION];
  for (int k = 0; k < DIMENSION; k++) {
    QUAD state = QUAD_AT(0, ivec2(first + k, problem));
    u[k] = pick(state, 0);
    r[k] = pick(state, 1);
  }
  lcp_contact_map(map, r, u, friction_of(quad_of(first), channel_of(first), problem));
  WRITE(put(NOTHING, 0, map[own]));
}
