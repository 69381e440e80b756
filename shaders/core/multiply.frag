// out_i = x_i y_i. Reads x (input0) and y (input1).
#include "include/pass.glsl"

out vec4 result;

void main() {
  ivec2 i = texel();
  result = widen(FETCH(0, i) * FETCH(1, i));
}
