// x = x + a d and r = r + b q. r is to the right of x (input0) in the target texture; each is p[7].x texels wide. Reads
// d (input1) and q (input2). Of x and r, a fragment reads only its own texel.
#ifdef PAIR
#include "include/pair_pass.glsl"
#else
#include "include/pass.glsl"
flat in vec4 a, b;
out vec4 result;
#endif

#define WIDTH p[7].x

void main() {
  ivec2 i = texel();
#ifdef PAIR
  Pair sum = FETCH_PAIR0(i);
  if (i.x < WIDTH)
    sum = add_loosely(sum, multiply(PAIR_A, FETCH_PAIR1(i)));
  else
    sum = add_loosely(sum, multiply(PAIR_B, FETCH_PAIR2(i - ivec2(WIDTH, 0))));
  write(normalise(sum), i.x < WIDTH ? i : i - ivec2(WIDTH, 0));
#else
  VALUE sum = FETCH0(i);
  if (i.x < WIDTH)
    sum += a PICK * FETCH1(i);
  else
    sum += b PICK * FETCH2(i - ivec2(WIDTH, 0));
  result = widen(sum);
#endif
}
