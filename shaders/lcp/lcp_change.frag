// By how much a quad's z (input1) differs from that of the state (input0), in pairs.
#include "include/lcp.glsl"

layout(location = 0) out vec4 result;
layout(location = 1) out vec4 result_low;

void main() {
  ivec2 i = place();
  Pair old = NOTHING;
  for (int c = 0; c < QUAD_ROWS; c++) {
    Pair state = pair_at(input0, low0, ivec2(QUAD_ROWS * i.x + c, i.y));
    old.high[c] = state.high.y;
    old.low[c] = state.low.y;
  }
  Pair change = subtract(pair_at(input1, low1, i), old);
  result = change.high;
  result_low = change.low;
}
