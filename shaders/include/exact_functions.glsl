// Sums and products of NUMBER with their rounding errors. Included by include/exact.glsl, and by shaders that need them
// for a second type.

#if EXACT_BY == 4
NUMBER two_sum(NUMBER a, NUMBER b, out NUMBER error) {
  ROUNDED(NUMBER high, a + b);
  error = sum_error(a, b, high);
  return high;
}

NUMBER fast_two_sum(NUMBER a, NUMBER b, out NUMBER error) { return two_sum(a, b, error); }

NUMBER two_product(float a, NUMBER b, out NUMBER error) {
  ROUNDED(NUMBER high, a * b);
  error = product_error(NUMBER(a), b, high);
  return high;
}

#ifdef PAIR
// Element by element.
NUMBER two_product_each(NUMBER a, NUMBER b, out NUMBER error) {
  ROUNDED(NUMBER high, a * b);
  error = product_error(a, b, high);
  return high;
}
#endif
#else
NUMBER two_sum(NUMBER a, NUMBER b, out NUMBER error) {
  ROUNDED(NUMBER high, a + b);
  ROUNDED(NUMBER part, high - a);
  ROUNDED(NUMBER a_part, high - part);
  ROUNDED(NUMBER a_error, a - a_part);
  ROUNDED(NUMBER b_error, b - part);
  ROUNDED(NUMBER both, a_error + b_error);
  error = both;
  return high;
}

// Requires |a| >= |b|, or a = 0.
NUMBER fast_two_sum(NUMBER a, NUMBER b, out NUMBER error) {
  ROUNDED(NUMBER high, a + b);
  ROUNDED(NUMBER part, high - a);
  ROUNDED(NUMBER low, b - part);
  error = low;
  return high;
}

NUMBER two_product(float a, NUMBER b, out NUMBER error) {
  ROUNDED(NUMBER high, a * b);
#ifdef EXACT_FMA
  ROUNDED(NUMBER low, fma(NUMBER(a), b, -high));
#else
  ROUNDED(float s, 4097.0 * a);
  ROUNDED(float s_minus_a, s - a);
  ROUNDED(float a_high, s - s_minus_a);
  ROUNDED(float a_low, a - a_high);
  ROUNDED(NUMBER t, 4097.0 * b);
  ROUNDED(NUMBER t_minus_b, t - b);
  ROUNDED(NUMBER b_high, t - t_minus_b);
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
// Dekker's split: the upper 12 bits of a number, and the remainder.
NUMBER upper(NUMBER a, out NUMBER lower) {
  ROUNDED(NUMBER s, 4097.0 * a);
  ROUNDED(NUMBER s_minus_a, s - a);
  ROUNDED(NUMBER high, s - s_minus_a);
  ROUNDED(NUMBER low, a - high);
  lower = low;
  return high;
}

// Element by element.
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
#endif
