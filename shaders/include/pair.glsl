// Pairs: a number is high + low, where low is at most half an ulp of high; about 48 bits. A pass over pairs writes both parts
// at once, and an input that lacks the second one (no LOW0, ...) is a plain number.
#include "include/exact.glsl"

struct Pair {
  NUMBER high, low;
};

// Where |high| >= |low|, or nearly so.
Pair normalise(NUMBER high, NUMBER low) {
  NUMBER rest;
  NUMBER sum = fast_two_sum(high, low, rest);
  return Pair(sum, rest);
}
Pair normalise(Pair a) { return normalise(a.high, a.low); }

// Sums that go on may stay as they are: the low parts of a few add up without much error.
Pair add_loosely(Pair a, Pair b) {
  NUMBER error;
  NUMBER sum = two_sum(a.high, b.high, error);
  return Pair(sum, error + (a.low + b.low));
}
Pair add(Pair a, Pair b) { return normalise(add_loosely(a, b)); }
Pair subtract(Pair a, Pair b) { return add(a, Pair(-b.high, -b.low)); }

// Products: what adds them up, or writes them, normalises.
Pair multiply(NUMBER a, NUMBER b) {
  NUMBER error;
  NUMBER product = two_product_each(a, b, error);
  return Pair(product, error);
}
Pair multiply(Pair a, NUMBER b) {
  Pair product = multiply(a.high, b);
  return Pair(product.high, product.low + a.low * b);
}
Pair multiply(NUMBER a, Pair b) { return multiply(b, a); }
Pair multiply(Pair a, Pair b) {
  Pair product = multiply(a.high, b.high);
  return Pair(product.high, product.low + (a.high * b.low + a.low * b.high));
}

// By the steps of a long division, of which each adds about 22 bits.
Pair divide(Pair a, Pair b) {
  Pair quotient = Pair(a.high / b.high, NUMBER(0));
  for (int k = 0; k < 2; k++) {
    Pair rest = subtract(a, multiply(quotient, b));
    quotient = add(quotient, Pair(rest.high / b.high, NUMBER(0)));
  }
  return quotient;
}

#define FETCH_LOW(k, i) (fetch_texel(low##k, (i) + LOW##k##_ORIGIN) PICK)
#define LOW0_ORIGIN p[8].xy
#define LOW1_ORIGIN p[8].zw
#define LOW2_ORIGIN p[9].xy
#define LOW3_ORIGIN p[9].zw

#ifdef LOW0
uniform sampler2D low0;
#define FETCH_PAIR0(i) Pair(FETCH(0, i), FETCH_LOW(0, i))
#else
#define FETCH_PAIR0(i) FETCH(0, i)
#endif
#ifdef LOW1
uniform sampler2D low1;
#define FETCH_PAIR1(i) Pair(FETCH(1, i), FETCH_LOW(1, i))
#else
#define FETCH_PAIR1(i) FETCH(1, i)
#endif
#ifdef LOW2
uniform sampler2D low2;
#define FETCH_PAIR2(i) Pair(FETCH(2, i), FETCH_LOW(2, i))
#else
#define FETCH_PAIR2(i) FETCH(2, i)
#endif
// Input k at i, a Pair or a number.
#define FETCH_PAIR(k, i) FETCH_PAIR##k(i)
