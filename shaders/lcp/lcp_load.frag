// The quads of z from a vector (input0).
#include "include/lcp.glsl"

out vec4 z;

float at(int row, int problem) { return row < SIZE ? FETCH(0, texel_of(problem * SIZE + row)) : 0.0; }

void main() {
  ivec2 i = place();
  int row = 4 * i.x;
  z = vec4(at(row, i.y), at(row + 1, i.y), at(row + 2, i.y), at(row + 3, i.y));
}
