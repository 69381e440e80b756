// Maxima. A NaN wins, so that it is not lost. It is detected by its bits: compilers merge "x > m || isnan(x)" into one
// comparison, which is true if m is the NaN (Mesa 25). Numbers are compared by bits too, because devices may treat
// subnormal numbers as 0 in comparisons.
bool is_nan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }
int order(float x) {
  int bits = floatBitsToInt(x);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}
float larger(float m, float x) { return is_nan(m) ? m : order(x) > order(m) || is_nan(x) ? x : m; }
float magnitude(float x) { return uintBitsToFloat(floatBitsToUint(x) & 0x7fffffffu); }
