// (x, low) = (x, low) + e: x + e = sum + error exactly (Knuth's two-sum), then sum + (error + low) = high + rest exactly
// (Dekker's). high becomes x; with LOW, rest becomes low.
// Reads x (input0), low (input1), e (input2).
#include "include/pass.glsl"

out vec4 result;

// p[7].x is 0, which no compiler knows: it cannot take the rounding errors of sums for 0, as some do without `precise`.
VALUE rounded(VALUE v) { return intBitsToFloat(floatBitsToInt(v) ^ p[7].x); }

void main() {
  ivec2 i = texel();
  VALUE x = FETCH(0, i), e = FETCH(2, i);
  VALUE sum = rounded(x + e);
  VALUE part = rounded(sum - x);
  VALUE error = rounded(x - rounded(sum - part)) + rounded(e - part);
  VALUE small = rounded(error + FETCH(1, i));
  VALUE high = rounded(sum + small);
#ifdef LOW
  result = widen(small - rounded(high - sum));
#else
  result = widen(high);
#endif
}
