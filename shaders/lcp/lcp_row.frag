// Solves one unknown from the product of its row (Courtecuisse and Allard 2009, III.A), and writes the unknown's quad.
// Reads q (input0) and the quads of z (input1).
#include "include/lcp.glsl"

void main() {
  int problem = own_quad().y, channel = channel_of(UNKNOWN);
  ivec2 quad = ivec2(quad_of(UNKNOWN), problem);
  REAL w = add(Q_AT(texel_of(problem * SIZE + UNKNOWN)), total_of(row_product(UNKNOWN, problem)));
  QUAD m = row_at(matrix_of(problem), UNKNOWN, quad.x), z = QUAD_AT1(place_of(quad.x, problem));
  write(put(z, channel, solve_unknown(pick(z, channel), w, pick(m, channel), pick(least_at(quad), channel),
                                      pick(most_at(quad), channel))));
}
