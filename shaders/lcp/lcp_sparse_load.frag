// z of a place from a vector (input0).
#include "include/lcp_sparse.glsl"

void main() {
  ivec2 i = place();
  int contact = int(texelFetch(contacts, i, 0).z) - 1;
  QUAD z = NOTHING;
  for (int k = 0; contact >= 0 && k < DIMENSION; k++) z = put(z, k, Q_AT(texel_of(contact * DIMENSION + k)));
  write(z);
}
