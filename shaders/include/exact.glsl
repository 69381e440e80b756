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

#include "include/exact_functions.glsl"

// sum.x + sum.y = sum.x + sum.y + v
#if COMPONENTS == 1 && !defined(PAIR)
void add_exactly(inout vec2 sum, float v) {
  float error;
  sum.x = two_sum(sum.x, v, error);
  sum.y += error;
}
#endif
