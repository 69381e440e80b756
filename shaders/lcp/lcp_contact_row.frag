// lcp_row.frag with contacts: one contact from the products of its rows, its own reaction left out, and the quad that it is in.
// Reads q (input0) and the quads of z (input1).
#include "include/lcp_contact.glsl"

layout(location = 0) out vec4 result;
#ifdef PAIR
layout(location = 1) out vec4 result_low;
#endif

void main() {
  int problem = place().y, first = DIMENSION * CONTACT, quad = quad_of(first), channel = channel_of(first);
  ivec2 at = matrix_of(problem) + ivec2(first, 0);
  QUAD z = QUAD_AT(1, ivec2(quad, problem)), others = z;
  REAL W[BLOCK], b[DIMENSION], r[DIMENSION];
  read_block(W, at + ivec2(0, quad), channel);
  for (int k = 0; k < DIMENSION; k++) {
    r[k] = pick(z, channel + k);
    others = put(others, channel + k, real(0.0));
  }
  for (int k = 0; k < DIMENSION; k++) {
    QUAD sums = add_products(NOTHING, entry_at(at + ivec2(k, quad)), others);
    for (int j = 0; j < QUAD_COUNT; j++)
      if (j != quad) sums = add_products(sums, entry_at(at + ivec2(k, j)), QUAD_AT(1, ivec2(j, problem)));
    b[k] = add(Q_AT(texel_of(problem * SIZE + first + k)), total_of(sums));
  }
  lcp_contact(r, W, b, friction_of(quad, channel, problem));
  for (int k = 0; k < DIMENSION; k++) z = put(z, channel + k, r[k]);
  WRITE(z);
}
