// (x, low) = (x, low) + e: x + e = sum + error exactly (Knuth's two-sum), then sum + (error + low) = high + rest exactly
// (Dekker's). high becomes x; with LOW, rest becomes low.
// Reads x (input0), low (input1), e (input2).
#include "include/exact.glsl"

out vec4 result;

void main() {
  ivec2 i = texel();
  VALUE x = FETCH(0, i), e = FETCH(2, i);
  VALUE error, rest;
  VALUE sum = two_sum(x, e, error);
  ROUNDED(VALUE small, error + FETCH(1, i));
  VALUE high = fast_two_sum(sum, small, rest);
#ifdef LOW
  result = widen(rest);
#else
  result = widen(high);
#endif
}
