// The shape of a splat or a source. p[5]: bits of its centre, half width (the radius) and half height, in cells. p[7]:
// the origin of the drawn region, and whether values are replaced.
#include "include/pass.glsl"

#define SETS (p[7].z != 0)

out vec4 result;

ivec2 place() { return texel() + p[7].xy; }

// 0: the stamp has no effect here; 1: it replaces the value.
float weight_at(vec2 at) {
  vec4 stamp = intBitsToFloat(p[5]);
  vec2 d = at - stamp.xy;
  float squared = d.x * d.x + d.y * d.y, radius = stamp.z;
  if (!SETS) return exp(-squared / (radius * radius));
  if (stamp.w > 0.0) return abs(d.x) <= stamp.z && abs(d.y) <= stamp.w ? 1.0 : 0.0;
  return squared <= radius * radius ? 1.0 : 0.0;
}
