// Computes, for each component of a slot, a: the power of two that scales it to between 1/2 and 1. If p[5].x is 1,
// computes the inverse of that power. A component that is 0 or not finite gives 1. Writes the first texel of the
// result's slot, and 0 to the others.
uniform ivec4 p[8];

flat in vec4 a, b;
out vec4 result;

void main() {
  // a = m 2^e with 1/2 <= m < 1; biased exponents are 0 for 0 and subnormal numbers, 255 for infinities and NaN.
  ivec4 biased = (floatBitsToInt(a) >> 23) & 255;
  ivec4 e = clamp(biased - 126, -120, 120);
  for (int c = 0; c < 4; c++)
    if (a[c] == 0.0 || biased[c] == 255) e[c] = 0;
  if (p[5].x == 0) e = -e;
  result = ivec2(gl_FragCoord.xy) == p[0].xy ? intBitsToFloat((e + 127) << 23) : vec4(0);
}
