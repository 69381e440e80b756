// The first stage of split rows for mesh_diagonal.frag and, with FORCE, mesh_force.frag. Sum t adds up the
// contributions of entries t, t + count, t + 2 count, ... to their row. p[6] = count, length, log2 of the width of
// entries, log2 of the width of the sums. Reads entries and corners of the stage, and x (input0).
#include "include/pass.glsl"
#include "include/mesh.glsl"

uniform usampler2D entries;
out vec4 result;

void main() {
  ivec2 i = texel();
  int t = (i.y << p[6].w) + i.x;
  vec3 sum = vec3(0);
  if (t < p[6].x) {
    int number = t;
    for (int k = 0; k < p[6].y; k++, number += p[6].x) {
      ivec2 at = ivec2(number & ((1 << p[6].z) - 1), number >> p[6].z);
      uvec4 c = texelFetch(corners, at, 0);
      if (c.x == NO_CORNER) continue;
      float value = uintBitsToFloat(texelFetch(entries, at, 0).r);
#ifdef FORCE
      sum += value * (position(c.x) - position(c.y));
#else
      sum.x += mass(position(c.x), c) - value;
#endif
    }
  }
  result = widen(sum);
}
