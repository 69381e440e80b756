// A vector of z from its quads (input0), or with STATE from the state (input0).
#include "include/lcp.glsl"

layout(location = 0) out vec4 z;
#ifdef PAIR
layout(location = 1) out vec4 z_low;
#endif

void main() {
  ivec2 i = texel();
  z = vec4(0);
#ifdef PAIR
  z_low = vec4(0);
#endif
  if (!is_index(i)) return;
  int index = position_of(i), problem = index / SIZE, row = index - problem * SIZE;
#ifdef STATE
  ivec2 at = ivec2(row, problem);
  int channel = 1;
#else
  ivec2 at = ivec2(quad_of(row), problem);
  int channel = channel_of(row);
#endif
  z.x = fetch_texel(input0, at)[channel];
#ifdef PAIR
  z_low.x = fetch_texel(low0, at)[channel];
#endif
}
