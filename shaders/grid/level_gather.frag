// A field from textures of its parities, 0 in the border. Reads the parities (input0 to input3). The places of all of
// them are those of a region within a field.
#include "include/level.glsl"

out vec4 result;

void main() {
  ivec2 t = texel();
  bvec2 odd = greaterThan(t, pitch(FINE));
  vec4 low = odd.x ? fetch_texel(input1, t + INPUT1_ORIGIN) : fetch_texel(input0, t + INPUT0_ORIGIN);
  vec4 high = odd.x ? fetch_texel(input3, t + INPUT3_ORIGIN) : fetch_texel(input2, t + INPUT2_ORIGIN);
  ivec2 first = point_at(t, FINE);
  bvec4 none;
  for (int k = 0; k < 4; k++) none[k] = outside(point_of(first, k), FINE);
  result = mix(odd.y ? high : low, vec4(0), none);
}
