// w = M z + q of a quad, from q (input0) and the quads of z (input1).
#include "include/lcp.glsl"

void main() {
  ivec2 quad = own_quad(), matrix = matrix_of(quad.y);
  QUAD sums[QUAD_ROWS], q = NOTHING;
  for (int c = 0; c < QUAD_ROWS; c++) sums[c] = NOTHING;
  for (int k = 0; k < QUAD_COUNT; k++) add_rows(sums, entries_at(matrix, quad.x, k), QUAD_AT1(place_of(k, quad.y)));
  for (int c = 0; c < QUAD_ROWS; c++) {
    int row = QUAD_ROWS * quad.x + c;
    if (row < SIZE) q = put(q, c, Q_AT(texel_of(quad.y * SIZE + row)));
  }
  write(add_totals(q, sums));
}
