// out_i = 1 / x_i, 0 where x_i is 0. Reads x (input0).
#include "include/pass.glsl"

out vec4 result;

void main() {
  vec4 x = widen(FETCH(0, texel()));
  bvec4 zero = equal(x, vec4(0));
  result = mix(1.0 / mix(x, vec4(1), zero), vec4(0), zero);
}
