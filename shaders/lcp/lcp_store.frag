// The vector z from its quads (input0), or from the state (input0) with STATE.
#include "include/lcp.glsl"

void main() {
  ivec2 i = texel();
  write(NOTHING);
  if (!is_index(i)) return;
  int index = position_of(i), problem = index / SIZE, row = index - problem * SIZE;
#ifdef STATE
  write(put(NOTHING, 0, pick(QUAD_AT0(ivec2(row, problem)), 1)));
#else
  write(put(NOTHING, 0, pick(QUAD_AT0(place_of(quad_of(row), problem)), channel_of(row))));
#endif
}
