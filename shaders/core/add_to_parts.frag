// x = x + a e, where x is the sum of PARTS numbers (input1 to input3) and e (input0) is a single number. Every addition
// keeps its error (Knuth's two-sum). The sums are normalised from the smallest to the largest, so that each is at most
// half an ulp of the previous one. All parts are written at once.
#include "include/exact.glsl"

flat in vec4 a;
layout(location = 0) out vec4 result;
layout(location = 1) out vec4 second;
#if PARTS == 3
layout(location = 2) out vec4 third;
#endif

void main() {
  ivec2 i = texel();
  ROUNDED(VALUE e, a PICK * FETCH0(i));
  VALUE error0, error1, low0, low1;
  VALUE sum0 = two_sum(FETCH1(i), e, error0);
  VALUE sum1 = two_sum(FETCH2(i), error0, error1);
#if PARTS == 3
  ROUNDED(VALUE sum2, FETCH3(i) + error1);
#else
  VALUE sum2 = error1;
#endif
  VALUE middle = two_sum(sum1, sum2, low1);
  VALUE high = two_sum(sum0, middle, low0);
  VALUE lowest;
  VALUE low = two_sum(low0, low1, lowest);
  result = widen(high);
  second = widen(low);
#if PARTS == 3
  third = widen(lowest);
#endif
}
