// A vector of z from its quads (input0), or with STATE from the state (input0).
#include "include/lcp.glsl"

out vec4 z;

void main() {
  ivec2 i = texel();
  z = vec4(0);
  if (!is_index(i)) return;
  int index = position_of(i), problem = index / SIZE, row = index - problem * SIZE;
#ifdef STATE
  z.x = fetch_texel(input0, ivec2(row, problem)).g;
#else
  z.x = fetch_texel(input0, ivec2(row >> 2, problem))[row & 3];
#endif
}
