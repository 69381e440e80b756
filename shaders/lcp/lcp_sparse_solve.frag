// The new z of a place. Reads q (input0), z or v (input1) and z (input2).
#include "include/lcp_sparse.glsl"
#include "include/lcp_sparse_contact.glsl"

void main() {
  ivec2 i = place() + SHIFT;
  uvec4 contact = texelFetch(contacts, i, 0);
  write(NOTHING);
  if (contact.z == 0u) return;
  REAL W[DIMENSION * DIMENSION], r[DIMENSION], u[DIMENSION];
  read_contact(W, r, u, i, contact, false);
#if DIMENSION == 1
#ifndef FACTORS
  add_own(u, W, r);
#endif
  r[0] = solve_unknown(r[0], u[0], W[0], limit_at(i, 1), limit_at(i, 2));
#elif defined(FACTORS)
  solve_contact(r, W, u, limit_at(i, DIMENSION));
#else
  lcp_contact(r, W, u, limit_at(i, DIMENSION));
#endif
  QUAD z = NOTHING;
  for (int k = 0; k < DIMENSION; k++) z = put(z, k, r[k]);
  write(z);
}
