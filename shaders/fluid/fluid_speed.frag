// |u| at the centres of cells; 0 in walls. Reads the velocity (input0) and walls (input1).
#include "include/fluid.glsl"

out vec4 result;

void main() {
  ivec2 i = texel();
  vec2 v = centre_velocity(i);
  result = vec4(RAW1(i).x != 0.0 ? 0.0 : sqrt(v.x * v.x + v.y * v.y), 0, 0, 0);
}
