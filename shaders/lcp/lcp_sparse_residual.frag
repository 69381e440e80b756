// The natural map. Reads q (input0), z or v (input1) and z (input2).
#include "include/lcp_sparse.glsl"
#include "include/lcp_sparse_contact.glsl"
#include "include/lcp_map.glsl"

void main() {
  ivec2 i = texel();
  write(NOTHING);
  if (!is_index(i)) return;
  int index = position_of(i), number = index / DIMENSION;
  ivec2 at = unpack(texelFetch(places, numbered(number), 0).r);
  REAL W[DIMENSION * DIMENSION], r[DIMENSION], u[DIMENSION], map[DIMENSION];
  read_contact(W, r, u, at, texelFetch(contacts, at, 0), true);
#ifndef FACTORS
  add_own(u, W, r);
#endif
#if DIMENSION == 1
  map[0] = lcp_map_unknown(r[0], u[0], limit_at(at, 1), limit_at(at, 2));
#else
  lcp_map_contact(map, r, u, limit_at(at, DIMENSION));
#endif
  int own = index - number * DIMENSION;
  write(put(NOTHING, 0, lcp_map_rounding(map[own], product(W[own * DIMENSION + own], r[own]))));
}
