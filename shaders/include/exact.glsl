// Arithmetic that keeps its rounding errors: a sum is high + error exactly (Knuth's two-sum), and so is a product (Dekker
// 1971). Compilers simplify (a + b) - a. EXACT_BY is the first way that keeps this context's from it (gl_exact.c tries them):
//   1  `precise` (ARB_gpu_shader5)
//   2  the bits of every result are XORed with a uniform that is 0, which no compiler knows
//   3  the same with a texel that is 0, where a driver compiles again for the value of a uniform
// With EXACT_FMA fma() rounds once. To be included before anything else, since it may enable an extension. Numbers are those of
// the pass, or what NUMBER says; a vertex shader, which is no pass, says so.
#if EXACT_BY == 1
#ifndef PAIR // where the loader has it
#extension GL_ARB_gpu_shader5 : enable
#endif
#define ROUNDED(result, value) precise result = value
#endif
#ifdef VERTEX
#include "include/parameters.glsl"
#else
#include "include/pass.glsl"
#endif
#ifndef NUMBER
#define NUMBER VALUE
#endif
#if EXACT_BY != 1
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

NUMBER two_sum(NUMBER a, NUMBER b, out NUMBER error) {
  ROUNDED(NUMBER high, a + b);
  ROUNDED(NUMBER part, high - a);
  ROUNDED(NUMBER rest, high - part);
  ROUNDED(NUMBER a_error, a - rest);
  ROUNDED(NUMBER b_error, b - part);
  ROUNDED(NUMBER both, a_error + b_error);
  error = both;
  return high;
}

// Where |a| >= |b|, or a is 0.
NUMBER fast_two_sum(NUMBER a, NUMBER b, out NUMBER error) {
  ROUNDED(NUMBER high, a + b);
  ROUNDED(NUMBER part, high - a);
  ROUNDED(NUMBER rest, b - part);
  error = rest;
  return high;
}

NUMBER two_product(float a, NUMBER b, out NUMBER error) {
  ROUNDED(NUMBER high, a * b);
#ifdef EXACT_FMA
  ROUNDED(NUMBER low, fma(NUMBER(a), b, -high));
#else
  ROUNDED(float s, 4097.0 * a);
  ROUNDED(float s_rest, s - a);
  ROUNDED(float a_high, s - s_rest);
  ROUNDED(float a_low, a - a_high);
  ROUNDED(NUMBER t, 4097.0 * b);
  ROUNDED(NUMBER t_rest, t - b);
  ROUNDED(NUMBER b_high, t - t_rest);
  ROUNDED(NUMBER b_low, b - b_high);
  ROUNDED(NUMBER high_high, a_high * b_high - high);
  ROUNDED(NUMBER high_low, high_high + a_high * b_low);
  ROUNDED(NUMBER low_high, high_low + a_low * b_high);
  ROUNDED(NUMBER low, low_high + a_low * b_low);
#endif
  error = low;
  return high;
}

#ifdef PAIR
// Dekker's split: the upper 12 bits of a number, and the rest.
NUMBER upper(NUMBER a, out NUMBER lower) {
  ROUNDED(NUMBER s, 4097.0 * a);
  ROUNDED(NUMBER s_rest, s - a);
  ROUNDED(NUMBER high, s - s_rest);
  ROUNDED(NUMBER low, a - high);
  lower = low;
  return high;
}

// Component by component.
NUMBER two_product_each(NUMBER a, NUMBER b, out NUMBER error) {
  ROUNDED(NUMBER high, a * b);
#ifdef EXACT_FMA
  ROUNDED(NUMBER low, fma(a, b, -high));
#else
  NUMBER a_low, b_low;
  NUMBER a_high = upper(a, a_low), b_high = upper(b, b_low);
  ROUNDED(NUMBER high_high, a_high * b_high - high);
  ROUNDED(NUMBER high_low, high_high + a_high * b_low);
  ROUNDED(NUMBER low_high, high_low + a_low * b_high);
  ROUNDED(NUMBER low, low_high + a_low * b_low);
#endif
  error = low;
  return high;
}
#endif

// sum.x + sum.y = sum.x + sum.y + v
#if COMPONENTS == 1 && !defined(PAIR)
void add_exactly(inout vec2 sum, float v) {
  float error;
  sum.x = two_sum(sum.x, v, error);
  sum.y += error;
}
#endif
