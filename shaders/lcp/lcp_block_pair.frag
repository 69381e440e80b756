// lcp_block.frag in pairs, which writes the new z only.
#include "include/lcp.glsl"

layout(location = 0) out vec4 result;
layout(location = 1) out vec4 result_low;

void main() {
  ivec2 i = place(), origin = matrix_of(i.y);
  Pair changes[QUADS_OF_BLOCK];
  int own = i.x - FIRST_QUAD;
  for (int k = 0; k <= own; k++) {
    int quad = FIRST_QUAD + k;
    Pair least = least_at(ivec2(quad, i.y)), most = most_at(ivec2(quad, i.y)), d = NOTHING;
    for (int c = 0; c < 4; c++) {
      ivec2 row = origin + ivec2(4 * quad + c, FIRST_QUAD), at = ivec2(4 * quad + c, i.y);
      Pair state = pair_at(input0, low0, at), sums = NOTHING;
      Scalar old = pick(state, 1);
      for (int j = 0; j < k; j++) sums = add_loosely(sums, multiply(entry_at(row + ivec2(0, j)), changes[j]));
      Pair m = entry_at(row + ivec2(0, k));
      sums = normalise(add_loosely(sums, multiply(m, d)));
      Scalar w = add(pick(state, 0), total(sums));
      Scalar z = solve_unknown(old, w, pick(m, c), pick(least, c), pick(most, c));
      d = put(d, c, subtract(z, old));
      result[c] = z.high;
      result_low[c] = z.low;
    }
    changes[k] = d;
  }
}
