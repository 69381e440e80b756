// Sets prescribed velocities. Reads the velocity (input0) and prescribed velocities (input1).
#define COMPONENTS 2
#include "include/pass.glsl"

out vec4 result;

void main() {
  ivec2 i = texel();
  vec2 given = FETCH1(i);
  result = widen(mix(given, FETCH0(i), greaterThanEqual(given, vec2(1e30))));
}
