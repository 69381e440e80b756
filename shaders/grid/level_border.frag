// The border of a layered field at periodic boundaries. Points beyond the grid receive a copy of the point that they
// represent; all others are unchanged. Reads the field itself (input1).
#include "include/level.glsl"

out vec4 result;

void main() {
  ivec2 t = texel() + p[7].xy, first = point_at(t, FINE);
  vec4 values = fetch_texel(input1, t + INPUT1_ORIGIN);
  for (int k = 0; k < 4; k++) {
    ivec2 i = first + ivec2(k & 1, k >> 1);
    ivec2 image = wrap(i, FINE);
    if (image != i && !outside(image, FINE)) values[k] = FIELD1(image, FINE);
  }
  result = values;
}
