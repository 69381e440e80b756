// x = x + a d and r = r + b q, where r lies right of x (input0) in the texture that is drawn to, p[5].x texels wide each.
// Reads d (input1) and q (input2). A fragment reads no texel of x and r but its own.
#include "include/pass.glsl"

#define WIDTH p[5].x

flat in vec4 a, b;
out vec4 result;

void main() {
  ivec2 i = texel();
  VALUE sum = FETCH(0, i);
  if (i.x < WIDTH)
    sum += a PICK * FETCH(1, i);
  else
    sum += b PICK * FETCH(2, i - ivec2(WIDTH, 0));
  result = widen(sum);
}
