// The vector z from z of the places (input0).
#include "include/lcp_sparse.glsl"

void main() {
  ivec2 i = texel();
  write(NOTHING);
  if (!is_index(i)) return;
  int index = position_of(i), contact = index / DIMENSION;
  QUAD z = QUAD_AT0(unpack(texelFetch(places, numbered(contact), 0).r));
  write(put(NOTHING, 0, pick(z, index - contact * DIMENSION)));
}
