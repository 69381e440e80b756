// lcp_row.frag for contacts. Solves one contact from the products of its rows without its own reaction, and writes the
// contact's quad. Reads q (input0) and the quads of z (input1).
#include "include/lcp_contact.glsl"

void main() {
  int problem = own_quad().y, first = DIMENSION * CONTACT, quad = quad_of(first), channel = channel_of(first);
  ivec2 matrix = matrix_of(problem);
  QUAD z = QUAD_AT1(place_of(quad, problem)), others = z;
  REAL W[BLOCK], b[DIMENSION], r[DIMENSION];
  read_block(W, matrix, first);
  for (int k = 0; k < DIMENSION; k++) {
    r[k] = pick(z, channel + k);
    others = put(others, channel + k, real(0.0));
  }
  for (int k = 0; k < DIMENSION; k++) {
    QUAD sums = add_products(NOTHING, row_at(matrix, first + k, quad), others);
    for (int j = 0; j < QUAD_COUNT; j++)
      if (j != quad) sums = add_products(sums, row_at(matrix, first + k, j), QUAD_AT1(place_of(j, problem)));
    b[k] = add(Q_AT(texel_of(problem * SIZE + first + k)), total_of(sums));
  }
  lcp_contact(r, W, b, friction_of(quad, channel, problem));
  for (int k = 0; k < DIMENSION; k++) z = put(z, channel + k, r[k]);
  write(z);
}
