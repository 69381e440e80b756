// Sums that keep their rounding errors. p[7].w is 0, which no compiler knows: it cannot take the errors of sums for 0, as
// some do without `precise`.
// Needs include/pass.glsl.
VALUE rounded(VALUE v) { return intBitsToFloat(floatBitsToInt(v) ^ p[7].w); }

// high + error = a + b exactly (Knuth's two-sum).
VALUE add_with_error(VALUE a, VALUE b, out VALUE error) {
  VALUE high = rounded(a + b), part = rounded(high - a);
  error = rounded(a - rounded(high - part)) + rounded(b - part);
  return high;
}

// sum.x + sum.y = sum.x + sum.y + v
void add_exactly(inout vec2 sum, float v) {
  float error;
  sum.x = add_with_error(sum.x, v, error);
  sum.y += error;
}
