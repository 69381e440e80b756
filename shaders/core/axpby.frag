// out = a x + b y. With TERMS 1, out = a x.
// Reads x (input0) and y (input1).
#include "include/pass.glsl"
#include "include/indices.glsl"

flat in vec4 a, b;
out vec4 result;

void main() {
  ivec2 i = texel();
  VALUE sum = a PICK * FETCH(0, i);
#if TERMS == 2
  sum += b PICK * FETCH(1, i);
#endif
  result = at_indices(sum, i);
}
