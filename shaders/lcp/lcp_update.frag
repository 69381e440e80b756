// What the changes of a block (input2) add to the w of a row, and the row's z (input1) if it is in the block. Reads the state
// (input0).
#include "include/lcp.glsl"

layout(location = 0) out vec4 state;
#ifdef PAIR
layout(location = 1) out vec4 state_low;
#endif

void main() {
  ivec2 i = place(), at = matrix_of(i.y) + ivec2(i.x, FIRST_QUAD), quad = ivec2(quad_of(i.x), i.y);
  bool is_inside = quad.x >= FIRST_QUAD && quad.x < FIRST_QUAD + BLOCK_QUADS;
#ifdef PAIR
  Pair own = pair_at(input0, low0, i), sums = NOTHING;
  for (int k = 0; k < BLOCK_QUADS; k++)
    sums = add_loosely(sums,
                       multiply(entry_at(at + ivec2(0, k)), pair_at(input2, low2, ivec2(FIRST_QUAD + k, i.y))));
  Scalar w = add(pick(own, 0), total(normalise(sums)));
  Scalar z = is_inside ? pick(pair_at(input1, low1, quad), channel_of(i.x)) : pick(own, 1);
  state = vec4(w.high, z.high, 0, 0);
  state_low = vec4(w.low, z.low, 0, 0);
#else
  vec2 own = fetch_texel(input0, i).rg;
  vec4 sums = vec4(0);
  for (int k = 0; k < BLOCK_QUADS; k++)
    sums += fetch_texel(entries, at + ivec2(0, k)) * fetch_texel(input2, ivec2(FIRST_QUAD + k, i.y));
  if (is_inside) own.y = fetch_texel(input1, quad)[channel_of(i.x)];
  state = vec4(own.x + ((sums.x + sums.y) + (sums.z + sums.w)), own.y, 0, 0);
#endif
}
