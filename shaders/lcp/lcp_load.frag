// The quads of z from a vector (input0).
#include "include/lcp.glsl"

void main() {
  ivec2 quad = own_quad();
  QUAD z = NOTHING;
  for (int c = 0; c < QUAD_ROWS; c++) {
    int row = QUAD_ROWS * quad.x + c;
    if (row < SIZE) z = put(z, c, Q_AT(texel_of(quad.y * SIZE + row)));
  }
  write(z);
}
