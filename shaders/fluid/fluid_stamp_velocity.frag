// A splat or a source of motion, with bits in p[6].xy. Reads the velocity (input0) and prescribed velocities (input1).
#define COMPONENTS 2
#include "include/fluid_stamp.glsl"

float stamped(float now, float given, float stamp, float weight) {
  if (given < 1e30 || weight == 0.0) return now;
  return SETS ? stamp : now + weight * stamp;
}

void main() {
  ivec2 i = place();
  vec2 now = FETCH0(i), given = FETCH1(i), stamp = intBitsToFloat(p[6].xy);
#if COLLOCATED
  vec2 u_at = vec2(i) + 0.5, v_at = u_at;
#else
  vec2 u_at = vec2(i) + vec2(0.0, 0.5), v_at = vec2(i) + vec2(0.5, 0.0);
#endif
  result = widen(vec2(stamped(now.x, given.x, stamp.x, weight_at(u_at)),
                      stamped(now.y, given.y, stamp.y, weight_at(v_at))));
}
