// What the changes of a block (input2) add to the w of a row, and the row's z (input1) if it is in the block. Reads the state
// (input0).
#include "include/lcp.glsl"

out vec4 state;

void main() {
  ivec2 i = place(), at = matrix_of(i.y) + ivec2(i.x, FIRST_QUAD);
  vec2 own = fetch_texel(input0, i).rg;
  vec4 sums = vec4(0);
  for (int k = 0; k < BLOCK_QUADS; k++)
    sums += fetch_texel(entries, at + ivec2(0, k)) * fetch_texel(input2, ivec2(FIRST_QUAD + k, i.y));
  int quad = i.x >> 2;
  if (quad >= FIRST_QUAD && quad < FIRST_QUAD + BLOCK_QUADS) own.y = fetch_texel(input1, ivec2(quad, i.y))[i.x & 3];
  state = vec4(own.x + ((sums.x + sums.y) + (sums.z + sums.w)), own.y, 0, 0);
}
