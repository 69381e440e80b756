// One unknown, solved by every fragment alike, and what its change adds to the w of a row (Courtecuisse and Allard 2009,
// III.B). Reads the state (input0).
#include "include/lcp.glsl"

out vec4 state;

void main() {
  ivec2 i = place(), at = matrix_of(i.y) + ivec2(0, UNKNOWN >> 2), quad = ivec2(UNKNOWN >> 2, i.y);
  int channel = UNKNOWN & 3;
  vec2 own = fetch_texel(input0, i).rg, other = fetch_texel(input0, ivec2(UNKNOWN, i.y)).rg;
  float diagonal = fetch_texel(entries, at + ivec2(UNKNOWN, 0))[channel];
  float z = solve_unknown(other.y, other.x, diagonal, fetch_texel(lower, quad)[channel], fetch_texel(upper, quad)[channel]);
  own.x += fetch_texel(entries, at + ivec2(i.x, 0))[channel] * (z - other.y);
  if (i.x == UNKNOWN) own.y = z;
  state = vec4(own, 0, 0);
}
