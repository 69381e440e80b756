// A velocity from its components u (input0) and v (input1) on grids of p[5].xy points. Beyond the grid, a periodic
// dimension has a copy of the first numbers, and texels without a face are 0. p[5].z: collocated, without copies.
#define COMPONENTS 1
#include "include/pass.glsl"

out vec4 result;

void main() {
  ivec2 i = texel();
  bvec2 past = equal(i, p[5].xy);
  i = ivec2(past.x ? 0 : i.x, past.y ? 0 : i.y);
  bool copies = p[5].z == 0;
  bool u = !past.y && (copies || !past.x), v = !past.x && (copies || !past.y);
  result = vec4(u ? FETCH0(i) : 0.0, v ? FETCH1(i) : 0.0, 0, 0);
}
