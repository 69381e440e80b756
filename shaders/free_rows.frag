// x (input0) at free indices, 0 at locked ones, whatever x is there.
#include "include/pass.glsl"
#include "include/tiling.glsl"

out vec4 result;

void main() {
  ivec2 i = texel();
  result = is_free(i) ? widen(FETCH(0, i)) : vec4(0);
}
