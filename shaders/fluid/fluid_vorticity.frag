// omega = dv/dx - du/dy at the centres of cells; 0 in walls. p[5].w is h. Reads the velocity (input0) and walls (input1).
#include "include/fluid.glsl"

out vec4 result;

void main() {
  ivec2 i = texel();
  result = vec4(0);
  if (RAW1(i).x != 0.0) return;
  float v = centre_velocity(i + ivec2(1, 0)).y - centre_velocity(i - ivec2(1, 0)).y;
  float u = centre_velocity(i + ivec2(0, 1)).x - centre_velocity(i - ivec2(0, 1)).x;
  result.x = 0.5 * (v - u) / NUMBER;
}
