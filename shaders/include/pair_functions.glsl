// PAIR_OF_NUMBERS, the type of pairs of NUMBER, and its arithmetic. include/pair.glsl includes this for the type of a
// pass. Include it again for other types.

struct PAIR_OF_NUMBERS {
  NUMBER high, low;
};

// Requires |high| >= |low|, or nearly so.
PAIR_OF_NUMBERS normalise(NUMBER high, NUMBER low) {
  NUMBER error;
  NUMBER sum = fast_two_sum(high, low, error);
  return PAIR_OF_NUMBERS(sum, error);
}
PAIR_OF_NUMBERS normalise(PAIR_OF_NUMBERS a) { return normalise(a.high, a.low); }

// For sums that continue: the low parts of a few terms add up without much error.
PAIR_OF_NUMBERS add_loosely(PAIR_OF_NUMBERS a, PAIR_OF_NUMBERS b) {
  NUMBER error;
  NUMBER sum = two_sum(a.high, b.high, error);
  return PAIR_OF_NUMBERS(sum, error + (a.low + b.low));
}
PAIR_OF_NUMBERS add(PAIR_OF_NUMBERS a, PAIR_OF_NUMBERS b) { return normalise(add_loosely(a, b)); }
PAIR_OF_NUMBERS subtract(PAIR_OF_NUMBERS a, PAIR_OF_NUMBERS b) { return add(a, PAIR_OF_NUMBERS(-b.high, -b.low)); }

// Products: the operation that adds or writes them normalises.
PAIR_OF_NUMBERS multiply(NUMBER a, NUMBER b) {
  NUMBER error;
  NUMBER product = two_product_each(a, b, error);
  return PAIR_OF_NUMBERS(product, error);
}
PAIR_OF_NUMBERS multiply(PAIR_OF_NUMBERS a, NUMBER b) {
  PAIR_OF_NUMBERS product = multiply(a.high, b);
  return PAIR_OF_NUMBERS(product.high, product.low + a.low * b);
}
PAIR_OF_NUMBERS multiply(NUMBER a, PAIR_OF_NUMBERS b) { return multiply(b, a); }
PAIR_OF_NUMBERS multiply(PAIR_OF_NUMBERS a, PAIR_OF_NUMBERS b) {
  PAIR_OF_NUMBERS product = multiply(a.high, b.high);
  return PAIR_OF_NUMBERS(product.high, product.low + (a.high * b.low + a.low * b.high));
}

// Long division: each step adds about 22 bits.
PAIR_OF_NUMBERS divide(PAIR_OF_NUMBERS a, PAIR_OF_NUMBERS b) {
  PAIR_OF_NUMBERS quotient = PAIR_OF_NUMBERS(a.high / b.high, NUMBER(0));
  for (int k = 0; k < 2; k++) {
    PAIR_OF_NUMBERS remainder = subtract(a, multiply(quotient, b));
    quotient = add(quotient, PAIR_OF_NUMBERS(remainder.high / b.high, NUMBER(0)));
  }
  return quotient;
}
