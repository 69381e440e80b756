// One unknown, solved identically by every fragment, and the effect of its change on the w of a row (Courtecuisse and
// Allard 2009, III.B). Reads the state (input0).
#include "include/lcp.glsl"

void main() {
  ivec2 i = place(), quad = ivec2(quad_of(UNKNOWN), i.y), matrix = matrix_of(i.y);
  int channel = channel_of(UNKNOWN);
  QUAD own = QUAD_AT0(i), other = QUAD_AT0(ivec2(UNKNOWN, i.y));
  REAL old = pick(other, 1), z = solve_unknown(old, pick(other, 0), pick(row_at(matrix, UNKNOWN, quad.x), channel),
                                               pick(least_at(quad), channel), pick(most_at(quad), channel));
  REAL w = add(pick(own, 0), product(pick(row_at(matrix, i.x, quad.x), channel), subtract(z, old)));
  if (i.x != UNKNOWN) z = pick(own, 1);
  write(put(put(NOTHING, 0, w), 1, z));
}
