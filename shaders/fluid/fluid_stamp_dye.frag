// A splat or a source of dye, with bits in p[6]. Bits of p[7].w: 1 sets the colour, 2 the temperature. Reads the dye
// (input0).
#define COMPONENTS 4
#include "include/fluid_stamp.glsl"

void main() {
  ivec2 i = place();
  vec4 now = FETCH0(i), stamp = intBitsToFloat(p[6]);
  float weight = weight_at(vec2(i) + 0.5);
  bool color = (p[7].w & 1) != 0, temperature = (p[7].w & 2) != 0;
  result = now;
  if (!SETS)
    result += weight * stamp;
  else if (weight != 0.0)
    result = vec4(color ? stamp.rgb : now.rgb, temperature ? stamp.a : now.a);
}
