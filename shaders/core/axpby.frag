// out = a x + b y. With TERMS 1, out = a x.
// Reads x (input0) and y (input1).
#ifdef PAIR
#include "include/pair_pass.glsl"
#else
#include "include/pass.glsl"
#include "include/indices.glsl"
flat in vec4 a, b;
out vec4 result;
#endif

void main() {
  ivec2 i = texel();
#ifdef PAIR
  Pair sum = multiply(PAIR_A, FETCH_PAIR0(i));
#if TERMS == 2
  sum = add_loosely(sum, multiply(PAIR_B, FETCH_PAIR1(i)));
#endif
  write(normalise(sum), i);
#else
  VALUE sum = a PICK * FETCH0(i);
#if TERMS == 2
  sum += b PICK * FETCH1(i);
#endif
  result = at_indices(sum, i);
#endif
}
