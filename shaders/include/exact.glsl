// Arithmetic that keeps its rounding errors: a sum is exactly high + error (Knuth's two-sum), and so is a product
// (Dekker 1971). Compilers simplify (a + b) - a. EXACT_BY is the first method that prevents this in the context
// (gl_exact.c tries them):
//   1  `precise` (ARB_gpu_shader5)
//   2  the bits of every result are XORed with a uniform that is 0, which no compiler knows
//   3  like 2, with a texel that is 0, for drivers that recompile for the value of a uniform
//   4  like 3, and the errors are computed with integers (exact_integer.glsl), for compilers that reorder sums all the same
// With EXACT_FMA, fma() rounds once. This file must be included first, because it may enable an extension. Numbers have
// the type of the pass, or NUMBER if defined. Vertex shaders, which are not passes, must define it.
#if EXACT_BY == 1
#ifndef PAIR // the loader enables it for pairs
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
#if EXACT_BY >= 3
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

#if EXACT_BY == 4
#include "include/exact_integer.glsl"
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
