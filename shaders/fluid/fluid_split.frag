// Component p[5].x of the velocity (input0).
#define COMPONENTS 2
#include "include/pass.glsl"

out vec4 result;

void main() {
  vec2 v = FETCH0(texel());
  result = vec4(p[5].x == 0 ? v.x : v.y, 0, 0, 0);
}
