// One unknown, solved by every fragment alike, and what its change adds to the w of a row (Courtecuisse and Allard 2009,
// III.B). Reads the state (input0).
#include "include/lcp.glsl"

layout(location = 0) out vec4 state;
#ifdef PAIR
layout(location = 1) out vec4 state_low;
#endif

void main() {
  ivec2 i = place(), at = matrix_of(i.y) + ivec2(0, UNKNOWN >> 2), quad = ivec2(UNKNOWN >> 2, i.y);
  ivec2 other_at = ivec2(UNKNOWN, i.y);
  int channel = UNKNOWN & 3;
#ifdef PAIR
  Pair own = pair_at(input0, low0, i), other = pair_at(input0, low0, other_at);
  Scalar old = pick(other, 1), z = solve_unknown(old, pick(other, 0), pick(entry_at(at + ivec2(UNKNOWN, 0)), channel),
                                                 pick(least_at(quad), channel), pick(most_at(quad), channel));
  Scalar w = add(pick(own, 0), multiply(pick(entry_at(at + ivec2(i.x, 0)), channel), subtract(z, old)));
  if (i.x != UNKNOWN) z = pick(own, 1);
  state = vec4(w.high, z.high, 0, 0);
  state_low = vec4(w.low, z.low, 0, 0);
#else
  vec2 own = fetch_texel(input0, i).rg, other = fetch_texel(input0, other_at).rg;
  float diagonal = fetch_texel(entries, at + ivec2(UNKNOWN, 0))[channel];
  float z = solve_unknown(other.y, other.x, diagonal, fetch_texel(lower_bounds, quad)[channel],
                          fetch_texel(upper_bounds, quad)[channel]);
  own.x += fetch_texel(entries, at + ivec2(i.x, 0))[channel] * (z - other.y);
  if (i.x == UNKNOWN) own.y = z;
  state = vec4(own, 0, 0);
#endif
}
