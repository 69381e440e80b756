// The quads of z from a vector (input0).
#include "include/lcp.glsl"

#ifdef PAIR
layout(location = 0) out vec4 result;
layout(location = 1) out vec4 result_low;
#else
out vec4 z;
#endif

#ifdef PAIR
Pair at(int row, int problem) {
  return row < SIZE ? as_pair(FETCH_PAIR(0, texel_of(problem * SIZE + row))) : NOTHING;
}
#else
float at(int row, int problem) { return row < SIZE ? FETCH(0, texel_of(problem * SIZE + row)) : 0.0; }
#endif

void main() {
  ivec2 i = place();
  int row = QUAD_ROWS * i.x;
#ifdef PAIR
  result = result_low = vec4(0);
  for (int c = 0; c < QUAD_ROWS; c++) {
    Pair z = at(row + c, i.y);
    result[c] = z.high.x;
    result_low[c] = z.low.x;
  }
#else
  z = vec4(at(row, i.y), at(row + 1, i.y), at(row + 2, i.y), QUAD_ROWS < 4 ? 0.0 : at(row + 3, i.y));
#endif
}
