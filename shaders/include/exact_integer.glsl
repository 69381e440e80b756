#ifndef EXACT_INTEGER_GLSL
#define EXACT_INTEGER_GLSL
// The rounding errors of sums and products, from the bits of the numbers. This is integer arithmetic, which compilers of
// floating-point arithmetic leave alone. Sums and products of mantissas have more than 32 bits, but their difference from
// the rounded result has at most 26, so it is right modulo 2^32. Subnormal numbers count as 0. If the result is infinite
// or NaN, the error is NaN.

int exponent_of(int bits) { return bits >> 23 & 255; }

// With its sign, in units of 2^(exponent - 150).
int mantissa_of(int bits) {
  int mantissa = exponent_of(bits) == 0 ? 0 : (bits & 0x7fffff) | 0x800000;
  return bits < 0 ? -mantissa : mantissa;
}

// n 2^exponent
float scaled(int n, int exponent) {
  int bits = floatBitsToInt(float(n));
  exponent += exponent_of(bits);
  return n == 0 || exponent <= 0 ? 0.0 : intBitsToFloat((bits & -2139095041) | exponent << 23); // 0x807fffff
}

#define NOT_A_NUMBER intBitsToFloat(0x7fc00000)

// a + b - high. Without branches, which compilers of vectors turn into much code.
float sum_error(float a, float b, float high) {
  int a_bits = floatBitsToInt(a), b_bits = floatBitsToInt(b), sum_bits = floatBitsToInt(high);
  bool b_is_larger = (b_bits & 0x7fffffff) > (a_bits & 0x7fffffff);
  int larger_bits = b_is_larger ? b_bits : a_bits, smaller_bits = b_is_larger ? a_bits : b_bits;
  int unit = exponent_of(smaller_bits), shift = exponent_of(larger_bits) - unit;
  int sum_shift = exponent_of(sum_bits) - unit, sum = mantissa_of(sum_bits);
  sum = sum_shift < 0 ? sum >> min(-sum_shift, 31) : sum << min(sum_shift, 31); // the bits that >> drops are 0
  float error = scaled((mantissa_of(larger_bits) << min(shift, 31)) + mantissa_of(smaller_bits) - sum, unit - 150);
  error = shift > 30 ? intBitsToFloat(smaller_bits) : error;
  error = unit == 0 ? 0.0 : error;
  return exponent_of(sum_bits) == 255 ? NOT_A_NUMBER : error;
}

// a b - high
float product_error(float a, float b, float high) {
  int a_bits = floatBitsToInt(a), b_bits = floatBitsToInt(b), product_bits = floatBitsToInt(high);
  int a_exponent = exponent_of(a_bits), b_exponent = exponent_of(b_bits), exponent = exponent_of(product_bits);
  int low_bits = int(uint(mantissa_of(a_bits)) * uint(mantissa_of(b_bits)));
  int rounded_bits = mantissa_of(product_bits) << (exponent - a_exponent - b_exponent + 150 & 31);
  float error = scaled(low_bits - rounded_bits, a_exponent + b_exponent - 300);
  error = a_exponent == 0 || b_exponent == 0 || exponent == 0 ? 0.0 : error;
  return exponent == 255 ? NOT_A_NUMBER : error;
}

vec2 sum_error(vec2 a, vec2 b, vec2 high) {
  return vec2(sum_error(a.x, b.x, high.x), sum_error(a.y, b.y, high.y));
}
vec3 sum_error(vec3 a, vec3 b, vec3 high) {
  return vec3(sum_error(a.xy, b.xy, high.xy), sum_error(a.z, b.z, high.z));
}
vec4 sum_error(vec4 a, vec4 b, vec4 high) {
  return vec4(sum_error(a.xy, b.xy, high.xy), sum_error(a.zw, b.zw, high.zw));
}
vec2 product_error(vec2 a, vec2 b, vec2 high) {
  return vec2(product_error(a.x, b.x, high.x), product_error(a.y, b.y, high.y));
}
vec3 product_error(vec3 a, vec3 b, vec3 high) {
  return vec3(product_error(a.xy, b.xy, high.xy), product_error(a.z, b.z, high.z));
}
vec4 product_error(vec4 a, vec4 b, vec4 high) {
  return vec4(product_error(a.xy, b.xy, high.xy), product_error(a.zw, b.zw, high.zw));
}
#endif
