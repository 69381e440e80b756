// One stage of the sums of split rows: sum t adds up entries t, t + count, t + 2 count, ... of the stage.
// p[6] = count, length, log2 of the width of entries, log2 of the width of the sums. Reads entries (value bits and
// pointer) and their factors from input0: x, or the sums of the stage before. With LOG2_BLOCK the values are blocks, in the
// texture diagonal.
#include "include/pass.glsl"
#ifdef LOG2_BLOCK
#include "include/row_sum.glsl"
#include "include/bcrs.glsl"
uniform sampler2D diagonal;
#endif

uniform usampler2D entries;
out vec4 result;

void main() {
  ivec2 i = texel();
  int t = (i.y << p[6].w) + i.x;
  VALUE sum = VALUE(0);
  if (t < p[6].x) {
    int number = t;
    for (int k = 0; k < p[6].y; k++, number += p[6].x) {
      ivec2 at = ivec2(number & ((1 << p[6].z) - 1), number >> p[6].z);
      uvec2 entry = texelFetch(entries, at, 0).rg;
      uint pointer = entry.g + uint(p[7].x);
      VALUE x = fetch_texel(input0, ivec2(int(pointer & 0xffffu), int(pointer >> 16))) PICK;
#ifdef LOG2_BLOCK
      Block b;
      FETCH_BLOCK(b, diagonal, at);
      ADD_BLOCK(sum, b, x)
#else
      sum += uintBitsToFloat(entry.r) * x;
#endif
    }
  }
  result = widen(sum);
}
