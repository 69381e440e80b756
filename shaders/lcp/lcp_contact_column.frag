// lcp_column.frag for contacts: one contact, solved identically by every fragment, and the effect of its change on the
// w of a row. Reads the state (input0).
#include "include/lcp_contact.glsl"

void main() {
  ivec2 i = place();
  int first = DIMENSION * CONTACT, quad = quad_of(first), channel = channel_of(first);
  ivec2 matrix = matrix_of(i.y);
  REAL W[BLOCK], w[DIMENSION], old[DIMENSION], r[DIMENSION];
  read_block(W, matrix, first);
  for (int k = 0; k < DIMENSION; k++) {
    QUAD state = QUAD_AT0(ivec2(first + k, i.y));
    w[k] = pick(state, 0);
    old[k] = pick(state, 1);
  }
  r = old;
  solve_contact(r, W, w, friction_of(quad, channel, i.y));
  QUAD state = QUAD_AT0(i), row = row_at(matrix, i.x, quad);
  REAL sum = real(0.0);
  for (int k = 0; k < DIMENSION; k++) {
    sum = add(sum, product(pick(row, channel + k), subtract(r[k], old[k])));
    if (i.x == first + k) state = put(state, 1, r[k]);
  }
  state = put(state, 0, add(pick(state, 0), sum));
  write(state);
}
