// Arithmetic that keeps its rounding errors: a sum is high + error exactly (Knuth's two-sum), and so is a product (Dekker
// 1971). Compilers simplify (a + b) - a. EXACT_BY is the first way that keeps this context's from it (gl_exact.c tries them):
//   1  `precise` (ARB_gpu_shader5)
//   2  the bits of every result are XORed with a uniform that is 0, which no compiler knows
//   3  the same with a texel that is 0, where a driver compiles again for the value of a uniform
// With EXACT_FMA fma() rounds once. To be included before anything else, since it may enable an extension.
#if EXACT_BY == 1
#extension GL_ARB_gpu_shader5 : enable
#include "include/pass.glsl"
#define ROUNDED(result, value) precise result = value
#else
#include "include/pass.glsl"
#if EXACT_BY == 3
uniform isampler2D exact_zero;
#define ZERO texelFetch(exact_zero, ivec2(0), 0).x
#else
#define ZERO p[7].w
#endif
float rounded(float v) { return intBitsToFloat(floatBitsToInt(v) ^ ZERO); }
vec2 rounded(vec2 v) { return intBitsToFloat(floatBitsToInt(v) ^ ZERO); }
vec3 rounded(vec3 v) { return intBitsToFloat(floatBitsToInt(v) ^ ZERO); }
vec4 rounded(vec4 v) { return intBitsToFloat(floatBitsToInt(v) ^ ZERO); }
#define ROUNDED(result, value) result = rounded(value)
#endif

VALUE two_sum(VALUE a, VALUE b, out VALUE error) {
  ROUNDED(VALUE high, a + b);
  ROUNDED(VALUE part, high - a);
  ROUNDED(VALUE rest, high - part);
  ROUNDED(VALUE a_error, a - rest);
  ROUNDED(VALUE b_error, b - part);
  ROUNDED(VALUE both, a_error + b_error);
  error = both;
  return high;
}

// Where |a| >= |b|, or a is 0.
VALUE fast_two_sum(VALUE a, VALUE b, out VALUE error) {
  ROUNDED(VALUE high, a + b);
  ROUNDED(VALUE part, high - a);
  ROUNDED(VALUE rest, b - part);
  error = rest;
  return high;
}

VALUE two_product(float a, VALUE b, out VALUE error) {
  ROUNDED(VALUE high, a * b);
#ifdef EXACT_FMA
  ROUNDED(VALUE low, fma(VALUE(a), b, -high));
#else
  ROUNDED(float s, 4097.0 * a);
  ROUNDED(float s_rest, s - a);
  ROUNDED(float a_high, s - s_rest);
  ROUNDED(float a_low, a - a_high);
  ROUNDED(VALUE t, 4097.0 * b);
  ROUNDED(VALUE t_rest, t - b);
  ROUNDED(VALUE b_high, t - t_rest);
  ROUNDED(VALUE b_low, b - b_high);
  ROUNDED(VALUE high_high, a_high * b_high - high);
  ROUNDED(VALUE high_low, high_high + a_high * b_low);
  ROUNDED(VALUE low_high, high_low + a_low * b_high);
  ROUNDED(VALUE low, low_high + a_low * b_low);
#endif
  error = low;
  return high;
}

// sum.x + sum.y = sum.x + sum.y + v
#if COMPONENTS == 1
void add_exactly(inout vec2 sum, float v) {
  float error;
  sum.x = two_sum(sum.x, v, error);
  sum.y += error;
}
#endif
