// The diagonal of a matrix in blocks. A texel of the result holds as many numbers as a block has rows. Reads diagonal
// (blocks).
#include "include/pass.glsl"
#include "include/bcrs.glsl"

uniform sampler2D diagonal;
out vec4 result;

void main() {
  Block b;
  FETCH_BLOCK(b, diagonal, texel());
#if LOG2_BLOCK == 1
  result = vec4(b.part[0].x, b.part[0].w, 0, 0);
#else
  result = vec4(b.part[0].x, b.part[1].y, b.part[2].z, b.part[3].w);
#endif
}
