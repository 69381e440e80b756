/* Both directions multiply by a power of ten with 128 significant bits. Reading digits w 10^q uses the
 * algorithm of Eisel and Lemire (Lemire 2021, "Number parsing at a gigabyte per second"). Writing uses the
 * product's integer part. If the fraction is so close to a half that bits beyond 128 decide, printf writes the
 * digits. */
#include "decimal.h"

#include <float.h> /* FLT_EVAL_METHOD */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "platform.h"

/* ---- 128 bits ---- */

typedef struct wide {
  uint64_t high, low;
} wide;

static wide multiply(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
  __extension__ typedef unsigned __int128 uint128;
  const uint128 product = (uint128)a * b;
  return (wide){(uint64_t)(product >> 64), (uint64_t)product};
#else
  const uint64_t half = UINT32_MAX;
  const uint64_t low = (a & half) * (b & half), left = (a >> 32) * (b & half), right = (a & half) * (b >> 32);
  const uint64_t middle = (low >> 32) + (left & half) + (right & half);
  return (wide){(a >> 32) * (b >> 32) + (left >> 32) + (right >> 32) + (middle >> 32),
                (middle << 32) | (low & half)};
#endif
}

static int leading_zeros(uint64_t x) {
#if defined(__GNUC__)
  return __builtin_clzll(x);
#else
  int count = 0;
  for (; !(x >> 63); x <<= 1) count++;
  return count;
#endif
}

/* ---- Powers of ten ---- */

/* The first 128 bits of 5^q, truncated. For q from -27 to -1 they are rounded up as the algorithm requires,
 * because a number below 2^64 divided by 5^-q can then be a tie. */
enum { LEAST_POWER = -342, MOST_POWER = 341, LIMBS = 16 };
static wide powers[MOST_POWER - LEAST_POWER + 1];
static atomic_int has_powers;

/* The first 128 bits of a number of LIMBS 64-bit digits, least significant first. */
static wide first_bits(const uint64_t limbs[LIMBS]) {
  int top = LIMBS - 1;
  while (top > 0 && !limbs[top]) top--;
  uint64_t bits[3];
  for (int k = 0; k < 3; k++) bits[k] = top >= k ? limbs[top - k] : 0;
  const int shift = leading_zeros(bits[0]);
  if (!shift) return (wide){bits[0], bits[1]};
  return (wide){(bits[0] << shift) | (bits[1] >> (64 - shift)), (bits[1] << shift) | (bits[2] >> (64 - shift))};
}

static void multiply_by_5(uint64_t limbs[LIMBS]) {
  uint64_t carry = 0;
  for (int k = 0; k < LIMBS; k++) {
    const wide product = multiply(limbs[k], 5);
    limbs[k] = product.low + carry;
    carry = product.high + (limbs[k] < carry);
  }
}

/* Rounds down. The truncated part does not change the integer part of the next quotient. */
static void divide_by_5(uint64_t limbs[LIMBS]) {
  uint64_t rest = 0;
  for (int k = LIMBS - 1; k >= 0; k--) {
    const uint64_t upper = (rest << 32) | (limbs[k] >> 32);
    const uint64_t lower = ((upper % 5) << 32) | (limbs[k] & UINT32_MAX);
    limbs[k] = ((upper / 5) << 32) | (lower / 5);
    rest = lower % 5;
  }
}

static void make_powers(void) {
  uint64_t limbs[LIMBS] = {1};
  for (int q = 0; q <= MOST_POWER; q++) {
    powers[q - LEAST_POWER] = first_bits(limbs);
    multiply_by_5(limbs);
  }
  memset(limbs, 0, sizeof limbs);
  limbs[LIMBS - 1] = UINT64_C(1) << 63;
  for (int q = -1; q >= LEAST_POWER; q--) {
    divide_by_5(limbs);
    wide bits = first_bits(limbs);
    if (q >= -27 && ++bits.low == 0) bits.high++;
    powers[q - LEAST_POWER] = bits;
  }
}

static wide power(int q) {
  if (!atomic_load_explicit(&has_powers, memory_order_acquire)) {
    platform_lock();
    if (!atomic_load(&has_powers)) make_powers();
    atomic_store_explicit(&has_powers, 1, memory_order_release);
    platform_unlock();
  }
  return powers[q - LEAST_POWER];
}

/* The exponent of the leading bit of 10^q: floor(q log2(10)). */
static int exponent_of_power(int q) {
  return (q * 217706) >> 16;
}

/* ---- Digits ---- */

static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/* The value of 8 digits minus '0', the first in the lowest byte. */
static uint64_t value_of_8(uint64_t digits) {
  const uint64_t pairs = (digits * 10 + (digits >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
  const uint64_t fours = (pairs * 100 + (pairs >> 16)) & UINT64_C(0x0000ffff0000ffff);
  return (fours * 10000 + (fours >> 32)) & UINT32_MAX;
}

const char *decimal_digits(const char *p, const char *end, uint64_t *number, int *count) {
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  while (end - p >= 8) {
    uint64_t bytes;
    memcpy(&bytes, p, 8);
    bytes ^= UINT64_C(0x3030303030303030);
    /* The high bit of the first byte above 9. Carries only change later bytes. */
    const uint64_t others = (bytes | (bytes + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080);
    const int length = others ? __builtin_ctzll(others) / 8 : 8;
    if (!length) return p;
    *number = *number * tens[length] + value_of_8(bytes << (64 - 8 * length));
    *count += length;
    p += length;
    if (length < 8) return p;
  }
#endif
  for (; p < end && *p >= '0' && *p <= '9'; p++, ++*count) *number = *number * 10 + (uint64_t)(*p - '0');
  return p;
}

/* ---- Reading ---- */

/* w 10^q as a double, rounded to nearest. Returns 0 if it is not normal or the bits do not decide. w is not
 * 0. */
static int scale(uint64_t w, int q, double *value) {
  if (q < LEAST_POWER || q > 308) return 0;
  const int zeros = leading_zeros(w);
  const wide ten = power(q);
  w <<= zeros;
  wide product = multiply(w, ten.high);
  if ((product.high & 0x1ff) == 0x1ff) {
    const uint64_t more = multiply(w, ten.low).high;
    product.low += more;
    product.high += product.low < more;
    if (product.low == UINT64_MAX) return 0;
  }
  const int upper = (int)(product.high >> 63), shift = upper + 9;
  int exponent = exponent_of_power(q) + 63 + upper - zeros + 1023;
  uint64_t bits = product.high >> shift; /* 54 bits; the last is rounded away */
  if (exponent <= 0) return 0;
  /* A tie rounds to even. For these q the product of a tie is exact. */
  if (product.low <= 1 && q >= -4 && q <= 23 && (bits & 3) == 1 && bits << shift == product.high) bits--;
  bits = (bits + (bits & 1)) >> 1;
  if (bits >> 53) {
    bits >>= 1;
    exponent++;
  }
  if (exponent >= 2047) return 0;
  bits = (bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)exponent << 52;
  memcpy(value, &bits, sizeof bits);
  return 1;
}

static const double exact_tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static int convert(uint64_t w, int q, double *value) {
  *value = (double)w;
  if (q == 0 || w == 0) return 1;
#if FLT_EVAL_METHOD == 0
  if (w >> 53 == 0 && q >= -22 && q <= 22) { /* a single rounding of two exact numbers */
    *value = q < 0 ? *value / exact_tens[-q] : *value * exact_tens[q];
    return 1;
  }
#endif
  return scale(w, q, value);
}

/* Reads the end of a number such as "e-05". Returns NULL if it is invalid. */
static const char *read_exponent(const char *p, const char *end, int *exponent) {
  uint64_t number = 0;
  int count = 0;
  const int is_negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) p++;
  p = decimal_digits(p, end, &number, &count);
  if (!count || count > 8) return NULL;
  *exponent += is_negative ? -(int)number : (int)number;
  return p;
}

static int count_leading_zeros(const char *p, const char *end) {
  int count = 0;
  for (; p < end && (*p == '0' || *p == '.'); p++) count += *p == '0';
  return count;
}

const char *decimal_read(const char *p, const char *end, double *value) {
  uint64_t w = 0;
  int count = 0, exponent = 0;
  const int is_negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) p++;
  const char *const digits = p;
  p = decimal_digits(p, end, &w, &count);
  if (p < end && *p == '.') {
    const int whole = count;
    p = decimal_digits(p + 1, end, &w, &count);
    exponent = whole - count;
  }
  if (!count || (count > 19 && count - count_leading_zeros(digits, p) > 19)) return NULL;
  if (p < end && (*p == 'e' || *p == 'E')) {
    p = read_exponent(p + 1, end, &exponent);
    if (!p) return NULL;
  }
  if (!convert(w, exponent, value)) return NULL;
  if (is_negative) *value = -*value;
  return p;
}

/* ---- Writing ---- */

static const char digit_pairs[] = "00010203040506070809"
                                  "10111213141516171819"
                                  "20212223242526272829"
                                  "30313233343536373839"
                                  "40414243444546474849"
                                  "50515253545556575859"
                                  "60616263646566676869"
                                  "70717273747576777879"
                                  "80818283848586878889"
                                  "90919293949596979899";

static void put_8(uint32_t number, char text[8]) {
  const uint32_t high = number / 10000, low = number % 10000;
  memcpy(text, digit_pairs + 2 * (size_t)(high / 100), 2);
  memcpy(text + 2, digit_pairs + 2 * (size_t)(high % 100), 2);
  memcpy(text + 4, digit_pairs + 2 * (size_t)(low / 100), 2);
  memcpy(text + 6, digit_pairs + 2 * (size_t)(low % 100), 2);
}

/* x 10^q for a normal x > 0, rounded to an integer below 2^63. Returns 0 if it is larger or the bits do not
 * decide. */
static uint64_t whole_of(double x, int q) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const int exponent = (int)(bits >> 52) - 1023 - 63;
  const uint64_t mantissa = ((bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52) << 11;
  const wide ten = power(q), high = multiply(mantissa, ten.high), low = multiply(mantissa, ten.low);
  const uint64_t middle = high.low + low.high, top = high.high + (middle < high.low);
  /* top 2^128 + middle 2^64 + ... is x 10^q 2^(128 + cut), with an error below 2^64. */
  const int cut = -(exponent + exponent_of_power(q) - 127 + 128);
  if (cut < 1 || cut > 63) return 0;
  const uint64_t rest = top & ((UINT64_C(1) << cut) - 1), half = UINT64_C(1) << (cut - 1);
  if ((rest == half && middle <= 2) || (rest == half - 1 && middle >= UINT64_MAX - 2)) return 0;
  return (top >> cut) + (rest >= half);
}

/* The 17 digits of a normal x > 0 as an integer, and the exponent of the first. Returns 0 if not found. */
static uint64_t digits_of(double x, int *exponent) {
  static const uint64_t least = UINT64_C(10000000000000000);
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  *exponent = (((int)(bits >> 52) - 1023) * 78913) >> 18; /* from the power of two below x: floor(log10) */
  uint64_t digits = whole_of(x, 16 - *exponent);
  if (digits >= 10 * least) digits = whole_of(x, 16 - ++*exponent);
  return digits < least || digits >= 10 * least ? 0 : digits;
}

static int put_exponent(int exponent, char *text) {
  const unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent);
  int length = 2;
  text[0] = 'e';
  text[1] = exponent < 0 ? '-' : '+';
  if (size >= 100) text[length++] = (char)('0' + size / 100);
  memcpy(text + length, digit_pairs + 2 * (size_t)(size % 100), 2);
  return length + 2;
}

/* Chooses between the two forms like %g, and omits trailing zeros. */
static int put_digits(uint64_t number, int exponent, char *text) {
  char digits[17];
  int count = 17;
  digits[0] = (char)('0' + number / UINT64_C(10000000000000000));
  put_8((uint32_t)(number / 100000000 % 100000000), digits + 1);
  put_8((uint32_t)(number % 100000000), digits + 9);
  while (count > 1 && digits[count - 1] == '0') count--;
  if (exponent >= 0 && exponent < 17) { /* with a point after 1 + exponent digits, if more follow */
    const int whole = exponent + 1, more = count > whole;
    memcpy(text, digits, (size_t)whole);
    if (!more) return whole;
    text[whole] = '.';
    memcpy(text + whole + 1, digits + whole, (size_t)(count - whole));
    return count + 1;
  }
  if (exponent < 0 && exponent >= -4) {
    memset(text, '0', 5);
    text[1] = '.';
    memcpy(text + 1 - exponent, digits, (size_t)count);
    return 1 - exponent + count;
  }
  text[0] = digits[0];
  text[1] = '.';
  memcpy(text + 2, digits + 1, (size_t)count - 1);
  const int length = count > 1 ? count + 1 : 1;
  return length + put_exponent(exponent, text + length);
}

int decimal_write(double x, char text[DECIMAL_LENGTH]) {
  const int is_negative = signbit(x) != 0;
  int exponent;
  if (x == 0) {
    text[0] = '-';
    text[is_negative] = '0';
    return 1 + is_negative;
  }
  const uint64_t digits = isnormal(x) ? digits_of(fabs(x), &exponent) : 0;
  if (digits) {
    text[0] = '-';
    return is_negative + put_digits(digits, exponent, text + is_negative);
  }
  char printed[DECIMAL_LENGTH + 1];
  const int length = snprintf(printed, sizeof printed, "%.17g", x);
  memcpy(text, printed, (size_t)length);
  return length;
}
