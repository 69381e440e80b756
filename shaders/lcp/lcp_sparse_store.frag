// A vector of z from that of places (input0).
#include "include/lcp_sparse.glsl"

layout(location = 0) out vec4 result;
#ifdef PAIR
layout(location = 1) out vec4 result_low;
#endif

void main() {
  ivec2 i = texel();
  WRITE(NOTHING);
  if (!is_index(i)) return;
  int index = position_of(i), contact = index / DIMENSION;
  QUAD z = QUAD_AT(0, unpack(texelFetch(places, numbered(contact), 0).r));
  WRITE(put(NOTHING, 0, pick(z, index - contact * DIMENSION)));
}
