// out = w x + b y with the element-wise product w x. With TERMS 1, out = w x.
// Reads w (input0), x (input1) and y (input2).
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
  Pair sum = multiply(FETCH_PAIR0(i), FETCH_PAIR1(i));
#if TERMS == 2
  sum = add_loosely(sum, multiply(PAIR_A, FETCH_PAIR2(i)));
#endif
  write(normalise(sum), i);
#else
  VALUE sum = FETCH0(i) * FETCH1(i);
#if TERMS == 2
  sum += a PICK * FETCH2(i);
#endif
  result = at_indices(sum, i);
#endif
}
