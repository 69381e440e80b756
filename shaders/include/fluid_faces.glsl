// A pass over the faces of a fluid. The result is the prescribed velocity (input1), or the value that the pass
// computes. face_u and face_v receive the face without its periodic copies, and its position.
#include "include/fluid.glsl"

out vec4 result;

float face_u(ivec2 i, vec2 at);
float face_v(ivec2 i, vec2 at);

void main() {
  ivec2 i = texel();
  vec2 given = RAW1(i).xy;
#if PERIODIC_X
  if (i.x == SIZE.x) i.x = 0;
#endif
#if PERIODIC_Y
  if (i.y == SIZE.y) i.y = 0;
#endif
  vec2 at = vec2(i) + 0.5;
  result = vec4(given, 0, 0);
#if COLLOCATED
  if (given.x >= FREE) result.x = face_u(i, at);
  if (given.y >= FREE) result.y = face_v(i, at);
#else
  if (given.x >= FREE) result.x = face_u(i, vec2(i.x, at.y));
  if (given.y >= FREE) result.y = face_v(i, vec2(at.x, i.y));
#endif
}
