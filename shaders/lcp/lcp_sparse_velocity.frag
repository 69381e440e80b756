// Adds the effect of a contact's change to the velocity of a body: v += G^T (z - old z). Or computes all of it: v = G^T
// z plus the velocity of the previous contacts. Reads z (input0), the old z (input1) and v (input2).
#include "include/lcp_sparse.glsl"

void main() {
  ivec2 i = place() + SHIFT;
  int t = i.x % TEXELS;
  uvec4 incidence = texelFetch(incidences, ivec2(i.x / TEXELS, i.y), 0);
  ivec2 at = unpack(incidence.x), before = unpack(incidence.z);
  write(NOTHING);
  if (incidence.w == 0u) return;
  QUAD v = NOTHING, z = QUAD_AT0(at), old = NOTHING;
  if (!(RENEWS && incidence.w == 2u)) v = QUAD_AT2(ivec2(TEXELS * before.x + t, before.y));
  if (!RENEWS) old = QUAD_AT1(at);
  for (int k = 0; k < DIMENSION; k++)
    v = add_products(v, entry_at(numbered((int(incidence.y) * DIMENSION + k) * TEXELS + t)),
                     fill(subtract(pick(z, k), pick(old, k))));
  write(normalised(v));
}
