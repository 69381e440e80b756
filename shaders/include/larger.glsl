// Maxima. A NaN wins, so that it is not lost. By its bits: compilers make one comparison out of "x > m || isnan(x)", which is
// true where m is the NaN (Mesa 25). Numbers too: devices take subnormal ones for 0 in comparisons.
bool is_nan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }
int order(float x) {
  int bits = floatBitsToInt(x);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}
float larger(float m, float x) { return is_nan(m) ? m : order(x) > order(m) || is_nan(x) ? x : m; }
float magnitude(float x) { return uintBitsToFloat(floatBitsToUint(x) & 0x7fffffffu); }
